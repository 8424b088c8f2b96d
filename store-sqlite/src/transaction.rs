//! Effect and result in one transaction: the record is written over the caller's own connection.

use onceonly::{
    CompleteOutcome, Fingerprint, Holding, Record, RecordKey, ResponseHead, Revision, Span, Status,
    StoreError, StoredResponse, StoredResult, Timestamp, Token, TransactionWrite, Version,
};
use rusqlite::{Connection, Transaction};

use crate::connection;
use crate::error::{self, Error};
use crate::records::Records;
use crate::store::SqliteStore;

/// The answer to [`SqliteStore::complete_in`].
#[derive(Debug)]
#[must_use = "two of the three mean: roll back"]
#[expect(clippy::exhaustive_enums, reason = "each asks for another end of the caller's transaction")]
pub enum CompleteIn {
    /// The result is in the transaction. Commit, and say so with [`TransactionWrite::committed`].
    Stored(TransactionWrite),
    /// An earlier transaction of this same claim has committed effect and result. Roll back: this one's effect would
    /// be the second.
    AlreadyCompleted,
    /// Somebody else took over, or the record is past its time. Roll back: the effect is not this claim's to make.
    NotHeld,
}

/// The answer to [`SqliteStore::mark_in`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "only the first may take effect"]
#[expect(clippy::exhaustive_enums, reason = "each asks the consumer for another answer to the broker")]
pub enum Mark {
    /// The key was free, and the mark is in the transaction. Write the effect, commit, acknowledge.
    First,
    /// The key was marked or completed before. Write nothing, and acknowledge.
    Duplicate,
    /// Somebody else is at it: the write lock did not come free within the connection's busy timeout, or the key is
    /// claimed. Write nothing, do not acknowledge. The transaction is still usable.
    Busy,
}

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
        let mark = mark_at(now, self.table.mark_retention);
        if self.insert(key, &mark)? {
            return Ok(Mark::First);
        }
        // In this transaction nobody can have deleted what was in the way.
        let Some(stored) = self.select(key)? else {
            return Ok(Mark::Busy);
        };
        match stored.record.status {
            Status::Completed(_) if !stored.record.is_past(now) => Ok(Mark::Duplicate),
            Status::InProgress { .. } if !stored.record.is_past(now) => Ok(Mark::Busy),
            Status::Released | Status::Completed(_) | Status::InProgress { .. } => {
                self.update(stored.rowid, &mark)?;
                Ok(Mark::First)
            }
        }
    }
}

/// A record that is completed from the start, under a token that nobody knows.
fn mark_at(now: Timestamp, retention: Span) -> Record {
    Record {
        version: Version { token: Token::random(), revision: Revision::FIRST },
        fingerprint: Fingerprint::builder().part("onceonly", "mark").finish(),
        attempt: 1,
        created_at: now,
        lease_until: now,
        expires_at: now.plus(retention),
        unresolved_until: now.plus(retention),
        status: Status::Completed(StoredResult::NotRetained(ResponseHead::default())),
    }
}
