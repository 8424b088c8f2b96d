//! What a handle knows for itself, and faults in how it ends.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use onceonly::{KeyStore, RecordKey, Snapshot, StoreError, StoreErrorKind, Timestamp};

use super::faults::Fault;
use super::store::{PlantedStore, lock};
use crate::reference::Place;

/// What a handle does not share with others.
pub(super) struct Own {
    /// How long its calls wait for a lock.
    pub(super) patience: Duration,
    /// The time at which it was opened.
    pub(super) opened: Timestamp,
    /// What it has loaded, for a store that must not cache.
    pub(super) cache: Mutex<BTreeMap<Place, Snapshot>>,
    /// What it has claimed.
    pub(super) claimed: Mutex<Vec<RecordKey>>,
    last_call: Mutex<Timestamp>,
    failures: AtomicUsize,
}

impl Own {
    pub(super) fn opened_at(opened: Timestamp) -> Self {
        Self {
            patience: PATIENCE,
            opened,
            cache: Mutex::default(),
            claimed: Mutex::default(),
            last_call: Mutex::new(opened),
            failures: AtomicUsize::new(0),
        }
    }

    /// When the handle was called before.
    pub(super) fn time_of_last_call(&self, now: Timestamp) -> Timestamp {
        std::mem::replace(&mut *lock(&self.last_call), now)
    }
}

impl PlantedStore {
    /// Whether this handle still reaches its records.
    pub(super) fn connected(&self) -> Result<(), StoreError> {
        let lost = |detail| Err(StoreError::new(StoreErrorKind::Unavailable, self.name(), detail));
        match self.fault {
            Some(Fault::GivesUpAfterFailures)
                if self.own.failures.load(Ordering::Relaxed) >= FAILURES_MAX =>
            {
                return lost("too many calls have failed");
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn note_failure(&self) {
        self.own.failures.fetch_add(1, Ordering::Relaxed);
    }
}

/// Far longer than any lock is held.
const PATIENCE: Duration = Duration::from_secs(30);
const FAILURES_MAX: usize = 3;
