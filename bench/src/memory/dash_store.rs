//! The memory store as somebody would write it on dashmap.

use async_trait::async_trait;
use dashmap::{DashMap, Entry};
use onceonly::{
    ClaimOutcome, Clock, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, Record, RecordKey,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, SystemClock, Token,
};

/// The same records under the same trait and with the same clock, in a [`DashMap`] with its own shards and hasher.
pub(super) struct DashStore(DashMap<RecordKey, Record>);

impl DashStore {
    pub(super) fn new() -> Self {
        Self(DashMap::new())
    }
}

#[async_trait]
impl KeyStore for DashStore {
    fn name(&self) -> &'static str {
        "dashmap"
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        let entry = self.0.entry(key.clone());
        let now = SystemClock.now();
        let written = Record::claimed(claim, now);
        let stamp = written.stamp(now);
        match entry {
            Entry::Occupied(mut entry) if expected.admits(Some(entry.get())) => {
                entry.insert(written);
            }
            Entry::Occupied(entry) => {
                return Ok(ClaimOutcome::Occupied(Box::new(Snapshot { record: entry.get().clone(), now })));
            }
            Entry::Vacant(entry) if expected.admits(None) => {
                entry.insert(written);
            }
            Entry::Vacant(_) => return Ok(ClaimOutcome::Vacant),
        }
        Ok(ClaimOutcome::Claimed(stamp))
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        Ok(self.0.get(key).map(|record| Snapshot { record: record.clone(), now: SystemClock.now() }))
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let renew = |mut record: Held<'_>| record.renew(token, renewal, SystemClock.now());
        Ok(self.0.get_mut(key).map_or(RenewOutcome::NotHeld, renew))
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let complete = |mut record: Held<'_>| record.complete(token, completion, SystemClock.now());
        Ok(self.0.get_mut(key).map_or(CompleteOutcome::NotHeld, complete))
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let release = |mut record: Held<'_>| record.release(token, release, SystemClock.now());
        Ok(self.0.get_mut(key).map_or(ReleaseOutcome::NotHeld, release))
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        let mut purged = 0;
        self.0.retain(|_, record| {
            let purge = purged < u64::from(limit) && record.is_past(SystemClock.now());
            purged += u64::from(purge);
            !purge
        });
        Ok(purged)
    }
}

type Held<'a> = dashmap::mapref::one::RefMut<'a, RecordKey, Record>;
