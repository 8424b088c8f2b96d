//! Leases that are renewed while a handler runs, and what happens when they cannot be.

use std::time::Duration;

use onceonly::{LeaseChange, Outcome, Policy, RecordState, Settings};
use onceonly_conformance::{Fate, Request, Verb};

use super::setup::{World, block_until, charged, soon, until};

/// Long enough for a busy machine to renew in time, short enough to wait for.
const SHORT: Duration = Duration::from_millis(240);

fn short(settings: Settings) -> Settings {
    settings.lease(SHORT)
}

#[tokio::test]
async fn b025_each_heartbeat_extends_by_the_lease_that_was_set() {
    let world = World::with(short);
    let started = world.start().await;
    soon(world.fates.over(Verb::Renew, 3)).await;
    world.clock.advance(Duration::from_secs(5));
    let beats = world.fates.count(Verb::Renew);
    soon(world.fates.over(Verb::Renew, beats + 2)).await;
    let snapshot = world.snapshot().await;
    assert_eq!(snapshot.record.lease_until.since(snapshot.now), SHORT);
    for call in world.fates.calls() {
        if let Request::Renew { renewal, .. } = call.request {
            assert!(matches!(renewal.lease, LeaseChange::Extend(lease) if lease.as_duration() == SHORT));
        }
    }
    started.finish(charged()).await.unwrap();
}

#[tokio::test]
async fn heartbeats_end_with_the_handler() {
    let world = World::with(short);
    let started = world.start().await;
    soon(world.fates.arrived(Verb::Renew, 1)).await;
    started.finish(charged()).await.unwrap();
    let beats = world.fates.count(Verb::Renew);
    let other = World { key: World::new().key, ..world.clone() };
    let after = other.start().await;
    soon(world.fates.over(Verb::Renew, beats + 2)).await;
    let renewed: Vec<_> = world
        .fates
        .calls()
        .into_iter()
        .skip(1)
        .filter_map(|call| match call.request {
            Request::Renew { key, .. } => Some(key),
            _ => None,
        })
        .skip(beats)
        .collect();
    assert!(renewed.iter().all(|key| *key == other.key), "a finished claim is renewed");
    after.finish(charged()).await.unwrap();
}

/// B022: the handler blocks the only thread of its runtime for many leases.
#[test]
fn b022_a_handler_that_blocks_its_runtime_is_renewed_all_the_same() {
    for threads in [0, 2] {
        let mut builder = match threads {
            0 => tokio::runtime::Builder::new_current_thread(),
            _ => tokio::runtime::Builder::new_multi_thread(),
        };
        let runtime = builder.worker_threads(threads.max(1)).enable_all().build().unwrap();
        let world = World::with(short);
        let beats = world.fates.clone();
        runtime.block_on(async {
            // As many blocking handlers as there are threads; each waits for renewals without giving its thread up.
            let others: Vec<_> = (1..threads)
                .map(|_| {
                    let (other, beats) = (World { key: World::new().key, ..world.clone() }, beats.clone());
                    tokio::spawn(async move {
                        other.run_with(|_| async move { block_for_renewals(&beats, 6) }).await
                    })
                })
                .collect();
            let beats = beats.clone();
            world.run_with(|_| async move { block_for_renewals(&beats, 6) }).await.unwrap();
            for other in others {
                other.await.unwrap().unwrap();
            }
        });
    }
}

fn block_for_renewals(fates: &onceonly_conformance::Fates, renewals: usize) -> onceonly::Answer {
    block_until(|| fates.count(Verb::Renew) >= renewals);
    charged()
}

/// A store blip under Park: nobody may take over, so the handler is not told to stop, and its result is accepted.
#[tokio::test]
async fn a_store_blip_under_park_disturbs_nobody() {
    let world = World::with(short);
    let started = world.start().await;
    world.fates.always(Verb::Renew, Fate::LoseRequest);
    let beats = world.fates.count(Verb::Renew);
    // Far more failed renewals than fit into one lease.
    soon(world.fates.over(Verb::Renew, beats + 20)).await;
    assert!(!started.attempt.is_lost(), "a handler is told to stop although nobody may take over");
    world.fates.heal();
    assert!(matches!(started.finish(charged()).await.unwrap(), Outcome::Executed(_)));
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Replayed(_)));
    assert!(!world.events.has("lost"), "{:?}", world.events.names());
}

/// Under Rerun the handler learns of it while its lease still stands.
#[tokio::test]
async fn a_store_blip_under_rerun_tells_the_handler_before_the_lease_ends() {
    let world = World::with(|settings| settings.lease(Duration::from_secs(6)).policy(Policy::Rerun));
    let started = world.start().await;
    world.fates.always(Verb::Renew, Fate::LoseRequest);
    soon(started.attempt.lost()).await;
    // The store's clock stands still here, so this is the local view: the lease had not ended when it fired.
    assert!(!started.attempt.lease_remaining().is_zero(), "told only after somebody may have taken over");
    // The handler is told first, so that nobody who is told of it holds it up.
    until(async || world.events.has("lost")).await;
    started.finish(charged()).await.unwrap();
}

/// A blip that ends within the lease is none.
#[tokio::test]
async fn a_short_store_blip_under_rerun_is_survived() {
    let world = World::with(|settings| settings.lease(Duration::from_secs(3)).policy(Policy::Rerun));
    let started = world.start().await;
    world.fates.next(Verb::Renew, Fate::LoseRequest);
    world.fates.next(Verb::Renew, Fate::LoseReply);
    soon(world.fates.over(Verb::Renew, 5)).await;
    assert!(!started.attempt.is_lost());
    assert!(matches!(started.finish(charged()).await.unwrap(), Outcome::Executed(_)));
}

#[tokio::test]
async fn a_refused_renewal_tells_the_handler_under_every_policy() {
    for policy in [Policy::Park, Policy::Rerun] {
        let world = World::with(|settings| short(settings).policy(policy));
        let started = world.start().await;
        // An operator settles the key while the holder runs on.
        world.fates.always(Verb::Renew, Fate::LoseRequest);
        world.let_lease_pass();
        let verdict = onceonly::Verdict::NotExecuted;
        assert_eq!(world.engine.resolve(&world.key, verdict).await.unwrap(), onceonly::Resolution::Released);
        world.fates.heal();
        soon(started.attempt.lost()).await;
        assert!(started.attempt.is_lost());
        started.finish(onceonly::Answer::NoEffect(onceonly::StoredResponse::new(503, ""))).await.unwrap();
    }
}

/// B026: a handler that never ends is renewed no longer than the longest run, and is reported.
#[tokio::test]
async fn b026_a_hung_handler_is_not_renewed_for_ever() {
    let world = World::with(|settings| short(settings).longest_run(SHORT * 3).policy(Policy::Rerun));
    let hung = world.start().await;
    until(async || world.events.has("overran")).await;
    soon(hung.attempt.lost()).await;
    let beats = world.fates.count(Verb::Renew);
    world.let_lease_pass();
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
    assert_eq!(world.fates.count(Verb::Renew), beats);
    drop(hung.conclude);
}

/// B023: a store that never answers a renewal does not hold the handler up, nor the write of its result.
#[tokio::test]
async fn b023_a_renewal_without_an_answer_does_not_block_the_handler() {
    let world = World::with(short);
    let started = world.start().await;
    let gate = world.fates.hold_next(Verb::Renew);
    soon(gate.arrived()).await;
    assert!(matches!(started.finish(charged()).await.unwrap(), Outcome::Executed(_)));
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Replayed(_)));
    assert!(
        world.fates.calls().iter().all(|call| call.overlaps.is_none()),
        "two writes of one claim overlap"
    );
}

/// The lease is measured from before the request was sent: an answer that was long on its way promises less.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "what is tested is how local time is counted")]
async fn a_slow_answer_shortens_what_can_be_relied_on() {
    let world = World::with(|settings| settings.lease(Duration::from_secs(5)).policy(Policy::Rerun));
    let gate = world.fates.hold_next_reply(Verb::Claim);
    let beginning = tokio::spawn({
        let world = world.clone();
        async move { world.engine.begin(&world.key, super::setup::request()).await }
    });
    soon(gate.arrived()).await;
    let answered = std::time::Instant::now();
    while answered.elapsed() < Duration::from_millis(50) {
        tokio::task::yield_now().await;
    }
    gate.open();
    let Ok(onceonly::Decision::Execute(claim)) = beginning.await.unwrap() else { panic!("not granted") };
    let remaining = claim.attempt().lease_remaining();
    assert!(remaining <= Duration::from_millis(4_950), "{remaining:?} of 5 s after 50 ms on the way");
}

#[tokio::test]
async fn the_lease_of_a_running_handler_keeps_others_out() {
    let world = World::with(|settings| short(settings).policy(Policy::Rerun));
    let started = world.start().await;
    for _ in 0..5 {
        let beats = world.fates.count(Verb::Renew);
        soon(world.fates.over(Verb::Renew, beats + 2)).await;
        world.clock.advance(SHORT / 2);
        assert!(matches!(world.run(charged()).await.unwrap(), Outcome::InProgress(_)));
    }
    assert_eq!(world.summary().await.state, RecordState::InProgress);
    started.finish(charged()).await.unwrap();
    assert_eq!(world.executions(), 1);
}

/// B029: the host's clock and the store's are years apart, and the store's steps by an hour and back. Its own deadlines
/// decide, and nobody executes twice.
#[tokio::test]
async fn b029_only_the_stores_clock_decides() {
    let world = World::under(Policy::Rerun);
    let start = world.clock.clone();
    let at_start = onceonly::Clock::now(&start);
    let started = world.start().await;
    for step in [-3_600, 0, 59] {
        let micros = at_start.as_micros() + step * 1_000_000;
        world.clock.set(onceonly::Timestamp::from_micros(micros));
        let outcome = world.run(charged()).await.unwrap();
        assert!(matches!(outcome, Outcome::InProgress(_)), "{step} s: {outcome:?}");
    }
    started.finish(charged()).await.unwrap();
    world.clock.set(onceonly::Timestamp::from_micros(at_start.as_micros() - 3_600_000_000));
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Replayed(_)));
    assert_eq!(world.executions(), 1);
}
