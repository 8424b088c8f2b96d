//! Shutting down.

use std::time::Duration;

use onceonly::{
    Completed, Decision, Drained, KeyStore as _, Outcome, Release, Revision, RunError, Span, Waiting,
};
use onceonly_conformance::{Fate, Verb};

use super::setup::{HOUR, World, charged, request, response, soon, until};

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
    let outcome = other.run(&world.key, request(), |_| async { charged() }).await.unwrap();
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

/// A result of `begin` that the store has not taken yet is written by a task of the engine's.
#[tokio::test(start_paused = true)]
async fn draining_waits_for_the_pending_result_of_a_claim() {
    let world = World::new();
    let Ok(Decision::Execute(mut claim)) = world.engine.begin(&world.key, request()).await else {
        panic!("not granted")
    };
    world.fates.always(Verb::Complete, Fate::LoseRequest);
    assert!(matches!(claim.complete(response("charged")).await, Completed::Pending(_)));
    assert_eq!(world.engine.drain(Duration::from_millis(1)).await, Drained { unfinished: 1 });
    world.fates.heal();
    assert_eq!(world.engine.drain(Duration::from_secs(60)).await, Drained { unfinished: 0 });
    assert!(world.events.has("completed"));
}

/// Who waited when the drain began is told to come back, to another instance: the key that is free now is not claimed.
#[tokio::test(start_paused = true)]
async fn a_waiting_caller_begins_nothing_while_the_engine_is_drained() {
    let world = World::with(|settings| settings.waiting(Waiting::UpTo(Duration::from_secs(60))));
    let holder = world.crashed_attempt(None).await;
    let waiter = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await.unwrap() }
    });
    soon(world.fates.over(Verb::Load, 1)).await;
    let draining = tokio::spawn({
        let engine = world.engine.clone();
        async move { engine.drain(Duration::from_secs(50)).await }
    });
    until(async || matches!(world.run(charged()).await, Err(RunError::ShuttingDown))).await;
    let release = Release { revision: Revision::from_number(2), keep: Span::new(HOUR).unwrap() };
    world.fates.release(&world.key, holder, &release).await.unwrap();
    let outcome = soon(waiter).await.unwrap();
    assert!(matches!(outcome, Outcome::InProgress(_)), "{outcome:?}");
    assert_eq!(world.executions(), 0, "an operation is begun after the drain");
    assert_eq!(draining.await.unwrap(), Drained { unfinished: 0 });
}
