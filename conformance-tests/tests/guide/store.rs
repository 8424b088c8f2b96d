//! A key store on a map. The map stands where a database will.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, Clock, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, Record, RecordKey,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, Timestamp, Token,
};

/// Clones share the records.
#[derive(Clone, Debug)]
pub struct MapStore {
    records: Arc<Mutex<HashMap<RecordKey, Record>>>,
    clock: Arc<dyn Clock>,
}

impl MapStore {
    /// An empty store on `clock`.
    pub fn new(clock: impl Clock) -> Self {
        Self { records: Arc::default(), clock: Arc::new(clock) }
    }

    fn transaction(&self) -> Transaction<'_> {
        let records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        // Behind the wait for the lock, never before it.
        Transaction { records, now: self.clock.now() }
    }
}

/// What a verb has in its hands while nobody else can write.
struct Transaction<'a> {
    records: MutexGuard<'a, HashMap<RecordKey, Record>>,
    now: Timestamp,
}

impl Transaction<'_> {
    fn load(&self, key: &RecordKey) -> Option<Snapshot> {
        self.records.get(key).map(|record| Snapshot { record: record.clone(), now: self.now })
    }

    /// Writes what `change` makes of the record; `absent` is the answer if there is none.
    fn change<T>(
        &mut self,
        key: &RecordKey,
        change: impl FnOnce(&mut Record, Timestamp) -> T,
        absent: T,
    ) -> T {
        match self.records.get_mut(key) {
            Some(record) => change(record, self.now),
            None => absent,
        }
    }
}

#[async_trait]
impl KeyStore for MapStore {
    fn name(&self) -> &'static str {
        "map"
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        let mut transaction = self.transaction();
        if expected.admits(transaction.records.get(key)) {
            let record = Record::claimed(claim, transaction.now);
            let stamp = record.stamp(transaction.now);
            transaction.records.insert(key.clone(), record);
            return Ok(ClaimOutcome::Claimed(stamp));
        }
        let found = transaction.load(key).map(Box::new);
        Ok(found.map_or(ClaimOutcome::Vacant, ClaimOutcome::Occupied))
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        Ok(self.transaction().load(key))
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let renew = |record: &mut Record, now| record.renew(token, renewal, now);
        Ok(self.transaction().change(key, renew, RenewOutcome::NotHeld))
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let complete = |record: &mut Record, now| record.complete(token, completion, now);
        Ok(self.transaction().change(key, complete, CompleteOutcome::NotHeld))
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let mark = |record: &mut Record, now| record.release(token, release, now);
        Ok(self.transaction().change(key, mark, ReleaseOutcome::NotHeld))
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        let Transaction { mut records, now } = self.transaction();
        let past = records.extract_if(|_, record| record.is_past(now));
        Ok(past.take(limit as usize).count() as u64)
    }
}
