//! Faults in renewals.

use onceonly::{
    KeyStore, LeaseChange, NewClaim, Record, RecordKey, RenewOutcome, Renewal, Revision, Span, Status,
    StoreError, Timestamp, Token,
};

use super::claims::micros;
use super::faults::Fault;
use super::holders::holds;
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
                    RenewOutcome::Applied(stamp(slot.insert(new_record(&claim_of(token), now)), now))
                }));
            }
            return self.base.renew(key, token, &renewal).await;
        };
        match self.fault {
            Some(Fault::RenewLooksThenWrites) if holds(&found, token) => {
                self.gap().await;
                return Ok(self.base.edit(key, |slot, now| renew_blindly(slot, found, &renewal, now)));
            }
            Some(Fault::RenewalTakesBackResult | Fault::RenewalTakesBackMark) => {
                return Ok(self.write_back(key, token, &renewal, found).await);
            }
            Some(Fault::RenewalGuardedByToken)
                if holds(&found, token) && found.version.revision < renewal.revision =>
            {
                self.gap().await;
                return Ok(self.base.edit(key, |slot, now| match slot.take() {
                    Some(record) if holds(&record, token) => renew_blindly(slot, record, &renewal, now),
                    other => {
                        *slot = other;
                        RenewOutcome::NotHeld
                    }
                }));
            }
            Some(Fault::StaleRenewalWritten | Fault::EqualRenewalWritten) if holds(&found, token) => {
                let due = renewal.revision > found.version.revision;
                let equal = renewal.revision == found.version.revision;
                if due || equal == self.has(Fault::EqualRenewalWritten) {
                    return Ok(self.base.edit(key, |slot, now| renew_blindly(slot, found, &renewal, now)));
                }
            }
            _ => {}
        }
        let outcome = self.base.renew(key, token, &renewal).await?;
        if let RenewOutcome::Applied(written) = outcome {
            return Ok(self.base.edit(key, |slot, now| match slot {
                Some(record) => {
                    self.alter_renewed(record, &found, &renewal, now);
                    RenewOutcome::Applied(stamp(record, now))
                }
                None => RenewOutcome::Applied(written),
            }));
        }
        Ok(outcome)
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

fn claim_of(token: Token) -> NewClaim {
    NewClaim {
        token,
        fingerprint: onceonly::Fingerprint::builder().finish(),
        attempt: 1,
        checkpoint: None,
        lease: Span::MAX,
        keep: Span::MAX,
        keep_unresolved: Span::MAX,
    }
}
