//! Panics of code that is not the engine's: stores, observers, and what a panic throws.

use std::collections::HashMap;
use std::panic::panic_any;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, CompleteOutcome, Completion, Event, Expected, Idempotency, KeyStore, NewClaim, Observer,
    Outcome, Policy, RecordKey, RecordState, Release, ReleaseOutcome, RenewOutcome, Renewal, RunError,
    Snapshot, StoreError, Sweeper, Token,
};
use onceonly_conformance::{Fate, Fates, Verb};
use onceonly_memory::MemoryStore;

use super::setup::{World, charged, request, response, soon, until_much_later};

#[tokio::test]
async fn a_renewal_that_panics_does_not_end_the_heartbeat() {
    let store = Panicking::once(Verb::Renew);
    let engine = Idempotency::builder(store.clone()).lease(Duration::from_millis(900)).policy(Policy::Rerun);
    let engine = engine.build().unwrap();
    let renewals = store.fates.clone();
    let outcome = engine
        .run(&World::new().key, request(), move |attempt| async move {
            soon(renewals.over(Verb::Renew, 3)).await;
            assert!(!attempt.is_lost());
            charged()
        })
        .await;
    assert!(matches!(outcome.unwrap(), Outcome::Executed(_)));
    assert!(store.has_panicked());
}

#[tokio::test(start_paused = true)]
async fn a_write_that_panics_is_repeated() {
    for verb in [Verb::Claim, Verb::Complete] {
        let store = Panicking::once(verb);
        let engine = Idempotency::new(store.clone());
        let key = World::new().key;
        let outcome = engine.run(&key, request(), |_| async { charged() }).await.unwrap();
        assert!(matches!(outcome, Outcome::Executed(_)), "{verb:?}");
        let summary = engine.inspect(&key).await.unwrap().unwrap();
        assert_eq!(summary.state, RecordState::Completed, "{verb:?}");
        assert!(store.has_panicked(), "{verb:?}");
    }
}

#[tokio::test]
async fn a_look_that_panics_is_an_error() {
    let engine = Idempotency::new(Panicking::once(Verb::Load));
    let error = engine.inspect(&World::new().key).await.unwrap_err();
    assert!(error.outcome_is_unknown(), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn a_purge_that_panics_does_not_end_the_sweeping() {
    let store = Panicking::once(Verb::PurgeExpired);
    let _sweeping = Sweeper::new(Arc::new(store.clone())).start();
    until_much_later(async || store.fates.count(Verb::PurgeExpired) >= 2).await;
    assert!(store.has_panicked());
}

#[tokio::test]
async fn an_observer_that_panics_stops_no_operation() {
    for name in ["claimed", "completed"] {
        let engine = Idempotency::builder(MemoryStore::new()).observer(Clumsy(name)).build().unwrap();
        let key = World::new().key;
        let outcome = engine.run(&key, request(), |_| async { charged() }).await.unwrap();
        assert_eq!(outcome, Outcome::Executed(response("charged")), "{name}");
        let summary = engine.inspect(&key).await.unwrap().unwrap();
        assert_eq!(summary.state, RecordState::Completed, "{name}");
    }
}

#[tokio::test]
async fn an_observer_that_panics_does_not_keep_a_handler_from_being_told() {
    let fates = Fates::around(MemoryStore::new());
    let builder = Idempotency::builder(fates.clone()).observer(Clumsy("lost")).policy(Policy::Rerun);
    let engine = builder.lease(Duration::from_millis(60)).build().unwrap();
    fates.always(Verb::Renew, Fate::LoseRequest);
    let outcome = engine
        .run(&World::new().key, request(), |attempt| async move {
            soon(attempt.lost()).await;
            charged()
        })
        .await;
    assert!(matches!(outcome, Ok(Outcome::Executed(_))), "{outcome:?}");
}

/// Dropping what was thrown panics once more: outside the first panic, where nobody expects it.
#[tokio::test]
async fn a_panic_whose_payload_panics_is_a_panic_of_the_handler() {
    let world = World::new();
    #[expect(unreachable_code, reason = "the closure's type needs an answer")]
    let outcome = world
        .run_with(|_| async {
            panic_any(Bomb);
            charged()
        })
        .await;
    assert!(matches!(outcome, Err(RunError::Panicked)), "{outcome:?}");
    assert!(world.events.has("panicked"), "{:?}", world.events.names());
}

/// Panics when it is told of one kind of event, with a payload that panics in turn.
struct Clumsy(&'static str);

impl Observer for Clumsy {
    fn observe(&self, event: &Event<'_>) {
        if event.kind.name() == self.0 {
            panic_any(Bomb);
        }
    }
}

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "the payload panics");
    }
}

/// A store whose driver panics in some calls.
#[derive(Clone)]
struct Panicking {
    fates: Fates,
    panics: Arc<Mutex<HashMap<Verb, u32>>>,
}

impl Panicking {
    /// Panics in the first call of `verb`.
    fn once(verb: Verb) -> Self {
        let panics = Arc::new(Mutex::new(HashMap::from([(verb, 1)])));
        Self { fates: Fates::around(MemoryStore::new()), panics }
    }

    fn has_panicked(&self) -> bool {
        self.panics.lock().unwrap().values().all(|left| *left == 0)
    }

    fn enter(&self, verb: Verb) {
        let mut panics = self.panics.lock().unwrap();
        let due = panics.get_mut(&verb).filter(|left| **left > 0);
        if let Some(left) = due {
            *left -= 1;
            drop(panics);
            panic!("a fault of the driver");
        }
    }
}

#[async_trait]
impl KeyStore for Panicking {
    fn name(&self) -> &'static str {
        "panicking"
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        self.enter(Verb::Claim);
        self.fates.claim(key, claim, expected).await
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        self.enter(Verb::Load);
        self.fates.load(key).await
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        self.enter(Verb::Renew);
        self.fates.renew(key, token, renewal).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        self.enter(Verb::Complete);
        self.fates.complete(key, token, completion).await
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        self.enter(Verb::Release);
        self.fates.release(key, token, release).await
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        self.enter(Verb::PurgeExpired);
        self.fates.purge_expired(limit).await
    }
}
