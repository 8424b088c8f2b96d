//! Faults in what a claim compares before it writes.

use onceonly::{Expected, NewClaim, Record, RecordKey, Status, Timestamp};

use super::faults::Fault;
use super::store::PlantedStore;
use crate::reference::is_past;

impl PlantedStore {
    /// What the store looks for instead of `expected`.
    pub(super) fn altered_expectation(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Expected {
        let (found, now) = self.base.edit(key, |slot, now| (slot.clone(), now));
        let Some(found) = found else {
            return if self.has(Fault::GuardedClaimInserts) { Expected::Absent } else { expected };
        };
        if self.keeps_out(&found, now) {
            return Expected::Absent;
        }
        let lets_in = self.lets_in_again(key, &found, claim, expected)
            || match expected {
                Expected::Absent => self.lets_in_over(&found, now),
                Expected::Exactly(_) => self.lets_in_as_expected(&found, expected),
            };
        if lets_in { Expected::Exactly(found.version) } else { expected }
    }

    /// Whether nothing may take the place of `found`, whatever was expected.
    fn keeps_out(&self, found: &Record, now: Timestamp) -> bool {
        match (self.fault, &found.status) {
            (Some(Fault::ResultsCannotBeReplaced), Status::Completed(_)) => !is_past(found, now),
            (Some(Fault::LiveClaimsCannotBeReplaced), Status::InProgress { .. }) => now < found.lease_until,
            (Some(Fault::TakeoverNeedsPurge), _) => is_past(found, now),
            _ => false,
        }
    }

    /// Whether a claim is granted because its token was seen before.
    fn lets_in_again(&self, key: &RecordKey, found: &Record, claim: &NewClaim, expected: Expected) -> bool {
        let own = found.version.token == claim.token;
        match (self.fault, &found.status) {
            (Some(Fault::OwnClaimGrantedAgain), Status::InProgress { .. })
            | (Some(Fault::OwnClaimErases), Status::Released)
            | (Some(Fault::OwnClaimOverItsResult), Status::Completed(_)) => own,
            (Some(Fault::OwnTakeoverGrantedAgain), Status::InProgress { .. }) => {
                own && expected != Expected::Absent
            }
            (Some(Fault::FormerClaimTakesBack), _) => self.once_held(key, claim.token),
            _ => false,
        }
    }

    /// Whether a claim that expects absence is written over `found`.
    fn lets_in_over(&self, found: &Record, now: Timestamp) -> bool {
        match self.fault {
            Some(Fault::ClaimIsAnUpsert) => true,
            Some(Fault::AbsentOverwritesPast) => is_past(found, now),
            Some(Fault::FutureIsForeign) => now < found.created_at,
            _ => false,
        }
    }

    /// Whether `found` passes for the version that was expected.
    fn lets_in_as_expected(&self, found: &Record, expected: Expected) -> bool {
        let Expected::Exactly(version) = expected else { return false };
        let (token, revision) = (found.version.token, found.version.revision);
        match self.fault {
            Some(Fault::GuardByTokenOnly) => version.token == token,
            Some(Fault::GuardByRevisionOnly) => version.revision == revision,
            Some(Fault::GuardAcceptsOlder) => version.token == token && revision <= version.revision,
            Some(Fault::TokensCompareEightBytes | Fault::TokensIgnoreCase) => {
                version.revision == revision && self.alike(version.token, token)
            }
            _ => false,
        }
    }
}
