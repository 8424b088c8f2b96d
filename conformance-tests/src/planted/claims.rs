//! Faults in claims.

use std::time::Duration;

use onceonly::{
    ClaimOutcome, Expected, Fingerprint, KeyStore, NewClaim, Record, RecordKey, Snapshot, Span, Status,
    StoreError, Version,
};

use super::faults::Fault;
use super::holders::alike;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::{is_past, new_record, place, stamp};

impl PlantedStore {
    /// The claim that the store writes instead of `claim`.
    pub(super) fn altered_claim(&self, key: &RecordKey, claim: &NewClaim) -> NewClaim {
        let mut claim = claim.clone();
        match self.fault {
            Some(Fault::LeaseTickLate) => claim.lease = micros(claim.lease.as_micros() + 1),
            Some(Fault::LeaseTickEarly) => claim.lease = micros(claim.lease.as_micros() - 1),
            Some(Fault::WholeSeconds) => {
                alter_spans(&mut claim, |span| micros(span.as_micros() / 1_000_000 * 1_000_000));
            }
            Some(Fault::SpansCapped) => alter_spans(&mut claim, |span| span.min(micros(i64::from(u32::MAX)))),
            Some(Fault::FingerprintWithoutAlgorithm) => {
                let mut bytes = claim.fingerprint.to_bytes();
                bytes[..4].copy_from_slice(&[0, 1, 0, 0]);
                claim.fingerprint = Fingerprint::from_bytes(&bytes).unwrap_or(claim.fingerprint);
            }
            Some(Fault::AttemptNotRaised) => {
                claim.attempt = self.stored(key).map_or(claim.attempt, |record| record.attempt);
            }
            Some(Fault::OldCheckpointLeft) if claim.checkpoint.is_none() => {
                claim.checkpoint = lock(&self.shared.checkpoints).get(&place(key)).cloned();
            }
            _ => {}
        }
        claim
    }

    pub(super) async fn claim_wrongly(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        let displaced = self.stored(key);
        let outcome = match (self.fault, expected) {
            (Some(Fault::CheckThenInsert), Expected::Absent)
            | (Some(Fault::TakeoverLooksThenWrites), Expected::Exactly(_)) => {
                self.look_then_write(key, claim, expected).await?
            }
            (Some(Fault::TakeoverRefusedAtDeadline), Expected::Exactly(_)) => {
                match self.base.load(key).await? {
                    Some(found) if found.record.lease_until == found.now => {
                        return Ok(ClaimOutcome::Occupied(Box::new(found)));
                    }
                    _ => self.base.claim(key, claim, expected).await?,
                }
            }
            (Some(Fault::TakeoverGuardedByToken), Expected::Exactly(version)) => {
                self.look_then_take_over(key, claim, version).await?
            }
            _ => self.base.claim(key, claim, self.altered_expectation(key, claim, expected)).await?,
        };
        Ok(match outcome {
            ClaimOutcome::Claimed(_) if self.has(Fault::ClaimInTwoWrites) => {
                self.claim_in_two_writes(key, outcome).await
            }
            ClaimOutcome::Claimed(_) => self.granted(key, displaced.as_ref(), outcome),
            ClaimOutcome::Occupied(shown) => {
                ClaimOutcome::Occupied(Box::new(self.refused(key, claim, *shown)))
            }
            ClaimOutcome::Vacant => ClaimOutcome::Vacant,
        })
    }

    /// Writes a claim whose fingerprint and retention follow later.
    async fn claim_in_two_writes(&self, key: &RecordKey, outcome: ClaimOutcome) -> ClaimOutcome {
        let whole = self.base.edit(key, |slot, now| {
            let record = slot.as_mut()?;
            let whole = record.clone();
            record.fingerprint = Fingerprint::builder().finish();
            record.expires_at = now;
            Some(whole)
        });
        self.gap().await;
        self.base.edit(key, |slot, _| match (slot, whole) {
            (Some(record), Some(whole)) if record.version == whole.version => *record = whole,
            _ => {}
        });
        outcome
    }

    pub(super) fn stored(&self, key: &RecordKey) -> Option<Record> {
        self.base.edit(key, |slot, _| slot.clone())
    }

    pub(super) async fn look_then_write(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        let as_expected = match (expected, self.stored(key)) {
            (Expected::Absent, None) => true,
            (Expected::Exactly(version), Some(record)) => record.version == version,
            _ => false,
        };
        if !as_expected {
            return self.base.claim(key, claim, expected).await;
        }
        self.gap().await;
        Ok(self.base.edit(key, |slot, now| {
            let record = slot.insert(new_record(claim, now));
            ClaimOutcome::Claimed(stamp(record, now))
        }))
    }

    /// Compares the whole version when it looks, and the token alone when it writes.
    async fn look_then_take_over(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        version: Version,
    ) -> Result<ClaimOutcome, StoreError> {
        if self.stored(key).is_none_or(|record| record.version != version) {
            return self.base.claim(key, claim, Expected::Exactly(version)).await;
        }
        self.gap().await;
        Ok(self.base.edit(key, |slot, now| match slot {
            Some(record) if record.version.token == version.token => {
                *record = new_record(claim, now);
                ClaimOutcome::Claimed(stamp(record, now))
            }
            Some(record) => ClaimOutcome::Occupied(Box::new(Snapshot { record: record.clone(), now })),
            None => ClaimOutcome::Vacant,
        }))
    }

    /// What the store looks for instead of `expected`.
    fn altered_expectation(&self, key: &RecordKey, claim: &NewClaim, expected: Expected) -> Expected {
        let (found, past) = self
            .base
            .edit(key, |slot, now| (slot.clone(), slot.as_ref().is_some_and(|record| is_past(record, now))));
        let Some(found) = found else {
            return if self.has(Fault::GuardedClaimInserts) { Expected::Absent } else { expected };
        };
        let own = found.version.token == claim.token;
        if self.has(Fault::ResultsCannotBeReplaced) && matches!(found.status, Status::Completed(_)) && !past {
            return Expected::Absent;
        }
        if self.has(Fault::TakeoverNeedsPurge) && past {
            return Expected::Absent;
        }
        let granted = match (self.fault, expected) {
            (Some(Fault::OwnClaimGrantedAgain), _) => {
                own && matches!(found.status, Status::InProgress { .. })
            }
            (Some(Fault::OwnClaimErases), _) => own && found.status == Status::Released,
            (Some(Fault::OwnClaimOverItsResult), _) => own && matches!(found.status, Status::Completed(_)),
            (Some(Fault::OwnTakeoverGrantedAgain), Expected::Exactly(_)) => {
                own && matches!(found.status, Status::InProgress { .. })
            }
            (Some(Fault::GuardByTokenOnly), Expected::Exactly(version)) => {
                version.token == found.version.token
            }
            (Some(Fault::GuardByRevisionOnly), Expected::Exactly(version)) => {
                version.revision == found.version.revision
            }
            (Some(Fault::TokensCompareEightBytes), Expected::Exactly(version)) => {
                version.revision == found.version.revision && alike(version.token, found.version.token)
            }
            (Some(Fault::AbsentOverwritesPast), Expected::Absent) => past,
            _ => false,
        };
        if granted { Expected::Exactly(found.version) } else { expected }
    }

    fn granted(&self, key: &RecordKey, displaced: Option<&Record>, outcome: ClaimOutcome) -> ClaimOutcome {
        lock(&self.own.claimed).push(key.clone());
        if let Some(displaced) = displaced {
            lock(&self.shared.former).entry(place(key)).or_default().push(displaced.version.token);
        }
        self.base.edit(key, |slot, now| {
            let Some(record) = slot else { return outcome };
            lock(&self.shared.first_deadlines).insert(place(key), record.unresolved_until);
            self.alter_claimed(record, displaced);
            ClaimOutcome::Claimed(stamp(record, now))
        })
    }

    /// What a refused claim leaves and is shown.
    fn refused(&self, key: &RecordKey, claim: &NewClaim, mut shown: Snapshot) -> Snapshot {
        self.base.edit(key, |slot, now| {
            let Some(record) = slot else { return };
            match self.fault {
                Some(Fault::OwnClaimExtends) if record.version.token == claim.token => {
                    record.lease_until = now.plus(claim.lease);
                }
                Some(Fault::LoserBindsFingerprint) => record.fingerprint = claim.fingerprint,
                Some(Fault::ReplayExtends) => record.expires_at = record.expires_at.max(now.plus(claim.keep)),
                _ => {}
            }
        });
        if self.has(Fault::LoserIsShownNoCheckpoint)
            && matches!(shown.record.status, Status::InProgress { .. })
        {
            shown.record.status = Status::InProgress { checkpoint: None };
        }
        shown
    }
}

fn alter_spans(claim: &mut NewClaim, alter: impl Fn(Span) -> Span) {
    for span in [&mut claim.lease, &mut claim.keep, &mut claim.keep_unresolved] {
        *span = alter(*span);
    }
}

/// A span of so many microseconds, at least one.
pub(super) fn micros(micros: i64) -> Span {
    let duration = Duration::from_micros(micros.max(1).unsigned_abs());
    Span::new(duration).unwrap_or(Span::MAX)
}
