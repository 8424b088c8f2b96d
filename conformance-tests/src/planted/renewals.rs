//! Faults in renewals.

use onceonly::{
    KeyStore, LeaseChange, Record, RecordKey, RenewOutcome, Renewal, Revision, Stamp, Status, StoreError,
    Timestamp, Token,
};

use super::claims::micros;
use super::faults::Fault;
use super::holders::holds;
use super::keys::key_at;
use super::looks::blank_claim;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::{new_record, place, stamp};

impl PlantedStore {
    pub(super) async fn renew_wrongly(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let renewal = self.altered_renewal(renewal);
        if let Some(checkpoint) = &renewal.checkpoint {
            lock(&self.shared.checkpoints).insert(place(key), checkpoint.clone());
        }
        let Some(found) = self.stored(key) else {
            if self.has(Fault::RenewalCreates) {
                return Ok(self.base.edit(key, |slot, now| {
                    RenewOutcome::Applied(stamp(slot.insert(new_record(&blank_claim(token), now)), now))
                }));
            }
            return self.base.renew(key, token, &renewal).await;
        };
        if let Some(outcome) = self.renew_unwritten(key, token, &renewal, &found) {
            return Ok(outcome);
        }
        if let Some(outcome) = self.look_then_renew(key, token, &renewal, &found).await {
            return Ok(outcome);
        }
        let outcome = self.base.renew(key, token, &renewal).await?;
        if self.has(Fault::RenewalIgnoresCase) {
            self.renew_all_alike(key, &renewal);
        }
        Ok(self.base.edit(key, |slot, now| match (slot, outcome) {
            (Some(record), RenewOutcome::Applied(_)) if record.version.token == token => {
                self.alter_renewed(key, record, &found, &renewal, now);
                RenewOutcome::Applied(self.renewal_stamp(record, &renewal, now))
            }
            (Some(record), RenewOutcome::NotHeld) => {
                self.touched_by_refused_renewal(record, &renewal);
                outcome
            }
            _ => outcome,
        }))
    }

    /// What comes of a renewal that is not written because of what was `found`, or written at once.
    fn renew_unwritten(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
        found: &Record,
    ) -> Option<RenewOutcome> {
        let (held, now) = (holds(found, token), self.base.now());
        let own = found.version.token == token;
        let (new, old) = (renewal.revision.number(), found.version.revision.number());
        match (self.fault, &found.status, renewal.lease) {
            (Some(Fault::OvertakenIsNotHeld), _, _) if held && new <= old => Some(RenewOutcome::NotHeld),
            (Some(Fault::RevisionsCompareSigned), _, _) if held && new.cast_signed() <= old.cast_signed() => {
                Some(RenewOutcome::Applied(stamp(found, now)))
            }
            (Some(Fault::RenewalSkippedWhileFresh), _, LeaseChange::Extend(lease))
                if held && lease.as_duration() < 2 * found.lease_until.since(now) =>
            {
                Some(RenewOutcome::Applied(stamp(found, now)))
            }
            (Some(Fault::StaleRenewalWritten), _, _) if held && new != old => {
                Some(self.base.edit(key, |slot, now| renew_blindly(slot, found.clone(), renewal, now)))
            }
            (Some(Fault::EqualRenewalWritten), _, _) if held && new >= old => {
                Some(self.base.edit(key, |slot, now| renew_blindly(slot, found.clone(), renewal, now)))
            }
            (Some(Fault::RenewalOfResult), Status::Completed(_), LeaseChange::Extend(lease)) if own => {
                Some(self.base.edit(key, |slot, now| {
                    let record = slot.get_or_insert_with(|| found.clone());
                    (record.version.revision, record.lease_until) = (renewal.revision, now.plus(lease));
                    RenewOutcome::Applied(stamp(record, now))
                }))
            }
            (Some(Fault::RenewalReopensMark), Status::Released, _) if own => {
                self.reopen(key, Status::Released);
                None
            }
            _ => None,
        }
    }

    /// What comes of a renewal that looks, waits, and then writes.
    async fn look_then_renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
        found: &Record,
    ) -> Option<RenewOutcome> {
        let held = holds(found, token);
        match self.fault {
            Some(Fault::RenewLooksThenWrites) if held => {
                self.gap().await;
                Some(self.base.edit(key, |slot, now| renew_blindly(slot, found.clone(), renewal, now)))
            }
            Some(Fault::RenewalTakesBackResult | Fault::RenewalTakesBackMark) => {
                Some(self.write_back(key, token, renewal, found.clone()).await)
            }
            Some(Fault::RenewalGuardedByToken) if held && found.version.revision < renewal.revision => {
                self.gap().await;
                Some(self.base.edit(key, |slot, now| match slot.take() {
                    Some(record) if holds(&record, token) => renew_blindly(slot, record, renewal, now),
                    other => {
                        *slot = other;
                        RenewOutcome::NotHeld
                    }
                }))
            }
            Some(Fault::RenewalInTwoWrites) if held && renewal.checkpoint.is_some() => {
                self.base.edit(key, |slot, _| {
                    if let Some(record) = slot {
                        record.status = Status::InProgress { checkpoint: renewal.checkpoint.clone() };
                    }
                });
                self.gap().await;
                None
            }
            _ => None,
        }
    }

    fn renewal_stamp(&self, record: &Record, renewal: &Renewal, now: Timestamp) -> Stamp {
        let stamp = stamp(record, now);
        match renewal.lease {
            LeaseChange::Extend(lease) if self.has(Fault::RenewalIsToldWhatItAskedFor) => {
                Stamp { lease_until: now.plus(lease), ..stamp }
            }
            _ => stamp,
        }
    }

    /// What a refused renewal does to the record that it has met.
    fn touched_by_refused_renewal(&self, record: &mut Record, renewal: &Renewal) {
        if let (Status::InProgress { checkpoint: stored @ Some(_) }, Some(sent)) =
            (&mut record.status, &renewal.checkpoint)
            && self.has(Fault::RefusedCheckpointWritten)
        {
            *stored = Some(sent.clone());
        }
    }

    /// Extends the leases of all records whose keys differ from `key` in letter case only.
    fn renew_all_alike(&self, key: &RecordKey, renewal: &Renewal) {
        let (scope, text) = place(key);
        for other in self.base.all().into_keys() {
            let is_meant = other.0 == scope && other.1.to_lowercase() == text.to_lowercase();
            if let (true, LeaseChange::Extend(lease)) = (is_meant && other.1 != text, renewal.lease) {
                self.base.edit(&key_at(&other), |slot, now| {
                    if let Some(record) = slot {
                        record.lease_until = now.plus(lease);
                    }
                });
            }
        }
    }

    /// Renews what was `found` and, after a while, puts it back where the token is still the same: that guards against
    /// takeovers, and not against the holder's own end of the claim.
    async fn write_back(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
        found: Record,
    ) -> RenewOutcome {
        let mut renewed = found;
        let outcome = renewed.renew(token, renewal, self.base.now());
        if outcome == RenewOutcome::NotHeld {
            return outcome;
        }
        self.gap().await;
        self.base.edit(key, |slot, _| match slot {
            Some(record) if record.version.token == token && self.may_take_back(&record.status) => {
                *record = renewed;
                outcome
            }
            _ => RenewOutcome::NotHeld,
        })
    }

    fn may_take_back(&self, status: &Status) -> bool {
        match status {
            Status::InProgress { .. } => true,
            Status::Completed(_) => self.has(Fault::RenewalTakesBackResult),
            Status::Released => self.has(Fault::RenewalTakesBackMark),
        }
    }

    fn altered_renewal(&self, renewal: &Renewal) -> Renewal {
        let mut renewal = renewal.clone();
        match self.fault {
            Some(Fault::CheckpointCut) => {
                renewal.checkpoint =
                    renewal.checkpoint.map(|checkpoint| checkpoint.slice(..checkpoint.len().min(65_536)));
            }
            Some(Fault::EmptyCheckpointIsNone) => {
                renewal.checkpoint = renewal.checkpoint.filter(|checkpoint| !checkpoint.is_empty());
            }
            Some(Fault::EndIgnored) if renewal.lease == LeaseChange::End => {
                renewal.lease = LeaseChange::Extend(micros(1));
            }
            Some(Fault::RevisionInSixteenBits) => {
                renewal.revision = Revision::from_number(renewal.revision.number() & 0xffff);
            }
            _ => {}
        }
        renewal
    }
}

/// Writes what a renewal makes of `found`, whatever is stored by now.
fn renew_blindly(
    slot: &mut Option<Record>,
    found: Record,
    renewal: &Renewal,
    now: Timestamp,
) -> RenewOutcome {
    let record = slot.insert(found);
    record.version.revision = renewal.revision;
    record.lease_until = match renewal.lease {
        LeaseChange::Extend(lease) => record.lease_until.max(now.plus(lease)),
        LeaseChange::End => now,
    };
    if renewal.checkpoint.is_some() {
        record.status = Status::InProgress { checkpoint: renewal.checkpoint.clone() };
    }
    RenewOutcome::Applied(stamp(record, now))
}
