//! The contract of key stores, on this one.

use std::sync::Arc;

use async_trait::async_trait;
use onceonly::{KeyStore, ManualClock, Timestamp};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, StoreClock,
};

pub mod store;
use store::MapStore as Store;

struct Place {
    store: Store,
    clock: ManualClock,
}

#[async_trait]
impl Fixture for Place {
    // Facts about the store. They decide how a case is run, never whether.
    fn declare() -> Declaration {
        Declaration::new("map", ClockKind::Manual, Durability::Handle, Processes::One)
    }

    // A place without records that nobody else uses. Every case opens one.
    async fn open() -> Result<Self, FixtureError> {
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        Ok(Self { store: Store::new(clock.clone()), clock })
    }

    // One more handle to the same records.
    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::new(self.store.clone()))
    }

    fn clock(&self) -> StoreClock {
        StoreClock::Manual(self.clock.clone())
    }
}

onceonly_conformance::main!(Place);
