//! How the suite behaves when the set-up, the machine or a call fails, and that its table is sound.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, CompleteOutcome, Completion, Expected, KeyStore, ManualClock, NewClaim, RecordKey, Release,
    ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, StoreErrorKind, SystemClock, Timestamp,
    Token,
};
use onceonly_conformance::{
    Clause, ClockKind, Declaration, Durability, Failure, FailureKind, Fate, Fates, Fault, Fixture,
    FixtureError, Gate, PlantedStore, Processes, ReferenceStore, StoreClock, Suite, Verb,
};

#[test]
fn every_case_has_a_name_of_its_own_and_every_clause_has_cases() {
    let names: BTreeSet<&str> = Suite::cases().map(|case| case.name).collect();
    assert_eq!(names.len(), Suite::cases().len());
    for clause in Clause::ALL {
        assert!(Suite::cases().any(|case| case.clause == clause), "no case for {clause:?}");
    }
}

#[test]
fn a_store_on_a_clock_that_runs_passes_every_case() {
    let suite = Suite::new(declared(ClockKind::System), || async {
        let fates = Fates::around(ReferenceStore::new(SystemClock));
        // As to a server. Races in which time must pass have few rounds, in which calls within memory may not meet.
        fates.always(Verb::PurgeExpired, Fate::Delay(Duration::from_millis(2)));
        Ok(Place { store: Arc::new(fates), clock: StoreClock::System })
    });
    let cases = Mutex::new(Suite::cases().collect::<Vec<_>>());
    let failures = Mutex::new(Vec::new());
    // Most cases wait for a deadline, so many wait at the same time.
    std::thread::scope(|scope| {
        for _ in 0..12 {
            scope.spawn(|| {
                while let Some(case) = next(&cases) {
                    if let Err(failure) = suite.run(case.name) {
                        failures.lock().unwrap().push(failure.to_string());
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "the healthy store is accused:\n{}", failures.join("\n\n"));
}

#[test]
fn a_store_whose_deadlines_are_whole_milliseconds_passes_every_case() {
    let milliseconds = Duration::from_millis(1);
    let suite = Suite::new(declared(ClockKind::Manual).with_resolution(milliseconds), move || async move {
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        let store = ReferenceStore::new(clock.clone()).with_resolution(milliseconds);
        Ok(Place { store: Arc::new(store), clock: StoreClock::Manual(clock) })
    });
    for case in Suite::cases() {
        if let Err(failure) = suite.run(case.name) {
            panic!("the healthy store is accused:\n{failure}");
        }
    }
}

#[test]
fn a_store_on_a_steered_clock_passes_every_case() {
    let suite = steered(None);
    for case in Suite::cases() {
        if let Err(failure) = suite.run(case.name) {
            panic!("the healthy store is accused:\n{failure}");
        }
    }
}

#[test]
fn a_steered_clock_shows_a_deadline_that_is_off_by_a_tick() {
    for fault in [Fault::LeaseTickLate, Fault::LeaseTickEarly, Fault::TakeoverRefusedAtDeadline] {
        let failure = steered(Some(fault)).run(fault.info().case).unwrap_err();

        assert!(failure.message.contains(fault.info().message), "{fault:?}: {failure}");
    }
}

#[test]
fn a_place_that_cannot_be_opened_is_a_fault_of_the_set_up() {
    let suite = Suite::new(declared(ClockKind::Manual), || async {
        Err::<Place, _>(FixtureError::new("no server at 127.0.0.1:5432; set ONCEONLY_POSTGRES_URL"))
    });

    let failure = suite.run(CASE).unwrap_err();

    assert_eq!(failure.kind, FailureKind::SetUp);
    assert!(failure.to_string().contains("set ONCEONLY_POSTGRES_URL"), "{failure}");
    assert!(!failure.to_string().contains("Effect"), "nothing is known about the store:\n{failure}");
}

#[test]
fn a_clock_of_another_kind_than_declared_is_a_fault_of_the_set_up() {
    let suite = Suite::new(declared(ClockKind::System), || async { Ok(Place::with(|store| store)) });

    assert_eq!(suite.run(CASE).unwrap_err().kind, FailureKind::SetUp);
}

#[test]
fn a_call_that_never_ends_breaks_bounded() {
    let failure = over(|store| {
        let fates = Fates::around(store);
        fates.always(Verb::Claim, Fate::Hold(Gate::new()));
        Arc::new(fates)
    });

    assert_eq!((failure.kind, failure.clause), (FailureKind::Broken, Clause::Bounded));
    assert!(failure.message.contains("waits without limit"), "{failure}");
}

#[test]
fn a_call_that_blocks_its_thread_breaks_bounded() {
    let failure = over(|store| Arc::new(Blocking(store)));

    assert_eq!((failure.kind, failure.clause), (FailureKind::Broken, Clause::Bounded));
    assert!(failure.message.contains("blocked its thread"), "{failure}");
}

#[test]
fn a_call_that_fails_on_a_healthy_store_is_reported_with_its_error() {
    let failure = over(|store| {
        let fates = Fates::around(store);
        fates.always(Verb::Claim, Fate::Fail(StoreErrorKind::Corrupt));
        Arc::new(fates)
    });

    assert_eq!(failure.kind, FailureKind::Broken);
    assert!(failure.message.contains("unreadable record"), "{failure}");
}

#[test]
fn a_call_without_a_certain_answer_accuses_nobody_and_fails_the_case() {
    for kind in [StoreErrorKind::Unavailable, StoreErrorKind::Other] {
        let suite = Suite::new(declared(ClockKind::Manual), move || async move {
            Ok(Place::with(|store| {
                let fates = Fates::around(store);
                fates.always(Verb::Claim, Fate::Fail(kind));
                Arc::new(fates)
            }))
        });

        let failure = suite.run(CASE).unwrap_err();

        assert_eq!(failure.kind, FailureKind::Inconclusive, "{failure}");
        assert!(failure.message.contains(&kind.to_string()), "the reason is not told:\n{failure}");
        assert!(!failure.to_string().contains("Effect"), "nothing is known about the store:\n{failure}");
    }
}

const CASE: &str = "claim::a_fresh_key_is_granted";

fn next<T>(items: &Mutex<Vec<T>>) -> Option<T> {
    items.lock().unwrap().pop()
}

/// The suite over a store whose clock the suite only has through [`StoreClock::Steered`].
fn steered(fault: Option<Fault>) -> Suite {
    Suite::new(declared(ClockKind::Steered), move || async move {
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        let store = Arc::new(PlantedStore::new(fault, clock.clone()));
        Ok(Place { store, clock: StoreClock::Steered(Arc::new(clock)) })
    })
}

/// The failure of one case over a reference store that is altered.
fn over(alter: fn(Arc<dyn KeyStore>) -> Arc<dyn KeyStore>) -> Box<Failure> {
    let suite = Suite::new(declared(ClockKind::Manual), move || async move { Ok(Place::with(alter)) });
    Box::new(suite.with_bound(Duration::from_millis(300)).run(CASE).unwrap_err())
}

pub(super) fn declared(clock: ClockKind) -> Declaration {
    Declaration::new("altered", clock, Durability::Handle, Processes::One)
}

pub(super) struct Place {
    store: Arc<dyn KeyStore>,
    clock: StoreClock,
}

impl Place {
    pub(super) fn with(alter: impl Fn(Arc<dyn KeyStore>) -> Arc<dyn KeyStore>) -> Self {
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        let store = alter(Arc::new(ReferenceStore::new(clock.clone())));
        Self { store, clock: StoreClock::Manual(clock) }
    }
}

#[async_trait]
impl Fixture for Place {
    fn declare() -> Declaration {
        declared(ClockKind::Manual)
    }

    async fn open() -> Result<Self, FixtureError> {
        Ok(Self::with(|store| store))
    }

    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::clone(&self.store))
    }

    fn clock(&self) -> StoreClock {
        self.clock.clone()
    }
}

/// Sleeps in a claim without giving its thread back, for as long as the process lives.
struct Blocking(Arc<dyn KeyStore>);

#[async_trait]
impl KeyStore for Blocking {
    fn name(&self) -> &'static str {
        "blocking"
    }

    async fn claim(&self, _: &RecordKey, _: &NewClaim, _: Expected) -> Result<ClaimOutcome, StoreError> {
        loop {
            std::thread::park();
        }
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        self.0.load(key).await
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        self.0.renew(key, token, renewal).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        self.0.complete(key, token, completion).await
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        self.0.release(key, token, release).await
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        self.0.purge_expired(limit).await
    }
}
