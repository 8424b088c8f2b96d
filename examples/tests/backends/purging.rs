//! The index by which a purge finds its records.

use std::time::Duration;

use onceonly::{Expected, ManualClock, Timestamp};

use crate::support::{Backend, claim, key, on_both};

on_both! {
    deadlines_on_both_sides_of_the_epoch_come_in_their_order
}

async fn deadlines_on_both_sides_of_the_epoch_come_in_their_order<B: Backend>() {
    let folder = tempfile::tempdir().unwrap();
    let clock = ManualClock::starting_at(Timestamp::from_micros(-100_000_000));
    let store = B::open_with(clock.clone(), folder.path());
    for name in ["past its time in 1969", "past its time in 1970"] {
        store.claim(&key(name), &claim(), Expected::Absent).await.unwrap();
        clock.advance(Duration::from_secs(55));
    }
    assert_eq!(store.purge_expired(10).await.unwrap(), 1);
    assert!(store.load(&key("past its time in 1970")).await.unwrap().is_some());
    clock.advance(Duration::from_secs(60));
    assert_eq!(store.purge_expired(10).await.unwrap(), 1);
}
