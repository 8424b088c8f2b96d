//! Of all who want a key, one holds it.

use std::slice;

use onceonly::{
    ClaimOutcome, CompleteOutcome, Expected, NewClaim, RecordKey, ReleaseOutcome, RenewOutcome, Status,
};

use crate::explore::{at_random, exhaustively, race, race_of_two};
use crate::store::{LEASE, Store, claim, first, key, result, second};

#[test]
fn of_claims_of_a_new_key_one_is_granted() {
    exhaustively(|| contend_for_a_new_key(3));
    at_random(|| contend_for_a_new_key(5));
}

fn contend_for_a_new_key(contenders: u8) {
    let (store, key) = (Store::new(), key(0));
    check_one_grant(&store, &key, &claims(contenders), Expected::Absent);
}

#[test]
fn of_takeovers_of_an_abandoned_key_one_is_granted() {
    exhaustively(|| contend_for_an_abandoned_key(3));
    at_random(|| contend_for_an_abandoned_key(5));
}

fn contend_for_an_abandoned_key(takers: u8) {
    let Abandoned { store, key, holder } = Abandoned::new();
    check_one_grant(&store, &key, &claims(takers), Expected::Exactly(first(&holder)));
    assert_eq!(store.complete(&key, &holder, "late"), CompleteOutcome::NotHeld);
}

/// One of the claims is granted, and all others are shown that one.
fn check_one_grant(store: &Store, key: &RecordKey, claims: &[NewClaim], expected: Expected) {
    let outcomes = race(claims.iter().map(|claim| || store.claim(key, claim, expected)));
    let [winner] = granted(claims, &outcomes)[..] else { panic!("not one was granted: {outcomes:?}") };
    assert_eq!(store.record(key).version, first(winner));
    for outcome in &outcomes {
        match outcome {
            ClaimOutcome::Claimed(_) => {}
            ClaimOutcome::Occupied(shown) => assert_eq!(shown.record.version, first(winner)),
            ClaimOutcome::Vacant => panic!("a claim that was not granted was shown nothing"),
        }
    }
}

#[test]
fn of_a_renewal_and_takeovers_one_takes_effect() {
    exhaustively(|| renew_against_takeovers(2));
    at_random(|| renew_against_takeovers(4));
}

fn renew_against_takeovers(takers: u8) {
    let (abandoned, takers) = (Abandoned::new(), claims(takers));
    let Abandoned { store, key, holder } = &abandoned;
    let (renewed, granted) = abandoned.race(|| store.renew(key, holder), &takers);
    let record = store.record(key);
    match (renewed, &granted[..]) {
        (RenewOutcome::Applied(stamp), []) => {
            assert_eq!((record.version, record.lease_until), (second(holder), stamp.lease_until));
        }
        (RenewOutcome::NotHeld, [taker]) => assert_eq!(record.version, first(taker)),
        (renewed, granted) => panic!("the renewal was {renewed:?}, the takeovers {granted:?} were granted"),
    }
}

#[test]
fn of_a_completion_and_takeovers_one_takes_effect() {
    exhaustively(|| complete_against_takeovers(2));
    at_random(|| complete_against_takeovers(4));
}

fn complete_against_takeovers(takers: u8) {
    let (abandoned, takers) = (Abandoned::new(), claims(takers));
    let Abandoned { store, key, holder } = &abandoned;
    let (completed, granted) = abandoned.race(|| store.complete(key, holder, "late"), &takers);
    let record = store.record(key);
    match (completed, &granted[..]) {
        (CompleteOutcome::Applied(_), []) => {
            assert_eq!((record.version, record.status), (second(holder), Status::Completed(result("late"))));
        }
        (CompleteOutcome::NotHeld, [taker]) => {
            assert_eq!(
                (record.version, record.status),
                (first(taker), Status::InProgress { checkpoint: None })
            );
        }
        (completed, granted) => {
            panic!("the completion was {completed:?}, the takeovers {granted:?} were granted")
        }
    }
}

/// Between look and takeover the key is released and claimed again, so that the takeover finds a claim with as many
/// writes as the one it saw.
#[test]
fn a_takeover_of_a_released_claim_never_displaces_the_next_one() {
    exhaustively(|| release_against_takeovers(2));
    at_random(|| release_against_takeovers(4));
}

fn release_against_takeovers(takers: u8) {
    let (abandoned, takers, next) = (Abandoned::new(), claims(takers), claim(100));
    let Abandoned { store, key, holder } = &abandoned;
    let release_and_claim =
        || (store.release(key, holder), store.claim(key, &next, Expected::Exactly(second(holder))));
    let ((released, claimed), granted) = abandoned.race(release_and_claim, &takers);
    let version = store.record(key).version;
    match (released, claimed, &granted[..]) {
        (ReleaseOutcome::Applied, ClaimOutcome::Claimed(_), []) => assert_eq!(version, first(&next)),
        (ReleaseOutcome::NotHeld, ClaimOutcome::Occupied(_), [taker]) => assert_eq!(version, first(taker)),
        (released, claimed, granted) => panic!(
            "the release was {released:?}, the claim after it {claimed:?}, the takeovers {granted:?} were granted"
        ),
    }
}

/// A key whose lease is over, and the claim that it was for.
struct Abandoned {
    store: Store,
    key: RecordKey,
    holder: NewClaim,
}

impl Abandoned {
    fn new() -> Self {
        let (key, holder) = (key(0), claim(0));
        let store = Store::full_of(slice::from_ref(&key), &holder, LEASE);
        Self { store, key, holder }
    }

    /// Lets the holder write while takers, who saw it before, take over; what the holder is told, and who is granted.
    fn race<'t, A: Send>(
        &self,
        write: impl FnOnce() -> A + Send,
        takers: &'t [NewClaim],
    ) -> (A, Vec<&'t NewClaim>) {
        let seen = Expected::Exactly(first(&self.holder));
        let takeovers = takers.iter().map(|taker| || self.store.claim(&self.key, taker, seen));
        let (mut answers, outcomes) = race_of_two([write], takeovers);
        (answers.remove(0), granted(takers, &outcomes))
    }
}

fn granted<'c>(claims: &'c [NewClaim], outcomes: &[ClaimOutcome]) -> Vec<&'c NewClaim> {
    let both = claims.iter().zip(outcomes);
    both.filter(|(_, outcome)| matches!(outcome, ClaimOutcome::Claimed(_))).map(|(claim, _)| claim).collect()
}

fn claims(count: u8) -> Vec<NewClaim> {
    (1..=count).map(claim).collect()
}
