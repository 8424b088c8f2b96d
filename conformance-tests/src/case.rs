//! What a case has in its hands: a fresh place, handles, keys, claims, and the store's time.

mod outside;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use onceonly::{
    ClaimOutcome, Completion, Expected, Fingerprint, IdempotencyKey, KeyStore, LeaseChange, NewClaim,
    RecordKey, Release, Renewal, Revision, Scope, Span, StoredResponse, StoredResult, Timestamp, Token,
    Version,
};

use crate::clock::ClockControl;
use crate::declaration::{ClockKind, Declaration, Durability, Processes};
use crate::evidence::{Evidence, Notes};
use crate::fixture::{Fixture, FixtureError, RawAccess, RawLock, StoreClock};
use crate::handle::Handle;
use crate::process::{Lost, Process, StartCommand};
use crate::race::Race;
use crate::random::Random;
use crate::verdict::{inconclusive, not_claimed, set_up_failed};

/// One attempt at one case.
pub(crate) struct Case {
    fixture: Box<dyn Fixture>,
    /// Other stores beside the one under test, to be closed with it.
    neighbours: Mutex<Vec<Arc<dyn Fixture>>>,
    declaration: Declaration,
    clock: StoreClock,
    /// The first handle.
    store: Handle,
    scope: Scope,
    /// How often this case has been tried with shorter spans, as a factor for spans and rounds.
    scale: u32,
    seed: u64,
    /// How long it may take.
    bound: Duration,
    tokens: AtomicU64,
    step: Mutex<&'static str>,
    notes: Arc<Notes>,
    /// How another process is started, where that is known.
    start: Option<StartCommand>,
    lost: Lost,
}

impl Case {
    pub(crate) async fn open(
        declaration: Declaration,
        fixture: Box<dyn Fixture>,
        scale: u32,
        seed: u64,
        bound: Duration,
        start: Option<StartCommand>,
    ) -> Result<Self, FixtureError> {
        let clock = fixture.clock();
        let as_declared = match clock {
            StoreClock::Manual(_) => declaration.clock == ClockKind::Manual,
            StoreClock::Steered(_) => declaration.clock == ClockKind::Steered,
            StoreClock::System => declaration.clock == ClockKind::System,
        };
        if !as_declared {
            return Err(FixtureError::new("the fixture's clock is not of the declared kind"));
        }
        if let StoreClock::Manual(clock) = &clock {
            // A clock that stands at a whole second hides what is cut to one.
            clock.advance(ODD_MOMENT);
        }
        let store = Handle::new(fixture.handle().await?);
        // A name that no other run uses, also where cases share a server.
        let scope = Scope::named(&format!("case {}", IdempotencyKey::generate().as_str()))?;
        let (neighbours, step) = (Mutex::default(), Mutex::new(""));
        let (tokens, notes, lost) = (AtomicU64::new(0), Arc::default(), Lost::default());
        Ok(Self {
            fixture,
            neighbours,
            declaration,
            clock,
            store,
            scope,
            scale,
            seed,
            bound,
            tokens,
            step,
            notes,
            start,
            lost,
        })
    }

    pub(crate) async fn close(&self) -> Result<(), FixtureError> {
        let neighbours = std::mem::take(&mut *lock(&self.neighbours));
        for neighbour in neighbours {
            neighbour.close().await?;
        }
        self.fixture.close().await
    }

    pub(crate) const fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// How long the case may take before it counts as stuck.
    pub(crate) const fn bound(&self) -> Duration {
        self.bound
    }

    /// Says what happens next; a failure's report names it.
    pub(crate) fn step(&self, step: &'static str) {
        *lock(&self.step) = step;
    }

    pub(crate) fn last_step(&self) -> &'static str {
        *lock(&self.step)
    }

    /// What the case has shown so far.
    pub(crate) fn evidence(&self) -> Evidence {
        self.notes.evidence(self.scale)
    }

    /// Notes that a property is tried on one more input.
    pub(crate) fn note_trial(&self) {
        self.notes.tried();
    }

    // Handles.

    /// The handle that was opened with the case.
    pub(crate) const fn store(&self) -> &Handle {
        &self.store
    }

    /// Another, independent handle.
    pub(crate) async fn another(&self) -> Handle {
        match self.fixture.handle().await {
            Ok(store) => Handle::new(store),
            Err(error) => set_up_failed(error),
        }
    }

    pub(crate) async fn handles(&self, count: usize) -> Vec<Handle> {
        let mut handles = Vec::with_capacity(count);
        for _ in 0..count {
            handles.push(self.another().await);
        }
        handles
    }

    /// Where the store declares one process, the case is not claimed.
    fn requires_several_processes(&self) {
        if self.declaration.processes == Processes::One {
            not_claimed(format!("{} declares one process", self.declaration.name));
        }
    }

    /// Where the store does not declare that writes survive the process that made them, the case is not claimed.
    pub(crate) fn requires_that_writes_outlive_their_process(&self) {
        self.requires_several_processes();
        let Declaration { name, durability, .. } = self.declaration;
        if durability < Durability::Process {
            not_claimed(format!("{name} declares that a write survives no more than its handle"));
        }
    }

    /// Other processes, each with a handle to the same records. Where the store declares one process, or nobody has said
    /// how to start another, the case is not claimed.
    pub(crate) async fn processes(&self, count: usize) -> Vec<Process> {
        self.requires_several_processes();
        let name = self.declaration.name;
        let address = self.fixture.address().unwrap_or_else(|| {
            set_up_failed(format_args!("{name} declares several processes, and its fixture has no address"))
        });
        let Some(start) = &self.start else {
            not_claimed("this suite was not told how to start another process, see Suite::with_processes")
        };
        // All of them first: they open at the same time.
        let start = |_| Process::start(start, &address, &self.clock, &self.lost);
        let mut processes: Vec<Process> = (0..count).map(start).collect();
        for process in &mut processes {
            process.ready().await;
        }
        processes
    }

    /// One other process, see [`processes`](Self::processes).
    pub(crate) async fn process(&self) -> Process {
        let mut processes = self.processes(1).await;
        processes.remove(0)
    }

    /// Why a process is gone that the case did not end, if one is.
    pub(crate) fn lost_process(&self) -> Option<String> {
        self.lost.first()
    }

    /// A handle as its trait object, for decorators.
    pub(crate) fn plain_store(&self) -> Arc<dyn KeyStore> {
        self.store.plain()
    }

    /// How many records there are, if the fixture can tell.
    pub(crate) async fn count(&self) -> Option<u64> {
        let raw: Arc<dyn RawAccess> = self.fixture.raw()?;
        Some(set_up(raw.count().await))
    }

    /// The look behind the store. Without one, a case that needs it is not claimed.
    pub(crate) fn raw(&self) -> Arc<dyn RawAccess> {
        self.fixture.raw().unwrap_or_else(|| not_claimed("the fixture has no look behind the store"))
    }

    /// Takes the lock that a write of `key` waits for. Where there is none to take, the case is not claimed.
    pub(crate) async fn raw_lock(&self, key: &RecordKey) -> RawLock {
        let lock = set_up(self.raw().lock(key).await);
        lock.unwrap_or_else(|| not_claimed("the fixture cannot lock a record from outside"))
    }

    // Names and values.

    /// Random choices, the same for the same seed.
    pub(crate) const fn random(&self) -> Random {
        Random::seeded(self.seed)
    }

    /// `name` in the case's own scope.
    pub(crate) fn key(&self, name: &str) -> RecordKey {
        self.key_in(&self.scope, name)
    }

    /// `name` in `scope`.
    pub(crate) fn key_in(&self, scope: &Scope, name: &str) -> RecordKey {
        match IdempotencyKey::new(name) {
            Ok(key) => RecordKey::new(scope.clone(), key),
            Err(error) => panic!("{name:?} is a key of the suite: {error}"),
        }
    }

    /// The case's scope, with something behind its name.
    pub(crate) fn scope(&self, suffix: &str) -> Scope {
        let name = format!("{}{suffix}", self.scope.name().unwrap_or_default());
        Scope::named(&name).unwrap_or_else(|error| panic!("{name:?} is a scope of the suite: {error}"))
    }

    /// A token that no other claim of the case has.
    pub(crate) fn token(&self) -> Token {
        let number = self.tokens.fetch_add(1, Ordering::Relaxed);
        Token::from_bytes(Random::seeded(self.seed ^ number.rotate_left(32)).sixteen())
    }

    // Claims and what follows them.

    /// A new claim whose deadlines no case runs into by waiting.
    pub(crate) fn claim(&self) -> NewClaim {
        NewClaim {
            token: self.token(),
            fingerprint: fingerprint("charge 1000 usd"),
            attempt: 1,
            checkpoint: None,
            lease: seconds(60),
            keep: seconds(3_600),
            keep_unresolved: seconds(7_200),
        }
    }

    /// A new claim whose deadlines come soon enough to be waited for: its lease before its retention, and that before
    /// it is no longer remembered.
    pub(crate) fn brief_claim(&self) -> NewClaim {
        NewClaim { lease: self.brief(1), keep: self.brief(3), keep_unresolved: self.brief(6), ..self.claim() }
    }

    /// A span that a case can wait for: `parts` minutes on a clock that the suite sets, fractions of a second on one that
    /// runs.
    pub(crate) fn brief(&self, parts: u32) -> Span {
        match self.declaration.clock {
            ClockKind::Manual | ClockKind::Steered => seconds(60 * u64::from(parts)),
            ClockKind::System => span(Duration::from_millis(150) * self.scale * parts),
        }
    }

    /// A span that does not end while the case runs, unless the case sets the clock: on one that runs an hour more.
    pub(crate) fn unreached(&self, span: Span) -> Span {
        if self.sets_clock() { span } else { span.plus(seconds(3_600)) }
    }

    /// A race of so many rounds.
    pub(crate) fn race(&self, rounds: usize) -> Race {
        Race::of_rounds(rounds, Arc::clone(&self.notes))
    }

    /// How many rounds a race gets.
    pub(crate) const fn rounds(&self) -> usize {
        64 * self.scale as usize
    }

    /// How many rounds a race gets in each of which time must pass.
    pub(crate) const fn rounds_with_waits(&self) -> usize {
        match self.declaration.clock {
            ClockKind::Manual | ClockKind::Steered => self.rounds(),
            ClockKind::System => 8,
        }
    }

    // Time.

    /// The store's time.
    pub(crate) async fn now(&self) -> Timestamp {
        if let Some(clock) = self.clock_control() {
            return clock.now();
        }
        // A store tells its time with every answer; this key is for nothing else.
        match self.store.claim(&self.key("what time is it"), &self.claim(), Expected::Absent).await {
            ClaimOutcome::Claimed(stamp) => stamp.now,
            ClaimOutcome::Occupied(found) => found.now,
            ClaimOutcome::Vacant => inconclusive("a claim that expects absence was answered with Vacant"),
        }
    }

    /// Lets time pass until the store's clock shows `instant`: exactly that on a clock that the suite sets, that or
    /// later on one that runs.
    pub(crate) async fn reach(&self, instant: Timestamp) {
        if let Some(clock) = self.clock_control() {
            self.set_clock(instant.max(clock.now())).await;
            return;
        }
        loop {
            let remaining = instant.since(self.now().await);
            if remaining.is_zero() {
                return;
            }
            tokio::time::sleep(remaining).await;
        }
    }

    /// Lets time pass until one tick before `deadline`. On a clock that runs, nothing: the time is before it anyway,
    /// or the attempt is void, see [`Case::still_before`].
    pub(crate) async fn reach_just_before(&self, deadline: Timestamp) {
        if self.sets_clock() {
            self.reach(Timestamp::from_micros(deadline.as_micros() - self.tick())).await;
        }
        self.still_before(deadline).await;
    }

    /// Lets a minute pass, or a moment on a clock that runs, without a word from the store: while a lock is held it may
    /// be unable to tell the time. Gives an instant that is over then; `from` is one that was over before.
    pub(crate) async fn let_pass(&self, from: Timestamp) -> Timestamp {
        let later = from.plus(self.brief(1));
        if self.sets_clock() {
            self.set_clock(later).await;
        } else {
            // More than is told: the store's clock need not go as fast as this machine's.
            tokio::time::sleep(self.brief(2).as_duration()).await;
        }
        later
    }

    /// Voids this attempt if `deadline` has come: what was seen may have been seen on either side of it. A case calls
    /// this behind what must happen before a deadline, and ahead of judging it.
    pub(crate) async fn still_before(&self, deadline: Timestamp) {
        if deadline <= self.now().await {
            inconclusive("a deadline passed before the case had done what comes before it");
        }
    }

    /// Whether the suite sets the clock. Where it does not, a case can only wait, and cannot step the clock back.
    pub(crate) fn sets_clock(&self) -> bool {
        self.clock_control().is_some()
    }

    /// Steps the clock to `instant`, which may be back. Only where [`Case::sets_clock`].
    pub(crate) async fn set_clock(&self, instant: Timestamp) {
        match self.clock_control() {
            Some(clock) => set_up(clock.set(instant).await),
            None => set_up_failed("a case has set a clock that runs"),
        }
    }

    /// The store's clock, for tasks that set it.
    pub(crate) const fn clock(&self) -> &StoreClock {
        &self.clock
    }

    fn clock_control(&self) -> Option<&dyn ClockControl> {
        self.clock.control()
    }

    /// Whether `deadline` is `span` after `now`, rounded up to the store's resolution.
    pub(crate) fn is_deadline(&self, deadline: Timestamp, now: Timestamp, span: Span) -> bool {
        let late = deadline.as_micros() - now.plus(span).as_micros();
        (0..self.tick()).contains(&late)
    }

    /// The shortest difference between two deadlines, in microseconds.
    pub(crate) fn tick(&self) -> i64 {
        i64::try_from(self.declaration.resolution.as_micros()).unwrap_or(i64::MAX)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the fixture gave; if it failed, the case ends as a fault of the set-up.
pub(crate) fn set_up<T>(given: Result<T, FixtureError>) -> T {
    given.unwrap_or_else(|error| set_up_failed(error))
}

/// The fingerprint of a request that asks for `what`.
pub(crate) fn fingerprint(what: &str) -> Fingerprint {
    Fingerprint::builder().part("body", what).finish()
}

pub(crate) const fn revision(number: u32) -> Revision {
    Revision::from_number(number)
}

pub(crate) const fn version(token: Token, number: u32) -> Version {
    Version { token, revision: revision(number) }
}

/// A completion that keeps its record for an hour.
pub(crate) fn completion(number: u32, result: StoredResult) -> Completion {
    Completion { revision: revision(number), result, retention: seconds(3_600) }
}

/// A result whose body is `body`.
pub(crate) fn response(body: &str) -> StoredResult {
    StoredResult::Retained(
        StoredResponse::new(201, body.to_owned()).with_header("content-type", "text/plain"),
    )
}

pub(crate) fn release(number: u32) -> Release {
    Release { revision: revision(number), keep: seconds(900) }
}

/// A renewal that leaves the checkpoint as it is.
pub(crate) const fn extension(number: u32, lease: Span) -> Renewal {
    Renewal { revision: revision(number), lease: LeaseChange::Extend(lease), checkpoint: None }
}

/// A renewal that saves a checkpoint.
pub(crate) fn checkpoint(number: u32, lease: Span, bytes: impl Into<Bytes>) -> Renewal {
    Renewal { checkpoint: Some(bytes.into()), ..extension(number, lease) }
}

/// A renewal that ends the lease.
pub(crate) const fn end_of_lease(number: u32) -> Renewal {
    Renewal { revision: revision(number), lease: LeaseChange::End, checkpoint: None }
}

pub(crate) fn seconds(seconds: u64) -> Span {
    span(Duration::from_secs(seconds))
}

pub(crate) fn span(duration: Duration) -> Span {
    Span::new(duration).unwrap_or_else(|error| panic!("{duration:?} is a span of the suite: {error}"))
}

const ODD_MOMENT: Duration = Duration::from_micros(123_457);
