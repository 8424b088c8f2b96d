//! Only the present holder writes; once superseded, always superseded.

use onceonly::{Expected, NewClaim, RecordKey, Token};

use crate::case::{
    Case, checkpoint, completion, end_of_lease, extension, release, response, seconds, version,
};
use crate::compare::check_same_record;
use crate::handle::Handle;

pub(super) async fn a_strangers_token_writes_nothing(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;

    all_writes_refused(store, &key, case.token(), "a token that nobody has").await;
    case.step("the claim is abandoned, and may be taken over: still it is nobody's but the holder's");
    store.renewed(&key, claim.token, &end_of_lease(2)).await;
    all_writes_refused(store, &key, case.token(), "a token that nobody has, of an abandoned record").await;
}

/// A store that compares a part of the token only, such as what fits a number, takes these for the holder's.
pub(super) async fn a_token_that_differs_in_one_byte_writes_nothing(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let before = store.record(&key).await;
    // The bits by which letter case, and what is no ASCII, differ too.
    for (place, bit) in (0..16).flat_map(|place| [0x01, 0x20, 0x80].map(|bit| (place, bit))) {
        let mut bytes = *claim.token.as_bytes();
        bytes[place] ^= bit;
        let other = Token::from_bytes(bytes);

        all_writes_refused(store, &key, other, "a token that differs in one byte").await;
        store.occupied(&key, &case.claim(), Expected::Exactly(version(other, 1))).await;
    }
    check_same_record(&store.record(&key).await, &before, "a refused claim has changed the record");
}

pub(super) async fn the_token_of_another_key_writes_nothing(case: &Case) {
    let store = case.store();
    let other_scope = RecordKey::new(case.scope(" other"), case.key("a").key().clone());
    let keys = [case.key("a"), case.key("b"), other_scope];
    let mut claims = Vec::new();
    for key in &keys {
        let claim = case.claim();
        store.claimed(key, &claim).await;
        claims.push(claim);
    }
    for (owner, claim) in claims.iter().enumerate() {
        for (other, key) in keys.iter().enumerate() {
            if owner != other {
                all_writes_refused(store, key, claim.token, "the token of another key").await;
            }
        }
    }
}

pub(super) async fn the_token_writes_only_under_its_own_key(case: &Case) {
    let (store, claim) = (case.store(), case.claim());
    store.claimed(&case.key("a"), &claim).await;

    for key in [case.key("A"), case.key("a "), case.key("aa"), case.key("b")] {
        store.renew_refused(&key, claim.token, &extension(2, claim.lease)).await;
        store.complete_refused(&key, claim.token, &completion(2, response("done"))).await;
        store.release_refused(&key, claim.token, &release(2)).await;
    }
}

pub(super) async fn a_superseded_holder_writes_nothing(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let (first, _taker) = taken_over(case, &key).await;

    all_writes_refused(store, &key, first.token, "a superseded token, the taker at work").await;
}

pub(super) async fn a_superseded_holder_writes_nothing_after_the_taker_has_released(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let (first, taker) = taken_over(case, &key).await;
    store.released(&key, taker.token, &release(2)).await;

    all_writes_refused(store, &key, first.token, "a superseded token, the taker gone").await;
}

pub(super) async fn a_superseded_holder_writes_nothing_after_the_taker_has_completed(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let (first, taker) = taken_over(case, &key).await;
    store.completed(&key, taker.token, &completion(2, response("the taker's"))).await;

    all_writes_refused(store, &key, first.token, "a superseded token, the taker done").await;
}

pub(super) async fn a_superseded_holder_writes_nothing_after_a_purge_and_a_new_claim(case: &Case) {
    let (store, key, first) = (case.store(), case.key("a"), case.brief_claim());
    store.claimed(&key, &first).await;
    case.reach(store.record(&key).await.unresolved_until).await;
    store.purge_all().await;
    case.step("the record is purged");
    store.complete_refused(&key, first.token, &completion(2, response("late"))).await;
    store.renew_refused(&key, first.token, &extension(2, first.lease)).await;
    store.release_refused(&key, first.token, &release(2)).await;

    case.step("somebody else has claimed the key since");
    store.claimed(&key, &case.claim()).await;
    all_writes_refused(store, &key, first.token, "a token from before the purge").await;
}

pub(super) async fn a_holder_whose_record_is_past_its_time_writes_nothing(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.brief_claim());
    store.claimed(&key, &claim).await;
    case.reach(store.record(&key).await.unresolved_until).await;

    all_writes_refused(store, &key, claim.token, "the holder of a record past its time").await;
}

/// A claim that was abandoned and taken over; who held it, and who holds it.
async fn taken_over(case: &Case, key: &RecordKey) -> (NewClaim, NewClaim) {
    let (store, first, mut taker) = (case.store(), case.brief_claim(), case.claim());
    store.claimed(key, &first).await;
    let record = store.record(key).await;
    case.reach(record.lease_until).await;
    taker.attempt = 2;
    case.another().await.claimed_over(key, &taker, Expected::Exactly(record.version)).await;
    (first, taker)
}

pub(super) async fn all_writes_refused(store: &Handle, key: &RecordKey, token: Token, what: &str) {
    let before = store.record(key).await;
    let unchanged = async |verb| {
        let now = store.record(key).await;
        check_same_record(&now, &before, &format!("{verb} under {what} has changed the record"));
    };
    store.renew_refused(key, token, &checkpoint(9, seconds(600), "a stranger's")).await;
    unchanged("renew").await;
    store.complete_refused(key, token, &completion(9, response("a stranger's"))).await;
    unchanged("complete").await;
    store.release_refused(key, token, &release(9)).await;
    unchanged("release").await;
}
