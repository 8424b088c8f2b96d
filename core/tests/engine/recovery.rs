//! Abandoned operations under each policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use onceonly::{
    Abandoned, Answer, KeyStore, Outcome, Policy, RecordState, RunError, StoredResponse, Verdict,
};
use onceonly_conformance::{Fate, Verb};

use super::setup::{HOUR, World, another_request, charged, response, soon, until};

/// Asks nothing: always the same verdict. Counts how often it was asked.
fn resolver(verdict: Verdict) -> (Policy, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let policy = Policy::resolve(move |_: Abandoned| {
        count.fetch_add(1, Ordering::SeqCst);
        let verdict = verdict.clone();
        async move { verdict }
    });
    (policy, asked)
}

/// Leaves a claim as the engine makes it, with the deadlines of its settings.
async fn abandon(world: &World) {
    let outcome = world.run_with(|_| async { panic!("in mid-charge") }).await;
    assert!(matches!(outcome, Err(RunError::Panicked)), "{outcome:?}");
}

#[tokio::test]
async fn b031_park_executes_nothing_and_tells_what_was_abandoned() {
    let world = World::new();
    world.crashed_attempt(Some("charge sent")).await;
    world.let_lease_pass();
    let before = world.snapshot().await.record;
    let Outcome::Abandoned(abandoned) = world.run(charged()).await.unwrap() else { panic!("not parked") };
    assert_eq!((abandoned.attempt, abandoned.checkpoint.as_deref()), (1, Some(&b"charge sent"[..])));
    assert_eq!((world.executions(), world.snapshot().await.record), (0, before));
    assert!(!format!("{abandoned:?}").contains("charge sent"), "a checkpoint is shown in a log");
}

/// An abandoned charge is not forgotten, and made again, just because a day has passed.
#[tokio::test]
async fn a_parked_key_is_still_parked_after_26_hours() {
    let world = World::new();
    abandon(&world).await;
    world.clock.advance(26 * HOUR);
    assert_eq!(world.fates.purge_expired(1_000).await.unwrap(), 0);
    let outcome = world.run(charged()).await.unwrap();
    assert!(matches!(outcome, Outcome::Abandoned(_)), "the charge is made twice: {outcome:?}");
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn a_parked_key_is_forgotten_after_its_30_days_and_not_before() {
    let world = World::new();
    abandon(&world).await;
    world.clock.advance(30 * 24 * HOUR - std::time::Duration::from_micros(1));
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Abandoned(_)));
    world.clock.advance(std::time::Duration::from_micros(1));
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
    assert_eq!(world.snapshot().await.record.attempt, 1);
}

#[tokio::test]
async fn another_request_for_a_parked_key_is_a_mismatch() {
    let world = World::new();
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    let outcome = world.engine.run(&world.key, another_request(), |_| async { charged() }).await.unwrap();
    assert!(matches!(outcome, Outcome::HashMismatch(_)), "{outcome:?}");
}

/// The holder was only slow: its late result ends the parking.
#[tokio::test]
async fn a_parked_holder_that_completes_late_is_accepted() {
    let world = World::new();
    let started = world.start().await;
    world.let_lease_pass();
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Abandoned(_)));
    assert_eq!(started.finish(charged()).await.unwrap(), Outcome::Executed(response("charged")));
    assert!(world.events.has("late"));
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Replayed(response("charged")));
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn rerun_executes_again_with_the_next_number_and_the_checkpoint() {
    let world = World::under(Policy::Rerun);
    world.crashed_attempt(Some("charge sent")).await;
    world.let_lease_pass();
    let outcome = world
        .run_with(|attempt| async move {
            assert_eq!((attempt.number(), attempt.recovered()), (2, true));
            assert_eq!(attempt.checkpoint().map(|bytes| &bytes[..]), Some(&b"charge sent"[..]));
            charged()
        })
        .await;
    assert!(matches!(outcome.unwrap(), Outcome::Executed(_)));
    assert!(world.events.has("taken_over"));
}

#[tokio::test]
async fn of_many_callers_one_takes_over() {
    let world = World::under(Policy::Rerun);
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    let callers: Vec<_> = (0..32)
        .map(|_| {
            let world = world.clone();
            tokio::spawn(async move { world.run(charged()).await.unwrap() })
        })
        .collect();
    for caller in callers {
        caller.await.unwrap();
    }
    assert_eq!(world.executions(), 1);
}

/// B019, B020, B154: the first holder wakes up after a second one has finished. Its result is refused, and its caller
/// is told what everybody else is told.
#[tokio::test]
async fn a_superseded_holder_answers_its_caller_from_the_record() {
    let world = World::under(Policy::Rerun);
    let first = world.start().await;
    world.let_lease_pass();
    world.run(Answer::Final(response("second"))).await.unwrap();
    let record = world.snapshot().await.record;
    let outcome = first.finish(Answer::Final(response("first"))).await.unwrap();
    assert_eq!(outcome, Outcome::Replayed(response("second")), "two callers are told two results");
    assert_eq!(world.snapshot().await.record, record);
    assert!(world.events.has("superseded"));
}

#[tokio::test]
async fn a_holder_superseded_by_one_that_still_runs_tells_its_caller_to_come_back() {
    let world = World::under(Policy::Rerun);
    let first = world.start().await;
    world.let_lease_pass();
    let second = world.start().await;
    let outcome = first.finish(Answer::Final(response("first"))).await.unwrap();
    assert!(matches!(outcome, Outcome::InProgress(_)), "{outcome:?}");
    assert_eq!(second.finish(charged()).await.unwrap(), Outcome::Executed(response("charged")));
}

/// B020: the earlier holder gives back, and it is not its to give.
#[tokio::test]
async fn a_superseded_holder_without_effect_leaves_the_record_alone() {
    let world = World::under(Policy::Rerun);
    let first = world.start().await;
    world.let_lease_pass();
    let second = world.start().await;
    let record = world.snapshot().await.record;
    first.finish(Answer::NoEffect(StoredResponse::new(503, "later"))).await.unwrap();
    assert_eq!(world.snapshot().await.record, record);
    second.finish(charged()).await.unwrap();
}

/// B005: the taker looked, then the holder finished. The takeover expects the version it saw, fails, and replays.
#[tokio::test]
async fn b005_a_takeover_from_a_stale_look_replays_the_finished_result() {
    let world = World::under(Policy::Rerun);
    let first = world.start().await;
    world.let_lease_pass();
    world.fates.next(Verb::Claim, Fate::Pass);
    let gate = world.fates.hold_next(Verb::Claim);
    let taker = tokio::spawn({
        let world = world.clone();
        async move { world.run(Answer::Final(response("second"))).await.unwrap() }
    });
    soon(gate.arrived()).await;
    first.finish(charged()).await.unwrap();
    gate.open();
    assert_eq!(taker.await.unwrap(), Outcome::Replayed(response("charged")));
    assert_eq!(world.executions(), 1, "a finished charge is made again");
}

/// The same with a renewal in between: the token is the same, the revision is not.
#[tokio::test]
async fn a_takeover_from_a_look_before_a_renewal_is_refused() {
    let world = World::under(Policy::Rerun);
    let first = world.start().await;
    world.let_lease_pass();
    world.fates.next(Verb::Claim, Fate::Pass);
    let gate = world.fates.hold_next(Verb::Claim);
    let taker = tokio::spawn({
        let world = world.clone();
        async move { world.run(Answer::Final(response("second"))).await.unwrap() }
    });
    soon(gate.arrived()).await;
    first.attempt.save_checkpoint("still here").await.unwrap();
    gate.open();
    let outcome = taker.await.unwrap();
    assert!(matches!(outcome, Outcome::InProgress(_)), "a live claim was displaced: {outcome:?}");
    first.finish(charged()).await.unwrap();
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn resolve_completed_stores_the_response_and_executes_nothing() {
    let (policy, asked) = resolver(Verdict::Completed(response("found in the ledger")));
    let world = World::under(policy);
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    let found = Outcome::Replayed(response("found in the ledger"));
    assert_eq!(world.run(charged()).await.unwrap(), found);
    assert_eq!(world.run(charged()).await.unwrap(), found);
    assert_eq!((world.executions(), asked.load(Ordering::SeqCst)), (0, 1));
}

#[tokio::test]
async fn resolve_not_executed_runs_under_the_same_claim() {
    let (policy, asked) = resolver(Verdict::NotExecuted);
    let world = World::under(policy);
    world.crashed_attempt(Some("charge sent")).await;
    world.let_lease_pass();
    let outcome = world
        .run_with(|attempt| async move {
            assert_eq!(attempt.number(), 2);
            assert_eq!(attempt.checkpoint().map(|bytes| &bytes[..]), Some(&b"charge sent"[..]));
            charged()
        })
        .await;
    assert!(matches!(outcome.unwrap(), Outcome::Executed(_)));
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(world.fates.count(Verb::Claim), 3, "the handler ran under another claim than the question");
}

#[tokio::test]
async fn resolve_unknown_ends_the_lease_and_asks_the_next_caller_again() {
    let (policy, asked) = resolver(Verdict::Unknown);
    let world = World::under(policy);
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Abandoned(_)));
    assert_eq!(world.summary().await.state, RecordState::Abandoned);
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Abandoned(_)));
    assert_eq!((world.executions(), asked.load(Ordering::SeqCst)), (0, 2));
}

#[tokio::test]
async fn a_question_that_panics_is_a_question_without_an_answer() {
    let world = World::under(Policy::resolve(|_| async { panic!("the ledger's client broke") }));
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Abandoned(_)));
    assert_eq!((world.summary().await.state, world.executions()), (RecordState::Abandoned, 0));
}

/// The claim is lost while the question is out: the answer is no longer this caller's to act on.
#[tokio::test]
async fn an_answer_that_comes_after_the_claim_was_lost_executes_nothing() {
    let (asking, mut is_asking) = tokio::sync::mpsc::unbounded_channel();
    let (answer, answered) = tokio::sync::watch::channel(false);
    let world = World::under(Policy::resolve(move |_| {
        asking.send(()).unwrap();
        let mut answered = answered.clone();
        async move {
            answered.wait_for(|answered| *answered).await.unwrap();
            Verdict::NotExecuted
        }
    }));
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    let first = tokio::spawn({
        let world = world.clone();
        async move { world.run(Answer::Final(response("first"))).await.unwrap() }
    });
    soon(is_asking.recv()).await.unwrap();
    world.let_lease_pass();
    let rerun = world.configured(|settings| settings.policy(Policy::Rerun));
    assert!(matches!(rerun.run(Answer::Final(response("second"))).await.unwrap(), Outcome::Executed(_)));
    answer.send(true).unwrap();
    assert_eq!(first.await.unwrap(), Outcome::Replayed(response("second")));
    assert_eq!(world.executions(), 1, "two handlers ran");
}

/// B017: lease and retention are separate: under Rerun a crashed holder blocks its key for its lease only.
#[tokio::test]
async fn b017_a_crash_blocks_the_key_for_the_lease_and_not_for_the_retention() {
    let world = World::under(Policy::Rerun);
    world.crashed_attempt(None).await;
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::InProgress(_)));
    world.let_lease_pass();
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
}

/// The caller that asks goes away: the takeover is not released, since the first attempt may have had its effect.
#[tokio::test]
async fn a_caller_that_leaves_while_its_question_is_out_forgets_nothing() {
    let (asking, mut is_asking) = tokio::sync::mpsc::unbounded_channel();
    let (answer, answered) = tokio::sync::watch::channel(false);
    let world = World::under(Policy::resolve(move |_| {
        asking.send(()).unwrap();
        let mut answered = answered.clone();
        async move {
            answered.wait_for(|answered| *answered).await.unwrap();
            Verdict::NotExecuted
        }
    }));
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    let caller = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await }
    });
    soon(is_asking.recv()).await.unwrap();
    caller.abort();
    drop(caller.await);
    answer.send(true).unwrap();
    until(async || world.summary().await.state == RecordState::Abandoned).await;
    assert_eq!((world.summary().await.attempt, world.executions()), (2, 0));
}
