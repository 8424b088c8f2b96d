//! What a caller of `run` is told, and how often its handler runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use onceonly::{Answer, Idempotency, Outcome, RecordState, StoredResponse};
use onceonly_memory::MemoryStore;

use super::setup::{LEASE, World, another_request, charged, request, response};

#[tokio::test]
async fn a_second_call_is_answered_with_the_first_ones_response() {
    let world = World::new();
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Executed(response("charged")));
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Replayed(response("charged")));
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn b010_a_second_engine_on_the_same_store_replays_too() {
    let world = World::new();
    world.run(charged()).await.unwrap();
    let elsewhere = Idempotency::new(world.fates.clone());
    let outcome =
        elsewhere.run(&world.key, request(), |_| async { unreachable!("the handler ran twice") }).await;
    assert_eq!(outcome.unwrap(), Outcome::Replayed(response("charged")));
}

#[tokio::test]
async fn another_request_under_the_same_key_is_refused_and_not_executed() {
    let world = World::new();
    world.run(charged()).await.unwrap();
    let outcome =
        world.engine.run(&world.key, another_request(), |_| async { unreachable!("it was executed") }).await;
    let Outcome::HashMismatch(summary) = outcome.unwrap() else { panic!("not refused") };
    assert_eq!((summary.state, summary.attempt), (RecordState::Completed, 1));
    assert!(!format!("{summary:?}").contains("charged"), "a mismatch reveals the response");
}

#[tokio::test]
async fn b179_mismatch_and_in_progress_tell_what_the_record_is() {
    let world = World::new();
    let started = world.start().await;
    let mismatch = world.engine.run(&world.key, another_request(), |_| async { charged() }).await.unwrap();
    let Outcome::HashMismatch(summary) = mismatch else { panic!("{mismatch:?}") };
    assert_eq!(summary.state, RecordState::InProgress);
    let Outcome::InProgress(seen) = world.run(charged()).await.unwrap() else { panic!("not in progress") };
    let record = seen.record.expect("there is a record to tell of");
    assert_eq!((record.state, record.fingerprint_algorithm), (RecordState::InProgress, 1));
    started.finish(charged()).await.unwrap();
    assert_eq!(world.executions(), 1);
}

/// B163, B029: the hint is a whole number of seconds, at least one, and otherwise never above the lease that remains.
#[tokio::test]
async fn b163_the_hint_grows_with_time_and_stays_within_the_lease() {
    let world = World::new();
    world.crashed_attempt(None).await;
    let mut hints = Vec::new();
    for _ in 0..12 {
        let Outcome::InProgress(seen) = world.run(charged()).await.unwrap() else {
            panic!("not in progress")
        };
        let remaining = seen.record.unwrap();
        let remaining = remaining.lease_until.since(remaining.now);
        assert!(seen.retry_after >= Duration::from_secs(1), "{seen:?}", seen = seen.retry_after);
        assert!(
            seen.retry_after <= remaining.max(Duration::from_secs(1)),
            "{:?} of {remaining:?}",
            seen.retry_after
        );
        assert_eq!(seen.retry_after.subsec_nanos(), 0);
        hints.push(seen.retry_after.as_secs());
        world.clock.advance(LEASE / 12 - Duration::from_millis(1));
    }
    assert_eq!(hints.first(), Some(&1));
    assert!(hints.iter().any(|hint| *hint > 10), "the hint does not grow: {hints:?}");
}

#[tokio::test]
async fn a_new_period_starts_after_the_retention() {
    let world = World::new();
    world.run(charged()).await.unwrap();
    // 24 h and the longest run of 15 min, which a completion in time does not use up.
    world.clock.advance(Duration::from_secs(24 * 3_600 + 15 * 60 - 1));
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Replayed(_)));
    world.clock.advance(Duration::from_secs(1));
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
    assert_eq!(world.snapshot().await.record.attempt, 1);
}

/// B014, B001: one thousand callers in one process, with a handler that waits in the middle.
fn a_thousand_callers_execute_once(runtime: &tokio::runtime::Runtime) {
    runtime.block_on(async {
        let engine = Idempotency::new(MemoryStore::new());
        let key = World::new().key;
        let executions = Arc::new(AtomicUsize::new(0));
        let callers: Vec<_> = (0..1_000)
            .map(|_| {
                let (engine, key, executions) = (engine.clone(), key.clone(), Arc::clone(&executions));
                tokio::spawn(async move {
                    engine
                        .run(&key, request(), move |_| async move {
                            executions.fetch_add(1, Ordering::SeqCst);
                            tokio::time::sleep(Duration::from_millis(5)).await;
                            Answer::Final(StoredResponse::new(201, "charged"))
                        })
                        .await
                        .unwrap()
                })
            })
            .collect();
        for caller in callers {
            match caller.await.unwrap() {
                Outcome::Executed(response) | Outcome::Replayed(response) => {
                    assert_eq!(response.body, "charged");
                }
                Outcome::InProgress(_) => {}
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(executions.load(Ordering::SeqCst), 1, "one charge is made twice");
    });
}

#[test]
fn b014_a_thousand_callers_on_several_threads_execute_once() {
    a_thousand_callers_execute_once(
        &tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap(),
    );
}

#[test]
fn b014_a_thousand_callers_on_one_thread_execute_once() {
    a_thousand_callers_execute_once(
        &tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
    );
}

#[tokio::test]
async fn one_route_may_have_settings_of_its_own() {
    let world = World::new();
    let short = world.configured(|settings| settings.retention(Duration::from_secs(60)).longest_run(LEASE));
    short.run(charged()).await.unwrap();
    world.clock.advance(Duration::from_secs(120));
    assert!(matches!(short.run(charged()).await.unwrap(), Outcome::Executed(_)));
}
