//! Keys are compared byte for byte.

use onceonly::{IdempotencyKey, KEY_BYTES_MAX, RecordKey, Scope};

use crate::case::{Case, completion, response};
use crate::compare::check_same_result;
use crate::property::{drawn, for_all, scope_of};
use crate::random::Random;
use crate::verdict::{check, check_eq};

use super::complete::result_of;
use super::names::{PAIRS, check_apart, two_names};

pub(super) async fn letter_case_tells_keys_apart(case: &Case) {
    let names =
        ["key", "Key", "KEY", "i", "I", "ı", "İ", "ß", "ss", "SS", "ẞ", "k", "\u{212a}", "σ", "ς", "Σ"];
    all_apart(case, &names).await;
}

pub(super) async fn blanks_tell_keys_apart(case: &Case) {
    let names = [
        "a",
        " a",
        "a ",
        "  a",
        "a  ",
        "a\u{a0}",
        "\u{a0}a",
        "a\u{2003}",
        "a\u{200b}",
        "\u{feff}a",
        "a b",
        "a  b",
    ];
    all_apart(case, &names).await;
}

pub(super) async fn forms_of_unicode_tell_keys_apart(case: &Case) {
    let names = [
        "é",
        "e\u{301}",
        "Å",
        "A\u{30a}",
        "\u{212b}",
        "ﬁ",
        "fi",
        "а",
        "a",
        "ｋ",
        "k",
        "１２",
        "12",
        "١٢",
        "½",
        "1⁄2",
        "\u{1f600}",
        "한",
        "\u{1112}\u{1161}\u{11ab}",
        "a\u{ad}b",
        "ab",
    ];
    all_apart(case, &names).await;
}

pub(super) async fn keys_of_every_length_are_stored(case: &Case) {
    let longest = "k".repeat(KEY_BYTES_MAX);
    let wide = "\u{1f600}".repeat(KEY_BYTES_MAX / 4);
    let mut random = case.random();
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mixed: String = (0..KEY_BYTES_MAX).map(|_| char::from(*random.pick(letters))).collect();
    all_apart(case, &["k", &longest, &longest[1..], &wide, &mixed]).await;
}

pub(super) async fn the_longest_scope_and_key_together_are_stored(case: &Case) {
    let (store, mut random) = (case.store(), case.random());
    // Random, since a long row that compresses well hides that the index takes no long one.
    let letters: Vec<char> = ('\u{4e00}'..'\u{9000}').collect();
    let long =
        |random: &mut Random| (0..KEY_BYTES_MAX / 3).map(|_| *random.pick(&letters)).collect::<String>();
    let (scope, name) = (Scope::named(&long(&mut random)), IdempotencyKey::new(&long(&mut random)));
    let (Ok(scope), Ok(name)) = (scope, name) else { panic!("85 letters of 3 bytes are a scope and a key") };
    let (key, claim) = (RecordKey::new(scope, name), case.claim());

    store.claimed(&key, &claim).await;
    store.completed(&key, claim.token, &completion(2, response("done"))).await;

    check_same_result(
        &result_of(store.record(&key).await),
        &response("done"),
        "the result of the longest key",
    );
}

pub(super) async fn keys_that_begin_alike_are_apart(case: &Case) {
    for length in [63, 64, 127, 128, 191, 253] {
        let start = "x".repeat(length);
        all_apart(case, &[&start, &format!("{start}a"), &format!("{start}b"), &format!("{start}A")]).await;
    }
}

pub(super) async fn patterns_and_quotes_are_plain_text(case: &Case) {
    let names = [
        "a%",
        "a_",
        "ab",
        "a*",
        "a?",
        "a[b]",
        "{a}",
        "{a}b",
        "a:b",
        "a/b",
        "a\\b",
        "a\\\\b",
        "a'b",
        "a''b",
        "a\"b",
        "--",
        "a--b",
        "';DROP TABLE x;--",
        "$1",
        ":a",
        "?1",
        "%s",
        "a\u{2028}b",
        "a;b",
        "a|b",
        "a&b",
        "a+b",
        "a%20b",
        "a b",
    ];
    all_apart(case, &names).await;
}

pub(super) async fn numbers_in_disguise_are_plain_text(case: &Case) {
    let names = [
        "1",
        "01",
        "1.0",
        "1e0",
        "+1",
        "0x1",
        "-0",
        "0",
        "NaN",
        "nan",
        "inf",
        "true",
        "TRUE",
        "null",
        "NULL",
        "undefined",
        "9007199254740992",
        "9007199254740993",
        "[]",
        "{}",
        "\\N",
        "x'00'",
    ];
    all_apart(case, &names).await;
}

/// Core refuses what a store could not keep; what it admits, every store keeps.
pub(super) async fn characters_at_the_edges_of_unicode_are_stored_or_refused(case: &Case) {
    let controls = ('\u{0}'..='\u{9f}').filter(|letter| letter.is_control());
    let marks = "\u{ad}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\u{202e}\u{2060}\u{2066}\
        \u{2069}\u{fe0f}\u{feff}\u{e0001}\u{e0020}";
    let no_characters = "\u{fdd0}\u{fdef}\u{fffe}\u{ffff}\u{1fffe}\u{1ffff}\u{10fffe}\u{10ffff}";
    let edges = "\u{a0}\u{7ff}\u{800}\u{d7ff}\u{e000}\u{f8ff}\u{fff9}\u{fffd}\u{10000}\u{f0000}";
    let special: Vec<char> =
        controls.chain([marks, no_characters, edges].iter().flat_map(|of| of.chars())).collect();
    let names =
        special.iter().map(|letter| format!("a{letter}b")).filter(|name| IdempotencyKey::new(name).is_ok());
    let mut names: Vec<String> = names.collect();
    names.push("ab".to_owned());
    all_apart(case, &names.iter().map(String::as_str).collect::<Vec<_>>()).await;

    case.step("the same names of scopes");
    let mut claims = Vec::new();
    for name in &names {
        let (key, claim) = (RecordKey::new(case.scope(name), case.key("same").key().clone()), case.claim());
        check!(
            case.store().load(&key).await.is_none(),
            "scope {name:?} meets one of those that were claimed before"
        );
        case.store().claimed(&key, &claim).await;
        claims.push((key, claim));
    }
    for (key, claim) in claims {
        check_eq!(
            case.store().record(&key).await.version.token,
            claim.token,
            "who holds a key in one of the scopes"
        );
    }
}

pub(super) async fn thousands_of_random_keys_never_meet(case: &Case) {
    let (store, mut random) = (case.store(), case.random());
    let names: Vec<String> = (0..2_000).map(|number| format!("{:x}-{number}", random.number())).collect();
    for name in &names {
        let (key, claim) = (case.key(name), case.claim());
        store.claimed(&key, &claim).await;
        store.completed(&key, claim.token, &completion(2, response(name))).await;
    }
    for name in &names {
        let found = result_of(store.record(&case.key(name)).await);
        check_same_result(&found, &response(name), "the result of one of 2000 keys is another key's");
    }
}

pub(super) async fn what_happens_to_one_key_leaves_others_alone(case: &Case) {
    for_all(case, PAIRS, drawn(case, two_names()), async |number, names: &[String; 2]| {
        let scope = scope_of(case, number, "");
        let keys = names.each_ref().map(|name| case.key_in(&scope, name));
        check_apart(case, keys.each_ref()).await;
    })
    .await;
}

/// Claims every name, completes each with a result of its own, and finds each again.
async fn all_apart(case: &Case, names: &[&str]) {
    let store = case.store();
    let mut tokens = Vec::new();
    for (number, name) in names.iter().enumerate() {
        let (key, claim) = (case.key(name), case.claim());
        check!(
            store.load(&key).await.is_none(),
            "key {name:?} meets one of those that were claimed before: {:?}",
            &names[..number]
        );
        store.claimed(&key, &claim).await;
        tokens.push(claim.token);
    }
    for (name, token) in names.iter().zip(&tokens) {
        let key = case.key(name);
        check_eq!(store.record(&key).await.version.token, *token, "who holds key {name:?}");
        let answer = completion(2, response(&format!("of {name:?}")));
        store.completed(&key, *token, &answer).await;
    }
    for name in names {
        let found = result_of(store.record(&case.key(name)).await);
        check_same_result(&found, &response(&format!("of {name:?}")), &format!("the result of key {name:?}"));
    }
}
