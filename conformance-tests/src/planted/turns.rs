//! Faults in how calls wait for each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use onceonly::{RecordKey, Snapshot, Status, StoredResult};
use tokio::sync::Notify;

use super::faults::Fault;
use super::shared::{Shared, lock};
use super::store::PlantedStore;
use crate::call::Verb;
use crate::reference::{Place, is_past, place};

/// Who may go on.
#[derive(Default)]
pub(super) struct Turns {
    /// Whether the only permit is taken.
    permit_taken: AtomicBool,
    /// The number that the next call takes, and the one whose turn it is.
    next: AtomicUsize,
    called: AtomicUsize,
    /// How many renewals are under way.
    renewals: AtomicUsize,
    /// The lock of the records and that of the index.
    crossed: [AtomicBool; 2],
    /// Told whenever one of these is given back. Whoever waits must not spin: a case that was given up leaves its
    /// callers behind.
    given_back: Notify,
}

impl Turns {
    /// Waits until it is so.
    pub(super) async fn until(&self, so: impl Fn() -> bool) {
        loop {
            // Made before the look, so that what is given back in between is not missed.
            let given_back = self.given_back.notified();
            if so() {
                return;
            }
            given_back.await;
        }
    }

    pub(super) fn give_back(&self) {
        self.given_back.notify_waiters();
    }
}

/// What a call holds while it is under way; it gives it back when it is dropped.
pub(super) struct Held {
    shared: Arc<Shared>,
    what: What,
}

enum What {
    Turn,
    Renewal,
    Lock(usize),
    Buffer(Place),
}

impl Drop for Held {
    fn drop(&mut self) {
        let turns = &self.shared.turns;
        match &self.what {
            What::Turn => {
                turns.called.fetch_add(1, Ordering::AcqRel);
            }
            What::Renewal => {
                turns.renewals.fetch_sub(1, Ordering::AcqRel);
            }
            What::Lock(number) => turns.crossed[*number].store(false, Ordering::Release),
            What::Buffer(place) => {
                lock(&self.shared.being_read).remove(place);
            }
        }
        turns.give_back();
    }
}

impl PlantedStore {
    /// Waits for the store's only permit, takes it across an await, and gives it back: not if the call is dropped
    /// there.
    pub(super) async fn take_permit(&self, verb: Verb) {
        let turns = &self.shared.turns;
        if matches!(
            (self.fault, verb),
            (Some(Fault::PermitLostOnDrop), Verb::Claim)
                | (Some(Fault::LookPermitLostOnDrop), Verb::Load)
                | (Some(Fault::PurgePermitLostOnDrop), Verb::PurgeExpired)
        ) {
            turns.until(|| !turns.permit_taken.swap(true, Ordering::AcqRel)).await;
            tokio::task::yield_now().await;
            turns.permit_taken.store(false, Ordering::Release);
            turns.give_back();
        }
    }

    /// Waits until it is this call's turn. A call that is dropped while it waits never passes its turn on.
    pub(super) async fn take_turn(&self) -> Option<Held> {
        if !self.has(Fault::TurnLostOnDrop) {
            return None;
        }
        let turns = &self.shared.turns;
        let number = turns.next.fetch_add(1, Ordering::AcqRel);
        turns.until(|| turns.called.load(Ordering::Acquire) == number).await;
        let held = self.hold(What::Turn);
        self.gap().await;
        Some(held)
    }

    /// Lets renewals go first: every other call waits until none is under way.
    pub(super) async fn let_renewals_pass(&self, verb: Verb) -> Option<Held> {
        if !self.has(Fault::RenewalsGoFirst) {
            return None;
        }
        let turns = &self.shared.turns;
        if verb == Verb::Renew {
            turns.renewals.fetch_add(1, Ordering::AcqRel);
            let held = self.hold(What::Renewal);
            self.gap().await;
            return Some(held);
        }
        turns.until(|| turns.renewals.load(Ordering::Acquire) == 0).await;
        None
    }

    /// Takes two locks: a purge the one of the index first, a claim that of the records.
    pub(super) async fn cross_locks(&self, verb: Verb) -> Option<[Held; 2]> {
        if !self.has(Fault::LocksAreCrossed) {
            return None;
        }
        let (first, second) = if verb == Verb::PurgeExpired { (1, 0) } else { (0, 1) };
        let first = self.take_lock(first).await;
        self.gap().await;
        Some([first, self.take_lock(second).await])
    }

    async fn take_lock(&self, number: usize) -> Held {
        let turns = &self.shared.turns;
        turns.until(|| !turns.crossed[number].swap(true, Ordering::AcqRel)).await;
        self.hold(What::Lock(number))
    }

    /// Waits as long as somebody holds the record.
    pub(super) async fn wait_for_holder(&self, key: &RecordKey) {
        while self.base.edit(key, |slot, now| {
            slot.as_ref().is_some_and(|record| {
                matches!(record.status, Status::InProgress { .. }) && !is_past(record, now)
            })
        }) {
            self.gap().await;
        }
    }

    /// Reads a result through the one buffer that there is for it: whoever reads meanwhile finds it empty.
    pub(super) async fn read_through_buffer(&self, key: &RecordKey, mut shown: Snapshot) -> Snapshot {
        let place = place(key);
        if lock(&self.shared.being_read).insert(place.clone()) {
            let _held = self.hold(What::Buffer(place));
            self.gap().await;
        } else if let Status::Completed(result) = &shown.record.status {
            let (code, headers) = (result.code(), result.headers().to_vec());
            let empty = StoredResult::from_parts(code, headers, Some(bytes::Bytes::new()));
            shown.record.status = Status::Completed(empty);
        }
        shown
    }

    fn hold(&self, what: What) -> Held {
        Held { shared: Arc::clone(&self.shared), what }
    }
}
