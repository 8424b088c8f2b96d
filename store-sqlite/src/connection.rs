//! Opening the file.

use std::io;
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

/// A file that a first connection has opened, for the connections that follow.
#[derive(Debug)]
pub(crate) struct OpenedFile {
    /// As the application calls it.
    given: PathBuf,
    /// As SQLite calls it: absolute and without symbolic links.
    path: PathBuf,
}

/// The first connection, on which nothing has been changed yet.
pub(crate) fn open(location: &Location) -> Result<Connection, Error> {
    if rusqlite::version_number() < OLDEST_SQLITE {
        return Err(Error::SetUp("SQLite is older than 3.37"));
    }
    let flags = flags() | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = match location {
        // Before it is created.
        Location::File(path) if path.to_str().is_none() => return Err(NOT_UTF_8),
        Location::File(path) => Connection::open_with_flags(path, flags)?,
        Location::Memory => Connection::open_in_memory_with_flags(flags)?,
    };
    // SQLite opens what it may not write without a word.
    if connection.is_readonly("main")? {
        return Err(Error::SetUp("the database file is read-only"));
    }
    Ok(connection)
}

impl OpenedFile {
    /// The file that `connection` has opened by the name `given`.
    pub(crate) fn of(connection: &Connection, given: &Path) -> Result<Self, Error> {
        // Without it no transaction could be told to be on this file.
        let Some(path) = connection.path() else {
            return Err(NOT_UTF_8);
        };
        let opened = Self { given: given.to_owned(), path: PathBuf::from(path) };
        opened.require_one_name()?;
        Ok(opened)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Another connection to this file, even if the name that was given leads elsewhere by now.
    pub(crate) fn connect(&self) -> Result<Connection, Error> {
        // A URI says more than the path.
        let is_uri = self.given.as_os_str().as_encoded_bytes().starts_with(b"file:");
        let connection = if is_uri {
            Connection::open_with_flags(&self.given, flags() | OpenFlags::SQLITE_OPEN_CREATE)?
        } else {
            Connection::open_with_flags(&self.path, flags())?
        };
        if is_on(&connection, &self.path) { Ok(connection) } else { Err(Error::SetUp("the file was moved")) }
    }

    /// The write-ahead log belongs to a name. Under two names a file has two, and those who write under one do not see
    /// what is written under the other: <https://www.sqlite.org/howtocorrupt.html>, section 2.5.
    #[cfg(unix)]
    fn require_one_name(&self) -> Result<(), Error> {
        use std::os::unix::fs::MetadataExt;

        match self.path.metadata() {
            Ok(metadata) if metadata.nlink() > 1 => {
                Err(Error::SetUp("the database file has a second name, a hard link"))
            }
            Ok(_) => Ok(()),
            // In memory.
            Err(failure) if failure.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(failure) => Err(failure.into()),
        }
    }

    #[cfg(not(unix))]
    fn require_one_name(&self) -> Result<(), Error> {
        Ok(())
    }
}

/// For every connection. Each is used by one thread at a time, so SQLite need not lock it once more.
fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX
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
pub(crate) fn open_reader(file: &OpenedFile) -> Result<Connection, Error> {
    let connection = file.connect()?;
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

const NOT_UTF_8: Error = Error::SetUp("the path of the database file is not UTF-8");

/// The first with STRICT tables; RETURNING came before.
const OLDEST_SQLITE: i32 = 3_037_000;

const WRITER_CACHE_KIB: i64 = 64 * 1024;
const READER_CACHE_KIB: i64 = 8 * 1024;
const LOG_BYTES_KEPT: u64 = 64 * 1024 * 1024;

const PAUSE_MIN: Duration = Duration::from_micros(50);
const PAUSE_MAX: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    // Nobody outside can come in between two connections of one store.
    #[cfg(unix)]
    #[test]
    fn later_connections_are_on_the_first_ones_file() {
        let directory = tempfile::tempdir().unwrap();
        let place = |name: &str| directory.path().join(name);
        let path_on = |file: &OpenedFile| file.connect().map(|on| PathBuf::from(on.path().unwrap()));
        fs::create_dir(place("first")).unwrap();
        fs::create_dir(place("second")).unwrap();
        std::os::unix::fs::symlink(place("first"), place("link")).unwrap();
        let plain = place("link").join("records.db");
        let uri = PathBuf::from(format!("file:{}", plain.display()));
        let opened =
            |given: &Path| OpenedFile::of(&open(&Location::File(given.to_owned())).unwrap(), given).unwrap();
        let (by_path, by_uri) = (opened(&plain), opened(&uri));
        assert_eq!(path_on(&by_uri).unwrap(), by_path.path);

        fs::remove_file(place("link")).unwrap();
        std::os::unix::fs::symlink(place("second"), place("link")).unwrap();
        assert_eq!(path_on(&by_path).unwrap(), by_path.path);
        assert!(matches!(path_on(&by_uri), Err(Error::SetUp("the file was moved"))));

        fs::remove_file(place("first").join("records.db")).unwrap();
        assert!(path_on(&by_path).is_err());
        assert!(!place("first").join("records.db").exists(), "a file that was deleted is not made anew");
    }

    /// What the documentation declares to survive a loss of power is flushed before it is answered.
    #[test]
    fn the_writer_flushes_as_it_was_asked_to() {
        let directory = tempfile::tempdir().unwrap();
        for (synchronous, due) in
            [(Synchronous::default(), 2), (Synchronous::Full, 2), (Synchronous::Normal, 1)]
        {
            let connection = open(&Location::File(directory.path().join("records.db"))).unwrap();
            use_write_ahead_log(&connection, Instant::now() + Duration::from_secs(60)).unwrap();
            prepare_writer(&connection, synchronous, None).unwrap();
            let set: i64 = connection.query_row("PRAGMA main.synchronous", [], |row| row.get(0)).unwrap();
            assert_eq!(set, due, "{synchronous:?}");
        }
    }
}
