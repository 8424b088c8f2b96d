//! What is reported, and what is never shown.

use std::io;
use std::sync::{Arc, Mutex};

use onceonly::{Answer, IdempotencyKey, Outcome, Policy, RecordKey, Scope, StoredResponse};
use onceonly_conformance::{Fate, Verb};
use tracing::Instrument as _;

use super::setup::{World, another_request, charged, request};

#[tokio::test]
async fn each_outcome_is_reported_under_its_fixed_name() {
    let world = World::new();
    world.run(charged()).await.unwrap();
    world.run(charged()).await.unwrap();
    world.engine.run(&world.key, another_request(), |_| async { charged() }).await.unwrap();
    assert_eq!(world.events.names(), ["claimed", "completed", "replayed", "mismatched"]);

    let world = World::new();
    world.run(Answer::NoEffect(StoredResponse::new(503, ""))).await.unwrap();
    let started = world.start().await;
    world.run(charged()).await.unwrap();
    started.finish(Answer::NotRetained(StoredResponse::new(201, ""))).await.unwrap();
    world.run(charged()).await.unwrap();
    let expected = ["claimed", "released", "claimed", "in_progress", "completed", "not_retained"];
    assert_eq!(world.events.names(), expected);

    let world = World::new();
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    world.run(charged()).await.unwrap();
    let rerun = world.configured(|settings| settings.policy(Policy::Rerun));
    rerun.run(Answer::NoEffect(StoredResponse::new(503, ""))).await.unwrap();
    assert_eq!(world.events.names(), ["parked", "taken_over", "suspended"]);
}

/// B158: ten thousand duplicates are routine: nothing above debug level.
#[tokio::test]
async fn b158_duplicates_are_no_errors_in_the_log() {
    let world = World::new();
    world.run(charged()).await.unwrap();
    let running = World { key: World::new().key, ..world.clone() };
    let log = logged(tracing::Level::INFO, async {
        for _ in 0..10_000 {
            world.run(charged()).await.unwrap();
        }
        // The other answers that a duplicate may get are as much routine.
        world.engine.run(&world.key, another_request(), |_| async { charged() }).await.unwrap();
        running.crashed_attempt(None).await;
        running.run(charged()).await.unwrap();
        running.let_lease_pass();
        running.run(charged()).await.unwrap();
    })
    .await;
    assert_eq!(log, "");
    assert_eq!(world.events.names().iter().filter(|name| **name == "replayed").count(), 10_000);
}

/// B016: losing a race for a claim is an outcome, and no line in the error log.
#[tokio::test]
async fn b016_losing_a_claim_is_no_error_in_the_log() {
    let world = World::new();
    let log = logged(tracing::Level::WARN, async {
        let started = world.start().await;
        for _ in 0..50 {
            assert!(matches!(world.run(charged()).await.unwrap(), Outcome::InProgress(_)));
        }
        started.finish(charged()).await.unwrap();
    })
    .await;
    assert_eq!(log, "");
}

/// B011: a store that other replicas do not share says so when it is made.
#[tokio::test]
async fn b011_making_a_memory_store_logs_a_warning() {
    let log = logged(tracing::Level::WARN, async {
        drop(onceonly_memory::MemoryStore::new());
    })
    .await;
    assert!(log.contains("for one process"), "{log}");
}

/// B172: every outcome and every error, at the finest level, with a key, a body and a checkpoint that must not be seen.
#[tokio::test]
async fn b172_no_key_body_or_checkpoint_reaches_the_log() {
    let mut world = World::under(Policy::Rerun);
    world.key =
        RecordKey::new(Scope::named("SECRET-SCOPE").unwrap(), IdempotencyKey::new("SECRET-KEY-123").unwrap());
    let secret = || Answer::Final(StoredResponse::new(201, "SECRET-BODY").with_header("X-SECRET", "SECRET"));
    let mut shown = String::new();
    let log = logged(tracing::Level::TRACE, async {
        world.crashed_attempt(Some("SECRET-CHECKPOINT")).await;
        shown += &format!("{:?}", world.run(secret()).await);
        world.let_lease_pass();
        let started = world.start().await;
        started.attempt.save_checkpoint("SECRET-CHECKPOINT").await.unwrap();
        shown += &format!("{:?}", started.attempt);
        world.let_lease_pass();
        shown += &format!("{:?}", world.run(secret()).await);
        shown +=
            &format!("{:?}", started.finish(Answer::Final(StoredResponse::new(201, "SECRET-OTHER"))).await);
        shown += &format!("{:?}", world.run(secret()).await);
        shown +=
            &format!("{:?}", world.engine.run(&world.key, another_request(), |_| async { charged() }).await);
        shown += &format!("{:?}", world.snapshot().await);
        shown += &format!("{:?}", world.engine);
        world.fates.always(Verb::Claim, Fate::Fail(onceonly::StoreErrorKind::Corrupt));
        shown += &format!("{:?}", world.run(secret()).await);
        shown += &format!("{:?}", world.engine.begin(&world.key, request()).await);
    })
    .await;
    assert!(log.contains("superseded") && log.contains("store_failed"), "{log}");
    for text in [log, shown] {
        assert!(!text.contains("SECRET"), "{text}");
        // A body shown as a list of numbers is shown.
        assert!(!text.contains("83, 69, 67, 82, 69, 84"), "{text}");
    }
}

/// An operation works in a task of its own; what its handler logs belongs to the request all the same.
#[tokio::test]
async fn a_handler_logs_within_the_span_of_its_caller() {
    let world = World::new();
    let log = logged(tracing::Level::INFO, async {
        let running = world.run_with(|_| async {
            tracing::info!("charging");
            charged()
        });
        running.instrument(tracing::info_span!("request", number = 7)).await.unwrap();
    })
    .await;
    let line = log.lines().find(|line| line.contains("charging")).expect("the handler has logged");
    assert!(line.contains("request{number=7}"), "{line}");
}

/// What is logged at `level` and above while `work` goes on, on this test's one thread.
async fn logged(level: tracing::Level, work: impl Future<Output = ()>) -> String {
    let written = Written::default();
    let writer = written.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    work.await;
    drop(guard);
    let bytes = written.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
