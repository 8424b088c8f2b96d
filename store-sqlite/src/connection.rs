//! Opening the file.

use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use crate::error::{self, Error};
use crate::options::Synchronous;

/// Where the records are.
#[derive(Clone, Debug)]
pub(crate) enum Location {
    File(PathBuf),
    /// In the memory of one connection, which is the writer's.
    Memory,
}

/// A connection on which nothing has been changed yet.
pub(crate) fn open(location: &Location) -> Result<Connection, Error> {
    // Every connection is used by one thread at a time, so SQLite need not lock it once more.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(Error::SetUp("SQLite is older than 3.37"));
    }
    let connection = match location {
        Location::File(path) => Connection::open_with_flags(path, flags)?,
        Location::Memory => Connection::open_in_memory_with_flags(flags)?,
    };
    // SQLite opens what it may not write without a word.
    if connection.is_readonly("main")? {
        return Err(Error::SetUp("the database file is read-only"));
    }
    Ok(connection)
}

/// Puts the file into write-ahead mode, in which readers and a writer do not wait for each other.
pub(crate) fn use_write_ahead_log(connection: &Connection, deadline: Instant) -> Result<(), Error> {
    // Switching does not use SQLite's own waiting.
    let mode: String = retry_while_busy(deadline, || {
        connection.query_row("PRAGMA main.journal_mode = WAL", [], |row| row.get(0))
    })?;
    if mode != "wal" {
        return Err(Error::SetUp(
            "the database has no write-ahead log; for one in memory there is `in_memory`",
        ));
    }
    Ok(())
}

/// Sets up the connection that writes.
pub(crate) fn prepare_writer(
    connection: &Connection,
    synchronous: Synchronous,
    file_bytes_max: Option<u64>,
) -> Result<(), Error> {
    connection.pragma_update(None, "synchronous", synchronous.as_sql())?;
    connection.pragma_update(None, "cache_size", -WRITER_CACHE_KIB)?;
    // Checkpoints run elsewhere; this only lets a log that has grown shrink again when it starts over.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.query_row(&format!("PRAGMA journal_size_limit = {LOG_BYTES_KEPT}"), [], |_| Ok(()))?;
    if let Some(bytes) = file_bytes_max {
        let page_size: u32 = connection.query_row("PRAGMA page_size", [], |row| row.get(0))?;
        let pages = (bytes / u64::from(page_size)).clamp(1, u64::from(u32::MAX - 1));
        connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(()))?;
    }
    Ok(())
}

/// A connection for reading in place. It waits for nothing: what it cannot have at once, the writer looks up.
pub(crate) fn open_reader(location: &Location) -> Result<Connection, Error> {
    let connection = open(location)?;
    connection.busy_timeout(Duration::ZERO)?;
    connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Repeats `step` while somebody else holds a lock that it needs, until `deadline`.
///
/// SQLite's own waiting sleeps up to a tenth of a second between two looks. Beside another process that writes without
/// a pause it would look too seldom to get its turn.
pub(crate) fn retry_while_busy<T>(
    deadline: Instant,
    mut step: impl FnMut() -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    let mut pause = PAUSE_MIN;
    loop {
        match step() {
            Err(failure) if error::is_busy(&failure) && Instant::now() < deadline => {
                thread::sleep(pause);
                pause = (pause * 2).min(PAUSE_MAX);
            }
            result => return result,
        }
    }
}

/// Whether `connection` is open on the file called `path` by SQLite.
pub(crate) fn is_on(connection: &Connection, path: &Path) -> bool {
    connection.path().is_some_and(|own| Path::new(own) == path)
}

/// The first with STRICT tables; RETURNING came before.
const OLDEST_SQLITE: i32 = 3_037_000;

const WRITER_CACHE_KIB: i64 = 64 * 1024;
const READER_CACHE_KIB: i64 = 8 * 1024;
const LOG_BYTES_KEPT: u64 = 64 * 1024 * 1024;

const PAUSE_MIN: Duration = Duration::from_micros(50);
const PAUSE_MAX: Duration = Duration::from_millis(1);
