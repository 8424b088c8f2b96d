//! One record key. What a verb makes of its record is core's own code.

use std::hash::{Hash, Hasher};
use std::time::Duration;

use onceonly::{
    ClaimOutcome, CompleteOutcome, Completion, Expected, Fingerprint, LeaseChange, NewClaim, Record, Release,
    ReleaseOutcome, RenewOutcome, Renewal, Revision, Snapshot, Span, Status, Timestamp, Token, Version,
};

use super::bounds::{Bounds, Weakness};
use super::request::{Checkpoint, Claimant, Lease, Request, code};

#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Claim(ClaimOutcome),
    Renew(RenewOutcome),
    Complete(CompleteOutcome),
    Release(ReleaseOutcome),
}

/// The record, if there is one.
///
/// Equal and hashed without `created_at`, which nobody reads: states that differ in nothing else are one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    pub(crate) record: Option<Record>,
}

impl Store {
    /// Applies a request at the instant `now`. Where a weakness of the store is looked at, it stands here, around
    /// core's functions or instead of one.
    pub(crate) fn apply(&mut self, request: Request, now: Timestamp, bounds: &Bounds) -> Answer {
        match request {
            Request::Claim { claimant, asks, expected, attempt, checkpoint } => {
                let claim = NewClaim {
                    token: claimant.token(),
                    fingerprint: asks.fingerprint(),
                    attempt: attempt.into(),
                    checkpoint: checkpoint.bytes(),
                    lease: span(bounds.lease),
                    keep: span(bounds.keep),
                    keep_unresolved: match bounds.weakness {
                        Some(Weakness::UnfinishedForgottenLikeFinished) => span(bounds.keep),
                        _ => span(bounds.keep_unresolved),
                    },
                };
                let expected = expected.map_or(Expected::Absent, |seen| Expected::Exactly(seen.version()));
                Answer::Claim(self.claim(&claim, expected, now, bounds))
            }
            Request::Renew { claimant, revision, lease, checkpoint } => {
                let mut renewal = Renewal {
                    revision: Revision::from_number(revision.into()),
                    lease: match lease {
                        Lease::End if bounds.weakness != Some(Weakness::EndIsIgnored) => LeaseChange::End,
                        Lease::Extend | Lease::End => LeaseChange::Extend(span(bounds.lease)),
                    },
                    checkpoint: checkpoint.bytes(),
                };
                let Some(record) = &mut self.record else { return Answer::Renew(RenewOutcome::NotHeld) };
                if bounds.weakness == Some(Weakness::RenewalsWithoutRevisions) {
                    renewal.revision = Revision::from_number(record.version.revision.number() + 1);
                }
                Answer::Renew(record.renew(claimant.token(), &renewal, now))
            }
            Request::Complete { claimant, revision } | Request::Commit { claimant, revision } => {
                Answer::Complete(self.complete(claimant, revision, now, bounds))
            }
            Request::Release { claimant, revision } => {
                Answer::Release(self.release(claimant, revision, now, bounds))
            }
        }
    }

    /// Deletes the record if it is past its time, and says whether it was.
    pub(crate) fn purge(&mut self, now: Timestamp, bounds: &Bounds) -> Option<Record> {
        self.record.take_if(|record| {
            let abandoned = bounds.weakness == Some(Weakness::PurgeTakesAbandoned)
                && matches!(record.status, Status::InProgress { .. })
                && record.lease_until <= now;
            record.is_past(now) || abandoned
        })
    }

    fn claim(
        &mut self,
        claim: &NewClaim,
        expected: Expected,
        now: Timestamp,
        bounds: &Bounds,
    ) -> ClaimOutcome {
        let same = |part: fn(Version) -> Version| match (expected, &self.record) {
            (Expected::Exactly(version), Some(record)) => part(version) == part(record.version),
            (expected, stored) => expected.admits(stored.as_ref()),
        };
        let admitted = match bounds.weakness {
            Some(Weakness::TokenOnlyGuard) => {
                same(|Version { token, .. }| Version { token, revision: Revision::FIRST })
            }
            Some(Weakness::RevisionOnlyGuard) => {
                same(|Version { revision, .. }| Version { token: Token::from_bytes([0; 16]), revision })
            }
            _ => expected.admits(self.record.as_ref()),
        };
        if admitted {
            let record = Record::claimed(claim, now);
            let stamp = record.stamp(now);
            self.record = Some(record);
            return ClaimOutcome::Claimed(stamp);
        }
        match &self.record {
            Some(record) => ClaimOutcome::Occupied(Box::new(Snapshot { record: record.clone(), now })),
            None => ClaimOutcome::Vacant,
        }
    }

    fn complete(
        &mut self,
        claimant: Claimant,
        revision: u8,
        now: Timestamp,
        bounds: &Bounds,
    ) -> CompleteOutcome {
        let Some(record) = &mut self.record else { return CompleteOutcome::NotHeld };
        let mut completion = Completion {
            revision: Revision::from_number(revision.into()),
            result: claimant.result(),
            retention: span(bounds.retention),
        };
        let mut token = claimant.token();
        match bounds.weakness {
            Some(Weakness::CompleteKeepsRevision) => completion.revision = record.version.revision,
            Some(Weakness::CompleteByAnyToken) => token = record.version.token,
            _ => {}
        }
        match record.complete(token, &completion, now) {
            CompleteOutcome::AlreadyCompleted(_)
                if bounds.weakness == Some(Weakness::RepeatedResultRefused) =>
            {
                CompleteOutcome::NotHeld
            }
            outcome => outcome,
        }
    }

    fn release(
        &mut self,
        claimant: Claimant,
        revision: u8,
        now: Timestamp,
        bounds: &Bounds,
    ) -> ReleaseOutcome {
        let Some(record) = &mut self.record else { return ReleaseOutcome::NotHeld };
        let revision = Revision::from_number(revision.into());
        let released =
            record.release(claimant.token(), &Release { revision, keep: span(bounds.keep_released) }, now);
        if released == ReleaseOutcome::Applied && bounds.weakness == Some(Weakness::ReleaseDeletes) {
            self.record = None;
        }
        released
    }
}

impl PartialEq for Store {
    fn eq(&self, other: &Self) -> bool {
        self.record.as_ref().map(Looks::of) == other.record.as_ref().map(Looks::of)
    }
}

impl Eq for Store {}

impl Hash for Store {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.record.as_ref().map(Looks::of).hash(state);
    }
}

/// What of a record makes a difference.
#[derive(PartialEq, Eq, Hash)]
struct Looks {
    version: Version,
    fingerprint: Fingerprint,
    attempt: u32,
    deadlines: [Timestamp; 3],
    status: (u8, Checkpoint, u16),
}

impl Looks {
    fn of(record: &Record) -> Self {
        Self {
            version: record.version,
            fingerprint: record.fingerprint,
            attempt: record.attempt,
            deadlines: [record.lease_until, record.expires_at, record.unresolved_until],
            status: match &record.status {
                Status::InProgress { checkpoint } => (0, Checkpoint::of(checkpoint.as_ref()), 0),
                Status::Completed(result) => (1, Checkpoint::None, code(result)),
                Status::Released => (2, Checkpoint::None, 0),
            },
        }
    }
}

fn span(ticks: u8) -> Span {
    Span::new(Duration::from_micros(ticks.into())).expect("a run's durations are not empty")
}
