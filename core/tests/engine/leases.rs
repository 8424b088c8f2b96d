//! How long a lease can be relied on, by local time.

use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use onceonly::{Claim, Decision, Event, Held, Idempotency, Observer, Outcome, Policy};
use onceonly_conformance::{Fates, Verb};
use onceonly_memory::MemoryStore;

use super::setup::{LEASE, World, block_until, charged, request, soon, until};

const SHORT: Duration = Duration::from_millis(60);

/// The answer to the claim is lost, and by the time of the next one most of the lease has passed: a third of it from now
/// would be too late.
#[tokio::test]
async fn a_claim_granted_late_is_renewed_before_its_lease_ends() {
    let world = World::under(Policy::Rerun);
    world.fates.next(Verb::Claim, onceonly_conformance::Fate::LoseReply);
    let repeated = world.fates.hold_next(Verb::Claim);
    let renewal = world.fates.hold_next(Verb::Renew);
    let starting = tokio::spawn({
        let world = world.clone();
        async move { world.start().await }
    });
    soon(repeated.arrived()).await;
    world.clock.advance(LEASE * 5 / 6);
    repeated.open();
    let started = soon(starting).await.unwrap();
    soon(renewal.arrived()).await;
    assert!(!started.attempt.lease_remaining().is_zero(), "the first renewal comes after the lease");
    assert!(!started.attempt.is_lost());
    renewal.open();
    started.finish(charged()).await.unwrap();
}

/// The answer to the claim arrives when its lease is over, and somebody has executed meanwhile.
#[tokio::test]
async fn a_claim_granted_after_its_lease_is_not_worked_on() {
    let lease = Duration::from_millis(10);
    let world = World::with(|settings| settings.lease(lease).policy(Policy::Rerun));
    let answer = world.fates.hold_next_reply(Verb::Claim);
    let late = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await.unwrap() }
    });
    soon(answer.arrived()).await;
    world.clock.advance(lease);
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
    let_local_time_pass(lease).await;
    answer.open();
    let outcome = soon(late).await.unwrap();
    assert!(matches!(outcome, Outcome::Replayed(_)), "{outcome:?}");
    assert_eq!(world.executions(), 1, "two handlers ran");
}

/// As for the answer to a claim: what the store says is counted from before it was asked.
#[tokio::test]
async fn a_slow_renewal_shortens_what_can_be_relied_on() {
    let (lease, slow) = (Duration::from_secs(5), Duration::from_millis(50));
    let world = World::with(|settings| settings.lease(lease).policy(Policy::Rerun));
    let mut claim = begin(&world.engine, &world).await;
    let answer = world.fates.hold_next_reply(Verb::Renew);
    let renewing = tokio::spawn(async move {
        assert_eq!(claim.renew().await.unwrap(), Held::Yes);
        claim
    });
    soon(answer.arrived()).await;
    let_local_time_pass(slow).await;
    answer.open();
    let remaining = soon(renewing).await.unwrap().attempt().lease_remaining();
    assert!(remaining <= lease - slow, "{remaining:?} of {lease:?} after {slow:?} on the way");
}

/// Nobody renews the claims of `begin`, and nobody watches them.
#[tokio::test]
async fn a_claim_is_lost_when_its_lease_is_over_where_others_may_take_over() {
    let world = World::with(|settings| settings.lease(SHORT));
    let rerun = world.configured(|settings| settings.policy(Policy::Rerun));
    let parked = begin(&world.engine, &world).await;
    let other = World::new();
    let claim = begin(&rerun.engine, &other).await;
    block_until(|| claim.attempt().is_lost());
    assert!(claim.attempt().lease_remaining().is_zero());
    assert!(parked.attempt().lease_remaining().is_zero());
    assert!(!parked.attempt().is_lost(), "nobody may take over");
}

#[tokio::test]
async fn a_claim_whose_write_was_refused_is_lost() {
    let world = World::under(Policy::Rerun);
    let mut claim = begin(&world.engine, &world).await;
    world.let_lease_pass();
    let _second = begin(&world.engine, &world).await;
    assert!(!claim.attempt().is_lost());
    let waiting = tokio::spawn({
        let attempt = claim.attempt().clone();
        async move { attempt.lost().await }
    });
    assert_eq!(claim.renew().await.unwrap(), Held::No);
    soon(waiting).await.unwrap();
    assert!(claim.attempt().is_lost());
}

#[tokio::test]
async fn nothing_remains_of_a_lease_that_its_holder_ended() {
    let world = World::under(Policy::Rerun);
    let mut claim = begin(&world.engine, &world).await;
    assert!(!claim.attempt().lease_remaining().is_zero());
    assert_eq!(claim.suspend().await.unwrap(), Held::Yes);
    assert!(claim.attempt().lease_remaining().is_zero(), "somebody may have taken over");

    let world = World::new();
    let mut claim = begin(&world.engine, &world).await;
    assert_eq!(claim.give_back().await.unwrap(), Held::Yes);
    assert!(claim.attempt().lease_remaining().is_zero(), "somebody may have begun");
}

/// An observer holds the thread for heartbeats up, against its contract. The handler finds out all the same.
#[tokio::test]
async fn a_lease_that_ended_unwatched_is_seen_to_be_lost() {
    let (release, released) = channel();
    let (blocked, mut is_blocked) = tokio::sync::mpsc::unbounded_channel();
    let observer = Blocking { blocked, released: Mutex::new(released) };
    let builder = Idempotency::builder(Fates::around(MemoryStore::new())).observer(observer);
    let engine = builder.lease(SHORT).longest_run(SHORT).policy(Policy::Rerun).build().unwrap();
    let world = World { engine: engine.clone(), ..World::new() };
    let hung = world.start().await;
    soon(is_blocked.recv()).await.unwrap();

    let long = engine.configured(|settings| settings.longest_run(LEASE)).unwrap();
    let world = World { engine: long, key: World::new().key, ..world };
    let started = world.start().await;
    until(async || started.attempt.is_lost()).await;
    drop(release);
    started.finish(charged()).await.unwrap();
    hung.finish(charged()).await.unwrap();
}

/// Blocks when it is told of a handler that overran, until its other end is dropped.
struct Blocking {
    blocked: tokio::sync::mpsc::UnboundedSender<()>,
    released: Mutex<Receiver<()>>,
}

impl Observer for Blocking {
    fn observe(&self, event: &Event<'_>) {
        if event.kind.name() == "overran" {
            self.blocked.send(()).unwrap();
            self.released.lock().unwrap().recv().unwrap_err();
        }
    }
}

async fn begin(engine: &Idempotency, world: &World) -> Claim {
    match engine.begin(&world.key, request()).await.unwrap() {
        Decision::Execute(claim) => claim,
        refused => panic!("{refused:?}"),
    }
}

#[expect(clippy::disallowed_methods, reason = "what is tested is how local time is counted")]
async fn let_local_time_pass(duration: Duration) {
    let since = std::time::Instant::now();
    while since.elapsed() < duration {
        tokio::task::yield_now().await;
    }
}
