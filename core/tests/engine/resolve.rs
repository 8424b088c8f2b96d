//! What an operator can settle by hand, and what not.

use onceonly::{Answer, Outcome, Policy, RecordState, Resolution, Status, Verdict};
use onceonly_conformance::{Fate, Verb};

use super::setup::{World, charged, response, soon};

async fn parked() -> World {
    let world = World::new();
    world.crashed_attempt(Some("charge sent")).await;
    world.let_lease_pass();
    world
}

#[tokio::test]
async fn b031_a_parked_charge_that_was_made_is_replayed_from_then_on() {
    let world = parked().await;
    let verdict = Verdict::Completed(response("found in the ledger"));
    assert_eq!(world.engine.resolve(&world.key, verdict).await.unwrap(), Resolution::Completed);
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Replayed(response("found in the ledger")));
    assert_eq!(world.executions(), 0);
}

#[tokio::test]
async fn b031_a_parked_charge_that_was_not_made_is_made_by_the_next_caller() {
    let world = parked().await;
    assert_eq!(world.engine.resolve(&world.key, Verdict::NotExecuted).await.unwrap(), Resolution::Released);
    let outcome = world
        .run_with(|attempt| async move {
            assert_eq!((attempt.number(), attempt.checkpoint()), (1, None));
            charged()
        })
        .await;
    assert!(matches!(outcome.unwrap(), Outcome::Executed(_)));
}

#[tokio::test]
async fn a_verdict_of_unknown_changes_nothing() {
    let world = parked().await;
    let record = world.snapshot().await.record;
    assert_eq!(world.engine.resolve(&world.key, Verdict::Unknown).await.unwrap(), Resolution::StillUnknown);
    assert_eq!(world.snapshot().await.record, record);
}

#[tokio::test]
async fn what_is_not_abandoned_is_not_resolved() {
    let world = World::new();
    let resolve = async |verdict| world.engine.resolve(&world.key, verdict).await.unwrap();
    assert_eq!(resolve(Verdict::NotExecuted).await, Resolution::NotFound);

    let started = world.start().await;
    let record = world.snapshot().await.record;
    let Resolution::NotAbandoned(summary) = resolve(Verdict::NotExecuted).await else {
        panic!("a live lease")
    };
    assert_eq!(summary.state, RecordState::InProgress);
    assert_eq!(world.snapshot().await.record, record);

    started.finish(charged()).await.unwrap();
    let Resolution::NotAbandoned(summary) = resolve(Verdict::NotExecuted).await else { panic!("completed") };
    assert_eq!(summary.state, RecordState::Completed);
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Replayed(response("charged")));
}

/// The holder completes between the operator's look and claim: its result stands.
#[tokio::test]
async fn a_holder_that_completes_first_is_not_overruled() {
    let world = World::new();
    let started = world.start().await;
    world.let_lease_pass();
    let gate = world.fates.hold_next(Verb::Claim);
    let resolving = tokio::spawn({
        let world = world.clone();
        async move { world.engine.resolve(&world.key, Verdict::NotExecuted).await.unwrap() }
    });
    soon(gate.arrived()).await;
    started.finish(charged()).await.unwrap();
    gate.open();
    let resolution = resolving.await.unwrap();
    assert!(
        matches!(resolution, Resolution::Changed(ref summary) if summary.state == RecordState::Completed)
    );
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Replayed(response("charged")));
}

/// After the operator said that nothing happened, the late holder's result is refused: somebody else may have begun.
#[tokio::test]
async fn a_holder_that_completes_after_the_verdict_is_refused() {
    let world = World::new();
    let started = world.start().await;
    world.let_lease_pass();
    assert_eq!(world.engine.resolve(&world.key, Verdict::NotExecuted).await.unwrap(), Resolution::Released);
    started.finish(Answer::Final(response("late"))).await.unwrap();
    assert_eq!(world.status().await, Status::Released);
    assert!(world.events.has("superseded"));
}

#[tokio::test]
async fn lost_requests_and_replies_do_not_spoil_a_verdict() {
    for verb in [Verb::Claim, Verb::Release] {
        for fate in [Fate::LoseRequest, Fate::LoseReply] {
            let world = parked().await;
            world.fates.next(verb, fate.clone());
            let resolution = world.engine.resolve(&world.key, Verdict::NotExecuted).await.unwrap();
            assert_eq!(resolution, Resolution::Released, "{verb:?} {fate:?}");
            assert_eq!(world.status().await, Status::Released, "{verb:?} {fate:?}");
        }
    }
}

#[tokio::test]
async fn an_operator_settles_what_any_policy_left() {
    let world = World::under(Policy::Rerun);
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    let verdict = Verdict::Completed(response("found"));
    assert_eq!(world.engine.resolve(&world.key, verdict).await.unwrap(), Resolution::Completed);
}

/// Between the operator's look and claim another attempt ran and was abandoned: the verdict does not speak of it.
#[tokio::test]
async fn a_verdict_is_not_applied_to_a_later_attempt() {
    let world = parked().await;
    let rerun = world.configured(|settings| settings.policy(Policy::Rerun));
    let gate = world.fates.hold_next(Verb::Claim);
    let resolving = tokio::spawn({
        let world = world.clone();
        async move { world.engine.resolve(&world.key, Verdict::NotExecuted).await.unwrap() }
    });
    soon(gate.arrived()).await;
    let outcome = rerun.run_with(|_| async { panic!("in mid-charge") }).await;
    assert!(outcome.is_err());
    world.let_lease_pass();
    let record = world.snapshot().await.record;
    gate.open();
    let Resolution::Changed(summary) = soon(resolving).await.unwrap() else {
        panic!("an effect is forgotten")
    };
    assert_eq!((summary.state, summary.attempt), (RecordState::Abandoned, 2));
    assert_eq!(world.snapshot().await.record, record);
}
