//! A key store on redb: one file, one process.

use std::io::ErrorKind::InvalidData;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use onceonly::{
    ClaimOutcome, ClaimRequest, Clock, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, Record,
    RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, StoreErrorKind,
    SystemClock, Timestamp, Token,
};
use redb::{
    Database, Durability, Error, ReadableDatabase, ReadableTable, Table, TableDefinition, WriteTransaction,
};

use super::blocking::BlockingCalls;
use super::{codec, folder};

/// A [`KeyStore`] in a redb database. Clones, and stores over the same open database, share the records.
///
/// Every call is a transaction of its own, and a call that writes has been synced to the disk when it is answered
/// ([`Durability::Immediate`]): it survives a loss of power, as far as the disk keeps its word. redb lets one
/// transaction write at a time, so the disk's flushes bound the writes of all callers together; `store-sqlite` shows how
/// to commit them in groups. A batch of claims is one transaction.
///
/// For one process: redb locks the file. After an I/O error it refuses every call until the file is opened again. The
/// verbs need a runtime of tokio's whose timers are enabled.
#[derive(Clone, Debug)]
pub struct RedbStore {
    shared: Arc<Shared>,
    calls: BlockingCalls,
}

#[derive(Debug)]
struct Shared {
    database: Arc<Database>,
    clock: Box<dyn Clock>,
}

impl RedbStore {
    /// Opens the file at `path` on the host's clock, and creates it if it is not there. Blocks.
    ///
    /// # Errors
    /// `Rejected` if another process has it open, or if it is of an older release of redb; `Corrupt` if it is no redb
    /// database or is damaged; `Unavailable` if it cannot be read or written.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let database = Database::create(&path).map_err(failed)?;
        folder::sync_name(path.as_ref()).map_err(failed)?;
        Self::over(Arc::new(database), SystemClock)
    }

    /// A store in tables of its own within a database that the application has open, on `clock`. Blocks. A write
    /// transaction that the application keeps open makes every write of the store wait, and then fail.
    ///
    /// # Errors
    /// `Rejected` if the tables are there and are others; else as [`RedbStore::open`].
    pub fn over(database: Arc<Database>, clock: impl Clock) -> Result<Self, StoreError> {
        // Reading expects the tables to be there.
        let transaction = database.begin_write().map_err(failed)?;
        Records::open(&transaction, &clock)?;
        transaction.commit().map_err(failed)?;
        let shared = Arc::new(Shared { database, clock: Box::new(clock) });
        Ok(Self { shared, calls: BlockingCalls::of(NAME) })
    }

    /// How long a call waits for its answer before it is `Unavailable`; five seconds unless told otherwise.
    #[must_use]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { calls: self.calls.with_patience(patience), ..self }
    }

    /// One write transaction: committed if `verb` has changed something, else given up.
    async fn write<T: Send + 'static>(
        &self,
        verb: impl FnOnce(&mut Records<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let shared = Arc::clone(&self.shared);
        let transaction = move || {
            let mut transaction = shared.database.begin_write().map_err(failed)?;
            transaction.set_durability(Durability::Immediate).map_err(failed)?;
            let mut records = Records::open(&transaction, &*shared.clock)?;
            let answer = verb(&mut records)?;
            let changed = records.changed;
            drop(records);
            if changed {
                transaction.commit().map_err(failed)?;
            }
            Ok(answer)
        };
        self.calls.write(transaction).await
    }
}

#[async_trait]
impl KeyStore for RedbStore {
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
        let transaction = move || {
            let table = shared.database.begin_read().map_err(failed)?.open_table(RECORDS).map_err(failed)?;
            let record = read(&table, &key)?;
            // Read last: a record is never shown with a time that lies before its last write.
            Ok(record.map(|record| Snapshot { record, now: shared.clock.now() }))
        };
        self.calls.read(transaction).await
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

    /// One transaction: everybody else waits for it, so the limit is to be small, as the engine's sweeper has it.
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

/// The tables within a write transaction, which keeps everybody else from writing.
struct Records<'t> {
    records: Table<'t, &'static [u8], &'static [u8]>,
    expiry: Table<'t, (i64, &'static [u8]), ()>,
    now: Timestamp,
    changed: bool,
}

impl<'t> Records<'t> {
    /// The transaction has been waited for, so the time that is read now is the time of its writes.
    fn open(transaction: &'t WriteTransaction, clock: &dyn Clock) -> Result<Self, StoreError> {
        let records = transaction.open_table(RECORDS).map_err(failed)?;
        let expiry = transaction.open_table(EXPIRY).map_err(failed)?;
        Ok(Self { records, expiry, now: clock.now(), changed: false })
    }

    fn claim(
        &mut self,
        ClaimRequest { key, claim, expected }: &ClaimRequest,
    ) -> Result<ClaimOutcome, StoreError> {
        let (key, now) = (codec::encode_key(key), self.now);
        let stored = read(&self.records, &key)?;
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
        let Some(stored) = read(&self.records, key)? else { return Ok(absent) };
        let mut record = stored.clone();
        let outcome = change(&mut record, self.now);
        if record != stored {
            self.write(key, Some(&stored), &record)?;
        }
        Ok(outcome)
    }

    /// Puts `record` in the place of `stored`. Its entry in the index moves along.
    fn write(&mut self, key: &[u8], stored: Option<&Record>, record: &Record) -> Result<(), StoreError> {
        let bytes = codec::encode(record).map_err(|error| error.in_store(NAME))?;
        // First, since it may be refused: what failed must not be committed by the rest of its batch.
        self.records.insert(key, &bytes[..]).map_err(failed)?;
        if let Some(stored) = stored {
            self.expiry.remove((stored.past_from().as_micros(), key)).map_err(failed)?;
        }
        self.expiry.insert((record.past_from().as_micros(), key), ()).map_err(failed)?;
        self.changed = true;
        Ok(())
    }

    /// Deletes at most `limit` records that are past their time. One that cannot be read is left where it is: whoever
    /// claims its key is told.
    fn purge(&mut self, limit: u32) -> Result<u64, StoreError> {
        let mut past = Vec::new();
        let due = ..(self.now.as_micros().saturating_add(1), &[][..]);
        let mut entries = self.expiry.range::<(i64, &[u8])>(due).map_err(failed)?;
        while past.len() < limit as usize
            && let Some(entry) = entries.next()
        {
            let entry = entry.map_err(failed)?.0;
            let (deadline, key) = entry.value();
            // The record decides; the index only says where to look.
            match read(&self.records, key) {
                Ok(Some(record)) if record.is_past(self.now) => past.push((deadline, key.to_vec())),
                Ok(_) => {}
                Err(error) if error.kind() == StoreErrorKind::Corrupt => {}
                Err(error) => return Err(error),
            }
        }
        drop(entries);
        self.changed = !past.is_empty();
        for (deadline, key) in &past {
            self.records.remove(&key[..]).map_err(failed)?;
            self.expiry.remove((*deadline, &key[..])).map_err(failed)?;
        }
        Ok(past.len() as u64)
    }
}

fn read(
    records: &impl ReadableTable<&'static [u8], &'static [u8]>,
    key: &[u8],
) -> Result<Option<Record>, StoreError> {
    let Some(stored) = records.get(key).map_err(failed)? else { return Ok(None) };
    let record = codec::decode(&Bytes::copy_from_slice(stored.value()));
    record.map(Some).map_err(|error| error.in_store(NAME))
}

/// What an error of redb means to a caller. By its kind alone, never by its message.
fn failed(error: impl Into<Error>) -> StoreError {
    use StoreErrorKind::{Corrupt, Other, Rejected, Unavailable};

    let error = error.into();
    let (kind, detail) = match &error {
        Error::Corrupted(_) => (Corrupt, "the file is damaged"),
        Error::Io(cause) if cause.kind() == InvalidData => (Corrupt, "the file is no database"),
        Error::Io(_) | Error::Backend(_) => (Unavailable, "reading or writing the file failed"),
        Error::PreviousIo | Error::DatabaseClosed => (Unavailable, "the database must be opened again"),
        Error::DatabaseAlreadyOpen => (Rejected, "the file is open elsewhere"),
        Error::UpgradeRequired(_) => (Rejected, "the file is of an older release of redb"),
        Error::ValueTooLarge(_) => (Rejected, "the record is too long"),
        Error::TableTypeMismatch { .. } | Error::TableIsMultimap(_) => (Rejected, "the tables are others"),
        _ => (Other, "redb failed"),
    };
    StoreError::new(kind, NAME, detail).with_source(error)
}

const NAME: &str = "redb";

/// Records by their key.
const RECORDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("onceonly_records");

/// When each record is past its time, and its key.
const EXPIRY: TableDefinition<'_, (i64, &[u8]), ()> = TableDefinition::new("onceonly_expiry");
