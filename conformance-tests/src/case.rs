//! What a case has in its hands: a fresh place, handles, processes, races; and by file, keys and claims, the store's time,
//! and others in the same database.

mod outside;
mod time;
mod values;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use onceonly::{IdempotencyKey, KeyStore, RecordKey, Scope};

pub(crate) use self::values::{
    checkpoint, completion, end_of_lease, extension, fingerprint, release, response, revision, seconds, span,
    version,
};
use crate::declaration::{ClockKind, Declaration, Durability, Processes};
use crate::evidence::{Evidence, Notes};
use crate::fixture::{Fixture, FixtureError, RawAccess, RawLock, StoreClock};
use crate::handle::Handle;
use crate::process::{Lost, Process, StartCommand};
use crate::race::Race;
use crate::verdict::{not_claimed, set_up_failed};

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

    // Races.

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
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the fixture gave; if it failed, the case ends as a fault of the set-up.
pub(crate) fn set_up<T>(given: Result<T, FixtureError>) -> T {
    given.unwrap_or_else(|error| set_up_failed(error))
}

const ODD_MOMENT: Duration = Duration::from_micros(123_457);
