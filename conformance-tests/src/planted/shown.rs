//! Faults in what callers are shown, and in what showing it does to the record.

use onceonly::{
    ClaimOutcome, CompleteOutcome, Completion, Expected, NewClaim, RecordKey, Snapshot, Status, StoredResult,
};

use super::faults::Fault;
use super::store::PlantedStore;
use crate::reference::is_past;

impl PlantedStore {
    /// What becomes of a claim that was refused because of what it is shown.
    pub(super) async fn refused(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        mut shown: Snapshot,
    ) -> ClaimOutcome {
        let past = is_past(&shown.record, shown.now);
        if past && self.has(Fault::PastIsVacant) {
            return ClaimOutcome::Vacant;
        }
        self.touched_by_refused(key, claim);
        let record = &mut shown.record;
        match (self.fault, &record.status) {
            (Some(Fault::LoserIsShownNoCheckpoint), Status::InProgress { .. }) => {
                record.status = Status::InProgress { checkpoint: None };
            }
            (Some(Fault::LoserIsShownNoHeaders), Status::Completed(result)) => {
                let (code, body) = (result.code(), result.body().cloned());
                record.status = Status::Completed(StoredResult::from_parts(code, Vec::new(), body));
            }
            (Some(Fault::LoserIsShownTheTimeOfTheClaim), _) => shown.now = record.created_at,
            (Some(Fault::OneBufferForReaders), Status::Completed(_)) => {
                return ClaimOutcome::Occupied(Box::new(self.read_through_buffer(key, shown).await));
            }
            (Some(Fault::ClaimWaitsForHolder), Status::InProgress { .. }) if !past => {
                self.wait_for_holder(key).await;
            }
            (Some(Fault::ClaimBlocksItsThread), Status::InProgress { .. }) if !past => loop {
                std::thread::park();
            },
            _ => {}
        }
        ClaimOutcome::Occupied(Box::new(shown))
    }

    /// What a refused claim does to the record that it has met.
    fn touched_by_refused(&self, key: &RecordKey, claim: &NewClaim) {
        self.base.edit(key, |slot, now| {
            let Some(record) = slot else { return };
            let own = record.version.token == claim.token;
            match self.fault {
                Some(Fault::OwnClaimExtends) if own => record.lease_until = now.plus(claim.lease),
                Some(Fault::OwnClaimCountsAgain) if own => record.attempt += 1,
                Some(Fault::RefusedClaimCounts) if !own => record.attempt += 1,
                Some(Fault::LoserBindsFingerprint) => record.fingerprint = claim.fingerprint,
                Some(Fault::ReplayExtends) => record.expires_at = record.expires_at.max(now.plus(claim.keep)),
                _ => {}
            }
        });
    }

    /// What becomes of a completion that came a second time.
    pub(super) fn completed_before(
        &self,
        key: &RecordKey,
        completion: &Completion,
        mut shown: Box<Snapshot>,
    ) -> CompleteOutcome {
        match self.fault {
            Some(Fault::RepeatIsShownItsOwnResult) => {
                shown.record.status = Status::Completed(completion.result.clone());
            }
            Some(Fault::RepeatExtends) => self.base.edit(key, |slot, now| {
                if let Some(record) = slot {
                    record.expires_at = record.expires_at.max(now.plus(completion.retention));
                }
            }),
            _ => {}
        }
        CompleteOutcome::AlreadyCompleted(shown)
    }

    /// The answer to a takeover that is sent again after it was granted, as a driver does that missed the first answer.
    pub(super) fn sent_again(
        &self,
        key: &RecordKey,
        expected: Expected,
        answer: ClaimOutcome,
    ) -> ClaimOutcome {
        let again = self.has(Fault::TakeoverIsSentAgain) && expected != Expected::Absent;
        let found = self.base.edit(key, |slot, now| slot.clone().map(|record| Snapshot { record, now }));
        match found {
            Some(found) if again => ClaimOutcome::Occupied(Box::new(found)),
            _ => answer,
        }
    }
}
