//! Renewals that are not answered, and renewals of claims whose handler is not running yet or no more.

use std::time::Duration;

use onceonly::{Outcome, Policy, Verdict};
use onceonly_conformance::Verb;

use super::setup::{World, charged, soon, until};

/// It is given up after a third of the lease, so that the next one can go out.
#[tokio::test]
async fn a_renewal_without_an_answer_is_given_up() {
    let world = World::with(|settings| settings.lease(Duration::from_millis(60)));
    let started = world.start().await;
    let gate = world.fates.hold_next(Verb::Renew);
    soon(gate.arrived()).await;
    let held = world.renewals();
    // Another claim's renewals, of the same lease, say how long it takes.
    world.let_heart_beat(12).await;
    assert!(world.renewals() > held, "the next renewal does not go out");
    started.finish(charged()).await.unwrap();
}

/// The handler concludes while the last renewal of its lease is on its way, unanswered.
#[tokio::test]
async fn a_renewal_that_fails_after_the_handler_concluded_is_not_reported_as_lost() {
    let world = World::with(|settings| settings.lease(Duration::from_secs(6)).policy(Policy::Rerun));
    let started = world.start().await;
    // The first is given up after two thirds of the lease; the second would be after the whole of it.
    let _first = world.fates.hold_next(Verb::Renew);
    let second = world.fates.hold_next(Verb::Renew);
    soon(second.arrived()).await;
    assert!(matches!(started.finish(charged()).await.unwrap(), Outcome::Executed(_)));
    world.let_heart_beat(2).await;
    assert!(!world.events.has("lost"), "{:?}", world.events.names());
}

/// A question to a provider takes its time, and the claim it is asked under must outlast it.
#[tokio::test]
async fn a_claim_is_renewed_while_the_question_about_an_earlier_attempt_is_out() {
    let (asking, mut is_asking) = tokio::sync::mpsc::unbounded_channel();
    let (answer, answered) = tokio::sync::watch::channel(false);
    let policy = Policy::resolve(move |_| {
        asking.send(()).unwrap();
        let mut answered = answered.clone();
        async move {
            answered.wait_for(|answered| *answered).await.unwrap();
            Verdict::NotExecuted
        }
    });
    let world = World::with(|settings| settings.lease(Duration::from_millis(600)).policy(policy));
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    let caller = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await.unwrap() }
    });
    soon(is_asking.recv()).await.unwrap();
    until(async || world.renewals() >= 3).await;
    assert_eq!(world.executions(), 0);
    answer.send(true).unwrap();
    assert!(matches!(soon(caller).await.unwrap(), Outcome::Executed(_)));
}

/// A store that does not answer at all, instead of failing: the handler is told while its lease still stands.
#[tokio::test]
async fn a_store_that_hangs_under_rerun_tells_the_handler_before_the_lease_ends() {
    let world = World::with(|settings| settings.lease(Duration::from_secs(6)).policy(Policy::Rerun));
    let started = world.start().await;
    world.fates.always(Verb::Renew, onceonly_conformance::Fate::Hold(onceonly_conformance::Gate::new()));
    soon(started.attempt.lost()).await;
    assert!(!started.attempt.lease_remaining().is_zero(), "told only after somebody may have taken over");
    started.finish(charged()).await.unwrap();
}
