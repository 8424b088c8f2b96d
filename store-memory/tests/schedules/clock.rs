//! Time that passes while a call waits for its turn.

use std::sync::Arc;
use std::time::Duration;

use onceonly::{ClaimOutcome, Clock, CompleteOutcome, Expected, RenewOutcome, Snapshot, Timestamp, Version};
use shuttle::sync::atomic::{AtomicI64, Ordering};

use crate::explore::{exhaustively, meet};
use crate::store::{KEPT, START, Store, claim, first, key, second};

#[test]
fn a_claim_bears_the_time_of_its_turn() {
    exhaustively(|| {
        let (clock, store) = new_store();
        let write = || store.claim(&key(0), &claim(0), Expected::Absent);
        let (outcome, seen) = meet(write, || look_later(&clock, &store));
        let ClaimOutcome::Claimed(stamp) = outcome else { panic!("the claim of an absent key: {outcome:?}") };
        check_time(stamp.now, seen, first(&claim(0)));
    });
}

#[test]
fn a_renewal_bears_the_time_of_its_turn() {
    exhaustively(|| {
        let (clock, store) = new_store();
        store.claimed(&key(0), &claim(0));
        let write = || store.renew(&key(0), &claim(0));
        let (outcome, seen) = meet(write, || look_later(&clock, &store));
        let RenewOutcome::Applied(stamp) = outcome else { panic!("a renewal of the holder: {outcome:?}") };
        check_time(stamp.now, seen, second(&claim(0)));
    });
}

#[test]
fn a_completion_bears_the_time_of_its_turn() {
    exhaustively(|| {
        let (clock, store) = new_store();
        store.claimed(&key(0), &claim(0));
        let write = || store.complete(&key(0), &claim(0), "done");
        let (outcome, seen) = meet(write, || look_later(&clock, &store));
        let CompleteOutcome::Applied(stamp) = outcome else { panic!("the holder's completion: {outcome:?}") };
        check_time(stamp.now, seen, second(&claim(0)));
    });
}

/// What is seen of the key when the time of the write has passed.
fn look_later(clock: &SharedClock, store: &Store) -> Option<Snapshot> {
    clock.advance(Duration::from_micros(1));
    store.load(&key(0))
}

/// A write that a later look did not find had its turn after it.
fn check_time(of_write: Timestamp, seen: Option<Snapshot>, written: Version) {
    if seen.is_none_or(|seen| seen.record.version != written) {
        assert!(of_write > START, "a write that came after the look bears an earlier time");
    }
}

#[test]
fn a_renewal_at_the_end_of_the_time_is_kept_or_refused() {
    exhaustively(|| {
        let (clock, store) = new_store();
        store.claimed(&key(0), &claim(0));
        clock.advance(KEPT - Duration::from_micros(1));
        let (outcome, purged) = meet(
            || store.renew(&key(0), &claim(0)),
            || {
                clock.advance(Duration::from_micros(1));
                store.purge(1)
            },
        );
        let stored = store.load(&key(0)).map(|found| found.record.version);
        match outcome {
            RenewOutcome::Applied(_) => assert_eq!((stored, purged), (Some(second(&claim(0))), 0)),
            RenewOutcome::NotHeld => assert_eq!((stored, purged), (None, 1)),
        }
    });
}

fn new_store() -> (Arc<SharedClock>, Store) {
    let clock = Arc::new(SharedClock(AtomicI64::new(START.as_micros())));
    (Arc::clone(&clock), Store::with_clock(clock))
}

/// A clock that another thread may move just before it is read.
#[derive(Debug)]
struct SharedClock(AtomicI64);

impl SharedClock {
    fn advance(&self, duration: Duration) {
        let micros = i64::try_from(duration.as_micros()).unwrap();
        self.0.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for SharedClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}
