//! The store contract, on the store in memory.

use std::sync::Arc;

use async_trait::async_trait;
use onceonly::{KeyStore, ManualClock, Timestamp};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, StoreClock,
};
use onceonly_memory::MemoryStore;

struct Memory {
    store: MemoryStore,
    clock: ManualClock,
}

#[async_trait]
impl Fixture for Memory {
    fn declare() -> Declaration {
        Declaration::new("memory", ClockKind::Manual, Durability::Handle, Processes::One)
    }

    async fn open() -> Result<Self, FixtureError> {
        // Some time in 2027: a time near zero would hide arithmetic that goes below it.
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        Ok(Self { store: MemoryStore::with_clock(clock.clone()), clock })
    }

    /// Clones share the records, and nothing else that a call takes part in.
    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::new(self.store.clone()))
    }

    fn clock(&self) -> StoreClock {
        StoreClock::Manual(self.clock.clone())
    }

    /// Another store in the same process.
    async fn neighbour(&self) -> Result<Option<Box<dyn Fixture>>, FixtureError> {
        let (store, clock) = (MemoryStore::with_clock(self.clock.clone()), self.clock.clone());
        Ok(Some(Box::new(Self { store, clock })))
    }
}

onceonly_conformance::main!(Memory);
