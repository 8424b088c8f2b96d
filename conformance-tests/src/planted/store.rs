//! A store with one fault, around one that is right.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, ClaimRequest, Clock, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, RecordKey,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, Status, StoreError, StoreErrorKind, Token,
};

use super::faults::Fault;
use super::handles::Own;
use super::shared::{Shared, lock};
use crate::call::Verb;
use crate::reference::ReferenceStore;

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
            own: Own::opened_at(self.base.now()),
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

    /// Whether the index has no room for the key.
    fn is_too_long(&self, key: &RecordKey) -> bool {
        let (scope, text) = (key.scope().name().unwrap_or_default(), key.key().as_str());
        match self.fault {
            Some(Fault::LongKeysRefused) => text.len() > 250,
            Some(Fault::LongRowsRefused) => scope.len() + text.len() > 400,
            _ => false,
        }
    }

    /// Stands between a look and a write, where another caller may come in: as long as a database takes to answer.
    pub(super) async fn gap(&self) {
        tokio::time::sleep(Duration::from_micros(300)).await;
    }

    pub(super) fn rejected(&self, detail: &'static str) -> StoreError {
        StoreError::new(StoreErrorKind::Rejected, self.name(), detail)
    }
}

impl Drop for PlantedStore {
    fn drop(&mut self) {
        if !(self.has(Fault::HandleTakesItsRecords) || self.has(Fault::HandleReleasesItsClaims)) {
            return;
        }
        for key in lock(&self.own.claimed).drain(..) {
            self.base.edit(&key, |slot, _| match (self.fault, &mut *slot) {
                (Some(Fault::HandleTakesItsRecords), _) => *slot = None,
                (Some(Fault::HandleReleasesItsClaims), Some(record)) => {
                    if matches!(record.status, Status::InProgress { .. }) {
                        record.status = Status::Released;
                    }
                }
                _ => {}
            });
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
        self.take_permit(Verb::Claim).await;
        let _turn = self.take_turn().await;
        let _renewal = self.let_renewals_pass(Verb::Claim).await;
        let _locks = self.cross_locks(Verb::Claim).await;
        if self.is_too_long(key) {
            return Err(self.rejected("the key is too long for the index"));
        }
        let key = self.altered_key(key);
        self.make_room(&key);
        let store = self.admitted(Verb::Claim, Some(&key)).await?;
        let outcome = store.claim_wrongly(&key, &store.altered_claim(&key, claim), expected).await?;
        if self.has(Fault::ConflictIsAnError) && matches!(outcome, ClaimOutcome::Occupied(_)) {
            return Err(self.rejected("unique constraint violated"));
        }
        Ok(outcome)
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        self.take_permit(Verb::Load).await;
        let key = self.altered_key(key);
        self.admitted_to_look().await?;
        let found = self.looked_up(&key).await?;
        self.look_wrongly(&key, found).await
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let key = self.key_of_write(key, token);
        if let Some(stamp) = self.taken_for_done(&key, token, renewal) {
            return Ok(RenewOutcome::Applied(stamp));
        }
        let _renewal = self.let_renewals_pass(Verb::Renew).await;
        match self.admitted(Verb::Renew, Some(&key)).await {
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
        let key = self.key_of_write(key, token);
        let _renewal = self.let_renewals_pass(Verb::Complete).await;
        let store = self.admitted(Verb::Complete, Some(&key)).await?;
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
        let key = self.key_of_write(key, token);
        let store = self.admitted(Verb::Release, Some(&key)).await?;
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
