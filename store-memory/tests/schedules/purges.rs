//! A purge deletes what is past its time, and nothing else.

use std::slice;

use onceonly::Expected;

use crate::explore::{at_random, exhaustively, race, race_of_two};
use crate::store::{KEPT, Store, claim, first, key};

#[test]
fn a_purge_never_takes_a_new_claim_of_an_expired_key() {
    exhaustively(|| purge_against_claims(1, 1));
    at_random(|| purge_against_claims(2, 3));
}

fn purge_against_claims(purges: usize, claims: u8) {
    let (key, expired) = (key(0), claim(0));
    let store = Store::full_of(slice::from_ref(&key), &expired, KEPT);
    let claims: Vec<_> = (1..=claims).map(claim).collect();
    let (purged, expected) = race_of_two(
        (0..purges).map(|_| || store.purge(10)),
        claims.iter().map(|claim| || store.claim_again(&key, claim, &expired)),
    );
    let mut granted = claims.iter().zip(expected).filter_map(|(claim, expected)| Some((claim, expected?)));
    let (winner, expected) = granted.next().expect("one claim is granted");
    assert_eq!(granted.next(), None, "two claims were granted");
    assert_eq!(store.record(&key).version, first(winner));
    // What the claim has replaced no purge has deleted.
    let deleted = u64::from(expected == Expected::Absent);
    assert_eq!(purged.iter().sum::<u64>(), deleted, "what purges say: {purged:?}");
}

#[test]
fn purges_at_the_same_time_count_each_record_once() {
    exhaustively(|| purge_together(2, 3));
    at_random(|| purge_together(3, 5));
}

/// Each purge has a limit of two.
fn purge_together(purges: usize, records: u8) {
    let keys: Vec<_> = (1..=records).map(key).collect();
    let store = Store::full_of(&keys, &claim(0), KEPT);
    let purged = race((0..purges).map(|_| || store.purge(2)));
    assert!(purged.iter().all(|deleted| *deleted <= 2), "more than the limit: {purged:?}");
    assert_eq!(purged.iter().sum::<u64>(), u64::from(records), "what purges say: {purged:?}");
    assert!(keys.iter().all(|key| store.load(key).is_none()), "a purge has left what is past its time");
}
