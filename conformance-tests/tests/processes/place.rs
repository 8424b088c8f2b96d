//! The fixture of the store on files.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{Clock, KeyStore, ManualClock, RecordKey, SystemClock, Timestamp};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, RawAccess, RawLock, StoreClock,
};
use tempfile::TempDir;

use crate::faults::Fault;
use crate::files::Files;
use crate::store::FileStore;

/// A folder, and what store is in it.
pub(crate) struct Place {
    folder: PathBuf,
    /// Removed when the case is over, by the process that made it.
    owned: Option<TempDir>,
    variant: Variant,
    /// What the store goes by, unless its variant has a clock that runs.
    clock: ManualClock,
}

/// How a store on files differs from the one that is declared: in its clock, or in a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variant {
    Right,
    ClockRuns,
    Broken(Fault),
}

impl Variant {
    fn fault(self) -> Option<Fault> {
        match self {
            Self::Broken(fault) => Some(fault),
            Self::Right | Self::ClockRuns => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::ClockRuns => "clock-runs",
            Self::Broken(fault) => fault.name(),
        }
    }

    fn named(name: &str) -> Option<Self> {
        let broken = Fault::ALL.iter().map(|fault| Self::Broken(*fault));
        broken.chain([Self::Right, Self::ClockRuns]).find(|variant| variant.name() == name)
    }
}

impl Place {
    pub(crate) fn with(variant: Variant) -> Result<Self, FixtureError> {
        let folder = tempfile::tempdir()?;
        Ok(Self::at(folder.path().to_owned(), Some(folder), variant))
    }

    fn at(folder: PathBuf, owned: Option<TempDir>, variant: Variant) -> Self {
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        Self { folder, owned, variant, clock }
    }

    fn has(&self, fault: Fault) -> bool {
        self.variant == Variant::Broken(fault)
    }

    fn store(&self, patience: Duration) -> Result<Arc<dyn KeyStore>, FixtureError> {
        let clock: Box<dyn Clock> = match self.variant {
            Variant::ClockRuns => Box::new(SystemClock),
            Variant::Right | Variant::Broken(_) => Box::new(self.clock.clone()),
        };
        Ok(Arc::new(FileStore::open(&self.folder, clock, patience, self.variant.fault())?))
    }
}

#[async_trait]
impl Fixture for Place {
    fn declare() -> Declaration {
        Declaration::new("files", ClockKind::Manual, Durability::Process, Processes::Many)
    }

    async fn open() -> Result<Self, FixtureError> {
        Self::with(Variant::Right)
    }

    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        // A lock that stays is waited for often.
        let patience = if self.has(Fault::LockStays) { 100 } else { 20_000 };
        self.store(Duration::from_millis(patience))
    }

    async fn impatient_handle(&self, patience: Duration) -> Result<Option<Arc<dyn KeyStore>>, FixtureError> {
        Ok(Some(self.store(patience)?))
    }

    fn clock(&self) -> StoreClock {
        let joined = self.owned.is_none();
        if self.variant == Variant::ClockRuns || joined && self.has(Fault::JoinedClockRuns) {
            return StoreClock::System;
        }
        StoreClock::Manual(self.clock.clone())
    }

    fn raw(&self) -> Option<Arc<dyn RawAccess>> {
        Some(Arc::new(Raw(Files { folder: self.folder.clone() })))
    }

    fn address(&self) -> Option<String> {
        let known = !self.has(Fault::WithoutAddress);
        known.then(|| format!("{} {}", self.variant.name(), self.folder.display()))
    }

    async fn join(address: &str) -> Result<Self, FixtureError> {
        let (variant, folder) = address.split_once(' ').ok_or_else(|| FixtureError::new("no address"))?;
        let variant = Variant::named(variant).ok_or_else(|| FixtureError::new("no such store"))?;
        if variant == Variant::Broken(Fault::CannotBeJoined) {
            return Err(FixtureError::new("nobody can join this place"));
        }
        Ok(Self::at(folder.into(), None, variant))
    }
}

struct Raw(Files);

#[async_trait]
impl RawAccess for Raw {
    async fn count(&self) -> Result<u64, FixtureError> {
        Ok(self.0.all()?.len() as u64)
    }

    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError> {
        Ok(fs::read(self.0.file(key)).ok())
    }

    async fn lock(&self, _: &RecordKey) -> Result<Option<RawLock>, FixtureError> {
        loop {
            if let Some(lock) = self.0.try_lock()? {
                return Ok(Some(Box::new(lock)));
            }
            tokio::task::yield_now().await;
        }
    }
}
