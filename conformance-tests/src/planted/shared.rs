//! What the handles of a store know in common.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;
use onceonly::{Record, Revision, Timestamp, Token, Version};

use super::locks::Locks;
use super::turns::Turns;
use crate::reference::{Place, ReferenceStore};

/// What a fault remembers beside the records. Each fault uses one of these or two.
#[derive(Default)]
pub(super) struct Shared {
    /// Tokens that once held a record.
    pub(super) former: Mutex<BTreeMap<Place, Vec<Token>>>,
    /// Records that were purged.
    pub(super) graves: Mutex<BTreeMap<Place, Record>>,
    /// The deadlines that records were claimed with.
    pub(super) first_deadlines: Mutex<BTreeMap<Place, Timestamp>>,
    /// The last checkpoints that were saved.
    pub(super) checkpoints: Mutex<BTreeMap<Place, Bytes>>,
    /// Keys that a batch holds.
    pub(super) locked: Mutex<BTreeSet<Place>>,
    /// The versions that have reached the copy that is read.
    pub(super) replicated: Mutex<BTreeMap<Place, (Token, Revision)>>,
    /// Keys that somebody outside holds.
    pub(super) locks: Locks,
    /// What was done to the records that cannot be read.
    pub(super) damaged: Mutex<BTreeMap<Place, &'static str>>,
    /// The state that a reader outside holds on to.
    pub(super) snapshot: Mutex<Weak<BTreeMap<Place, Record>>>,
    /// Renewals that were begun.
    pub(super) begun: Mutex<HashSet<Version>>,
    /// How often releases were repeated.
    pub(super) repeated: Mutex<BTreeMap<Place, usize>>,
    /// The records of other stores in the same database.
    pub(super) neighbours: Mutex<Vec<ReferenceStore>>,
    /// The leases that were ended, as they were before.
    pub(super) ended: Mutex<BTreeMap<Place, Timestamp>>,
    /// The bodies that results were stored with.
    pub(super) bodies: Mutex<BTreeMap<Place, Bytes>>,
    /// Until when purges need not look at records again.
    pub(super) put_off: Mutex<BTreeMap<Place, Timestamp>>,
    /// When the classes end that results were put into.
    pub(super) classes: Mutex<BTreeMap<Place, Timestamp>>,
    /// Records in the order of their claims.
    pub(super) order: Mutex<VecDeque<Place>>,
    /// Results that somebody reads.
    pub(super) being_read: Mutex<BTreeSet<Place>>,
    pub(super) turns: Turns,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
