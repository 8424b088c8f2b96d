//! Faults in renewals and releases.

use onceonly::{
    KeyStore, LeaseChange, NewClaim, Record, RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal,
    Revision, Span, Status, StoreError, Timestamp, Token,
};

use super::claims::micros;
use super::faults::Fault;
use super::store::{PlantedStore, before, lock};
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
            Some(Fault::NoLateRenewal) if self.is_late(&found) => return Ok(RenewOutcome::NotHeld),
            Some(Fault::NeverPastUnlessPurged) => self.revive(key),
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
            Some(Fault::TokensCompareEightBytes) if alike(found.version.token, token) => {
                return self.base.renew(key, found.version.token, &renewal).await;
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

    fn alter_renewed(&self, record: &mut Record, found: &Record, renewal: &Renewal, now: Timestamp) {
        match (self.fault, renewal.lease) {
            (Some(Fault::RenewShortens), LeaseChange::Extend(lease)) => record.lease_until = now.plus(lease),
            (Some(Fault::MemoryNotCarriedAlong), _) => record.unresolved_until = found.unresolved_until,
            (Some(Fault::RenewalDropsCheckpoint), _) if renewal.checkpoint.is_none() => {
                record.status = Status::InProgress { checkpoint: None };
            }
            _ => {}
        }
    }

    pub(super) async fn release_wrongly(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let Some(found) = self.stored(key) else {
            return self.base.release(key, token, release).await;
        };
        if let Some(outcome) = self.release_as_repeated(key, token, release, &found).await {
            return outcome;
        }
        let held = holds(&found, token);
        match self.fault {
            Some(Fault::ReleaseWithoutToken) => {
                return self.base.release(key, found.version.token, release).await;
            }
            Some(Fault::TokensCompareEightBytes) if alike(found.version.token, token) => {
                return self.base.release(key, found.version.token, release).await;
            }
            Some(Fault::MarkHeldForEver)
                if found.version.token == token && found.status == Status::Released =>
            {
                return Ok(ReleaseOutcome::Applied);
            }
            Some(Fault::ReleaseInTwoWrites) if held => {
                self.base.edit(key, |slot, _| {
                    if let Some(record) = slot {
                        record.status = Status::InProgress { checkpoint: None };
                    }
                });
                self.gap().await;
            }
            Some(Fault::ReleaseOnlySaysSo) if held => return Ok(ReleaseOutcome::Applied),
            Some(Fault::NeverPastUnlessPurged) => self.revive(key),
            Some(Fault::ReleaseLooksThenWrites) if held => {
                self.gap().await;
                self.base.edit(key, |slot, now| *slot = Some(released(&found, release, now)));
                return Ok(ReleaseOutcome::Applied);
            }
            Some(Fault::ReleaseDeletes) if held => {
                self.base.edit(key, |slot, _| *slot = None);
                return Ok(ReleaseOutcome::Applied);
            }
            Some(Fault::SecondReleaseRefused) if found.status == Status::Released => {
                return Ok(ReleaseOutcome::NotHeld);
            }
            Some(Fault::ReleaseAfterCompletion) if found.version.token == token => {
                self.base.edit(key, |slot, now| *slot = Some(released(&found, release, now)));
                return Ok(ReleaseOutcome::Applied);
            }
            _ => {}
        }
        let outcome = self.base.release(key, token, release).await?;
        if outcome == ReleaseOutcome::NotHeld && self.has(Fault::RefusedReleaseDeletes) {
            self.base.edit(key, |slot, _| *slot = None);
        }
        if outcome == ReleaseOutcome::Applied && self.has(Fault::MarkKeptTooShort) {
            self.base.edit(key, |slot, _| {
                if let Some(record) = slot {
                    record.expires_at = found.lease_until;
                }
            });
        }
        Ok(outcome)
    }

    /// Moves the deadlines of a record that is past its time.
    pub(super) fn revive(&self, key: &RecordKey) {
        self.base.edit(key, |slot, now| {
            if let Some(record) = slot {
                record.unresolved_until = record.unresolved_until.max(now.plus(micros(1)));
                record.expires_at = record.expires_at.max(now.plus(micros(1)));
            }
        });
    }

    /// Whether the record's lease is over.
    pub(super) fn is_late(&self, found: &Record) -> bool {
        self.base.now() > before(found.lease_until)
    }
}

/// Whether the record is in progress under `token`.
pub(super) fn holds(record: &Record, token: Token) -> bool {
    matches!(record.status, Status::InProgress { .. }) && record.version.token == token
}

/// Whether both begin with the same eight bytes.
pub(super) fn alike(one: Token, other: Token) -> bool {
    one.as_bytes()[..8] == other.as_bytes()[..8]
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

pub(super) fn released(found: &Record, release: &Release, now: Timestamp) -> Record {
    let mut record = found.clone();
    record.version.revision = release.revision;
    record.expires_at = now.plus(release.keep);
    record.status = Status::Released;
    record
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
