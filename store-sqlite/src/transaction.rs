//! Effect and result in one transaction: the record is written over the caller's own connection.

use onceonly::{CompleteIn, CompleteOutcome, Holding, Mark, Record, RecordKey, StoreError, StoredResponse};
use rusqlite::{Connection, Transaction};

use crate::connection;
use crate::error::{self, Error};
use crate::records::Records;
use crate::store::SqliteStore;

impl SqliteStore {
    /// Stores `response` as the result of `claim` in the caller's own transaction, so that effect and result are
    /// committed together or not at all. Then `Policy::Rerun` is right for the operation, and even a lease that ran out
    /// cannot double the effect.
    ///
    /// `transaction` is one on the application's own connection to the store's file. From here to its end it holds the
    /// file's write lock, which every other write waits for: make this its last step, or keep short what follows. The
    /// claim is not renewed meanwhile. Call it once in a transaction, and from where blocking is allowed.
    ///
    /// The transaction is as durable as its connection's `synchronous` setting says. One that SQLite has undone by itself,
    /// as it does when the disk is full, is refused: the effect in it is gone.
    ///
    /// ```
    /// # use onceonly::{Decision, Fingerprint, Idempotency, IdempotencyKey, RecordKey, Scope, StoredResponse};
    /// # use onceonly_sqlite::{CompleteIn, SqliteStore};
    /// # async fn charge() -> Result<(), Box<dyn std::error::Error>> {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("charges.db");
    /// let store = SqliteStore::open(&path)?;
    /// let mut connection = rusqlite::Connection::open(&path)?;
    /// # connection.execute_batch("CREATE TABLE charges (cents INTEGER)")?;
    /// # let onceonly = Idempotency::new(store.clone());
    /// # let key = RecordKey::new(Scope::global(), IdempotencyKey::new("order-1")?);
    /// # let fingerprint = Fingerprint::builder().finish();
    /// # let Decision::Execute(claim) = onceonly.begin(&key, fingerprint).await? else { panic!() };
    /// let transaction = connection.transaction()?;
    /// transaction.execute("INSERT INTO charges (cents) VALUES (1000)", [])?;
    /// match store.complete_in(&transaction, &claim, StoredResponse::new(201, "charged"))? {
    ///     CompleteIn::Stored(write) => {
    ///         transaction.commit()?;
    ///         write.committed();
    ///     }
    ///     CompleteIn::AlreadyCompleted | CompleteIn::NotHeld => transaction.rollback()?,
    /// }
    /// # Ok(())
    /// # }
    /// # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    /// # runtime.block_on(charge()).unwrap();
    /// ```
    ///
    /// # Errors
    /// Roll back on every one of them. [`Unavailable`](onceonly::StoreErrorKind::Unavailable) if the write lock did not
    /// come free within the connection's busy timeout, or if the transaction began by reading and somebody else has
    /// written since (`SQLITE_BUSY_SNAPSHOT`, which no waiting mends: run it again, better with `BEGIN IMMEDIATE`).
    /// [`Rejected`](onceonly::StoreErrorKind::Rejected) if the transaction is on another file than the store's, or is no
    /// longer open.
    pub fn complete_in(
        &self,
        transaction: &Transaction<'_>,
        claim: &impl Holding,
        response: StoredResponse,
    ) -> Result<CompleteIn, StoreError> {
        let records = self.records_in(transaction)?;
        let write = claim.transaction_write();
        let completion = write.completion(response);
        records.lock()?;
        let outcome = records.complete(write.key(), write.token(), &completion)?;
        still_open(transaction)?;
        Ok(match outcome {
            CompleteOutcome::Applied(_) => CompleteIn::Stored(write),
            CompleteOutcome::AlreadyCompleted(_) => CompleteIn::AlreadyCompleted,
            CompleteOutcome::NotHeld => CompleteIn::NotHeld,
        })
    }

    /// Marks `key` as done in the caller's own transaction: for consumers whose effect is a write to the same file. One
    /// insert and one commit, no lease and no stored answer.
    ///
    /// The mark is kept for [`SqliteOptions::mark_retention`](crate::SqliteOptions::mark_retention). A rollback takes
    /// it back together with the effect. Call it from where blocking is allowed.
    ///
    /// # Errors
    /// Those of [`SqliteStore::complete_in`], but for the write lock that stays taken, which is [`Mark::Busy`].
    /// [`Corrupt`](onceonly::StoreErrorKind::Corrupt) if what is stored under the key cannot be read.
    pub fn mark_in(&self, transaction: &Transaction<'_>, key: &RecordKey) -> Result<Mark, StoreError> {
        let records = self.records_in(transaction)?;
        match records.lock() {
            Ok(()) => {}
            Err(Error::Sqlite(failure)) if error::is_busy(&failure) => return Ok(Mark::Busy),
            Err(failure) => return Err(failure.into()),
        }
        let mark = records.mark(key)?;
        still_open(transaction)?;
        Ok(mark)
    }

    fn records_in<'a>(&'a self, connection: &'a Connection) -> Result<Records<'a>, Error> {
        let same_file = self.shared.path.as_deref().is_some_and(|path| connection::is_on(connection, path));
        if !same_file {
            return Err(Error::SetUp("the transaction is not on the store's database file"));
        }
        still_open(connection)?;
        Ok(self.shared.table.on(connection))
    }
}

/// SQLite undoes a transaction by itself when the disk is full, on an I/O error, when memory runs out, and on
/// `OR ROLLBACK`. The caller's `Transaction` does not show it; what is written over it from then on is committed at once,
/// and without the effect that was undone.
fn still_open(connection: &Connection) -> Result<(), Error> {
    match connection.is_autocommit() {
        true => Err(Error::SetUp("the transaction was undone by SQLite; run it again from its beginning")),
        false => Ok(()),
    }
}

impl Records<'_> {
    /// Waits for the write lock, as long as the connection does.
    fn lock(&self) -> Result<(), Error> {
        self.connection.prepare_cached(&self.table.statements.lock)?.execute([])?;
        Ok(())
    }

    fn mark(&self, key: &RecordKey) -> Result<Mark, Error> {
        let now = self.now();
        let mark = Record::marked(self.table.mark_retention, now);
        if self.insert(key, &mark)? {
            return Ok(Mark::First);
        }
        // In this transaction nobody can have deleted what was in the way.
        let Some(stored) = self.select(key)? else {
            return Ok(Mark::Busy);
        };
        if let Some(met) = Mark::met(&stored.record, now) {
            return Ok(met);
        }
        self.update(stored.rowid, &mark)?;
        Ok(Mark::First)
    }
}
