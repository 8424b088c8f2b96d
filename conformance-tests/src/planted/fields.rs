//! Faults in what a write that was applied leaves in the fields of its record.

use onceonly::{
    Completion, Fingerprint, LeaseChange, Record, RecordKey, Renewal, Revision, Span, Status, Timestamp,
};

use super::faults::Fault;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::place;

impl PlantedStore {
    /// Alters a record that a claim has written. `displaced` is what it was written over.
    pub(super) fn alter_claimed(&self, record: &mut Record, displaced: Option<&Record>) {
        match (self.fault, displaced) {
            (Some(Fault::FirstRevisionIsZero), _) => record.version.revision = Revision::from_number(0),
            (Some(Fault::SpansSwapped), _) => {
                std::mem::swap(&mut record.expires_at, &mut record.unresolved_until);
            }
            (Some(Fault::ClaimLosesCheckpoint), _) => {
                record.status = Status::InProgress { checkpoint: None };
            }
            (Some(Fault::TakeoverKeepsDeadline), Some(displaced)) => {
                record.lease_until = displaced.lease_until;
            }
            (Some(Fault::TakeoverKeepsMemory), Some(displaced)) => {
                record.unresolved_until = displaced.unresolved_until;
            }
            (Some(Fault::TakeoverKeepsLongerRetention), Some(displaced)) => {
                record.expires_at = record.expires_at.max(displaced.expires_at);
            }
            (Some(Fault::TakeoverKeepsFingerprint), Some(displaced)) => {
                record.fingerprint = displaced.fingerprint;
            }
            (Some(Fault::TakeoverCountsOn), Some(displaced)) => {
                record.version.revision = next(displaced.version.revision);
            }
            (Some(Fault::AttemptNeverBeginsAnew), Some(displaced)) => record.attempt = displaced.attempt + 1,
            (Some(Fault::MarkStaysMarked), Some(displaced)) if displaced.status == Status::Released => {
                record.status = Status::Released;
            }
            _ => {}
        }
        self.keep_times(record);
    }

    /// Alters a record that a renewal has been applied to, written or not. `found` is the record as it was before.
    pub(super) fn alter_renewed(
        &self,
        key: &RecordKey,
        record: &mut Record,
        found: &Record,
        renewal: &Renewal,
        now: Timestamp,
    ) {
        match renewal.lease {
            _ if renewal.revision <= found.version.revision => {}
            LeaseChange::Extend(lease) => self.alter_extended(key, record, found, lease, now),
            LeaseChange::End => self.alter_ended(key, record, found, now),
        }
        match self.fault {
            Some(Fault::MemoryNotCarriedAlong) => record.unresolved_until = found.unresolved_until,
            Some(Fault::RenewalDropsCheckpoint) if renewal.checkpoint.is_none() => {
                record.status = Status::InProgress { checkpoint: None };
            }
            Some(Fault::OvertakenCheckpointWritten) if renewal.checkpoint.is_some() => {
                record.status = Status::InProgress { checkpoint: renewal.checkpoint.clone() };
            }
            Some(Fault::RenewalDatesAnew) => record.created_at = now,
            Some(Fault::RenewalForgetsDeadline) => record.unresolved_until = Timestamp::from_micros(i64::MAX),
            Some(Fault::RenewalKeepsRevision) => record.version.revision = found.version.revision,
            Some(Fault::StoreCountsRevisions) => record.version.revision = next(found.version.revision),
            _ => {}
        }
        self.keep_times(record);
    }

    fn alter_extended(
        &self,
        key: &RecordKey,
        record: &mut Record,
        found: &Record,
        lease: Span,
        now: Timestamp,
    ) {
        match self.fault {
            Some(Fault::RenewShortens) => record.lease_until = now.plus(lease),
            Some(Fault::RenewalFromClaim) => {
                record.lease_until = found.lease_until.max(found.created_at.plus(lease));
            }
            Some(Fault::RenewalAddsUp) => record.lease_until = found.lease_until.plus(lease),
            Some(Fault::LeaseCutAtMemory) => {
                record.lease_until = record.lease_until.min(found.unresolved_until);
                record.unresolved_until = found.unresolved_until;
            }
            Some(Fault::LeaseCutAtRetention) => {
                record.lease_until = record.lease_until.min(found.lease_until.max(found.expires_at));
            }
            Some(Fault::ExtensionUndoesEnd) => {
                if let Some(former) = lock(&self.shared.ended).remove(&place(key)) {
                    record.lease_until = record.lease_until.max(former);
                }
            }
            _ => {}
        }
    }

    fn alter_ended(&self, key: &RecordKey, record: &mut Record, found: &Record, now: Timestamp) {
        match self.fault {
            Some(Fault::EndForgets) => record.unresolved_until = now,
            Some(Fault::EndDropsCheckpoint) => record.status = Status::InProgress { checkpoint: None },
            Some(Fault::ExtensionUndoesEnd) => {
                lock(&self.shared.ended).insert(place(key), found.lease_until);
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
            Some(Fault::CompletionKeepsRevision) => record.version.revision = found.version.revision,
            Some(Fault::StoreCountsRevisions) => record.version.revision = next(found.version.revision),
            Some(Fault::CompletionBeginsAnew) => record.attempt = 1,
            Some(Fault::CompletionUnbindsKey) => record.fingerprint = Fingerprint::builder().finish(),
            _ => {}
        }
        self.keep_times(record);
    }

    /// Alters the mark that a release has left, or has found.
    pub(super) fn alter_released(&self, record: &mut Record, found: &Record, kept_until: Timestamp) {
        let again = found.status == Status::Released;
        match self.fault {
            Some(Fault::MarkKeptTooShort) if !again => record.expires_at = found.lease_until,
            Some(Fault::MarkKeptAsResult) => record.expires_at = record.expires_at.max(found.expires_at),
            Some(Fault::SecondReleaseExtends) if again => record.expires_at = kept_until,
            Some(Fault::ReleaseKeepsRevision) => record.version.revision = found.version.revision,
            Some(Fault::StoreCountsRevisions) if !again => {
                record.version.revision = next(found.version.revision);
            }
            _ => {}
        }
        self.keep_times(record);
    }
}

fn next(revision: Revision) -> Revision {
    Revision::from_number(revision.number().wrapping_add(1))
}
