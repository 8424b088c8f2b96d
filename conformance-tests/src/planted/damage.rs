//! Records that cannot be read, and faults in what a store makes of them.

use onceonly::{KeyStore, RecordKey, Snapshot, Status, StoreError, StoreErrorKind};

use super::faults::Fault;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::{Place, is_past, place};

impl PlantedStore {
    /// Damages the record of `key`; what was done to it, or none if there are no more ways.
    pub(super) fn damage(&self, key: &RecordKey, way: usize) -> Option<&'static str> {
        let done = match self.stored(key)?.status {
            Status::Completed(_) => COMPLETED.get(way),
            Status::InProgress { .. } | Status::Released => UNFINISHED.get(way),
        }?;
        lock(&self.shared.damaged).insert(place(key), done);
        Some(done)
    }

    /// What was done to the record of `key`.
    pub(super) fn damage_of(&self, key: &RecordKey) -> Option<&'static str> {
        lock(&self.shared.damaged).get(&place(key)).copied()
    }

    /// Whether what is stored under `key` can be read by a call that writes it.
    pub(super) fn readable_to_a_write(&self, key: &RecordKey) -> Result<(), StoreError> {
        let Some(done) = self.damage_of(key) else { return Ok(()) };
        if self.has(Fault::CorruptIsAbsent) {
            self.forget(key);
            return Ok(());
        }
        Err(self.corrupt(key, done))
    }

    /// What a look finds under `key`.
    pub(super) async fn looked_up(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        match self.damage_of(key) {
            Some(_) if self.has(Fault::CorruptIsAbsent) => Ok(None),
            Some(done) if !self.has(Fault::CorruptIsReplayed) => Err(self.corrupt(key, done)),
            _ => self.base.load(key).await,
        }
    }

    /// A claim that takes the place of a record that it cannot read.
    pub(super) fn make_room(&self, key: &RecordKey) {
        if self.has(Fault::CorruptIsReplaced) && self.damage_of(key).is_some() {
            self.forget(key);
        }
    }

    /// Whether an unreadable record keeps a purge from its work.
    pub(super) fn readable_to_a_purge(&self) -> Result<(), StoreError> {
        let damaged = lock(&self.shared.damaged).clone();
        let (all, now) = (self.base.all(), self.base.now());
        let met = |place: &Place| match self.fault {
            Some(Fault::CorruptStopsPurges) => true,
            Some(Fault::CorruptAndPastStopsPurges) => {
                all.get(place).is_some_and(|record| is_past(record, now))
            }
            _ => false,
        };
        match damaged.iter().find(|(place, _)| met(place)) {
            Some((_, done)) => Err(StoreError::new(StoreErrorKind::Corrupt, self.name(), done)),
            None => Ok(()),
        }
    }

    fn corrupt(&self, key: &RecordKey, done: &'static str) -> StoreError {
        let kind = match self.fault {
            Some(Fault::CorruptIsUnavailable) => StoreErrorKind::Unavailable,
            Some(Fault::CorruptPanics) => panic!("the record is as it should be: {done}"),
            Some(Fault::CorruptIsDeleted) => {
                self.forget(key);
                StoreErrorKind::Corrupt
            }
            _ => StoreErrorKind::Corrupt,
        };
        StoreError::new(kind, self.name(), done)
    }

    fn forget(&self, key: &RecordKey) {
        lock(&self.shared.damaged).remove(&place(key));
        self.base.edit(key, |slot, _| *slot = None);
    }
}

const UNFINISHED: &[&str] = &[
    "the token is cut",
    "the fingerprint is another record's",
    "the status is one of a newer format",
    "the revision is negative",
];

const COMPLETED: &[&str] =
    &["the code is missing", "the headers are cut", "the status is one of a newer format"];
