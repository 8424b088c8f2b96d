//! The suite against stores that are broken on purpose: each fault must be found, by the case that is made for it, with
//! a report that says what is wrong; and a store without a fault must pass everything.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{KeyStore, ManualClock, RecordKey, Timestamp};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Failure, FailureKind, Fault, Fixture, FixtureError, PlantedStore,
    Processes, RawAccess, StoreClock, Suite,
};

#[test]
fn a_store_without_a_fault_passes_every_case() {
    let suite = suite_over(None);
    let failures: Vec<String> = Suite::cases()
        .filter_map(|case| suite.run(case.name).err())
        .map(|failure| failure.to_string())
        .collect();

    assert!(failures.is_empty(), "the healthy store is accused:\n{}", failures.join("\n\n"));
}

#[test]
fn every_fault_is_found_by_the_case_made_for_it() {
    let survivors: Vec<String> = Fault::ALL.iter().filter_map(|fault| survivor(*fault)).collect();

    assert!(survivors.is_empty(), "{} of {}\n{}", survivors.len(), Fault::ALL.len(), survivors.join("\n"));
}

#[test]
fn every_fault_has_a_number_of_its_own_and_a_case_that_exists() {
    let numbers: BTreeSet<u16> = Fault::ALL.iter().map(|fault| fault.info().number).collect();
    assert_eq!(numbers.len(), Fault::ALL.len());
    let names: BTreeSet<&str> = Suite::cases().map(|case| case.name).collect();
    for fault in Fault::ALL {
        assert!(names.contains(fault.info().case), "{fault:?} names {:?}", fault.info().case);
    }
}

/// What is wrong with how the suite finds the fault, if anything.
///
/// A case that races may miss a fault on a busy machine, though it never accuses falsely; three runs in a row do not.
fn survivor(fault: Fault) -> Option<String> {
    let info = fault.info();
    let found = (0..3).find_map(|_| suite_over(Some(fault)).run(info.case).err());
    match found {
        None => Some(format!("{} {fault:?} survives {}", info.number, info.case)),
        Some(failure) => {
            unclear(&failure, info.message).map(|why| format!("{} {fault:?}: {why}", info.number))
        }
    }
}

fn unclear(failure: &Failure, message: &str) -> Option<String> {
    if failure.kind != FailureKind::Broken {
        return Some(format!("the verdict is {:?}\n{failure}", failure.kind));
    }
    (!failure.message.contains(message)).then(|| format!("the report does not say {message:?}\n{failure}"))
}

fn suite_over(fault: Option<Fault>) -> Suite {
    let suite = Suite::new(Planted::declare(), move || Planted::with(fault));
    match fault {
        // These hang: no need to wait for a minute to see it.
        Some(Fault::PermitLostOnDrop | Fault::BatchLocksInOrder) => suite.with_bound(Duration::from_secs(2)),
        _ => suite,
    }
}

struct Planted {
    store: PlantedStore,
    clock: ManualClock,
}

impl Planted {
    async fn with(fault: Option<Fault>) -> Result<Self, FixtureError> {
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        Ok(Self { store: PlantedStore::new(fault, clock.clone()), clock })
    }
}

#[async_trait]
impl Fixture for Planted {
    fn declare() -> Declaration {
        Declaration::new("planted", ClockKind::Manual, Durability::Handle, Processes::One)
    }

    async fn open() -> Result<Self, FixtureError> {
        Self::with(None).await
    }

    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::new(self.store.handle()))
    }

    fn clock(&self) -> StoreClock {
        StoreClock::Manual(self.clock.clone())
    }

    fn raw(&self) -> Option<Arc<dyn RawAccess>> {
        Some(Arc::new(Records(self.store.handle())))
    }
}

struct Records(PlantedStore);

#[async_trait]
impl RawAccess for Records {
    async fn count(&self) -> Result<u64, FixtureError> {
        Ok(self.0.len() as u64)
    }

    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError> {
        let found = self.0.load(key).await?;
        Ok(found.map(|found| format!("{:?}", found.record).into_bytes()))
    }
}
