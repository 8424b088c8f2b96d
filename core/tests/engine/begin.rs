//! The low-level door, inside a runtime and without one.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use onceonly::{
    Completed, Decision, Held, Idempotency, Outcome, Policy, RecordState, Status, StoreErrorKind,
    StoredResult,
};
use onceonly_conformance::{Fate, Verb};
use onceonly_memory::MemoryStore;

use super::setup::{World, another_request, charged, request, response, until};

/// Polls once. Over the memory store nothing ever waits, so a future that is not ready has spawned or slept.
fn at_once<F: Future>(future: F) -> F::Output {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("without a runtime something waited"),
    }
}

#[test]
fn without_a_runtime_begin_neither_sleeps_nor_spawns() {
    let engine = Idempotency::new(MemoryStore::new());
    let key = World::new().key;
    let Ok(Decision::Execute(mut claim)) = at_once(engine.begin(&key, request())) else {
        panic!("not granted")
    };
    assert!(matches!(at_once(engine.begin(&key, request())), Ok(Decision::InProgress(_))));
    assert!(matches!(at_once(engine.begin(&key, another_request())), Ok(Decision::HashMismatch(_))));
    assert_eq!(at_once(claim.renew()).unwrap(), Held::Yes);
    at_once(claim.attempt().save_checkpoint("step 1")).unwrap();
    assert!(matches!(at_once(claim.complete(response("charged"))), Completed::Stored));
    let Ok(Decision::Replay(stored)) = at_once(engine.begin(&key, request())) else { panic!("not replayed") };
    assert_eq!(stored, response("charged"));
}

#[test]
fn without_a_runtime_an_unanswered_claim_is_repeated_a_few_times_and_then_reported() {
    let world = World::new();
    world.fates.always(Verb::Claim, Fate::LoseRequest);
    at_once(world.engine.begin(&world.key, request())).unwrap_err();
    assert_eq!(world.fates.count(Verb::Claim), 3);
    let tokens: std::collections::HashSet<_> =
        world.fates.calls().iter().filter_map(|call| call.request.token()).collect();
    assert_eq!(tokens.len(), 1);
}

/// The first copy landed, and its repetition is refused for good.
#[test]
fn without_a_runtime_a_claim_that_landed_is_given_back_after_a_definite_error() {
    let world = World::new();
    world.fates.next(Verb::Claim, Fate::LoseReply);
    world.fates.next(Verb::Claim, Fate::Fail(StoreErrorKind::Rejected));
    at_once(world.engine.begin(&world.key, request())).unwrap_err();
    assert_eq!(at_once(world.status()), Status::Released);
}

#[test]
fn without_a_runtime_a_pending_result_goes_back_to_the_caller() {
    let world = World::new();
    let Ok(Decision::Execute(mut claim)) = at_once(world.engine.begin(&world.key, request())) else {
        panic!()
    };
    world.fates.always(Verb::Complete, Fate::LoseRequest);
    assert!(matches!(at_once(claim.complete(response("charged"))), Completed::Pending(Some(_))));
    world.fates.heal();
    assert!(matches!(at_once(claim.complete(response("charged"))), Completed::Stored));
}

#[tokio::test(start_paused = true)]
async fn inside_a_runtime_a_pending_result_is_stored_in_the_background() {
    let world = World::new();
    let Ok(Decision::Execute(mut claim)) = world.engine.begin(&world.key, request()).await else { panic!() };
    world.fates.always(Verb::Complete, Fate::LoseRequest);
    assert!(matches!(claim.complete(response("charged")).await, Completed::Pending(_)));
    drop(claim);
    world.fates.heal();
    until(async || matches!(world.run(charged()).await.unwrap(), Outcome::Replayed(_))).await;
}

#[tokio::test]
async fn a_claim_that_is_dropped_stays_behind() {
    let world = World::new();
    let Ok(Decision::Execute(claim)) = world.engine.begin(&world.key, request()).await else { panic!() };
    drop(claim);
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::InProgress(_)));
    world.let_lease_pass();
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Abandoned(_)));
}

#[tokio::test]
async fn a_claim_given_back_frees_the_key() {
    let world = World::new();
    let Ok(Decision::Execute(mut claim)) = world.engine.begin(&world.key, request()).await else { panic!() };
    assert_eq!(claim.give_back().await.unwrap(), Held::Yes);
    assert_eq!(claim.give_back().await.unwrap(), Held::Yes, "giving back may be repeated");
    assert_eq!(world.status().await, Status::Released);
    assert!(matches!(claim.complete(response("late")).await, Completed::Superseded(None)));
}

/// B020: all three of an earlier holder's writes are refused, in every order.
#[tokio::test]
async fn b020_a_superseded_claim_can_write_nothing() {
    let world = World::under(Policy::Rerun);
    let Ok(Decision::Execute(mut first)) = world.engine.begin(&world.key, request()).await else { panic!() };
    world.let_lease_pass();
    let Ok(Decision::Execute(_second)) = world.engine.begin(&world.key, request()).await else { panic!() };
    let record = world.snapshot().await.record;
    assert_eq!(first.renew().await.unwrap(), Held::No);
    assert!(first.attempt().is_lost());
    assert!(first.attempt().save_checkpoint("x").await.is_err());
    assert!(matches!(first.complete(response("first")).await, Completed::Superseded(None)));
    assert_eq!(first.give_back().await.unwrap(), Held::No);
    assert_eq!(first.renew().await.unwrap(), Held::No);
    assert_eq!(world.snapshot().await.record, record);
}

/// I7: completing again with the same result is success; with another, the caller can tell, and the first stands.
#[tokio::test]
async fn a_second_completion_never_changes_the_first() {
    let world = World::new();
    let Ok(Decision::Execute(mut claim)) = world.engine.begin(&world.key, request()).await else { panic!() };
    assert!(matches!(claim.complete(response("first")).await, Completed::Stored));
    assert!(matches!(claim.complete(response("first")).await, Completed::Stored));
    let Completed::Superseded(Some(stored)) = claim.complete(response("second")).await else { panic!() };
    assert_eq!(stored, StoredResult::Retained(response("first")));
    assert!(world.events.has("conflict"));
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Replayed(response("first")));
}

#[tokio::test]
async fn completing_without_the_body_tells_retries_that_it_is_done() {
    let world = World::new();
    let Ok(Decision::Execute(mut claim)) = world.engine.begin(&world.key, request()).await else { panic!() };
    assert!(matches!(claim.complete_not_retained(response("secret")).await, Completed::Stored));
    let Ok(Decision::NotRetained(head)) = world.engine.begin(&world.key, request()).await else { panic!() };
    assert_eq!(head, response("secret").into_head());
}

#[tokio::test]
async fn a_renewed_claim_is_not_abandoned() {
    let world = World::under(Policy::Rerun);
    let Ok(Decision::Execute(mut claim)) = world.engine.begin(&world.key, request()).await else { panic!() };
    for _ in 0..50 {
        world.clock.advance(super::setup::LEASE - std::time::Duration::from_micros(1));
        assert_eq!(world.summary().await.state, RecordState::InProgress);
        claim.renew().await.unwrap();
    }
    world.let_lease_pass();
    assert_eq!(world.summary().await.state, RecordState::Abandoned);
}

#[tokio::test]
async fn a_suspended_claim_is_taken_over_at_once_with_the_next_number() {
    let world = World::under(Policy::Rerun);
    let Ok(Decision::Execute(mut claim)) = world.engine.begin(&world.key, request()).await else { panic!() };
    claim.attempt().save_checkpoint("step 1").await.unwrap();
    assert_eq!(claim.suspend().await.unwrap(), Held::Yes);
    let Ok(Decision::Execute(next)) = world.engine.begin(&world.key, request()).await else { panic!() };
    assert_eq!(next.attempt().number(), 2);
    assert_eq!(next.attempt().checkpoint().map(|bytes| &bytes[..]), Some(&b"step 1"[..]));
}
