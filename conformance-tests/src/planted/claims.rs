//! Faults in claims.

use std::time::Duration;

use onceonly::{
    ClaimOutcome, Expected, Fingerprint, KeyStore, NewClaim, Record, RecordKey, Snapshot, Span, Status,
    StoreError, Version,
};

use super::faults::Fault;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::{new_record, place, stamp};

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
            Some(Fault::AttemptIsSigned) => claim.attempt = claim.attempt.min(i32::MAX.unsigned_abs()),
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
        let marked = displaced.as_ref().is_some_and(|record| record.status == Status::Released);
        let outcome = match (self.fault, expected) {
            (Some(Fault::CheckThenInsert), Expected::Absent)
            | (Some(Fault::TakeoverLooksThenWrites), Expected::Exactly(_)) => {
                self.look_then_write(key, claim, expected).await?
            }
            (Some(Fault::MarkLooksThenWrites), Expected::Exactly(_)) if marked => {
                self.look_then_write(key, claim, expected).await?
            }
            (Some(Fault::ClaimOverWhatHasEnded), Expected::Absent) if displaced.is_none() => {
                self.look_then_write_over_ended(key, claim).await
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
            ClaimOutcome::Claimed(_) => {
                let answer = self.granted(key, claim, displaced.as_ref(), outcome);
                self.sent_again(key, expected, answer)
            }
            ClaimOutcome::Occupied(shown) => self.refused(key, claim, *shown).await,
            ClaimOutcome::Vacant => ClaimOutcome::Vacant,
        })
    }

    /// Writes a claim whose fingerprint and retention follow later.
    pub(super) async fn claim_in_two_writes(&self, key: &RecordKey, outcome: ClaimOutcome) -> ClaimOutcome {
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

    /// Looks for absence, and then writes over whatever is not in progress.
    async fn look_then_write_over_ended(&self, key: &RecordKey, claim: &NewClaim) -> ClaimOutcome {
        self.gap().await;
        self.base.edit(key, |slot, now| match slot {
            Some(record) if matches!(record.status, Status::InProgress { .. }) => {
                ClaimOutcome::Occupied(Box::new(Snapshot { record: record.clone(), now }))
            }
            _ => ClaimOutcome::Claimed(stamp(slot.insert(new_record(claim, now)), now)),
        })
    }

    /// What is remembered of a granted claim, and what is answered.
    fn granted(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        displaced: Option<&Record>,
        outcome: ClaimOutcome,
    ) -> ClaimOutcome {
        lock(&self.own.claimed).push(key.clone());
        if let Some(displaced) = displaced {
            lock(&self.shared.former).entry(place(key)).or_default().push(displaced.version.token);
        }
        lock(&self.shared.put_off).remove(&place(key));
        lock(&self.shared.ended).remove(&place(key));
        self.make_room_for(key);
        self.base.edit(key, |slot, now| match slot {
            Some(record) if record.version.token == claim.token => {
                lock(&self.shared.first_deadlines).insert(place(key), record.unresolved_until);
                self.alter_claimed(record, displaced);
                ClaimOutcome::Claimed(stamp(record, now))
            }
            _ => outcome,
        })
    }

    /// Evicts the oldest record where there are too many.
    fn make_room_for(&self, key: &RecordKey) {
        if self.has(Fault::EvictsWhenFull) {
            let mut order = lock(&self.shared.order);
            order.push_back(place(key));
            if order.len() > RECORDS_MAX
                && let Some(oldest) = order.pop_front()
            {
                self.base.delete(1, |place, _, _| *place == oldest);
            }
        }
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

/// How many records there is room for.
const RECORDS_MAX: usize = 1_500;
