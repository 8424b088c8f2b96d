//! Locks that somebody outside holds on records, and faults in how a store waits for them.

use std::future;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use onceonly::{RecordKey, Renewal, Stamp, StoreError, StoreErrorKind, Timestamp, Token, Version};
use tokio::sync::Notify;

use super::faults::Fault;
use super::shared::{Shared, lock};
use super::store::PlantedStore;
use crate::call::Verb;
use crate::reference::{Place, place};

/// Which records are locked from outside.
#[derive(Default)]
pub(super) struct Locks {
    held: Mutex<Vec<Place>>,
    given_back: Notify,
    /// How many calls wait, or have been dropped while they did.
    waiting: AtomicUsize,
}

/// A lock, given back when it is dropped.
pub(super) struct OutsideLock {
    shared: Arc<Shared>,
    place: Place,
}

impl Drop for OutsideLock {
    fn drop(&mut self) {
        let mut held = lock(&self.shared.locks.held);
        if let Some(at) = held.iter().position(|place| *place == self.place) {
            held.swap_remove(at);
        }
        drop(held);
        self.shared.locks.given_back.notify_waiters();
    }
}

/// The store as a write finds it that may go on: at the present time or, where that is the fault, at another.
pub(super) enum Admitted<'a> {
    Now(&'a PlantedStore),
    Then(Box<PlantedStore>),
}

impl Deref for Admitted<'_> {
    type Target = PlantedStore;

    fn deref(&self) -> &PlantedStore {
        match self {
            Self::Now(store) => store,
            Self::Then(store) => store,
        }
    }
}

impl PlantedStore {
    /// Another handle, whose calls give up after `patience` where a record stays locked.
    #[must_use]
    pub fn impatient(&self, patience: Duration) -> Self {
        let mut handle = self.handle();
        handle.own.patience = patience;
        handle
    }

    pub(super) fn lock_from_outside(&self, key: &RecordKey) -> OutsideLock {
        let (shared, place) = (Arc::clone(&self.shared), place(key));
        lock(&shared.locks.held).push(place.clone());
        OutsideLock { shared, place }
    }

    /// Lets a write of `key` go on, or of any record if none is named, once nobody outside holds its lock; and only if
    /// what is stored there can be read.
    pub(super) async fn admitted(
        &self,
        verb: Verb,
        key: Option<&RecordKey>,
    ) -> Result<Admitted<'_>, StoreError> {
        self.connected()?;
        let admitted = self.admitted_if_connected(verb, key).await;
        if admitted.is_err() {
            self.note_failure();
        }
        admitted
    }

    /// Lets a look go on: it waits for nobody.
    pub(super) async fn admitted_to_look(&self) -> Result<(), StoreError> {
        self.connected()?;
        if self.has(Fault::LooksWaitForLocks) { self.wait_for_lock(None).await } else { Ok(()) }
    }

    /// The answer to a renewal that was begun before, whatever became of it, where a store remembers too early.
    pub(super) fn taken_for_done(&self, key: &RecordKey, token: Token, renewal: &Renewal) -> Option<Stamp> {
        let version = Version { token, revision: renewal.revision };
        if !self.has(Fault::BegunIsDone) || lock(&self.shared.begun).insert(version) {
            return None;
        }
        self.stored(key).map(|record| record.stamp(self.base.now()))
    }

    async fn admitted_if_connected(
        &self,
        verb: Verb,
        key: Option<&RecordKey>,
    ) -> Result<Admitted<'_>, StoreError> {
        let asked = self.base.now();
        self.wait_for_lock(key.map(place).as_ref()).await?;
        if let Some(key) = key {
            self.readable_to_a_write(key)?;
        }
        let last = self.own.time_of_last_call(self.base.now());
        Ok(match (self.fault, verb) {
            (Some(Fault::ClockReadBeforeTheLock), _)
            | (Some(Fault::RenewalReadsClockFirst), Verb::Renew)
            | (Some(Fault::CompletionReadsClockFirst), Verb::Complete)
            | (Some(Fault::ReleaseReadsClockFirst), Verb::Release) => {
                Admitted::Then(Box::new(self.at(asked)))
            }
            (Some(Fault::TimeOfTheLastCall), _) => Admitted::Then(Box::new(self.at(last))),
            (Some(Fault::ClockOfTwoMinds), _) if self.own.calls.fetch_add(1, Ordering::Relaxed) % 2 == 1 => {
                Admitted::Then(Box::new(self.at(a_second_before(asked))))
            }
            _ => Admitted::Now(self),
        })
    }

    fn at(&self, instant: Timestamp) -> Self {
        let mut handle = self.handle();
        handle.base = self.base.frozen_at(instant);
        handle
    }

    async fn wait_for_lock(&self, place: Option<&Place>) -> Result<(), StoreError> {
        let locks = &self.shared.locks;
        if self.has(Fault::WaitersKeepTheirPlaces) && locks.waiting.load(Ordering::Relaxed) >= WAITING_MAX {
            return future::pending().await;
        }
        if self.has(Fault::OthersWaitWithoutLimit) && !self.is_locked(place) {
            self.until_free(None).await;
        }
        if !self.is_locked(place) {
            return Ok(());
        }
        locks.waiting.fetch_add(1, Ordering::Relaxed);
        let free = self.until_free(place);
        let waited = match self.fault {
            Some(Fault::WaitsWithoutLimit) => {
                free.await;
                Ok(())
            }
            Some(Fault::PurgeWaitsWithoutLimit) if place.is_none() => {
                free.await;
                Ok(())
            }
            _ => tokio::time::timeout(self.own.patience, free).await,
        };
        // One that is dropped has not come to this: that is the fault.
        locks.waiting.fetch_sub(1, Ordering::Relaxed);
        waited.map_err(|_| StoreError::new(StoreErrorKind::Unavailable, "planted", "the record is locked"))
    }

    async fn until_free(&self, place: Option<&Place>) {
        loop {
            // Registered before the look, so that a lock that is given back in between is not missed.
            let given_back = self.shared.locks.given_back.notified();
            if !self.is_locked(place) {
                return;
            }
            given_back.await;
        }
    }

    fn is_locked(&self, place: Option<&Place>) -> bool {
        let held = lock(&self.shared.locks.held);
        place.map_or(!held.is_empty(), |place| held.contains(place))
    }
}

const WAITING_MAX: usize = 64;

const fn a_second_before(now: Timestamp) -> Timestamp {
    Timestamp::from_micros(now.as_micros() - 1_000_000)
}
