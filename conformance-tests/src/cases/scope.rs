//! Scope and key are two things.

use onceonly::{IdempotencyKey, RecordKey, Scope};
use proptest::prop_oneof;

use super::complete::result_of;
use super::names::{PAIRS, check_apart, separators, text};
use crate::case::{Case, completion, extension, release, response, seconds};
use crate::compare::{check_same_record, check_same_result};
use crate::property::{drawn, for_all, scope_of};
use crate::verdict::check;

pub(super) async fn one_key_in_two_scopes_is_two_records(case: &Case) {
    let store = case.store();
    let name = case.key("same").key().clone();
    let keys = [case.scope(""), case.scope(" two"), case.scope(" TWO")]
        .map(|scope| RecordKey::new(scope, name.clone()));
    let mut claims = Vec::new();
    for key in &keys {
        let claim = case.claim();
        store.claimed(key, &claim).await;
        claims.push(claim);
    }
    let due = store.record(&keys[1]).await;

    store.renewed(&keys[0], claims[0].token, &extension(2, seconds(600))).await;
    store.completed(&keys[0], claims[0].token, &completion(3, response("of the first scope"))).await;
    store.released(&keys[2], claims[2].token, &release(2)).await;

    check_same_record(&store.record(&keys[1]).await, &due, "writes in one scope have changed another");
    store.completed(&keys[1], claims[1].token, &completion(2, response("of the second scope"))).await;
    let found = result_of(store.record(&keys[0]).await);
    check_same_result(&found, &response("of the first scope"), "the result of the first scope");
}

/// What keys are tested for, in short: a store that compares them as bytes may still treat scopes as names.
pub(super) async fn scopes_are_compared_byte_for_byte(case: &Case) {
    let store = case.store();
    let long = "x".repeat(150);
    let mut names: Vec<String> =
        ["", " ", "  ", "a", "A", "a ", " a", "é", "e\u{301}", "e", "a%", "a_", "ab", "1", "01", "1.0"]
            .map(str::to_owned)
            .into();
    names.extend([63, 64, 127, 128, 149].map(|length| format!("{}y{}", &long[..length], &long[length..])));
    let mut claims = Vec::new();
    for name in &names {
        let key = RecordKey::new(case.scope(name), case.key("same").key().clone());
        check!(
            store.load(&key).await.is_none(),
            "scope {name:?} meets one of those that were claimed before"
        );
        let claim = case.claim();
        store.claimed(&key, &claim).await;
        claims.push((key, claim));
    }
    for (name, (key, claim)) in names.iter().zip(&claims) {
        store.completed(key, claim.token, &completion(2, response(name))).await;
    }
    for (name, (key, _)) in names.iter().zip(&claims) {
        check_same_result(&result_of(store.record(key).await), &response(name), "the result of a scope");
    }
}

pub(super) async fn the_global_scope_is_apart_from_every_named_one(case: &Case) {
    let store = case.store();
    // The global scope is shared with other runs on the same server, so the key is one that nobody else has.
    let unique = IdempotencyKey::generate();
    let global = RecordKey::new(Scope::global(), unique.clone());
    let (claim, mut others) = (case.claim(), Vec::new());
    store.claimed(&global, &claim).await;
    for name in ["global", "null", "NULL", "None", "0", "-", "*", "default", "\\N"] {
        let Ok(scope) = Scope::named(name) else { panic!("{name:?} is a scope") };
        let key = RecordKey::new(scope, unique.clone());
        check!(store.load(&key).await.is_none(), "scope {name:?} meets the global one");
        let claim = case.claim();
        store.claimed(&key, &claim).await;
        others.push((key, claim));
    }
    store.completed(&global, claim.token, &completion(2, response("global"))).await;
    for (key, claim) in others {
        store.completed(&key, claim.token, &completion(2, response("named"))).await;
    }
    check_same_result(
        &result_of(store.record(&global).await),
        &response("global"),
        "the global scope's result",
    );
}

pub(super) async fn bytes_do_not_move_between_scope_and_key(case: &Case) {
    // The middle belongs to the key of one and to the scope of the other.
    let middle = prop_oneof![separators(), text(1..=4)];
    let parts = (text(0..=12), middle, text(1..=12));
    for_all(case, PAIRS, drawn(case, parts), async |number, (left, middle, right)| {
        if middle.is_empty() || IdempotencyKey::new(right).is_err() {
            return;
        }
        let one = case.key_in(&scope_of(case, number, left), &format!("{middle}{right}"));
        let other = case.key_in(&scope_of(case, number, &format!("{left}{middle}")), right);
        check_apart(case, [&one, &other]).await;
    })
    .await;
}

pub(super) async fn scope_and_key_are_not_interchangeable(case: &Case) {
    let store = case.store();
    let (one, two) = (case.scope(" one"), case.scope(" two"));
    let name = |scope: &Scope| scope.name().unwrap_or_default().to_owned();
    let mut keys = Vec::new();
    for (scope, key) in [
        (one.clone(), name(&two)),
        (two.clone(), name(&one)),
        (one.clone(), name(&one)),
        (two.clone(), name(&two)),
        (case.scope(" one:"), name(&two)),
        (case.scope(" one"), format!(":{}", name(&two))),
        (case.scope(" 3:one"), "3:two".to_owned()),
    ] {
        let Ok(key) = IdempotencyKey::new(&key) else { panic!("{key:?} is a key") };
        keys.push(RecordKey::new(scope, key));
    }
    each_its_own(case, store, &keys).await;
}

async fn each_its_own(case: &Case, store: &crate::handle::Handle, keys: &[RecordKey]) {
    for (number, key) in keys.iter().enumerate() {
        check!(
            store.load(key).await.is_none(),
            "pair {number} of scope and key meets one that was claimed before"
        );
        let claim = case.claim();
        store.claimed(key, &claim).await;
        store.completed(key, claim.token, &completion(2, response(&number.to_string()))).await;
    }
    for (number, key) in keys.iter().enumerate() {
        let found = result_of(store.record(key).await);
        check_same_result(&found, &response(&number.to_string()), "the result of a pair of scope and key");
    }
}
