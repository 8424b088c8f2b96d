//! What an outage leaves behind, who is told, and when.

use std::sync::Arc;
use std::time::Duration;

use onceonly::{
    Answer, Outcome, Policy, RecordState, RunError, Status, StoreErrorKind, StoredResponse, Verdict,
};
use onceonly_conformance::{Fate, Verb};

use super::setup::{World, charged, request, response, soon, until};

/// What the handler holds, a request's body for one, is not kept for as long as the claim is looked for.
#[tokio::test(start_paused = true)]
async fn a_caller_that_was_told_lets_go_of_its_handler() {
    let world = World::new();
    world.fates.cut();
    let body = Arc::new(());
    let held = Arc::clone(&body);
    let told = world
        .run_with(move |_| async move {
            drop(held);
            charged()
        })
        .await;
    assert!(matches!(told, Err(RunError::Store(_))), "{told:?}");
    let claims = world.fates.count(Verb::Claim);
    soon(world.fates.arrived(Verb::Claim, claims + 1)).await;
    assert_eq!(Arc::strong_count(&body), 1, "held on while the claim is looked for");
}

/// The first copy landed, and its repetition is refused for good: the claim is nobody's, and blocks the key.
#[tokio::test(start_paused = true)]
async fn a_claim_that_landed_is_given_back_also_after_a_definite_error() {
    for kind in [StoreErrorKind::Rejected, StoreErrorKind::Corrupt] {
        let world = World::new();
        world.fates.next(Verb::Claim, Fate::LoseReply);
        world.fates.next(Verb::Claim, Fate::Fail(kind));
        let told = world.run(charged()).await;
        assert!(matches!(told, Err(RunError::Store(_))), "{kind:?}: {told:?}");
        until(async || world.status().await == Status::Released).await;

        let world = World::new();
        world.fates.next(Verb::Claim, Fate::LoseReply);
        world.fates.next(Verb::Claim, Fate::Fail(kind));
        assert!(world.engine.begin(&world.key, request()).await.is_err(), "{kind:?}");
        until(async || world.status().await == Status::Released).await;
    }
}

/// How long the question took has nothing to do with how long the store has been away.
#[tokio::test(start_paused = true)]
async fn a_long_question_uses_up_no_patience_with_the_store() {
    let world = World::under(Policy::resolve(|_| async {
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        Verdict::NotExecuted
    }));
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    // Away before the question, and once more after it.
    world.fates.next(Verb::Claim, Fate::LoseRequest);
    world.fates.next(Verb::Renew, Fate::LoseRequest);
    let outcome = world.run(charged()).await;
    assert!(matches!(outcome, Ok(Outcome::Executed(_))), "{outcome:?}");
    assert_eq!(world.fates.count(Verb::Renew), 2);
}

/// The verdict is in, and the store refuses the renewal under which the handler was to run.
#[tokio::test(start_paused = true)]
async fn a_takeover_that_cannot_be_worked_under_is_given_back() {
    let world = World::under(Policy::resolve(|_| async { Verdict::NotExecuted }));
    world.crashed_attempt(Some("charge sent")).await;
    world.let_lease_pass();
    world.fates.next(Verb::Renew, Fate::Fail(StoreErrorKind::Rejected));
    let told = world.run(charged()).await;
    assert!(matches!(told, Err(RunError::Store(_))), "{told:?}");
    until(async || world.summary().await.state == RecordState::Abandoned).await;
    let Status::InProgress { checkpoint } = world.status().await else { panic!("forgotten") };
    assert_eq!(checkpoint.as_deref(), Some(&b"charge sent"[..]));
    assert_eq!((world.summary().await.attempt, world.executions()), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_completion_that_hangs_is_reported_and_keeps_nobody_waiting() {
    let world = World::new();
    let gate = world.fates.hold_next(Verb::Complete);
    let outcome = soon(world.run(charged())).await.unwrap();
    assert_eq!(outcome, Outcome::Executed(response("charged")));
    until(async || world.events.has("write_delayed")).await;
    gate.open();
    until(async || matches!(world.run(charged()).await.unwrap(), Outcome::Replayed(_))).await;
}

#[tokio::test(start_paused = true)]
async fn a_superseded_holder_is_answered_also_if_the_look_at_the_record_hangs() {
    let world = World::under(Policy::Rerun);
    let first = world.start().await;
    world.let_lease_pass();
    world.run(Answer::Final(response("second"))).await.unwrap();
    let _gate = world.fates.hold_next(Verb::Load);
    let outcome = first.finish(charged()).await.unwrap();
    assert_eq!(outcome, Outcome::Executed(response("charged")));
}

/// Every request is delivered twice, as by a network that retransmits.
#[tokio::test]
async fn requests_that_arrive_twice_change_nothing() {
    for (answer, left) in [
        (charged(), RecordState::Completed),
        (Answer::NotRetained(response("secret")), RecordState::Completed),
        (Answer::NoEffect(StoredResponse::new(503, "later")), RecordState::Abandoned),
    ] {
        let world = World::under(Policy::Rerun);
        for verb in Verb::ALL {
            world.fates.always(verb, Fate::Twice);
        }
        let outcome = world
            .run_with({
                let answer = answer.clone();
                move |attempt| async move {
                    attempt.save_checkpoint("step 1").await.unwrap();
                    answer
                }
            })
            .await;
        assert!(matches!(outcome, Ok(Outcome::Executed(_))), "{answer:?}: {outcome:?}");
        assert_eq!(world.summary().await.state, left, "{answer:?}");
        for event in ["conflict", "superseded", "lost"] {
            assert!(!world.events.has(event), "{answer:?}: {:?}", world.events.names());
        }
    }
}
