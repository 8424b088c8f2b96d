//! What a holder ended itself is not lost: nobody has taken over.

use std::time::Duration;

use onceonly::{Holding as _, KeyStore as _, Outcome, Policy, SaveError, Settings, TransactionWrite};
use onceonly_conformance::{Fate, Verb};

use super::setup::{World, charged, response, soon, until};

fn short(settings: Settings) -> Settings {
    settings.lease(Duration::from_millis(600)).policy(Policy::Rerun)
}

/// Writes the result as a store's `complete_in` does, and commits.
async fn commit(world: &World, write: &TransactionWrite) {
    let completion = write.completion(response("charged"));
    world.fates.complete(write.key(), write.token(), &completion).await.unwrap();
}

/// The lease is extended between two repetitions of a result. The first copy was stored, and the extension is refused.
#[tokio::test(start_paused = true)]
async fn a_result_whose_reply_was_lost_is_not_reported_as_lost() {
    let world = World::under(Policy::Rerun);
    world.fates.next(Verb::Complete, Fate::LoseReply);
    world.run(charged()).await.unwrap();
    assert_eq!(world.fates.count(Verb::Renew), 1, "nothing was refused");
    assert!(!world.events.has("lost"), "{:?}", world.events.names());
}

/// A renewal beside an open transaction could wait for what the transaction holds.
#[tokio::test]
async fn an_open_transaction_pauses_the_renewals() {
    let world = World::with(|settings| short(settings).policy(Policy::Park));
    let started = world.start().await;
    until(async || world.renewals() > 0).await;
    let write = started.attempt.transaction_write();
    // One may have been on its way.
    world.let_heart_beat(2).await;
    let before = world.renewals();
    world.let_heart_beat(8).await;
    assert_eq!(world.renewals(), before, "renewed beside an open transaction");
    write.rolled_back();
    until(async || world.renewals() > before).await;
    started.finish(charged()).await.unwrap();
}

/// The renewal had been sent when the transaction began, and arrives after the commit.
#[tokio::test]
async fn a_renewal_that_a_transaction_overtakes_is_not_reported_as_lost() {
    let world = World::with(|settings| settings.lease(Duration::from_secs(3)).policy(Policy::Rerun));
    let started = world.start().await;
    let gate = world.fates.hold_next(Verb::Renew);
    soon(gate.arrived()).await;
    let write = started.attempt.transaction_write();
    commit(&world, &write).await;
    write.committed();
    gate.open();
    soon(world.fates.over(Verb::Renew, 1)).await;
    soon(world.fates.over(Verb::Load, 1)).await;
    world.let_heart_beat(2).await;
    assert!(!started.attempt.is_lost() && !world.events.has("lost"), "told lost after its own commit");
    assert_eq!(started.finish(charged()).await.unwrap(), Outcome::Executed(response("charged")));
}

/// The connection broke in the commit: rolled back for all that the caller knows.
#[tokio::test]
async fn a_commit_of_unknown_outcome_is_not_reported_as_lost() {
    let world = World::with(short);
    let started = world.start().await;
    let write = started.attempt.transaction_write();
    commit(&world, &write).await;
    write.rolled_back();
    soon(world.fates.over(Verb::Load, 1)).await;
    world.let_heart_beat(2).await;
    assert!(!world.events.has("lost"), "told that somebody else may execute: {:?}", world.events.names());
    assert_eq!(started.finish(charged()).await.unwrap(), Outcome::Executed(response("charged")));
}

#[tokio::test]
async fn saving_after_the_end_is_refused_and_not_reported_as_lost() {
    let world = World::new();
    let started = world.start().await;
    let attempt = started.attempt.clone();
    started.finish(charged()).await.unwrap();
    let error = attempt.save_checkpoint("late").await.unwrap_err();
    assert!(matches!(error, SaveError::Lost), "{error:?}");
    assert!(!world.events.has("lost"), "{:?}", world.events.names());
}
