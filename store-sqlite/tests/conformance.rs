//! The store contract, on an SQLite file that every handle opens for itself.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{KeyStore, ManualClock, RecordKey, Timestamp};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, RawAccess, StoreClock,
};
use onceonly_sqlite::SqliteStore;
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use tempfile::TempDir;

struct Sqlite {
    /// Removed when the case is over.
    folder: TempDir,
    clock: ManualClock,
}

impl Sqlite {
    fn file(&self) -> PathBuf {
        self.folder.path().join("keys.db")
    }
}

#[async_trait]
impl Fixture for Sqlite {
    fn declare() -> Declaration {
        Declaration::new("sqlite", ClockKind::Manual, Durability::PowerLoss, Processes::Many)
    }

    async fn open() -> Result<Self, FixtureError> {
        // Some time in 2027: a time near zero would hide arithmetic that goes below it.
        let clock = ManualClock::starting_at(Timestamp::from_micros(1_800_000_000_000_000));
        Ok(Self { folder: tempfile::tempdir()?, clock })
    }

    /// A second open of the same file: a writer and readers of its own, as in another process.
    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        // Many cases share the machine's disk: longer than the default, and well within the minute that a case may
        // take.
        let store = SqliteStore::options()
            .clock(self.clock.clone())
            .busy_timeout(Duration::from_secs(30))
            .open(self.file())?;
        Ok(Arc::new(store))
    }

    fn clock(&self) -> StoreClock {
        StoreClock::Manual(self.clock.clone())
    }

    fn raw(&self) -> Option<Arc<dyn RawAccess>> {
        Some(Arc::new(Rows(self.file())))
    }
}

struct Rows(PathBuf);

#[async_trait]
impl RawAccess for Rows {
    async fn count(&self) -> Result<u64, FixtureError> {
        let connection = Connection::open_with_flags(&self.0, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let count: i64 =
            connection.query_row("SELECT count(*) FROM onceonly_records", [], |row| row.get(0))?;
        Ok(count.unsigned_abs())
    }

    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError> {
        let connection = Connection::open_with_flags(&self.0, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let columns = connection.prepare("SELECT * FROM onceonly_records LIMIT 0")?;
        let quoted: Vec<String> =
            columns.column_names().iter().map(|column| format!("quote({column})")).collect();
        let sql = format!(
            "SELECT concat_ws('|', {}) FROM onceonly_records WHERE scope IS ?1 AND key = ?2",
            quoted.join(", ")
        );
        let scope = key.scope().name().map(str::as_bytes);
        let row =
            connection.query_row(&sql, (scope, key.key().as_str().as_bytes()), |row| row.get::<_, String>(0));
        Ok(row.optional()?.map(String::into_bytes))
    }
}

onceonly_conformance::main!(Sqlite);
