//! Faults in releases.

use onceonly::{KeyStore, Record, RecordKey, Release, ReleaseOutcome, Status, StoreError, Timestamp, Token};

use super::faults::Fault;
use super::holders::holds;
use super::looks::blank_claim;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::{new_record, place};

impl PlantedStore {
    pub(super) async fn release_wrongly(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let Some(found) = self.stored(key) else {
            if self.has(Fault::ReleaseCreates) {
                self.base.edit(key, |slot, now| {
                    *slot = Some(released(&new_record(&blank_claim(token), now), release, now));
                });
            }
            return self.base.release(key, token, release).await;
        };
        if let Some(outcome) = self.release_as_repeated(key, token, release, &found).await {
            return outcome;
        }
        let held = holds(&found, token);
        match self.fault {
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
            Some(Fault::StaleReleaseDropped) if held && release.revision <= found.version.revision => {
                return Ok(ReleaseOutcome::Applied);
            }
            Some(Fault::ReleaseLooksThenWrites) if held => {
                self.gap().await;
                self.base.edit(key, |slot, now| *slot = Some(released(&found, release, now)));
                return Ok(ReleaseOutcome::Applied);
            }
            Some(Fault::ReleaseDeletes) if held => {
                self.base.edit(key, |slot, _| *slot = None);
                return Ok(ReleaseOutcome::Applied);
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
        if outcome == ReleaseOutcome::Applied {
            self.base.edit(key, |slot, now| {
                if let Some(record) = slot
                    && record.version.token == token
                {
                    self.alter_released(record, &found, now.plus(release.keep));
                }
            });
        }
        Ok(outcome)
    }

    /// What comes of a release, if the fault has a say in it. `found` is the record as it was looked at.
    async fn release_as_repeated(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
        found: &Record,
    ) -> Option<Result<ReleaseOutcome, StoreError>> {
        match self.fault {
            Some(Fault::ThirdReleaseForgets)
                if found.version.token == token && found.status == Status::Released =>
            {
                let mut repeated = lock(&self.shared.repeated);
                let times = repeated.entry(place(key)).or_default();
                *times += 1;
                if *times == 2 {
                    self.base.edit(key, |slot, _| *slot = None);
                }
                Some(Ok(ReleaseOutcome::Applied))
            }
            Some(Fault::ReleaseGuardedByToken) if holds(found, token) => {
                self.gap().await;
                Some(Ok(self.base.edit(key, |slot, now| match slot {
                    Some(record) if record.version.token == token => {
                        *record = released(found, release, now);
                        ReleaseOutcome::Applied
                    }
                    _ => ReleaseOutcome::NotHeld,
                })))
            }
            _ => None,
        }
    }
}

fn released(found: &Record, release: &Release, now: Timestamp) -> Record {
    let mut record = found.clone();
    record.version.revision = release.revision;
    record.expires_at = now.plus(release.keep);
    record.status = Status::Released;
    record
}
