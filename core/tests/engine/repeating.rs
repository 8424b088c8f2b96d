//! Results that are written again and again, and when that ends.

use std::time::Duration;

use onceonly::{Outcome, Policy, RecordState, Status, StoreErrorKind, StoredResult};
use onceonly_conformance::{Fate, Verb};

use super::setup::{HOUR, World, charged, response};

/// The effect has happened. As long as its holder can reach the store, nobody may take over just because one kind of
/// write does not get through.
#[tokio::test(start_paused = true)]
async fn a_result_that_is_repeated_keeps_its_lease() {
    let lease = Duration::from_secs(3);
    let world = World::with(|settings| settings.lease(lease).policy(Policy::Rerun));
    world.fates.always(Verb::Complete, Fate::LoseRequest);
    world.run(charged()).await.unwrap();
    // The store's clock goes with the runtime's, a hundred leases long.
    let step = lease / 6;
    for _ in 0..600 {
        world.clock.advance(step);
        tokio::time::sleep(step).await;
        assert_eq!(world.summary().await.state, RecordState::InProgress, "somebody may execute again");
    }
    world.fates.heal();
    tokio::time::sleep(lease).await;
    assert_eq!(world.summary().await.state, RecordState::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_result_is_repeated_for_fifteen_minutes() {
    let minutes = |count: u64| Duration::from_secs(count * 60);
    let world = World::new();
    world.fates.always(Verb::Complete, Fate::LoseRequest);
    world.run(charged()).await.unwrap();
    // `run` has taken up to two seconds.
    tokio::time::sleep(minutes(14)).await;
    assert!(!world.events.has("write_failed"), "given up before its time");
    tokio::time::sleep(minutes(2)).await;
    assert!(world.events.has("write_failed"), "never given up");
    let writes = world.fates.count(Verb::Complete);
    tokio::time::sleep(HOUR).await;
    assert_eq!(world.fates.count(Verb::Complete), writes, "repeated after it was given up");
}

/// What cannot be read will not be readable in five seconds.
#[tokio::test(start_paused = true)]
async fn a_result_for_a_corrupt_record_is_given_up_at_once() {
    let world = World::new();
    world.fates.always(Verb::Complete, Fate::Fail(StoreErrorKind::Corrupt));
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Executed(response("charged")));
    assert_eq!(world.events.names(), ["claimed", "write_failed"]);
    tokio::time::sleep(HOUR).await;
    assert_eq!(world.fates.count(Verb::Complete), 1);
}

/// The whole result is stored, and the answer lost; the head that is sent in its place finds the whole one.
#[tokio::test(start_paused = true)]
async fn a_result_whose_repetition_is_rejected_is_no_conflict() {
    let world = World::new();
    world.fates.next(Verb::Complete, Fate::LoseReply);
    world.fates.next(Verb::Complete, Fate::Fail(StoreErrorKind::Rejected));
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Executed(response("charged")));
    assert_eq!(world.status().await, Status::Completed(StoredResult::Retained(response("charged"))));
    assert!(!world.events.has("conflict"), "{:?}", world.events.names());
}
