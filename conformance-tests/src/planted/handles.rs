//! What a handle knows for itself.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use onceonly::{RecordKey, Snapshot, Timestamp};

use super::store::lock;
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
}

impl Own {
    pub(super) fn opened_at(opened: Timestamp) -> Self {
        Self {
            patience: PATIENCE,
            opened,
            cache: Mutex::default(),
            claimed: Mutex::default(),
            last_call: Mutex::new(opened),
        }
    }

    /// When the handle was called before.
    pub(super) fn time_of_last_call(&self, now: Timestamp) -> Timestamp {
        std::mem::replace(&mut *lock(&self.last_call), now)
    }
}

/// Far longer than any lock is held.
const PATIENCE: Duration = Duration::from_secs(30);
