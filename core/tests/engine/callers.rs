//! Callers that go away, at every poll.

use std::time::Duration;

use onceonly::{Answer, Decision, Outcome, Policy, RecordState, Status, StoredResponse};
use onceonly_conformance::{Fate, Verb, drop_at, sweep};

use super::setup::{World, another_request, charged, request, response, soon, until};

/// B083: a client that hangs up while its handler runs. The retry is answered with the result.
#[tokio::test]
async fn a_client_that_hangs_up_leaves_a_finished_operation() {
    let world = World::new();
    let started = world.start().await;
    started.caller.abort();
    started.conclude.send(charged()).unwrap();
    until(async || matches!(world.run(charged()).await.unwrap(), Outcome::Replayed(_))).await;
    assert_eq!(world.executions(), 1);
}

/// D1 for `run`: whenever its future is dropped, the key is free, or its operation comes to its end.
#[tokio::test]
async fn run_dropped_at_any_poll_never_leaves_an_abandoned_key() {
    sweep(async |point| {
        let world = World::new();
        let polled = drop_at(world.run(charged()), point).await;
        let done = Outcome::Replayed(response("charged"));
        let mut retries = Vec::new();
        until(async || {
            retries.push(world.run(charged()).await.unwrap());
            retries.last() == Some(&done)
        })
        .await;
        assert!(!retries.iter().any(|outcome| matches!(outcome, Outcome::Abandoned(_))), "{point:?}");
        assert_eq!(world.executions(), 1, "{point:?}");
        polled
    })
    .await;
}

/// D1 for `begin`: a claim that nobody took is given back.
#[tokio::test]
async fn begin_dropped_at_any_poll_gives_its_claim_back() {
    sweep(async |point| {
        let world = World::new();
        let polled = drop_at(world.engine.begin(&world.key, request()), point).await;
        if let onceonly_conformance::Polled::Ready(decision) = polled {
            let Ok(Decision::Execute(mut claim)) = decision else { panic!("{decision:?}") };
            claim.give_back().await.unwrap();
            return onceonly_conformance::Polled::Ready(());
        }
        until(async || matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_))).await;
        onceonly_conformance::Polled::Dropped
    })
    .await;
}

/// The caller leaves while the claim is on its way: the grant is given back by whoever learns of it.
#[tokio::test]
async fn a_grant_that_nobody_awaits_is_released() {
    let world = World::new();
    let gate = world.fates.hold_next_reply(Verb::Claim);
    let caller = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await }
    });
    soon(gate.arrived()).await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    gate.open();
    until(async || world.status().await == Status::Released).await;
    assert_eq!(world.executions(), 0);
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
}

/// As `NoEffect` on attempt 2: what the dropped caller did not do says nothing of the attempt before it.
#[tokio::test]
async fn a_takeover_that_nobody_awaits_keeps_what_the_first_attempt_left() {
    let world = World::under(Policy::Rerun);
    world.crashed_attempt(Some("charge sent")).await;
    world.let_lease_pass();
    world.fates.next(Verb::Claim, Fate::Pass);
    let gate = world.fates.hold_next_reply(Verb::Claim);
    let caller = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await }
    });
    soon(gate.arrived()).await;
    caller.abort();
    assert!(caller.await.unwrap_err().is_cancelled());
    gate.open();
    until(async || world.summary().await.state == RecordState::Abandoned).await;
    let Status::InProgress { checkpoint } = world.status().await else { panic!("released") };
    assert_eq!(checkpoint.as_deref(), Some(&b"charge sent"[..]));
}

/// B007: a duplicate that is refused, and then fails in any way, does not touch the winner's record.
#[tokio::test]
async fn b007_a_refused_duplicate_leaves_the_winners_record_alone() {
    let world = World::new();
    let started = world.start().await;
    let before = world.snapshot().await;
    for _ in 0..3 {
        assert!(matches!(world.run(charged()).await.unwrap(), Outcome::InProgress(_)));
    }
    let refused = world.engine.run(&world.key, another_request(), |_| async { charged() }).await.unwrap();
    assert!(matches!(refused, Outcome::HashMismatch(_)));
    // Cancelled while its claim is on the way, and ended by a panic.
    let gate = world.fates.hold_next_reply(Verb::Claim);
    let cancelled = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await }
    });
    soon(gate.arrived()).await;
    cancelled.abort();
    drop(cancelled.await);
    gate.open();
    let panicked = tokio::spawn({
        let world = world.clone();
        async move {
            let outcome = world.run(charged()).await;
            panic!("refused: {outcome:?}");
        }
    });
    assert!(panicked.await.unwrap_err().is_panic());
    assert_eq!(world.snapshot().await.record, before.record);
    assert!(matches!(started.finish(charged()).await.unwrap(), Outcome::Executed(_)));
}

/// B032: decoding fails before the handler has done anything.
#[tokio::test]
async fn b032_a_handler_that_cannot_begin_gives_the_key_back() {
    let world = World::new();
    world.run(Answer::NoEffect(StoredResponse::new(400, "cannot decode"))).await.unwrap();
    assert_eq!(world.status().await, Status::Released);
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
}

/// D3: many callers that vanish at random moments, and at the end one result.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn callers_that_vanish_at_any_moment_leave_one_result() {
    let world = World::new();
    for microseconds in 0..300 {
        let caller = tokio::spawn({
            let world = world.clone();
            async move {
                world
                    .run_with(|_| async {
                        tokio::task::yield_now().await;
                        charged()
                    })
                    .await
            }
        });
        tokio::time::sleep(Duration::from_micros(microseconds % 60)).await;
        caller.abort();
    }
    until(async || {
        matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_) | Outcome::Replayed(_))
    })
    .await;
    assert_eq!(world.executions(), 1);
}
