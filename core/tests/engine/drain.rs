//! Shutting down.

use std::time::Duration;

use onceonly::{Drained, Outcome, RunError};
use onceonly_conformance::{Fate, Verb};

use super::setup::{World, charged, until};

#[tokio::test]
async fn draining_waits_for_what_is_under_way_and_takes_nothing_new() {
    let world = World::new();
    let started = world.start().await;
    let draining = tokio::spawn({
        let engine = world.engine.clone();
        async move { engine.drain(Duration::from_secs(3_600)).await }
    });
    until(async || matches!(world.run(charged()).await, Err(RunError::ShuttingDown))).await;
    assert!(!draining.is_finished());
    started.conclude.send(charged()).unwrap();
    assert_eq!(draining.await.unwrap(), Drained { unfinished: 0 });
    assert!(matches!(started.caller.await.unwrap().unwrap(), Outcome::Executed(_)));
}

/// The caller has its answer long before; the drain waits for the result to be stored all the same.
#[tokio::test(start_paused = true)]
async fn draining_waits_for_results_that_are_not_stored_yet() {
    let world = World::new();
    world.fates.always(Verb::Complete, Fate::LoseRequest);
    world.run(charged()).await.unwrap();
    assert_eq!(world.engine.drain(Duration::from_millis(1)).await, Drained { unfinished: 1 });
    world.fates.heal();
    assert_eq!(world.engine.drain(Duration::from_secs(60)).await, Drained { unfinished: 0 });
    let other = onceonly::Idempotency::new(world.fates.clone());
    let outcome = other.run(&world.key, super::setup::request(), |_| async { charged() }).await.unwrap();
    assert!(matches!(outcome, Outcome::Replayed(_)));
}

#[tokio::test]
async fn a_drain_that_runs_out_of_time_says_what_is_left() {
    let world = World::new();
    let started = world.start().await;
    let caller_gone = world.start_another().await;
    caller_gone.caller.abort();
    assert_eq!(world.engine.drain(Duration::from_millis(5)).await, Drained { unfinished: 2 });
    started.finish(charged()).await.unwrap();
    caller_gone.conclude.send(charged()).unwrap();
    assert_eq!(world.engine.drain(Duration::from_secs(3_600)).await, Drained { unfinished: 0 });
}
