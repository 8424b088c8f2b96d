//! Faults in purges.

use onceonly::{Record, RecordKey, Revision, Span, Status, StoreError, Timestamp};

use super::claims::micros;
use super::faults::Fault;
use super::holders::before;
use super::shared::lock;
use super::store::PlantedStore;
use crate::call::Verb;
use crate::reference::{Place, is_past, place};

impl PlantedStore {
    pub(super) async fn purge_wrongly(&self, limit: u32) -> Result<u64, StoreError> {
        let limit = match self.fault {
            Some(Fault::PurgeOfNoneIsUnlimited) if limit == 0 => usize::MAX,
            Some(Fault::PurgeLimitIsSigned) => usize::try_from(limit.cast_signed()).unwrap_or(0),
            _ => limit as usize,
        };
        self.readable_to_a_purge()?;
        self.take_permit(Verb::PurgeExpired).await;
        if self.has(Fault::PurgeChoosesBeforeTheLock) {
            return self.choose_then_wait(limit).await;
        }
        let _locks = self.cross_locks(Verb::PurgeExpired).await;
        let store = self.admitted(Verb::PurgeExpired, None).await?;
        store.purge_admitted(limit).await
    }

    async fn purge_admitted(&self, limit: usize) -> Result<u64, StoreError> {
        let deleted = match self.fault {
            Some(Fault::PurgeDoesNothing) => Vec::new(),
            Some(Fault::PurgeIgnoresLimit) => {
                self.base.delete(usize::MAX, |_, record, now| is_past(record, now))
            }
            Some(
                Fault::PurgeChoosesThenDeletes | Fault::PurgeCountsChosen | Fault::PurgeTakesWhatHasEnded,
            ) => {
                return Ok(self.choose_then_delete(limit).await);
            }
            Some(Fault::PurgeTakesAllOut) => return Ok(self.take_all_out().await),
            Some(Fault::PurgeReadsBeforeTheClock) => {
                let read = self.base.all();
                self.gap().await;
                self.base
                    .delete(limit, |place, _, now| read.get(place).is_some_and(|record| is_past(record, now)))
            }
            Some(Fault::PurgeTakesTheNeighbours) => {
                for neighbour in lock(&self.shared.neighbours).iter() {
                    neighbour.delete(limit, |_, record, now| is_past(record, now));
                }
                self.base.delete(limit, |_, record, now| is_past(record, now))
            }
            Some(Fault::PurgeLooksAtTheFirst) => {
                let seen: Vec<Place> = self.base.all().into_keys().take(2 * limit + 100).collect();
                self.base.delete(limit, |place, record, now| {
                    is_past(record, now) && seen.binary_search(place).is_ok()
                })
            }
            Some(Fault::PurgeLeavesToken) => {
                let mut graves = lock(&self.shared.graves);
                graves.extend(self.base.all());
                self.base.delete(limit, |_, record, now| is_past(record, now))
            }
            Some(Fault::PurgedIsStillShown) => {
                lock(&self.own.cache).clear();
                self.base.delete(limit, |_, record, now| is_past(record, now))
            }
            Some(Fault::PurgeChoosesTheUnreadable) => {
                let chosen = self.base.past(limit);
                self.base.delete(limit, |place, record, now| {
                    chosen.contains(place) && self.is_doomed(place, record, now)
                })
            }
            Some(Fault::PurgePutsOff) => {
                self.put_off();
                self.base.delete(limit, |place, record, now| self.is_doomed(place, record, now))
            }
            _ => self.base.delete(limit, |place, record, now| self.is_doomed(place, record, now)),
        };
        let count = deleted.len() as u64;
        Ok(if self.has(Fault::PurgeCountsOneMore) && count > 0 { count + 1 } else { count })
    }

    fn is_doomed(&self, place: &Place, record: &Record, now: Timestamp) -> bool {
        if lock(&self.shared.damaged).contains_key(place) {
            return false;
        }
        let in_progress = matches!(record.status, Status::InProgress { .. });
        let completed = matches!(record.status, Status::Completed(_));
        match self.fault {
            Some(Fault::PurgeTickLate) => is_past(record, before(now)),
            Some(Fault::PurgeTickEarly) => is_past(record, now.plus(micros(1))),
            Some(Fault::PurgeLeavesMarks) => record.status != Status::Released && is_past(record, now),
            Some(Fault::PurgeWaitsForRetention) if in_progress => {
                is_past(record, now) && record.expires_at <= now
            }
            Some(Fault::ResultsGoWithTheirClaim) if completed => record.unresolved_until <= now,
            Some(Fault::RenewedIsNeverPurged) if in_progress => {
                record.version.revision == Revision::FIRST && is_past(record, now)
            }
            Some(Fault::PurgePutsOff) => {
                let put_off = lock(&self.shared.put_off).get(place).copied();
                put_off.is_none_or(|until| until <= now) && is_past(record, now)
            }
            Some(Fault::PurgeGoesByClasses) if completed => {
                lock(&self.shared.classes).get(place).is_some_and(|deadline| *deadline <= now)
            }
            Some(Fault::PurgeGoesByTheSnapshot) => {
                let snapshot = lock(&self.shared.snapshot).upgrade();
                let seen = snapshot.and_then(|snapshot| snapshot.get(place).cloned());
                is_past(seen.as_ref().unwrap_or(record), now)
            }
            Some(Fault::PurgeTakesLive) if in_progress => true,
            Some(Fault::PurgeTakesAbandoned) if in_progress => record.lease_until <= now,
            Some(Fault::UnfinishedForgotten) if in_progress => record.expires_at <= now,
            Some(Fault::PurgeByFirstDeadline) if in_progress => {
                lock(&self.shared.first_deadlines).get(place).is_some_and(|deadline| *deadline <= now)
            }
            _ => is_past(record, now),
        }
    }

    /// Notes until when unfinished records need not be looked at again.
    fn put_off(&self) {
        let now = self.base.now();
        let mut put_off = lock(&self.shared.put_off);
        for (place, record) in self.base.all() {
            let unfinished = matches!(record.status, Status::InProgress { .. });
            if unfinished && record.expires_at <= now {
                put_off.entry(place).or_insert(record.unresolved_until);
            }
        }
    }

    /// Notes the class of a result: the minutes that it is kept, rounded up to a power of two.
    pub(super) fn note_class(&self, key: &RecordKey, now: Timestamp, retention: Span) {
        let minutes = retention.as_duration().as_secs().div_ceil(60).next_power_of_two();
        let minutes = i64::try_from(minutes).unwrap_or(i64::MAX / 60_000_000);
        lock(&self.shared.classes).insert(place(key), now.plus(micros(minutes * 60_000_000)));
    }

    /// Chooses without the lock, waits for it, and deletes what was chosen.
    async fn choose_then_wait(&self, limit: usize) -> Result<u64, StoreError> {
        let chosen = self.base.past(limit);
        self.admitted(Verb::PurgeExpired, None).await?;
        self.gap().await;
        Ok(self.base.delete(limit, |place, _, _| chosen.contains(place)).len() as u64)
    }

    /// Empties the table and puts back what lives on.
    async fn take_all_out(&self) -> u64 {
        let (all, now) = (self.base.all(), self.base.now());
        self.base.delete(usize::MAX, |_, _, _| true);
        self.gap().await;
        let mut gone = 0;
        for (place, record) in all {
            if is_past(&record, now) { gone += 1 } else { self.base.put_back(place, record) }
        }
        gone
    }

    async fn choose_then_delete(&self, limit: usize) -> u64 {
        let chosen = self.base.past(limit);
        self.gap().await;
        let deleted = self.base.delete(limit, |place, record, now| {
            let doomed = match self.fault {
                Some(Fault::PurgeChoosesThenDeletes) => true,
                Some(Fault::PurgeTakesWhatHasEnded) => {
                    is_past(record, now) || matches!(record.status, Status::Completed(_))
                }
                _ => is_past(record, now),
            };
            doomed && chosen.contains(place)
        });
        if self.has(Fault::PurgeCountsChosen) { chosen.len() as u64 } else { deleted.len() as u64 }
    }
}
