//! One engine over one store, a clock that a test moves, and a record of what was reported.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onceonly::{
    Answer, Attempt, Event, Expected, Fingerprint, Idempotency, IdempotencyKey, KeyStore, ManualClock,
    NewClaim, Observer, Outcome, Policy, RecordKey, RecordSummary, RunError, Scope, Settings, Snapshot, Span,
    Status, StoredResponse, Timestamp, Token,
};
use onceonly_conformance::{Fates, Request};
use onceonly_memory::MemoryStore;

pub(super) const LEASE: Duration = Duration::from_secs(60);
pub(super) const HOUR: Duration = Duration::from_secs(3_600);

/// What a test works with. The lease is so long that no heartbeat comes unless a test sets a shorter one.
#[derive(Clone)]
pub(super) struct World {
    pub(super) clock: ManualClock,
    pub(super) fates: Fates,
    pub(super) engine: Idempotency,
    pub(super) events: Events,
    pub(super) key: RecordKey,
    pub(super) executions: Arc<AtomicUsize>,
}

impl World {
    pub(super) fn new() -> Self {
        Self::with(|settings| settings)
    }

    pub(super) fn under(policy: Policy) -> Self {
        Self::with(|settings| settings.policy(policy))
    }

    pub(super) fn with(change: impl FnOnce(Settings) -> Settings) -> Self {
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_700_000_000_000_000));
        let fates = Fates::around(MemoryStore::with_clock(clock.clone()));
        let events = Events::default();
        let engine =
            Idempotency::builder(fates.clone()).settings(change).observer(events.clone()).build().unwrap();
        let key = RecordKey::new(Scope::named("acct_1").unwrap(), IdempotencyKey::generate());
        Self { clock, fates, engine, events, key, executions: Arc::default() }
    }

    /// Another engine over the same records, as another process would have it.
    pub(super) fn configured(&self, change: impl FnOnce(Settings) -> Settings) -> Self {
        Self { engine: self.engine.configured(change).unwrap(), ..self.clone() }
    }

    /// Runs a handler that counts itself and concludes `answer`.
    pub(super) async fn run(&self, answer: Answer) -> Result<Outcome, RunError> {
        self.run_with(move |_| async move { answer }).await
    }

    /// Runs `handler`, counted.
    pub(super) async fn run_with<F, Fut>(&self, handler: F) -> Result<Outcome, RunError>
    where
        F: FnOnce(Attempt) -> Fut + Send + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        let executions = Arc::clone(&self.executions);
        self.engine
            .run(&self.key, request(), move |attempt| {
                executions.fetch_add(1, Ordering::SeqCst);
                handler(attempt)
            })
            .await
    }

    /// Starts an operation in a task of its own, whose handler waits until it is told what to conclude.
    pub(super) async fn start(&self) -> Started {
        let (entered, has_entered) = tokio::sync::oneshot::channel();
        let (conclude, concluded) = tokio::sync::oneshot::channel();
        let world = self.clone();
        let caller = tokio::spawn(async move {
            world
                .run_with(|attempt| async move {
                    assert!(entered.send(attempt).is_ok());
                    concluded.await.expect("the test concludes what it starts")
                })
                .await
        });
        let attempt = soon(has_entered).await.expect("the handler is entered");
        Started { caller, attempt, conclude }
    }

    /// As [`World::start`], under a key of its own.
    pub(super) async fn start_another(&self) -> Started {
        Self { key: Self::new().key, ..self.clone() }.start().await
    }

    /// Lets the thread for heartbeats go round: waits for `times` renewals of a claim of its own.
    pub(super) async fn let_heart_beat(&self, times: usize) {
        let settings = |settings: Settings| {
            settings.policy(Policy::Park).lease(Duration::from_millis(60)).longest_run(HOUR)
        };
        let key = Self::new().key;
        let other = Self { key, executions: Arc::default(), ..self.configured(settings) };
        let started = other.start().await;
        until(async || other.renewals() >= times).await;
        started.finish(charged()).await.unwrap();
    }

    /// How many renewals of this world's key have arrived.
    pub(super) fn renewals(&self) -> usize {
        let of_key = |request: &Request| matches!(request, Request::Renew { key, .. } if *key == self.key);
        self.fates.calls().iter().filter(|call| of_key(&call.request)).count()
    }

    pub(super) fn executions(&self) -> usize {
        self.executions.load(Ordering::SeqCst)
    }

    /// An attempt of another process that claimed the key and died.
    pub(super) async fn crashed_attempt(&self, checkpoint: Option<&'static str>) -> Token {
        let token = Token::random();
        let span = |duration| Span::new(duration).unwrap();
        let claim = NewClaim {
            token,
            fingerprint: request(),
            attempt: 1,
            checkpoint: checkpoint.map(Into::into),
            lease: span(LEASE),
            keep: span(24 * HOUR),
            keep_unresolved: span(30 * 24 * HOUR),
        };
        self.fates.claim(&self.key, &claim, Expected::Absent).await.unwrap();
        token
    }

    /// Moves the store's clock past the lease of whoever holds the key.
    pub(super) fn let_lease_pass(&self) {
        self.clock.advance(LEASE);
    }

    pub(super) async fn snapshot(&self) -> Snapshot {
        self.fates.load(&self.key).await.unwrap().expect("there is a record")
    }

    pub(super) async fn status(&self) -> Status {
        self.snapshot().await.record.status
    }

    pub(super) async fn summary(&self) -> RecordSummary {
        self.engine.inspect(&self.key).await.unwrap().expect("there is a record")
    }
}

/// An operation whose handler is running.
pub(super) struct Started {
    pub(super) caller: tokio::task::JoinHandle<Result<Outcome, RunError>>,
    pub(super) attempt: Attempt,
    pub(super) conclude: tokio::sync::oneshot::Sender<Answer>,
}

impl Started {
    pub(super) async fn finish(self, answer: Answer) -> Result<Outcome, RunError> {
        assert!(self.conclude.send(answer).is_ok(), "the handler was dropped");
        soon(self.caller).await.unwrap()
    }
}

/// What the engine reported, by name.
#[derive(Clone, Default)]
pub(super) struct Events(Arc<Mutex<Vec<&'static str>>>);

impl Observer for Events {
    fn observe(&self, event: &Event<'_>) {
        self.0.lock().unwrap().push(event.kind.name());
    }
}

impl Events {
    pub(super) fn names(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names().contains(&name)
    }
}

pub(super) fn request() -> Fingerprint {
    Fingerprint::builder().part("body", r#"{"amount":1000}"#).finish()
}

pub(super) fn another_request() -> Fingerprint {
    Fingerprint::builder().part("body", r#"{"amount":9999}"#).finish()
}

pub(super) fn response(body: &'static str) -> StoredResponse {
    StoredResponse::new(201, body).with_header("Location", "/charges/1")
}

pub(super) fn charged() -> Answer {
    Answer::Final(response("charged"))
}

/// Awaits what is to come within a minute of the runtime's time. What never comes fails the test instead of hanging it.
pub(super) async fn soon<F: Future>(future: F) -> F::Output {
    let waiting = tokio::time::timeout(Duration::from_secs(60), future);
    waiting.await.expect("what was waited for did not come")
}

/// As [`until`], on a thread that is blocked meanwhile.
#[expect(clippy::disallowed_methods, reason = "blocking is what is tested")]
pub(super) fn block_until(condition: impl Fn() -> bool) {
    for _ in 0..60_000 {
        if condition() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("what was waited for did not come");
}

/// Polls `condition` until it holds. What never comes fails the test instead of hanging it.
pub(super) async fn until(condition: impl AsyncFnMut() -> bool) {
    poll(condition, Duration::from_millis(1), 60_000).await;
}

/// As [`until`], for what takes many minutes of a paused runtime's time.
pub(super) async fn until_much_later(condition: impl AsyncFnMut() -> bool) {
    poll(condition, Duration::from_secs(1), 3_600).await;
}

async fn poll(mut condition: impl AsyncFnMut() -> bool, pause: Duration, times: u32) {
    for _ in 0..times {
        if condition().await {
            return;
        }
        tokio::time::sleep(pause).await;
    }
    panic!("what was waited for did not come");
}
