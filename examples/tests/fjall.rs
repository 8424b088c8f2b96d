//! The store contract, on fjall: stores of their own over one open database, as fjall allows one process.

#[path = "support/damage.rs"]
mod damage;

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use async_trait::async_trait;
use fjall::{KeyspaceCreateOptions, Readable, SingleWriterTxDatabase, SingleWriterTxKeyspace};
use onceonly::{KeyStore, ManualClock, RecordKey, StoreError, Timestamp};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, RawAccess, RawLock, RawSnapshot,
    StoreClock,
};
use onceonly_examples::backends::fjall::FjallStore;
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::damage::{damaged, stored_key};

struct Fjall {
    database: SingleWriterTxDatabase,
    clock: ManualClock,
    /// Removed when the case is over.
    _folder: TempDir,
}

impl Fjall {
    fn store(&self) -> Result<FjallStore, StoreError> {
        FjallStore::over(self.database.clone(), self.clock.clone())
    }
}

#[async_trait]
impl Fixture for Fjall {
    fn declare() -> Declaration {
        Declaration::new("fjall", ClockKind::Manual, Durability::PowerLoss, Processes::One)
    }

    async fn open() -> Result<Self, FixtureError> {
        let folder = tempfile::tempdir()?;
        let database = SingleWriterTxDatabase::builder(folder.path()).open()?;
        // Some time in 2027: a time near zero would hide arithmetic that goes below it.
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        Ok(Self { database, clock, _folder: folder })
    }

    /// A store of its own: it shares nothing with the others but the database.
    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::new(self.store()?.with_patience(PATIENCE)))
    }

    async fn impatient_handle(&self, patience: Duration) -> Result<Option<Arc<dyn KeyStore>>, FixtureError> {
        Ok(Some(Arc::new(self.store()?.with_patience(patience))))
    }

    fn clock(&self) -> StoreClock {
        StoreClock::Manual(self.clock.clone())
    }

    fn raw(&self) -> Option<Arc<dyn RawAccess>> {
        Some(Arc::new(Records(self.database.clone())))
    }
}

struct Records(SingleWriterTxDatabase);

impl Records {
    fn keyspace(&self) -> Result<SingleWriterTxKeyspace, FixtureError> {
        Ok(self.0.keyspace("onceonly_records", KeyspaceCreateOptions::default)?)
    }
}

#[async_trait]
impl RawAccess for Records {
    async fn count(&self) -> Result<u64, FixtureError> {
        Ok(self.0.read_tx().len(self.keyspace()?)? as u64)
    }

    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError> {
        Ok(self.keyspace()?.get(stored_key(key))?.map(|stored| stored.to_vec()))
    }

    async fn damage(&self, key: &RecordKey, way: usize) -> Result<Option<String>, FixtureError> {
        let whole = self.stored(key).await?.ok_or_else(|| FixtureError::new("there is no record"))?;
        let Some((done, damaged)) = damaged(&whole, way) else { return Ok(None) };
        self.keyspace()?.insert(stored_key(key), damaged)?;
        Ok(Some(done))
    }

    /// One lock for all records: one transaction writes at a time. It belongs to the thread that has begun it.
    async fn lock(&self, _: &RecordKey) -> Result<Option<RawLock>, FixtureError> {
        let database = self.0.clone();
        let (had, waited_for) = oneshot::channel();
        let (lock, given_back) = mpsc::channel::<()>();
        thread::spawn(move || {
            let _transaction = database.write_tx();
            let _ = had.send(());
            // Until the other end is dropped: nothing is ever sent.
            let _ = given_back.recv();
        });
        waited_for.await?;
        Ok(Some(Box::new(lock)))
    }

    async fn snapshot(&self) -> Result<Option<RawSnapshot>, FixtureError> {
        Ok(Some(Box::new(self.0.read_tx())))
    }
}

/// Many cases share the machine's disk: longer than the default, and well within the minute that a case may take.
const PATIENCE: Duration = Duration::from_secs(30);

onceonly_conformance::main!(Fjall);
