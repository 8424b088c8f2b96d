//! Faults in what a write that was applied leaves in the fields of its record.

use onceonly::{Completion, LeaseChange, Record, Renewal, Status, Timestamp};

use super::faults::Fault;
use super::store::PlantedStore;

impl PlantedStore {
    /// Alters a record that a claim has written. `displaced` is what it was written over.
    pub(super) fn alter_claimed(&self, record: &mut Record, displaced: Option<&Record>) {
        let Some(displaced) = displaced else { return };
        if self.has(Fault::TakeoverKeepsDeadline) {
            record.lease_until = displaced.lease_until;
        }
    }

    /// Alters a record that a renewal has been applied to, written or not. `found` is the record as it was before.
    pub(super) fn alter_renewed(
        &self,
        record: &mut Record,
        found: &Record,
        renewal: &Renewal,
        now: Timestamp,
    ) {
        match (self.fault, renewal.lease) {
            (Some(Fault::RenewShortens), LeaseChange::Extend(lease)) => record.lease_until = now.plus(lease),
            (Some(Fault::MemoryNotCarriedAlong), _) => record.unresolved_until = found.unresolved_until,
            (Some(Fault::RenewalDropsCheckpoint), _) if renewal.checkpoint.is_none() => {
                record.status = Status::InProgress { checkpoint: None };
            }
            _ => {}
        }
    }

    /// Alters a record that a completion was written to.
    pub(super) fn alter_completed(
        &self,
        record: &mut Record,
        found: &Record,
        completion: &Completion,
        now: Timestamp,
    ) {
        let kept_from = |start: Timestamp| found.expires_at.max(start.plus(completion.retention));
        match self.fault {
            Some(Fault::RetentionFromClaim) => record.expires_at = kept_from(found.created_at),
            Some(Fault::RetentionFromLease) => record.expires_at = kept_from(found.lease_until),
            Some(Fault::RetentionMovesBack) => record.expires_at = now.plus(completion.retention),
            _ => {}
        }
    }

    /// Alters the mark that a release has left.
    pub(super) fn alter_released(&self, record: &mut Record, found: &Record) {
        if self.has(Fault::MarkKeptTooShort) {
            record.expires_at = found.lease_until;
        }
    }
}
