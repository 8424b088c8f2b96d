//! Callers that wait for the result of the operation that runs.

use std::time::Duration;

use onceonly::{Answer, Decision, Outcome, Policy, StoredResponse, Waiting};
use onceonly_conformance::{Fate, Verb};

use super::setup::{World, another_request, charged, response, soon, until};

fn waiting(longest: Duration) -> World {
    World::with(|settings| settings.waiting(Waiting::UpTo(longest)))
}

#[tokio::test]
async fn a_waiting_caller_is_answered_with_the_result() {
    let world = waiting(Duration::from_secs(600));
    let started = world.start().await;
    let waiter = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await.unwrap() }
    });
    soon(world.fates.arrived(Verb::Load, 2)).await;
    started.finish(charged()).await.unwrap();
    assert_eq!(waiter.await.unwrap(), Outcome::Replayed(response("charged")));
    assert_eq!(world.executions(), 1);
}

#[tokio::test(start_paused = true)]
async fn waiting_ends_with_its_time() {
    let world = waiting(Duration::from_secs(10));
    world.crashed_attempt(None).await;
    let claims = world.fates.count(Verb::Claim);
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::InProgress(_)));
    // Ten seconds of the runtime's time, a look every half second at the longest.
    assert!(world.fates.count(Verb::Load) >= 20, "{} looks", world.fates.count(Verb::Load));
    assert_eq!(world.fates.count(Verb::Claim), claims + 1, "waiting claims over and over");
}

/// The lease of what it waits for runs out meanwhile: the waiter is told, or takes over, as its policy says.
#[tokio::test]
async fn a_waiting_caller_follows_its_policy_when_the_holder_vanishes() {
    for (policy, executed) in [(Policy::Park, false), (Policy::Rerun, true)] {
        let world =
            World::with(|settings| settings.waiting(Waiting::UpTo(Duration::from_secs(600))).policy(policy));
        world.crashed_attempt(None).await;
        let waiter = tokio::spawn({
            let world = world.clone();
            async move { world.run(charged()).await.unwrap() }
        });
        soon(world.fates.arrived(Verb::Load, 1)).await;
        world.let_lease_pass();
        let outcome = waiter.await.unwrap();
        assert_eq!(matches!(outcome, Outcome::Executed(_)), executed, "{outcome:?}");
        assert_eq!(matches!(outcome, Outcome::Abandoned(_)), !executed, "{outcome:?}");
    }
}

#[tokio::test]
async fn a_waiting_caller_executes_when_the_key_is_given_back() {
    let world = waiting(Duration::from_secs(600));
    let started = world.start().await;
    let waiter = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await.unwrap() }
    });
    soon(world.fates.arrived(Verb::Load, 1)).await;
    started.finish(Answer::NoEffect(StoredResponse::new(503, "later"))).await.unwrap();
    assert_eq!(waiter.await.unwrap(), Outcome::Executed(response("charged")));
}

/// The key belongs to another request by the time of the next look, and that one runs: waiting for it is of no use.
#[tokio::test]
async fn the_fingerprint_is_checked_again_at_every_look() {
    let world = waiting(Duration::from_secs(600));
    let started = world.start().await;
    let waiter = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await.unwrap() }
    });
    soon(world.fates.arrived(Verb::Load, 1)).await;
    // Looks fail while the key changes hands, so that the waiter cannot get in between.
    world.fates.always(Verb::Load, Fate::LoseRequest);
    started.finish(Answer::NoEffect(StoredResponse::new(503, "later"))).await.unwrap();
    let Ok(Decision::Execute(other)) = world.engine.begin(&world.key, another_request()).await else {
        panic!()
    };
    world.fates.heal();
    let outcome =
        tokio::time::timeout(Duration::from_secs(60), waiter).await.expect("it waits for another request");
    let outcome = outcome.unwrap();
    assert!(matches!(outcome, Outcome::HashMismatch(_)), "{outcome:?}");
    drop(other);
}

#[tokio::test]
async fn a_waiting_caller_that_leaves_stops_looking() {
    let world = waiting(Duration::from_secs(600));
    let started = world.start().await;
    let waiter = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await }
    });
    soon(world.fates.arrived(Verb::Load, 1)).await;
    waiter.abort();
    drop(waiter.await);
    // The operation that waited is over once the drain is down to the one that runs.
    until(async || world.engine.drain(Duration::ZERO).await.unfinished == 1).await;
    started.finish(charged()).await.unwrap();
}

/// The store does not answer the look: the time is up all the same.
#[tokio::test(start_paused = true)]
async fn waiting_ends_with_its_time_also_if_a_look_hangs() {
    let world = waiting(Duration::from_secs(5));
    world.crashed_attempt(None).await;
    let _gate = world.fates.hold_next(Verb::Load);
    let outcome = soon(world.run(charged())).await.unwrap();
    assert!(matches!(outcome, Outcome::InProgress(_)), "{outcome:?}");
}

/// Neither the rest of a pause nor a look that hangs is waited for on behalf of a caller who has gone.
#[tokio::test(start_paused = true)]
async fn a_waiting_caller_that_leaves_is_over_at_once() {
    for look_hangs in [false, true] {
        let world = waiting(Duration::from_secs(600));
        world.crashed_attempt(None).await;
        let waiter = tokio::spawn({
            let world = world.clone();
            async move { world.run(charged()).await }
        });
        // By now it pauses for half a second between two looks.
        soon(world.fates.over(Verb::Load, 20)).await;
        if look_hangs {
            soon(world.fates.hold_next(Verb::Load).arrived()).await;
        }
        waiter.abort();
        drop(waiter.await);
        // No time passes: the runtime's clock stands still while there is something to do.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        assert_eq!(world.engine.drain(Duration::ZERO).await.unfinished, 0, "look hangs: {look_hangs}");
    }
}
