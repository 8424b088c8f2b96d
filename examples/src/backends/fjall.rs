//! A key store on fjall: one folder, one process.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use fjall::{
    Error, KeyspaceCreateOptions, LsmError, PersistMode, Readable, SingleWriterTxDatabase,
    SingleWriterTxKeyspace, SingleWriterWriteTx,
};
use onceonly::{
    ClaimOutcome, ClaimRequest, Clock, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, Record,
    RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, StoreErrorKind,
    SystemClock, Timestamp, Token,
};

use super::blocking::BlockingCalls;
use super::{codec, folder};

/// A [`KeyStore`] in a fjall database. Clones, and stores over the same open database, share the records.
///
/// Every call is a transaction of its own, and a call that writes has been synced to the disk when it is answered
/// ([`PersistMode::SyncAll`], for each call by itself): it survives a loss of power, as far as the disk keeps its word.
/// One transaction writes at a time, so the disk's flushes bound the writes of all callers together; `store-sqlite`
/// shows how to commit them in groups. A batch of claims is one transaction.
///
/// For one process: fjall locks the folder. After an I/O error while writing it refuses every write until the folder is
/// opened again. The verbs need a runtime of tokio's whose timers are enabled.
#[derive(Clone)]
pub struct FjallStore {
    shared: Arc<Shared>,
    calls: BlockingCalls,
}

struct Shared {
    database: SingleWriterTxDatabase,
    /// Records by their key.
    records: SingleWriterTxKeyspace,
    /// Nothing, under the time from which a record is past its time and its key.
    expiry: SingleWriterTxKeyspace,
    clock: Box<dyn Clock>,
}

impl FjallStore {
    /// Opens the database in the folder at `path` on the host's clock, and creates it if it is not there. Blocks.
    ///
    /// # Errors
    /// `Rejected` if it is open already, here or in another process; `Corrupt` if it is damaged or of another release
    /// of fjall; `Unavailable` if it cannot be read or written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let database = SingleWriterTxDatabase::builder(&path).open().map_err(failed)?;
        folder::sync_name(path.as_ref()).map_err(Error::Io).map_err(failed)?;
        Self::over(database, SystemClock)
    }

    /// A store in keyspaces of its own within a database that the application has open, on `clock`. Blocks. A write
    /// transaction that the application keeps open makes every write of the store wait, and then fail.
    ///
    /// # Errors
    /// As [`FjallStore::open`].
    pub fn over(database: SingleWriterTxDatabase, clock: impl Clock) -> Result<Self, StoreError> {
        let keyspace = |name| database.keyspace(name, KeyspaceCreateOptions::default).map_err(failed);
        let (records, expiry) = (keyspace("onceonly_records")?, keyspace("onceonly_expiry")?);
        let shared = Arc::new(Shared { database, records, expiry, clock: Box::new(clock) });
        Ok(Self { shared, calls: BlockingCalls::of(NAME) })
    }

    /// How long a call waits for its answer before it is `Unavailable`; five seconds unless told otherwise.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { calls: self.calls.with_patience(patience), ..self }
    }

    /// One write transaction, which costs nothing to commit if `verb` has changed nothing.
    async fn write<T: Send + 'static>(
        &self,
        verb: impl FnOnce(&mut Records<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        let transaction = move || {
            // A panic from here on would keep fjall from writing ever again: its lock is poisoned by it.
            let transaction = shared.database.write_tx().durability(Some(PersistMode::SyncAll));
            let mut records = Records { shared: &shared, transaction, now: shared.clock.now() };
            let answer = verb(&mut records)?;
            records.transaction.commit().map_err(failed)?;
            Ok(answer)
        };
        self.calls.write(transaction).await
    }
}

impl fmt::Debug for FjallStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FjallStore").field("calls", &self.calls).finish_non_exhaustive()
    }
}

#[async_trait]
impl KeyStore for FjallStore {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        let request = ClaimRequest { key: key.clone(), claim: claim.clone(), expected };
        self.write(move |records| records.claim(&request)).await
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        let (shared, key) = (Arc::clone(&self.shared), codec::encode_key(key));
        let look = move || {
            let record = read(&shared.database.read_tx(), &shared.records, &key)?;
            // Read last: a record is never shown with a time that lies before its last write.
            Ok(record.map(|record| Snapshot { record, now: shared.clock.now() }))
        };
        self.calls.read(look).await
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let (key, renewal) = (codec::encode_key(key), renewal.clone());
        let renew = move |record: &mut Record, now| record.renew(token, &renewal, now);
        self.write(move |records| records.change(&key, renew, RenewOutcome::NotHeld)).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let (key, completion) = (codec::encode_key(key), completion.clone());
        let complete = move |record: &mut Record, now| record.complete(token, &completion, now);
        self.write(move |records| records.change(&key, complete, CompleteOutcome::NotHeld)).await
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let (key, release) = (codec::encode_key(key), *release);
        let mark = move |record: &mut Record, now| record.release(token, &release, now);
        self.write(move |records| records.change(&key, mark, ReleaseOutcome::NotHeld)).await
    }

    /// One transaction: everybody else waits for it, so the limit is to be small, as the engine's sweeper has it. It
    /// walks over what earlier purges have deleted until fjall has compacted that.
    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        self.write(move |records| records.purge(limit)).await
    }

    async fn claim_many(&self, claims: &[ClaimRequest]) -> Vec<Result<ClaimOutcome, StoreError>> {
        let requests = claims.to_vec();
        let batch = move |records: &mut Records<'_>| {
            Ok(requests.iter().map(|request| records.claim(request)).collect())
        };
        self.write(batch).await.unwrap_or_else(|failure| {
            let (kind, failure) = (failure.kind(), Arc::new(failure));
            let failed = || StoreError::new(kind, NAME, "the batch failed").with_source(Arc::clone(&failure));
            claims.iter().map(|_| Err(failed())).collect()
        })
    }
}

/// The records within a write transaction, which keeps everybody else from writing.
struct Records<'a> {
    shared: &'a Shared,
    transaction: SingleWriterWriteTx<'a>,
    /// Read once the transaction had been waited for, so that it is the time of its writes.
    now: Timestamp,
}

impl Records<'_> {
    fn claim(
        &mut self,
        ClaimRequest { key, claim, expected }: &ClaimRequest,
    ) -> Result<ClaimOutcome, StoreError> {
        let (key, now) = (codec::encode_key(key), self.now);
        let stored = read(&self.transaction, &self.shared.records, &key)?;
        if expected.admits(stored.as_ref()) {
            let record = Record::claimed(claim, now);
            self.write(&key, stored.as_ref(), &record)?;
            return Ok(ClaimOutcome::Claimed(record.stamp(now)));
        }
        Ok(stored.map_or(ClaimOutcome::Vacant, |record| {
            ClaimOutcome::Occupied(Box::new(Snapshot { record, now }))
        }))
    }

    /// Writes what `change` makes of the record; `absent` is the answer if there is none.
    fn change<T>(
        &mut self,
        key: &[u8],
        change: impl FnOnce(&mut Record, Timestamp) -> T,
        absent: T,
    ) -> Result<T, StoreError> {
        let Some(stored) = read(&self.transaction, &self.shared.records, key)? else { return Ok(absent) };
        let mut record = stored.clone();
        let outcome = change(&mut record, self.now);
        if record != stored {
            self.write(key, Some(&stored), &record)?;
        }
        Ok(outcome)
    }

    /// Puts `record` in the place of `stored`. Its entry in the index moves along.
    fn write(&mut self, key: &[u8], stored: Option<&Record>, record: &Record) -> Result<(), StoreError> {
        let Shared { records, expiry, .. } = self.shared;
        let bytes = codec::encode(record).map_err(|error| error.in_store(NAME))?;
        if let Some(stored) = stored {
            self.transaction.remove(expiry, index_entry(stored.past_from(), key));
        }
        self.transaction.insert(expiry, index_entry(record.past_from(), key), []);
        self.transaction.insert(records, key, bytes);
        Ok(())
    }

    /// Deletes at most `limit` records that are past their time. One that cannot be read is left where it is: whoever
    /// claims its key is told.
    fn purge(&mut self, limit: u32) -> Result<u64, StoreError> {
        let Shared { records, expiry, .. } = self.shared;
        let next = Timestamp::from_micros(self.now.as_micros().saturating_add(1));
        let mut entries = self.transaction.range(expiry, ..index_entry(next, &[]));
        let mut purged = 0;
        while purged < u64::from(limit)
            && let Some(entry) = entries.next()
        {
            let entry = entry.key().map_err(failed)?;
            let Some((_, key)) = entry.split_first_chunk::<{ size_of::<i64>() }>() else { continue };
            // The record decides; the index only says where to look.
            match read(&self.transaction, records, key) {
                Ok(Some(record)) if record.is_past(self.now) => {
                    self.transaction.remove(records, key);
                    self.transaction.remove(expiry, entry.clone());
                    purged += 1;
                }
                Ok(_) => {}
                Err(error) if error.kind() == StoreErrorKind::Corrupt => {}
                Err(error) => return Err(error),
            }
        }
        Ok(purged)
    }
}

fn read(
    view: &impl Readable,
    records: &SingleWriterTxKeyspace,
    key: &[u8],
) -> Result<Option<Record>, StoreError> {
    let Some(stored) = view.get(records, key).map_err(failed)? else { return Ok(None) };
    let record = codec::decode(&Bytes::copy_from_slice(&stored));
    record.map(Some).map_err(|error| error.in_store(NAME))
}

/// The deadline in front, as bytes that are ordered as it is, also before 1970.
fn index_entry(past_from: Timestamp, key: &[u8]) -> Vec<u8> {
    let ordered = past_from.as_micros().cast_unsigned() ^ (1 << 63);
    [&ordered.to_be_bytes(), key].concat()
}

/// What an error of fjall means to a caller. By its kind alone, never by its message.
fn failed(error: Error) -> StoreError {
    use StoreErrorKind::{Corrupt, Other, Rejected, Unavailable};

    let (kind, detail) = match &error {
        Error::Io(_) | Error::Storage(LsmError::Io(_)) => (Unavailable, "reading or writing a file failed"),
        Error::Poisoned => (Unavailable, "the database must be opened again after an earlier failure"),
        Error::Locked => (Rejected, "the folder is open elsewhere"),
        Error::KeyspaceDeleted => (Rejected, "the records' keyspace was deleted"),
        Error::InvalidVersion(_) => (Corrupt, "the folder is of another release of fjall"),
        Error::Storage(_)
        | Error::JournalRecovery(_)
        | Error::Decompress(_)
        | Error::InvalidTrailer
        | Error::InvalidTag(_)
        | Error::Unrecoverable => (Corrupt, "the files are damaged"),
        _ => (Other, "fjall failed"),
    };
    StoreError::new(kind, NAME, detail).with_source(error)
}

const NAME: &str = "fjall";
