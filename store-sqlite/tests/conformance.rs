//! The store contract, on an SQLite file that every handle opens for itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{KeyStore, ManualClock, RecordKey, Timestamp};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, RawAccess, RawLock, RawSnapshot,
    StoreClock,
};
use onceonly_sqlite::{SqliteOptions, SqliteStore, Synchronous};
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

#[path = "support/damage.rs"]
mod damage;

struct Sqlite {
    file: PathBuf,
    /// Removed when the case is over, by the process that made it.
    folder: Option<Arc<TempDir>>,
    clock: ManualClock,
    table: &'static str,
}

impl Sqlite {
    fn at(file: PathBuf, folder: Option<Arc<TempDir>>) -> Self {
        // Some time in 2027: a time near zero would hide arithmetic that goes below it.
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        Self { file, folder, clock, table: "onceonly_records" }
    }

    fn options(&self) -> SqliteOptions {
        SqliteStore::options().clock(self.clock.clone()).table(self.table).synchronous(SYNCHRONOUS)
    }
}

#[async_trait]
impl Fixture for Sqlite {
    fn declare() -> Declaration {
        Declaration::new("sqlite", ClockKind::Manual, Durability::PowerLoss, Processes::Many)
    }

    async fn open() -> Result<Self, FixtureError> {
        let folder = tempfile::tempdir()?;
        Ok(Self::at(folder.path().join("keys.db"), Some(Arc::new(folder))))
    }

    /// A second open of the same file: a writer and readers of its own, as in another process.
    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::new(self.options().busy_timeout(PATIENCE).open(&self.file)?))
    }

    async fn impatient_handle(&self, patience: Duration) -> Result<Option<Arc<dyn KeyStore>>, FixtureError> {
        let store = self.options().busy_timeout(patience).open(&self.file)?;
        Ok(Some(Arc::new(store)))
    }

    fn clock(&self) -> StoreClock {
        StoreClock::Manual(self.clock.clone())
    }

    fn raw(&self) -> Option<Arc<dyn RawAccess>> {
        Some(Arc::new(Rows { file: self.file.clone(), table: self.table }))
    }

    /// Another table in the same file.
    async fn neighbour(&self) -> Result<Option<Box<dyn Fixture>>, FixtureError> {
        let (file, folder, clock) = (self.file.clone(), self.folder.clone(), self.clock.clone());
        Ok(Some(Box::new(Self { file, folder, clock, table: "other_records" })))
    }

    fn address(&self) -> Option<String> {
        self.file.to_str().map(str::to_owned)
    }

    async fn join(address: &str) -> Result<Self, FixtureError> {
        Ok(Self::at(address.into(), None))
    }

    async fn environment(&self) -> Result<Vec<(&'static str, String)>, FixtureError> {
        let _store = self.handle().await?;
        // That of the file, which a store sets; `synchronous` is each connection's own and cannot be looked at here.
        let connection = Connection::open_with_flags(&self.file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let journal_mode = connection.query_row("PRAGMA journal_mode", [], |row| row.get(0))?;
        Ok(vec![
            ("SQLite", rusqlite::version().to_owned()),
            ("journal_mode", journal_mode),
            ("synchronous", format!("{SYNCHRONOUS:?}").to_lowercase()),
        ])
    }
}

/// Connections of others to the file.
struct Rows {
    file: PathBuf,
    table: &'static str,
}

impl Rows {
    fn connect(&self) -> rusqlite::Result<Connection> {
        let connection = Connection::open(&self.file)?;
        connection.busy_timeout(PATIENCE)?;
        // Nobody cuts the power here, and the disk is shared with many cases.
        connection.pragma_update(None, "synchronous", "OFF")?;
        Ok(connection)
    }
}

#[async_trait]
impl RawAccess for Rows {
    async fn count(&self) -> Result<u64, FixtureError> {
        let sql = format!("SELECT count(*) FROM {}", self.table);
        let count: i64 = self.connect()?.query_row(&sql, [], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError> {
        Ok(damage::row(&self.connect()?, key)?.map(String::into_bytes))
    }

    async fn damage(&self, key: &RecordKey, way: usize) -> Result<Option<String>, FixtureError> {
        let connection = self.connect()?;
        let ways = damage::ways(&connection, key)?;
        let Some(way) = ways.get(way) else { return Ok(None) };
        damage::damage(&connection, key, way)?;
        Ok(Some((*way).to_owned()))
    }

    /// The write lock of the whole file.
    async fn lock(&self, _: &RecordKey) -> Result<Option<RawLock>, FixtureError> {
        let connection = self.connect()?;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        Ok(Some(Box::new(connection)))
    }

    async fn snapshot(&self) -> Result<Option<RawSnapshot>, FixtureError> {
        let connection = self.connect()?;
        connection.execute_batch(&format!("BEGIN; SELECT count(*) FROM {}", self.table))?;
        Ok(Some(Box::new(connection)))
    }
}

/// What the declared durability takes.
const SYNCHRONOUS: Synchronous = Synchronous::Full;

/// Many cases share the machine's disk: longer than the default, and well within the minute that a case may take.
const PATIENCE: Duration = Duration::from_secs(30);

onceonly_conformance::main!(Sqlite);
