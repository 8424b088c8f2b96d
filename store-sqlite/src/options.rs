//! How a store is opened.

use std::path::Path;
use std::thread;
use std::time::Duration;

use onceonly::{Clock, Span, StoreError, SystemClock};

use crate::connection::Location;
use crate::error::Error;
use crate::statements::TableName;
use crate::store::SqliteStore;

/// How a [`SqliteStore`] is opened. Begin with [`SqliteStore::options`].
#[derive(Debug)]
#[must_use = "a store is opened by `open` or `in_memory`"]
pub struct SqliteOptions {
    pub(crate) table: String,
    pub(crate) synchronous: Synchronous,
    pub(crate) busy_timeout: Duration,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) mark_retention: Span,
    pub(crate) readers: usize,
    pub(crate) file_bytes_max: Option<u64>,
}

/// What survives a loss of power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the two settings under which a write-ahead log stays whole")]
pub enum Synchronous {
    /// Every answered write. One flush of the disk for each group of writes.
    #[default]
    Full,
    /// Every answered write survives the end of the process, but the last ones may be lost with the power or the
    /// operating system: an operation whose record is lost runs again when it is retried. The file stays whole.
    Normal,
}

impl SqliteOptions {
    pub(crate) fn new() -> Self {
        Self {
            table: TableName::DEFAULT.to_owned(),
            synchronous: Synchronous::Full,
            busy_timeout: Duration::from_secs(5),
            clock: Box::new(SystemClock),
            mark_retention: Span::new(Duration::from_hours(7 * 24)).expect("a week is a span"),
            readers: thread::available_parallelism()
                .map_or(READERS_MIN, |threads| threads.get().max(READERS_MIN)),
            file_bytes_max: None,
        }
    }

    /// The name of the table, `onceonly_records` unless set: ASCII letters, digits and underscores, at most 63.
    ///
    /// Two stores with different tables in one file know nothing of each other.
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.table = name.into();
        self
    }

    /// What survives a loss of power; [`Synchronous::Full`] unless set.
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.synchronous = synchronous;
        self
    }

    /// How long a call waits while another process or connection holds the file's write lock, 5 s unless set, an hour
    /// at most. Then it is [`Unavailable`](onceonly::StoreErrorKind::Unavailable), and nothing was written.
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// The clock that decides when leases and retentions end; the host's unless set.
    ///
    /// All processes on one file should be on one host, as a write-ahead log demands anyway, and so on one clock.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// How long a mark of [`SqliteStore::mark_in`] is kept, 7 days unless set. A message that is delivered again after
    /// that is processed again, so this must exceed the longest time by which a delivery can be late.
    pub fn mark_retention(mut self, retention: Span) -> Self {
        self.mark_retention = retention;
        self
    }

    /// How many connections read; as many as the host runs threads at once, and four at least, unless set. More help
    /// only if more threads than that replay at the same instant. With none, every read goes through the writer.
    pub fn readers(mut self, count: usize) -> Self {
        self.readers = count;
        self
    }

    /// How large the file may grow through this store, rounded down to whole pages; as large as the disk allows
    /// unless set. A full store answers [`Unavailable`](onceonly::StoreErrorKind::Unavailable) to what needs more room
    /// until a purge has made some. The write-ahead log beside the file is not counted.
    pub fn file_bytes_max(mut self, bytes: u64) -> Self {
        self.file_bytes_max = Some(bytes);
        self
    }

    /// Opens the database file at `path`, and creates file and table if they are not there. A `file:` URI is
    /// understood as SQLite does.
    ///
    /// Blocks for as long as that takes, so call it before the runtime is busy.
    ///
    /// # Errors
    /// [`Rejected`](onceonly::StoreErrorKind::Rejected) if an option makes no sense, the file is read-only, its path is
    /// not UTF-8, it has several names by hard links (seen on Unix only), a name that the table needs is taken by
    /// something else, the table was made by a newer release, or its columns were changed; in each of these cases the
    /// file is untouched. [`Corrupt`](onceonly::StoreErrorKind::Corrupt) if the file is no database.
    /// [`Unavailable`](onceonly::StoreErrorKind::Unavailable) if it cannot be opened, or stays locked.
    pub fn open(self, path: impl AsRef<Path>) -> Result<SqliteStore, StoreError> {
        Ok(SqliteStore::start(&Location::File(path.as_ref().to_owned()), self)?)
    }

    /// Opens a database in memory. It is one database for all clones of the store, for no other process and no other
    /// connection, and gone with the last clone.
    ///
    /// # Errors
    /// [`Rejected`](onceonly::StoreErrorKind::Rejected) if an option makes no sense.
    pub fn in_memory(self) -> Result<SqliteStore, StoreError> {
        Ok(SqliteStore::start(&Location::Memory, self)?)
    }

    pub(crate) fn validate(&self) -> Result<(), Error> {
        if self.busy_timeout > BUSY_TIMEOUT_MAX {
            return Err(Error::SetUp("the busy timeout is longer than an hour"));
        }
        if self.readers > READERS_MAX {
            return Err(Error::SetUp("more than 1024 readers"));
        }
        Ok(())
    }
}

impl Synchronous {
    pub(crate) const fn as_sql(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Normal => "NORMAL",
        }
    }
}

const BUSY_TIMEOUT_MAX: Duration = Duration::from_hours(1);
const READERS_MIN: usize = 4;
const READERS_MAX: usize = 1024;
