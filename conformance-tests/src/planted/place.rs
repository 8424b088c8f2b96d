//! A place for a planted store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{KeyStore, ManualClock, SystemClock, Timestamp};

use super::faults::Fault;
use super::store::PlantedStore;
use crate::declaration::{ClockKind, Declaration, Durability, Processes};
use crate::fixture::{Fixture, FixtureError, RawAccess, StoreClock};
use crate::suite::Suite;

/// The [`Fixture`] of a [`PlantedStore`]. It gives every means that a store in memory can have, so that every fault can
/// be shown.
pub struct PlantedPlace {
    store: PlantedStore,
    clock: StoreClock,
}

impl PlantedPlace {
    /// A store with `fault` on a clock. One of a server it cannot have: then it takes the host's.
    pub fn on(clock: StoreClock, fault: Option<Fault>) -> Self {
        let store = match &clock {
            StoreClock::Manual(clock) => PlantedStore::new(fault, clock.clone()),
            StoreClock::Steered(_) | StoreClock::System => PlantedStore::new(fault, SystemClock),
        };
        Self { store, clock }
    }

    /// The suite over a store with `fault`, on a manual clock.
    pub fn suite(fault: Option<Fault>) -> Suite {
        let suite = Suite::new(Self::declare(), move || async move { Ok(Self::on(manual_clock(), fault)) });
        match fault {
            // No need to wait for a minute to see it.
            Some(fault) if fault.hangs() => suite.with_bound(Duration::from_secs(2)),
            _ => suite,
        }
    }
}

#[async_trait]
impl Fixture for PlantedPlace {
    fn declare() -> Declaration {
        Declaration::new("planted", ClockKind::Manual, Durability::Handle, Processes::One)
    }

    async fn open() -> Result<Self, FixtureError> {
        Ok(Self::on(manual_clock(), None))
    }

    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::new(self.store.handle()))
    }

    async fn impatient_handle(&self, patience: Duration) -> Result<Option<Arc<dyn KeyStore>>, FixtureError> {
        Ok(Some(Arc::new(self.store.impatient(patience))))
    }

    fn clock(&self) -> StoreClock {
        self.clock.clone()
    }

    fn raw(&self) -> Option<Arc<dyn RawAccess>> {
        Some(self.store.raw())
    }

    async fn neighbour(&self) -> Result<Option<Box<dyn Fixture>>, FixtureError> {
        Ok(Some(Box::new(Self { store: self.store.neighbour(), clock: self.clock.clone() })))
    }

    async fn environment(&self) -> Result<Vec<(&'static str, String)>, FixtureError> {
        Ok(vec![("store", "in memory, comes with the suite".to_owned())])
    }
}

impl fmt::Debug for PlantedPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlantedPlace")
            .field("fault", &self.store.fault)
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

/// Some time in 2027: a time near zero would hide arithmetic that goes below it.
fn manual_clock() -> StoreClock {
    StoreClock::Manual(ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000)))
}
