//! The sweeper.

use std::sync::Arc;
use std::time::Duration;

use onceonly::{
    Expected, Fingerprint, IdempotencyKey, KeyStore, NewClaim, RecordKey, Scope, Span, StoreErrorKind,
    Sweeper, Token,
};
use onceonly_conformance::{Fate, Verb};

use super::setup::{World, soon, until_much_later};

async fn claim(world: &World, keep: Duration) -> RecordKey {
    let key = RecordKey::new(Scope::global(), IdempotencyKey::generate());
    let span = |duration| Span::new(duration).unwrap();
    let claim = NewClaim {
        token: Token::random(),
        fingerprint: Fingerprint::builder().finish(),
        attempt: 1,
        checkpoint: None,
        lease: span(Duration::from_secs(1)),
        keep: span(keep),
        keep_unresolved: span(keep),
    };
    world.fates.claim(&key, &claim, Expected::Absent).await.unwrap();
    key
}

/// B095, B097: batch by batch, until nothing is left that is past its time; nothing live goes.
#[tokio::test(start_paused = true)]
async fn b095_everything_past_its_time_goes_and_nothing_else() {
    let world = World::new();
    let mut past = Vec::new();
    for _ in 0..95 {
        past.push(claim(&world, Duration::from_secs(10)).await);
    }
    let live = claim(&world, Duration::from_secs(11)).await;
    world.clock.advance(Duration::from_secs(10));
    let sweeping = world.engine.sweeper().batch(10).interval(Duration::from_secs(5)).start();
    soon(world.fates.over(Verb::PurgeExpired, 10)).await;
    for key in past {
        assert_eq!(world.fates.load(&key).await.unwrap(), None);
    }
    assert!(world.fates.load(&live).await.unwrap().is_some());
    sweeping.stop().await;
    let swept = world.fates.count(Verb::PurgeExpired);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(world.fates.count(Verb::PurgeExpired), swept, "it sweeps on after its end");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_swept_again_later() {
    let world = World::new();
    let key = claim(&world, Duration::from_secs(1)).await;
    world.clock.advance(Duration::from_secs(1));
    for kind in [StoreErrorKind::Unavailable, StoreErrorKind::Rejected] {
        world.fates.next(Verb::PurgeExpired, Fate::Fail(kind));
    }
    let _sweeping = Sweeper::new(Arc::new(world.fates.clone())).start();
    until_much_later(async || world.fates.load(&key).await.unwrap().is_none()).await;
    assert_eq!(world.fates.count(Verb::PurgeExpired), 3);
}

#[tokio::test(start_paused = true)]
async fn a_sweeper_whose_handle_is_gone_ends() {
    let world = World::new();
    let sweeping = world.engine.sweeper().interval(Duration::from_millis(1)).start();
    soon(world.fates.arrived(Verb::PurgeExpired, 3)).await;
    drop(sweeping);
    tokio::task::yield_now().await;
    let swept = world.fates.count(Verb::PurgeExpired);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(world.fates.count(Verb::PurgeExpired) <= swept + 1);
}
