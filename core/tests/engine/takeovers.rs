//! What a takeover keeps of the record, and what not.

use onceonly::{Decision, Fingerprints, Outcome, Policy};
use onceonly_conformance::{Fate, Verb};

use super::setup::{HOUR, World, another_request, charged, request, soon};

/// An instance of a newer release takes over, with a newer algorithm. An instance of the older one still has to
/// recognise its request.
#[tokio::test]
async fn a_takeover_keeps_the_fingerprint() {
    let world = World::under(Policy::Rerun);
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    let newer = Fingerprints::from(another_request()).or(request());
    let Ok(Decision::Execute(claim)) = world.engine.begin(&world.key, newer).await else {
        panic!("not granted")
    };
    assert_eq!(world.snapshot().await.record.fingerprint, request());
    let retry = world.run(charged()).await.unwrap();
    assert!(matches!(retry, Outcome::InProgress(_)), "an honest retry is refused: {retry:?}");
    drop(claim);
}

/// The takeover landed, and its caller learns of it when all is long past its time: there is nothing left to take over.
#[tokio::test]
async fn an_own_takeover_found_past_its_time_begins_afresh() {
    let world = World::under(Policy::Rerun);
    world.crashed_attempt(Some("charge sent")).await;
    world.let_lease_pass();
    world.fates.next(Verb::Claim, Fate::Pass);
    world.fates.next(Verb::Claim, Fate::LoseReply);
    let gate = world.fates.hold_next(Verb::Claim);
    let caller = tokio::spawn({
        let world = world.clone();
        async move {
            world
                .run_with(|attempt| async move {
                    assert_eq!((attempt.number(), attempt.checkpoint()), (1, None));
                    charged()
                })
                .await
        }
    });
    soon(gate.arrived()).await;
    world.clock.advance(31 * 24 * HOUR);
    gate.open();
    let outcome = soon(caller).await.unwrap();
    assert!(matches!(outcome, Ok(Outcome::Executed(_))), "{outcome:?}");
}
