//! Generated names that are easily taken for one another, and the check that two keys are two.

use std::ops::RangeInclusive;

use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Expected, IdempotencyKey, NewClaim, Record, RecordKey,
    ReleaseOutcome, RenewOutcome,
};
use proptest::prop_oneof;
use proptest::sample::select;
use proptest::strategy::{Just, Strategy};

use crate::case::{Case, completion, end_of_lease, extension, release, response, seconds};
use crate::compare::check_same_record;
use crate::property::{Plan, row, shown_key};
use crate::verdict::{broken, check};

/// Two different names, mostly alike.
pub(super) fn two_names() -> impl Strategy<Value = [String; 2]> {
    let start = prop_oneof![4 => Just(0_usize), 1 => select(&[63_usize, 127][..])];
    let letters = row((letter(), change()), 1..=24_usize);
    // A name that has an end of its own is else the same.
    let end = prop_oneof![3 => Just(None), 1 => select(&ENDS[..]).prop_map(Some)];
    (letters, start, end).prop_map(|(letters, start, end)| {
        let mut one = "x".repeat(start);
        let mut other = one.clone();
        for (letter, change) in letters {
            one.push(letter);
            if end.is_none() { change } else { Change::Same }.write(letter, &mut other);
        }
        other.extend(end);
        // Core refuses a blank key.
        for name in [&mut one, &mut other] {
            if IdempotencyKey::new(name).is_err() {
                name.push('a');
            }
        }
        if other == one {
            other.push('b');
        }
        [one, other]
    })
}

/// What may stand between scope and key in a store that joins them.
pub(super) fn separators() -> impl Strategy<Value = String> {
    (select(&SEPARATORS[..]), 1..=2_usize).prop_map(|(separator, count)| separator.to_string().repeat(count))
}

/// Letters of all kinds.
pub(super) fn text(length: RangeInclusive<usize>) -> impl Strategy<Value = String> {
    row(letter(), length).prop_map(String::from_iter)
}

fn letter() -> impl Strategy<Value = char> {
    prop_oneof![3 => select(&PLAIN[..]), 2 => select(&PECULIAR[..])]
}

/// What stands in the second name for a letter of the first one.
#[derive(Clone, Copy, Debug)]
enum Change {
    Same,
    OtherCase,
    Other(char),
    FollowedBy(char),
    Doubled,
    Nothing,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        60 => Just(Change::Same),
        2 => Just(Change::OtherCase),
        1 => letter().prop_map(Change::Other),
        1 => letter().prop_map(Change::FollowedBy),
        1 => Just(Change::Doubled),
        1 => Just(Change::Nothing),
    ]
}

impl Change {
    fn write(self, letter: char, name: &mut String) {
        match self {
            Self::Same => name.push(letter),
            Self::OtherCase if letter.is_lowercase() => name.extend(letter.to_uppercase()),
            Self::OtherCase => name.extend(letter.to_lowercase()),
            Self::Other(instead) => name.push(instead),
            Self::FollowedBy(next) => name.extend([letter, next]),
            Self::Doubled => name.extend([letter, letter]),
            Self::Nothing => {}
        }
    }
}

/// How often two names are tried.
pub(super) const PAIRS: Plan = Plan { trials: 200, trials_min: 20, part: 12 };

/// Makes every call on `one` while `other` is claimed: nothing of the other changes, and neither's token writes the
/// other.
pub(super) async fn check_apart(case: &Case, [one, other]: [&RecordKey; 2]) {
    let store = case.store();
    let names = format!("key {}, beside key {}", shown_key(one), shown_key(other));
    let (first, second) = (case.claim(), case.claim());
    grant(case, one, &first, &names).await;
    check!(store.load(other).await.is_none(), "{names}: a claim of the one is found under the other");
    grant(case, other, &second, &names).await;

    let claimed = record(case, other, &names).await;
    every_call(case, one, &first).await;
    let found = record(case, other, &names).await;
    check_same_record(&found, &claimed, &format!("{names}: calls on the one have changed the other"));

    for (key, token) in [(one, second.token), (other, first.token)] {
        let renewed = store.renew(key, token, &extension(9, seconds(600))).await;
        check!(renewed == RenewOutcome::NotHeld, "{names}: a token renews the other's claim");
        let completed = store.complete(key, token, &completion(9, response("of the other"))).await;
        check!(completed == CompleteOutcome::NotHeld, "{names}: a token completes the other's claim");
        let released = store.release(key, token, &release(9)).await;
        check!(released == ReleaseOutcome::NotHeld, "{names}: a token releases the other's claim");
    }

    let ended = record(case, one, &names).await;
    store.release(other, second.token, &release(2)).await;
    let found = record(case, one, &names).await;
    check_same_record(&found, &ended, &format!("{names}: the release of the other has changed the one"));
}

async fn grant(case: &Case, key: &RecordKey, claim: &NewClaim, names: &str) {
    let outcome = case.store().claim(key, claim, Expected::Absent).await;
    let granted = matches!(outcome, ClaimOutcome::Claimed(_));
    check!(granted, "{names}: a claim of {} is refused, which nobody has claimed", shown_key(key));
}

async fn record(case: &Case, key: &RecordKey, names: &str) -> Record {
    match case.store().load(key).await {
        Some(found) => found.record,
        None => broken(format!("{names}: the record of {} is gone", shown_key(key))),
    }
}

/// Every verb, on a record that is claimed, from the first to the last.
async fn every_call(case: &Case, key: &RecordKey, claim: &NewClaim) {
    let store = case.store();
    store.claim(key, &case.claim(), Expected::Absent).await;
    store
        .claim_many(&[ClaimRequest { key: key.clone(), claim: case.claim(), expected: Expected::Absent }])
        .await;
    store.load(key).await;
    store.renew(key, claim.token, &extension(2, seconds(600))).await;
    store.renew(key, claim.token, &end_of_lease(3)).await;
    store.complete(key, claim.token, &completion(4, response("of the one"))).await;
    store.complete(key, claim.token, &completion(5, response("again"))).await;
    store.release(key, claim.token, &release(6)).await;
    store.purge(1_000).await;
}

/// Letters and what has a meaning in queries, paths, patterns and numbers.
const PLAIN: [char; 32] = [
    'a', 'b', 'A', 'k', 'K', 'i', 'I', 's', '0', '1', '.', ' ', ':', '/', '\\', '%', '_', '*', '?', '[', ']',
    '{', '}', '\'', '"', '$', '-', '+', '|', ',', ';', '#',
];

/// Letters that are folded, trimmed, normalised or taken for others.
const PECULIAR: [char; 24] = [
    'é',
    'e',
    '\u{301}',
    'É',
    'ß',
    'ı',
    'İ',
    '\u{212a}',
    'Å',
    '\u{30a}',
    '\u{212b}',
    'σ',
    'ς',
    'ﬁ',
    '\u{a0}',
    '\u{2003}',
    '\u{200b}',
    '\u{feff}',
    '\u{ad}',
    '１',
    '١',
    'ａ',
    'а',
    '\u{1f600}',
];

/// What is cut off the end of a name, or takes no part in its value.
const ENDS: [char; 8] = [' ', '\u{a0}', '\u{200b}', '0', '.', '/', '\\', '\u{301}'];

const SEPARATORS: [char; 10] = [':', '/', '|', '#', '.', '-', '_', ',', ';', ' '];
