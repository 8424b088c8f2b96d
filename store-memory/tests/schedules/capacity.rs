//! A store with a capacity has room for that many records, whatever comes and goes.

use onceonly::{ClaimOutcome, Expected, RecordKey, StoreErrorKind};

use crate::explore::{at_random, exhaustively, race, race_of_two};
use crate::store::{KEPT, Store, claim, key};

#[test]
fn claims_at_the_same_time_fill_the_store_and_no_more() {
    exhaustively(|| fill(1, 3));
    at_random(|| fill(2, 5));
}

fn fill(capacity: usize, claims: u8) {
    let store = Store::with_capacity(capacity);
    let keys: Vec<_> = (1..=claims).map(key).collect();
    let granted = race(keys.iter().map(|key| has_room_for(&store, key)));
    assert_eq!(count(&granted), capacity, "how many claims were granted");
    let stored: Vec<_> = keys.iter().map(|key| store.load(key).is_some()).collect();
    assert_eq!(stored, granted, "which claims are stored");
}

#[test]
fn purges_make_room_for_as_many_claims_as_they_delete() {
    exhaustively(|| purge_against_new_keys(1, 1));
    at_random(|| purge_against_new_keys(2, 3));
}

fn purge_against_new_keys(purges: usize, claims: u8) {
    let store = Store::full_of(&[key(1), key(2)], &claim(0), KEPT);
    let keys: Vec<_> = (3..3 + claims).map(key).collect();
    let (purged, granted) = race_of_two(
        (0..purges).map(|_| || store.purge(10)),
        keys.iter().map(|key| has_room_for(&store, key)),
    );
    assert_eq!(purged.iter().sum::<u64>(), 2, "what purges say: {purged:?}");
    assert_eq!(count(&granted) + fill_up(&store), 2, "the places in the empty store");
}

#[test]
fn a_key_that_is_claimed_again_while_it_is_purged_takes_one_place() {
    exhaustively(|| purge_against_claims_of_an_old_key(1, 1));
    at_random(|| purge_against_claims_of_an_old_key(2, 3));
}

fn purge_against_claims_of_an_old_key(purges: usize, claims: u8) {
    let (old, expired) = (key(1), claim(0));
    let store = Store::full_of(&[old.clone(), key(2)], &expired, KEPT);
    let claims: Vec<_> = (1..=claims).map(claim).collect();
    let (_, granted) = race_of_two(
        (0..purges).map(|_| || store.purge(10)),
        claims.iter().map(|claim| || store.claim_again(&old, claim, &expired)),
    );
    let granted = granted.iter().flatten().count();
    assert_eq!(granted + fill_up(&store), 2, "the places in the store");
}

/// Claims the key when its turn comes: whether there was room.
fn has_room_for(store: &Store, key: &RecordKey) -> impl FnOnce() -> bool + Send {
    move || match store.try_claim(key, &claim(9), Expected::Absent) {
        Ok(ClaimOutcome::Claimed(_)) => true,
        Ok(other) => panic!("the claim of a key that nobody else wants: {other:?}"),
        Err(error) => {
            assert_eq!(error.kind(), StoreErrorKind::Rejected);
            false
        }
    }
}

/// Claims new keys until the store refuses one; how many there was room for.
fn fill_up(store: &Store) -> usize {
    (100..200).map(key).take_while(|key| has_room_for(store, key)()).count()
}

fn count(granted: &[bool]) -> usize {
    granted.iter().filter(|granted| **granted).count()
}
