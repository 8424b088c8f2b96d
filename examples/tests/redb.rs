//! The store contract, on redb: stores of their own over one open database, as redb allows one process.

#[path = "support/damage.rs"]
mod damage;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{KeyStore, ManualClock, RecordKey, StoreError, Timestamp};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, RawAccess, RawLock, RawSnapshot,
    StoreClock,
};
use onceonly_examples::backends::redb::RedbStore;
use redb::{Database, ReadableDatabase, ReadableTableMetadata, TableDefinition};
use tempfile::TempDir;

use crate::damage::{damaged, stored_key};

struct Redb {
    database: Arc<Database>,
    clock: ManualClock,
    /// Removed when the case is over.
    _folder: TempDir,
}

impl Redb {
    fn store(&self) -> Result<RedbStore, StoreError> {
        RedbStore::over(Arc::clone(&self.database), self.clock.clone())
    }
}

#[async_trait]
impl Fixture for Redb {
    fn declare() -> Declaration {
        Declaration::new("redb", ClockKind::Manual, Durability::PowerLoss, Processes::One)
    }

    async fn open() -> Result<Self, FixtureError> {
        let folder = tempfile::tempdir()?;
        let database = Arc::new(Database::create(folder.path().join("keys.redb"))?);
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
        Some(Arc::new(Records(Arc::clone(&self.database))))
    }
}

struct Records(Arc<Database>);

#[async_trait]
impl RawAccess for Records {
    async fn count(&self) -> Result<u64, FixtureError> {
        Ok(self.0.begin_read()?.open_table(RECORDS)?.len()?)
    }

    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError> {
        let stored = self.0.begin_read()?.open_table(RECORDS)?.get_owned(&stored_key(key)[..])?;
        Ok(stored.map(|stored| stored.value().to_vec()))
    }

    async fn damage(&self, key: &RecordKey, way: usize) -> Result<Option<String>, FixtureError> {
        let whole = self.stored(key).await?.ok_or_else(|| FixtureError::new("there is no record"))?;
        let Some((done, damaged)) = damaged(&whole, way) else { return Ok(None) };
        let transaction = self.0.begin_write()?;
        transaction.open_table(RECORDS)?.insert(&stored_key(key)[..], &damaged[..])?;
        transaction.commit()?;
        Ok(Some(done))
    }

    /// One lock for all records: redb lets one transaction write at a time.
    async fn lock(&self, _: &RecordKey) -> Result<Option<RawLock>, FixtureError> {
        Ok(Some(Box::new(self.0.begin_write()?)))
    }

    async fn snapshot(&self) -> Result<Option<RawSnapshot>, FixtureError> {
        Ok(Some(Box::new(self.0.begin_read()?)))
    }
}

/// Many cases share the machine's disk: longer than the default, and well within the minute that a case may take.
const PATIENCE: Duration = Duration::from_secs(30);

const RECORDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("onceonly_records");

onceonly_conformance::main!(Redb);
