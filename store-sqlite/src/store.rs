//! The store.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, RecordKey,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, Token,
};

use crate::checkpoint::Checkpoints;
use crate::connection::{self, Location, OpenedFile};
use crate::error::{Error, NAME};
use crate::options::SqliteOptions;
use crate::reader::{Look, Readers};
use crate::records::{Records, Table};
use crate::schema::{self, Found};
use crate::seen::Seen;
use crate::statements::{Statements, TableName};
use crate::sweep::Sweep;
use crate::writer::{WhenDropped, Writer, WriterParts};

/// A [`KeyStore`] in an SQLite database file, for any number of processes on one host.
///
/// Clones share one writing thread and the connections that read. Dropping the last clone ends the thread, once it has
/// answered what is queued, and does not wait for that: what is queued is still written if the process lives long
/// enough. [`SqliteStore::close`] waits.
///
/// Records that are past their time stay until [`KeyStore::purge_expired`] deletes them: run the engine's sweeper. The
/// file does not shrink by that; the room is used again.
#[derive(Clone)]
pub struct SqliteStore {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    pub(crate) table: Arc<Table>,
    /// The file as SQLite calls it; `None` for a database in memory.
    pub(crate) path: Option<PathBuf>,
    // Closed before the writer, whose connection is the last one to close and takes the log away.
    readers: Readers,
    writer: Writer,
    /// Keys whose records a look may find.
    seen: Seen,
}

impl SqliteStore {
    /// Opens the database file at `path` with the default options, and creates file and table if they are not there.
    ///
    /// # Errors
    /// Those of [`SqliteOptions::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::options().open(path)
    }

    /// Opens a database in memory with the default options: one for all clones, gone with the last of them.
    ///
    /// # Errors
    /// Those of [`SqliteOptions::in_memory`].
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::options().in_memory()
    }

    /// The default options, to be changed before opening.
    pub fn options() -> SqliteOptions {
        SqliteOptions::new()
    }

    /// Drops this clone, and if it is the last one waits until everything queued is written and answered and the file is
    /// closed. Before the process ends, drop what else holds a clone, such as the engine, and call this.
    ///
    /// Blocks, for [`SqliteOptions::busy_timeout`] and longer if others hold the write lock or the disk hangs: call it
    /// where blocking is allowed. With other clones left it returns at once, and the last of them closes the file. A
    /// file that no other process has open either is then one file, without its write-ahead log.
    pub fn close(self) {
        if let Some(Shared { readers, writer, .. }) = Arc::into_inner(self.shared) {
            drop(readers);
            writer.close();
        }
    }

    pub(crate) fn start(location: &Location, options: SqliteOptions) -> Result<Self, Error> {
        options.validate()?;
        let name = TableName::new(&options.table)?;
        let statements = Statements::new(&name);
        let deadline = Instant::now() + options.busy_timeout;

        let mut connection = connection::open(location)?;
        connection.busy_timeout(options.busy_timeout)?;
        // Before anything is changed: a file that is not ours stays as it is.
        let file = match location {
            Location::File(given) => Some(OpenedFile::of(&connection, given)?),
            Location::Memory => None,
        };
        let found = schema::inspect(&mut connection, &name)?;
        if file.is_some() {
            connection::use_write_ahead_log(&connection, deadline)?;
        }
        connection::prepare_writer(&connection, options.synchronous, options.file_bytes_max)?;
        if found == Found::Absent {
            schema::create(&mut connection, &name, &statements)?;
        }
        // From here on the writer waits in its own way.
        connection.busy_timeout(Duration::ZERO)?;

        let readers = Readers::open(file.as_ref(), options.readers)?;
        let checkpoints = match &file {
            Some(file) => {
                Checkpoints::watch(&connection);
                Some(Checkpoints::start(file.connect()?)?)
            }
            None => None,
        };
        let path = file.map(|file| file.path().to_owned());
        let SqliteOptions { busy_timeout, clock, mark_retention, .. } = options;
        let table = Arc::new(Table { statements, clock, mark_retention });
        let parts = WriterParts { connection, table: Arc::clone(&table), busy_timeout, checkpoints };
        let writer = Writer::start(parts)?;
        Ok(Self { shared: Arc::new(Shared { table, path, readers, writer, seen: Seen::new() }) })
    }

    /// Carries out what belongs to an operation that may have happened, whether somebody waits for it or not.
    async fn write<A: Send + 'static>(
        &self,
        verb: impl FnMut(&Records<'_>) -> Result<A, Error> + Send + 'static,
    ) -> Result<A, StoreError> {
        self.shared.writer.call(WhenDropped::CarryOut, verb).await
    }

    fn look(&self, key: &RecordKey) -> Result<Look, Error> {
        self.shared.readers.look(&self.shared.table, key)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

/// Every write is carried out by the writer's thread, in one transaction with what queued beside it, and answered after
/// the commit. A dropped future leaves a claim undone if its turn had not come; everything else is carried out.
#[async_trait]
impl KeyStore for SqliteStore {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        // A replay need not wait for the commit of others. What is committed stays, so a look is as good as the
        // writer's own where it finds something.
        if expected == Expected::Absent
            && self.shared.seen.holds(key)
            && let Look::Seen(Some(snapshot)) = self.look(key)?
        {
            return Ok(ClaimOutcome::Occupied(snapshot));
        }
        let (own_key, claim) = (key.clone(), claim.clone());
        let verb = move |records: &Records<'_>| records.claim(&own_key, &claim, expected);
        let outcome = self.shared.writer.call(WhenDropped::LeaveUndone, verb).await;
        self.shared.seen.note(key);
        outcome
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        match self.look(key)? {
            Look::Seen(snapshot) => Ok(snapshot.map(|snapshot| *snapshot)),
            Look::AskWriter => {
                let key = key.clone();
                self.write(move |records| records.load(&key)).await
            }
        }
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let (key, renewal) = (key.clone(), renewal.clone());
        self.write(move |records| records.renew(&key, token, &renewal)).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let (key, completion) = (key.clone(), completion.clone());
        self.write(move |records| records.complete(&key, token, &completion)).await
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let (key, release) = (key.clone(), *release);
        self.write(move |records| records.release(&key, token, &release)).await
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        let mut sweep = Sweep::new(limit);
        while !sweep.is_finished() {
            sweep = self.write(move |records| records.sweep(sweep)).await?;
        }
        if sweep.unreadable() > 0 {
            tracing::warn!(records = sweep.unreadable(), "purge left records that cannot be read");
        }
        Ok(sweep.deleted())
    }

    async fn claim_many(&self, claims: &[ClaimRequest]) -> Vec<Result<ClaimOutcome, StoreError>> {
        let verbs = claims.iter().cloned().map(|ClaimRequest { key, claim, expected }| {
            move |records: &Records<'_>| records.claim(&key, &claim, expected)
        });
        self.shared.writer.call_many(WhenDropped::LeaveUndone, verbs).await
    }
}
