//! The suite over a store of its own: what its cases and reports look like.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{KeyStore, ManualClock, Timestamp};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fault, Fixture, FixtureError, PlantedStore, Processes, StoreClock,
    Suite, run_suite,
};

/// Runs it as a test with these arguments.
pub(crate) fn run(fault: Option<Fault>, arguments: Vec<OsString>) -> ExitCode {
    let (name, number) = match fault {
        None => ("reference", "none".to_owned()),
        Some(fault) => ("planted", fault.info().number.to_string()),
    };
    let mut declaration = Sample::declare();
    declaration.name = name;
    let program = std::env::args().next().unwrap_or_else(|| env!("CARGO_PKG_NAME").to_owned());
    let suite = Suite::new(declaration, move || async move { Ok(Sample::with(fault)) })
        // Some faults hang. The store is in memory: nobody need wait for a minute to see it.
        .with_bound(Duration::from_secs(10))
        .with_command(&format!("{program} try {number}"));
    run_suite(suite, arguments)
}

struct Sample {
    store: PlantedStore,
    clock: ManualClock,
}

impl Sample {
    fn with(fault: Option<Fault>) -> Self {
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        Self { store: PlantedStore::new(fault, clock.clone()), clock }
    }
}

#[async_trait]
impl Fixture for Sample {
    fn declare() -> Declaration {
        Declaration::new("reference", ClockKind::Manual, Durability::Handle, Processes::One)
    }

    async fn open() -> Result<Self, FixtureError> {
        Ok(Self::with(None))
    }

    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::new(self.store.handle()))
    }

    fn clock(&self) -> StoreClock {
        StoreClock::Manual(self.clock.clone())
    }

    async fn environment(&self) -> Result<Vec<(&'static str, String)>, FixtureError> {
        Ok(vec![("store", "in memory, comes with the suite".to_owned())])
    }
}
