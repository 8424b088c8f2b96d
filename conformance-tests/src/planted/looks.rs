//! Faults in `load`.

use onceonly::{
    Fingerprint, KeyStore, NewClaim, Record, RecordKey, Snapshot, Span, StoreError, Timestamp, Token,
};

use super::faults::Fault;
use super::holders::before;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::{is_past, new_record, place};

impl PlantedStore {
    /// What a look shows that has found this.
    pub(super) async fn look_wrongly(
        &self,
        key: &RecordKey,
        found: Option<Snapshot>,
    ) -> Result<Option<Snapshot>, StoreError> {
        Ok(match self.fault {
            Some(Fault::LoadCreates) => {
                self.base.edit(key, |slot, now| slot.get_or_insert_with(|| placeholder(now)).clone());
                self.base.load(key).await?
            }
            Some(Fault::LoadHidesPastTime) => found.map(|mut found| {
                found.now = found.now.min(before(found.record.past_from()));
                found
            }),
            Some(Fault::LoadForgetsPast) => found.filter(|found| !is_past(&found.record, found.now)),
            Some(Fault::LoadDeletesPast) => {
                self.base.edit(key, |slot, now| {
                    slot.take_if(|record| is_past(record, now));
                });
                found
            }
            Some(Fault::LoadExtends) => {
                self.base.edit(key, |slot, now| {
                    if let Some(record) = slot {
                        let kept = record.expires_at.since(record.created_at).as_micros();
                        let kept = Timestamp::from_micros(now.as_micros() + i64::try_from(kept).unwrap_or(0));
                        record.expires_at = record.expires_at.max(kept);
                    }
                });
                found
            }
            Some(Fault::CachedLoads) => {
                let mut cache = lock(&self.own.cache);
                found.map(|found| cache.entry(place(key)).or_insert(found).clone())
            }
            Some(Fault::PurgedIsStillShown) => self.remembered(key, found),
            Some(Fault::LooksLagBehind) => self.lagging(key, found),
            Some(Fault::ClockOfTheHandle) => found.map(|found| Snapshot { now: self.own.opened, ..found }),
            _ => found,
        })
    }

    /// What a replica has of a record that was written for the first time a moment ago: nothing, once.
    fn lagging(&self, key: &RecordKey, found: Option<Snapshot>) -> Option<Snapshot> {
        let found = found?;
        let version = (found.record.version.token, found.record.version.revision);
        let seen = lock(&self.shared.replicated).insert(place(key), version);
        (seen == Some(version)).then_some(found)
    }

    /// What this handle has last seen there, if nothing is there any more.
    fn remembered(&self, key: &RecordKey, found: Option<Snapshot>) -> Option<Snapshot> {
        let mut cache = lock(&self.own.cache);
        match found {
            Some(found) => {
                cache.insert(place(key), found.clone());
                Some(found)
            }
            None => cache.get(&place(key)).cloned(),
        }
    }
}

fn placeholder(now: Timestamp) -> Record {
    new_record(&blank_claim(Token::from_bytes([0; 16])), now)
}

/// A claim of nothing in particular.
pub(super) fn blank_claim(token: Token) -> NewClaim {
    NewClaim {
        token,
        fingerprint: Fingerprint::builder().finish(),
        attempt: 1,
        checkpoint: None,
        lease: Span::MAX,
        keep: Span::MAX,
        keep_unresolved: Span::MAX,
    }
}
