//! Faults in releases that come late, again, or beside other writes.

use onceonly::{KeyStore, Record, RecordKey, Release, ReleaseOutcome, Status, StoreError, Token};

use super::faults::Fault;
use super::store::{PlantedStore, lock};
use super::writes::{holds, released};
use crate::reference::place;

impl PlantedStore {
    /// What comes of a release, if the fault has a say in it. `found` is the record as it was looked at.
    pub(super) async fn release_as_repeated(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
        found: &Record,
    ) -> Option<Result<ReleaseOutcome, StoreError>> {
        match self.fault {
            Some(Fault::ReleaseByFormerHolder) if self.once_held(key, token) => {
                Some(self.base.release(key, found.version.token, release).await)
            }
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
