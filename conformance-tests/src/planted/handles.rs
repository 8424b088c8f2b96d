//! What a handle knows for itself, and faults in how it ends.

use std::collections::BTreeMap;
use std::future;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use onceonly::{Completion, KeyStore, RecordKey, Snapshot, StoreError, StoreErrorKind, Timestamp, Token};
use tokio::task::AbortHandle;

use super::faults::Fault;
use super::holders::holds;
use super::shared::lock;
use super::store::PlantedStore;
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
    /// The task without which it cannot reach its records.
    driver: Mutex<Option<AbortHandle>>,
    /// How many writes it has made.
    pub(super) calls: AtomicUsize,
    /// The completion of which only half is written.
    unfinished: Mutex<Option<(RecordKey, Completion)>>,
    /// The completion that is not committed.
    uncommitted: Mutex<Option<(RecordKey, Token, Completion)>>,
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
            driver: Mutex::default(),
            calls: AtomicUsize::new(0),
            unfinished: Mutex::default(),
            uncommitted: Mutex::default(),
        }
    }

    /// When the handle was called before.
    pub(super) fn time_of_last_call(&self, now: Timestamp) -> Timestamp {
        std::mem::replace(&mut *lock(&self.last_call), now)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(driver) = lock(&self.driver).take() {
            driver.abort();
        }
    }
}

impl PlantedStore {
    /// Whether this handle still reaches its records.
    pub(super) fn connected(&self) -> Result<(), StoreError> {
        let lost = |detail| Err(StoreError::new(StoreErrorKind::Unavailable, self.name(), detail));
        match self.fault {
            Some(Fault::RuntimeTakesTheConnection) => {
                let mut driver = lock(&self.own.driver);
                let driver =
                    driver.get_or_insert_with(|| tokio::spawn(future::pending::<()>()).abort_handle());
                if driver.is_finished() {
                    return lost("the connection is gone");
                }
            }
            Some(Fault::GivesUpAfterFailures)
                if self.own.failures.load(Ordering::Relaxed) >= FAILURES_MAX =>
            {
                return lost("too many calls have failed");
            }
            Some(Fault::CompletionFinishedLater) => {
                if let Some((key, completion)) = lock(&self.own.unfinished).take() {
                    self.write_result(&key, &completion, completion.result.clone());
                }
            }
            Some(Fault::CompletionCommittedLater) => {
                if let Some((key, token, completion)) = lock(&self.own.uncommitted).take()
                    && self.stored(&key).is_some_and(|record| holds(&record, token))
                {
                    self.write_result(&key, &completion, completion.result.clone());
                }
            }
            _ => {}
        }
        Ok(())
    }

    pub(super) fn note_failure(&self) {
        self.own.failures.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn commit_later(&self, key: &RecordKey, token: Token, completion: &Completion) {
        *lock(&self.own.uncommitted) = Some((key.clone(), token, completion.clone()));
    }

    pub(super) fn finish_later(&self, key: &RecordKey, completion: &Completion) {
        *lock(&self.own.unfinished) = Some((key.clone(), completion.clone()));
    }
}

/// Far longer than any lock is held.
const PATIENCE: Duration = Duration::from_secs(30);
const FAILURES_MAX: usize = 3;
