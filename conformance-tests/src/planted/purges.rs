//! Faults in purges.

use onceonly::{Record, Status, StoreError, Timestamp};

use super::faults::Fault;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::{Place, is_past};

impl PlantedStore {
    pub(super) async fn purge_wrongly(&self, limit: u32) -> Result<u64, StoreError> {
        let limit = limit as usize;
        self.readable_to_a_purge()?;
        if self.has(Fault::PurgeChoosesBeforeTheLock) {
            return self.choose_then_wait(limit).await;
        }
        let store = self.admitted(None).await?;
        store.purge_admitted(limit).await
    }

    async fn purge_admitted(&self, limit: usize) -> Result<u64, StoreError> {
        let deleted = match self.fault {
            Some(Fault::PurgeDoesNothing) => Vec::new(),
            Some(Fault::PurgeIgnoresLimit) => {
                self.base.delete(usize::MAX, |_, record, now| is_past(record, now))
            }
            Some(Fault::PurgeChoosesThenDeletes | Fault::PurgeCountsChosen) => {
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
        match self.fault {
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

    /// Chooses without the lock, waits for it, and deletes what was chosen.
    async fn choose_then_wait(&self, limit: usize) -> Result<u64, StoreError> {
        let chosen = self.base.past(limit);
        self.admitted(None).await?;
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
            let stands = self.has(Fault::PurgeChoosesThenDeletes) || is_past(record, now);
            stands && chosen.contains(place)
        });
        if self.has(Fault::PurgeCountsChosen) { chosen.len() as u64 } else { deleted.len() as u64 }
    }
}
