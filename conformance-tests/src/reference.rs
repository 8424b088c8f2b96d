//! A small store that is right, to compare with and to break on purpose.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, Clock, CompleteOutcome, Completion, Expected, KeyStore, LeaseChange, NewClaim, Record,
    RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal, Revision, Snapshot, Stamp, Status, StoreError,
    Timestamp, Token, Version,
};

/// A [`KeyStore`] in one map behind one lock: slow, and small enough to be checked by reading. Clones share the
/// records.
///
/// It says what each verb does in its own words and uses none of core's, so that a mistake in one of them shows as a
/// difference.
#[derive(Clone)]
pub struct ReferenceStore {
    shared: Arc<Shared>,
    /// What its deadlines are multiples of, in microseconds.
    resolution: i64,
    /// The time that it takes every instant for, instead of the clock's.
    frozen_at: Option<Timestamp>,
}

struct Shared {
    records: Mutex<BTreeMap<Place, Record>>,
    clock: Arc<dyn Clock>,
}

/// Where a record stands: scope and key as they are.
pub(crate) type Place = (Option<String>, String);

impl ReferenceStore {
    /// An empty store on `clock`.
    pub fn new(clock: impl Clock) -> Self {
        Self::on(Arc::new(clock))
    }

    fn on(clock: Arc<dyn Clock>) -> Self {
        let shared = Arc::new(Shared { records: Mutex::default(), clock });
        Self { shared, resolution: 1, frozen_at: None }
    }

    /// The store, with deadlines that are multiples of `resolution`, rounded up: as of a database that keeps
    /// milliseconds.
    #[must_use]
    pub fn with_resolution(mut self, resolution: Duration) -> Self {
        self.resolution = i64::try_from(resolution.as_micros()).unwrap_or(i64::MAX).max(1);
        self
    }

    fn round_deadlines(&self, record: &mut Record) {
        for deadline in [&mut record.lease_until, &mut record.expires_at, &mut record.unresolved_until] {
            let over = deadline.as_micros().rem_euclid(self.resolution);
            if over > 0 {
                *deadline =
                    Timestamp::from_micros(deadline.as_micros().saturating_add(self.resolution - over));
            }
        }
    }

    /// How many records there are, past their time or not.
    pub fn len(&self) -> usize {
        self.lock().0.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// For planted faults: an empty store on the same clock.
    pub(crate) fn beside(&self) -> Self {
        Self::on(Arc::clone(&self.shared.clock))
    }

    /// For planted faults: the same records, at an instant of the caller's choice.
    pub(crate) fn frozen_at(&self, now: Timestamp) -> Self {
        Self { frozen_at: Some(now), ..self.clone() }
    }

    /// For planted faults: does as it likes with one record, in one step.
    pub(crate) fn edit<T>(
        &self,
        key: &RecordKey,
        change: impl FnOnce(&mut Option<Record>, Timestamp) -> T,
    ) -> T {
        let (mut records, now) = self.lock();
        let place = place(key);
        let mut slot = records.remove(&place);
        let outcome = change(&mut slot, now);
        if let Some(record) = slot {
            records.insert(place, record);
        }
        outcome
    }

    /// Deletes, in one step, at most `limit` of the records that `doomed` names, and says where they stood.
    pub(crate) fn delete(
        &self,
        limit: usize,
        doomed: impl Fn(&Place, &Record, Timestamp) -> bool,
    ) -> Vec<Place> {
        let (mut records, now) = self.lock();
        let named = records.iter().filter(|(place, record)| doomed(place, record, now));
        let places: Vec<Place> = named.take(limit).map(|(place, _)| place.clone()).collect();
        for place in &places {
            records.remove(place);
        }
        places
    }

    /// For planted faults: puts a record where none is.
    pub(crate) fn put_back(&self, place: Place, record: Record) {
        self.lock().0.entry(place).or_insert(record);
    }

    /// For planted faults: every record.
    pub(crate) fn all(&self) -> BTreeMap<Place, Record> {
        self.lock().0.clone()
    }

    /// For planted faults: where at most `limit` records that are past their time stand.
    pub(crate) fn past(&self, limit: usize) -> Vec<Place> {
        let (records, now) = self.lock();
        let past = records.iter().filter(|(_, record)| is_past(record, now));
        past.take(limit).map(|(place, _)| place.clone()).collect()
    }

    /// For planted faults: the store's time.
    pub(crate) fn now(&self) -> Timestamp {
        self.lock().1
    }

    /// The records, and the time read after the lock was had.
    fn lock(&self) -> (MutexGuard<'_, BTreeMap<Place, Record>>, Timestamp) {
        // No verb panics half-way, so a poisoned lock guards sound records.
        let records = self.shared.records.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.frozen_at.unwrap_or_else(|| self.shared.clock.now());
        (records, now)
    }
}

impl fmt::Debug for ReferenceStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceStore").field("records", &self.len()).finish_non_exhaustive()
    }
}

#[async_trait]
impl KeyStore for ReferenceStore {
    fn name(&self) -> &'static str {
        "reference"
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        let (mut records, now) = self.lock();
        let place = place(key);
        let found = records.get(&place);
        let as_expected = match (expected, found) {
            (Expected::Absent, None) => true,
            (Expected::Exactly(version), Some(record)) => record.version == version,
            (Expected::Absent, Some(_)) | (Expected::Exactly(_), None) => false,
        };
        if as_expected {
            let mut record = new_record(claim, now);
            self.round_deadlines(&mut record);
            let stamp = stamp(&record, now);
            records.insert(place, record);
            return Ok(ClaimOutcome::Claimed(stamp));
        }
        Ok(match found {
            Some(record) => ClaimOutcome::Occupied(Box::new(Snapshot { record: record.clone(), now })),
            None => ClaimOutcome::Vacant,
        })
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        let (records, now) = self.lock();
        Ok(records.get(&place(key)).map(|record| Snapshot { record: record.clone(), now }))
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let (mut records, now) = self.lock();
        let Some(record) = held(&mut records, key, token, now) else {
            return Ok(RenewOutcome::NotHeld);
        };
        if record.version.revision < renewal.revision {
            record.version.revision = renewal.revision;
            match renewal.lease {
                LeaseChange::Extend(lease) => {
                    let asked_for = now.plus(lease);
                    if record.lease_until < asked_for {
                        record.lease_until = asked_for;
                    }
                    if record.unresolved_until < record.lease_until {
                        record.unresolved_until = record.lease_until;
                    }
                }
                LeaseChange::End => record.lease_until = now,
            }
            if let Some(checkpoint) = &renewal.checkpoint {
                record.status = Status::InProgress { checkpoint: Some(checkpoint.clone()) };
            }
        }
        self.round_deadlines(record);
        Ok(RenewOutcome::Applied(stamp(record, now)))
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let (mut records, now) = self.lock();
        if let Some(record) = held(&mut records, key, token, now) {
            let kept_until = now.plus(completion.retention);
            if record.expires_at < kept_until {
                record.expires_at = kept_until;
            }
            record.version.revision = completion.revision;
            record.status = Status::Completed(completion.result.clone());
            self.round_deadlines(record);
            return Ok(CompleteOutcome::Applied(stamp(record, now)));
        }
        Ok(match records.get(&place(key)) {
            Some(record) if completed_by(record, token, now) => {
                CompleteOutcome::AlreadyCompleted(Box::new(Snapshot { record: record.clone(), now }))
            }
            _ => CompleteOutcome::NotHeld,
        })
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let (mut records, now) = self.lock();
        if let Some(record) = held(&mut records, key, token, now) {
            record.version.revision = release.revision;
            record.expires_at = now.plus(release.keep);
            record.status = Status::Released;
            self.round_deadlines(record);
            return Ok(ReleaseOutcome::Applied);
        }
        Ok(match records.get(&place(key)) {
            Some(record) if released_by(record, token, now) => ReleaseOutcome::Applied,
            _ => ReleaseOutcome::NotHeld,
        })
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        Ok(self.delete(limit as usize, |_, record, now| is_past(record, now)).len() as u64)
    }
}

pub(crate) fn place(key: &RecordKey) -> Place {
    (key.scope().name().map(str::to_owned), key.key().as_str().to_owned())
}

pub(crate) fn new_record(claim: &NewClaim, now: Timestamp) -> Record {
    Record {
        version: Version { token: claim.token, revision: Revision::FIRST },
        fingerprint: claim.fingerprint,
        attempt: claim.attempt,
        created_at: now,
        lease_until: now.plus(claim.lease),
        expires_at: now.plus(claim.keep),
        unresolved_until: now.plus(claim.keep_unresolved),
        status: Status::InProgress { checkpoint: claim.checkpoint.clone() },
    }
}

/// The record, if `token` may write it.
fn held<'a>(
    records: &'a mut BTreeMap<Place, Record>,
    key: &RecordKey,
    token: Token,
    now: Timestamp,
) -> Option<&'a mut Record> {
    let record = records.get_mut(&place(key))?;
    let in_progress = matches!(record.status, Status::InProgress { .. });
    (in_progress && record.version.token == token && now < record.unresolved_until).then_some(record)
}

fn completed_by(record: &Record, token: Token, now: Timestamp) -> bool {
    matches!(record.status, Status::Completed(_)) && record.version.token == token && now < record.expires_at
}

fn released_by(record: &Record, token: Token, now: Timestamp) -> bool {
    record.status == Status::Released && record.version.token == token && now < record.expires_at
}

pub(crate) fn is_past(record: &Record, now: Timestamp) -> bool {
    match record.status {
        Status::InProgress { .. } => record.unresolved_until <= now,
        Status::Completed(_) | Status::Released => record.expires_at <= now,
    }
}

pub(crate) const fn stamp(record: &Record, now: Timestamp) -> Stamp {
    Stamp { now, lease_until: record.lease_until, expires_at: record.expires_at }
}
