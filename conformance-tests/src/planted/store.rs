//! A store with one fault, around one that is right.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, ClaimRequest, Clock, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, Record,
    RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, StoreErrorKind,
    Timestamp, Token,
};

use super::faults::Fault;
use super::handles::Own;
use super::holders::before;
use super::shared::{Shared, lock};
use crate::call::Verb;
use crate::reference::{ReferenceStore, place};

/// A [`ReferenceStore`] that does one thing wrong, or nothing if it is given no fault.
///
/// For tests of the suite, and to see what a report looks like.
pub struct PlantedStore {
    pub(super) base: ReferenceStore,
    pub(super) fault: Option<Fault>,
    pub(super) shared: Arc<Shared>,
    pub(super) own: Own,
}

impl PlantedStore {
    /// An empty store with `fault` on `clock`.
    pub fn new(fault: Option<Fault>, clock: impl Clock) -> Self {
        Self::over(ReferenceStore::new(clock), fault)
    }

    fn over(base: ReferenceStore, fault: Option<Fault>) -> Self {
        let own = Own::opened_at(base.now());
        Self { base, fault, shared: Arc::default(), own }
    }

    /// Another handle to the same records.
    #[must_use]
    pub fn handle(&self) -> Self {
        Self {
            base: self.base.clone(),
            fault: self.fault,
            shared: Arc::clone(&self.shared),
            own: Own::opened_at(self.own.opened),
        }
    }

    /// Another, empty store in the same database, with the same fault.
    #[must_use]
    pub fn neighbour(&self) -> Self {
        let shared = self.has(Fault::RecordsSharedWithNeighbour);
        let neighbour = Self::over(if shared { self.base.clone() } else { self.base.beside() }, self.fault);
        lock(&self.shared.neighbours).push(neighbour.base.clone());
        lock(&neighbour.shared.neighbours).push(self.base.clone());
        neighbour
    }

    /// How many records there are, past their time or not.
    pub fn len(&self) -> usize {
        self.base.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.base.is_empty()
    }

    pub(super) fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    /// Stands between a look and a write, where another caller may come in: as long as a database takes to answer.
    pub(super) async fn gap(&self) {
        tokio::time::sleep(Duration::from_micros(300)).await;
    }

    /// What a replica has of a record that was written for the first time a moment ago: nothing, once.
    fn lagging(&self, key: &RecordKey, found: Option<Snapshot>) -> Option<Snapshot> {
        let found = found?;
        let version = (found.record.version.token, found.record.version.revision);
        let seen = lock(&self.shared.replicated).insert(place(key), version);
        (seen == Some(version)).then_some(found)
    }

    async fn take_permit(&self) {
        if self.has(Fault::PermitLostOnDrop) {
            while self.shared.permit_taken.swap(true, Ordering::AcqRel) {
                tokio::task::yield_now().await;
            }
            tokio::task::yield_now().await;
            self.shared.permit_taken.store(false, Ordering::Release);
        }
    }

    fn rejected(&self, detail: &'static str) -> StoreError {
        StoreError::new(StoreErrorKind::Rejected, self.name(), detail)
    }
}

impl Drop for PlantedStore {
    fn drop(&mut self) {
        if self.has(Fault::HandleTakesItsRecords) {
            for key in lock(&self.own.claimed).drain(..) {
                self.base.edit(&key, |slot, _| *slot = None);
            }
        }
    }
}

impl fmt::Debug for PlantedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlantedStore").field("fault", &self.fault).finish_non_exhaustive()
    }
}

#[async_trait]
impl KeyStore for PlantedStore {
    fn name(&self) -> &'static str {
        "planted"
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        self.take_permit().await;
        if self.has(Fault::LongKeysRefused) && key.key().as_str().len() > 250 {
            return Err(self.rejected("the key is too long for the index"));
        }
        let key = self.altered_key(key);
        self.make_room(&key);
        let store = self.admitted(Some(&key)).await?;
        let outcome = store.claim_wrongly(&key, &store.altered_claim(&key, claim), expected).await?;
        if self.has(Fault::ConflictIsAnError) && matches!(outcome, ClaimOutcome::Occupied(_)) {
            return Err(self.rejected("unique constraint violated"));
        }
        Ok(outcome)
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        let key = self.altered_key(key);
        self.admitted_to_look().await?;
        let found = self.looked_up(&key).await?;
        Ok(match self.fault {
            Some(Fault::LoadCreates) => {
                self.base.edit(&key, |slot, now| slot.get_or_insert_with(|| placeholder(now)).clone());
                self.base.load(&key).await?
            }
            Some(Fault::LoadHidesPastTime) => found.map(|mut found| {
                found.now = found.now.min(before(found.record.past_from()));
                found
            }),
            Some(Fault::CachedLoads) => {
                let mut cache = lock(&self.own.cache);
                found.map(|found| cache.entry(place(&key)).or_insert(found).clone())
            }
            Some(Fault::LooksLagBehind) => self.lagging(&key, found),
            Some(Fault::ClockOfTheHandle) => found.map(|found| Snapshot { now: self.own.opened, ..found }),
            _ => found,
        })
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let key = self.altered_key(key);
        if let Some(stamp) = self.taken_for_done(&key, token, renewal) {
            return Ok(RenewOutcome::Applied(stamp));
        }
        match self.admitted(Some(&key)).await {
            Ok(store) => match store.admits(Verb::Renew, &key, token) {
                Some(token) => store.renew_wrongly(&key, token, renewal).await,
                None => Ok(RenewOutcome::NotHeld),
            },
            Err(_) if self.has(Fault::LockedOutIsNotHeld) => Ok(RenewOutcome::NotHeld),
            Err(error) => Err(error),
        }
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let key = self.altered_key(key);
        let store = self.admitted(Some(&key)).await?;
        let Some(token) = store.admits(Verb::Complete, &key, token) else {
            return Ok(CompleteOutcome::NotHeld);
        };
        let completion = store.altered_completion(completion);
        let outcome = store.complete_wrongly(&key, token, &completion).await?;
        if self.has(Fault::SecondCompletionFails) && matches!(outcome, CompleteOutcome::AlreadyCompleted(_)) {
            return Err(self.rejected("the record is already completed"));
        }
        Ok(outcome)
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let key = self.altered_key(key);
        let store = self.admitted(Some(&key)).await?;
        match store.admits(Verb::Release, &key, token) {
            Some(token) => store.release_wrongly(&key, token, release).await,
            None => Ok(ReleaseOutcome::NotHeld),
        }
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        self.purge_wrongly(limit).await
    }

    async fn claim_many(&self, claims: &[ClaimRequest]) -> Vec<Result<ClaimOutcome, StoreError>> {
        self.claim_many_wrongly(claims).await
    }
}

fn placeholder(now: Timestamp) -> Record {
    let claim = NewClaim {
        token: Token::from_bytes([0; 16]),
        fingerprint: onceonly::Fingerprint::builder().finish(),
        attempt: 0,
        checkpoint: None,
        lease: onceonly::Span::MAX,
        keep: onceonly::Span::MAX,
        keep_unresolved: onceonly::Span::MAX,
    };
    crate::reference::new_record(&claim, now)
}
