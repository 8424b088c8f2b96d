//! Keys and scopes: what is refused, what is told apart, what is shown.

use std::collections::HashSet;

use onceonly::{IdempotencyKey, InvalidKeyReason, KEY_BYTES_MAX, KeyPart, RecordKey, Scope};

fn reason(key: &str) -> InvalidKeyReason {
    IdempotencyKey::new(key).unwrap_err().reason
}

fn record_key(scope: &str, key: &str) -> RecordKey {
    RecordKey::new(Scope::named(scope).unwrap(), IdempotencyKey::new(key).unwrap())
}

#[test]
fn b047_empty_and_blank_keys_are_refused() {
    assert_eq!(reason(""), InvalidKeyReason::Empty);
    for blank in [" ", "   ", "\u{a0}", "\u{200b}", "\u{feff}\u{200b}", "\u{3000}", "\u{2060}"] {
        assert_eq!(reason(blank), InvalidKeyReason::Blank, "{blank:?}");
    }
}

#[test]
fn b047_the_words_null_and_undefined_are_keys_like_any_other() {
    for word in ["null", "undefined", "[null]", "\"\"", "0"] {
        assert_eq!(IdempotencyKey::new(word).unwrap().as_str(), word);
    }
}

#[test]
fn b052_length_is_counted_in_bytes() {
    assert!(IdempotencyKey::new(&"k".repeat(KEY_BYTES_MAX)).is_ok());
    for bytes in [KEY_BYTES_MAX + 1, 256, 2_704, 70_000] {
        assert_eq!(reason(&"k".repeat(bytes)), InvalidKeyReason::TooLong { bytes });
    }
    // 127 characters of two bytes and one of one byte fit; 128 of two bytes do not.
    assert!(IdempotencyKey::new(&("ä".repeat(127) + "x")).is_ok());
    assert_eq!(reason(&"ä".repeat(128)), InvalidKeyReason::TooLong { bytes: 256 });
}

#[test]
fn b053_control_characters_and_other_bytes_than_utf8_are_refused() {
    for control in ["a\0b", "a\u{7f}b", "a\nb", "a\tb", "a\u{85}b"] {
        assert_eq!(reason(control), InvalidKeyReason::ControlCharacter { at: 1 }, "{control:?}");
    }
    for bytes in [&b"a\xffb"[..], b"\xed\xa0\x80", b"\xc0\xaf"] {
        assert_eq!(IdempotencyKey::from_bytes(bytes).unwrap_err().reason, InvalidKeyReason::NotUtf8);
    }
    assert_eq!(IdempotencyKey::from_bytes("schlüssel".as_bytes()).unwrap().as_str(), "schlüssel");
}

#[test]
fn scope_names_follow_the_rules_of_keys() {
    assert_eq!(Scope::named("").unwrap_err().reason, InvalidKeyReason::Empty);
    assert_eq!(Scope::named("a\0").unwrap_err().part, KeyPart::Scope);
    assert_eq!(Scope::named(&"s".repeat(256)).unwrap_err().reason, InvalidKeyReason::TooLong { bytes: 256 });
}

#[test]
fn b050_no_two_pairs_of_scope_and_key_meet() {
    let parts = ["a", "b", "ab", "ba", "a:b", ":", "a:", ":b", "%3A", "\\", "a/b", "global", "None", "1:a"];
    let mut keys = HashSet::new();
    let mut digests = HashSet::new();
    for key in parts {
        let global = RecordKey::new(Scope::global(), IdempotencyKey::new(key).unwrap());
        digests.insert(*global.digest());
        keys.insert(global);
        for scope in parts {
            let record_key = record_key(scope, key);
            digests.insert(*record_key.digest());
            keys.insert(record_key);
        }
    }
    let pairs = parts.len() * (parts.len() + 1);
    assert_eq!((keys.len(), digests.len()), (pairs, pairs));
}

#[test]
fn b049_the_global_scope_is_no_named_one() {
    let global = RecordKey::new(Scope::global(), IdempotencyKey::new("order-1").unwrap());
    assert_ne!(global, record_key("global", "order-1"));
}

#[test]
fn keys_that_look_alike_differ() {
    let alike =
        ["A", "a", "ı", "i", "ß", "ss", "K", "\u{212a}", "é", "e\u{301}", " a", "a ", "1", "01", "1.0"];
    let distinct: HashSet<_> = alike.iter().map(|key| *record_key("s", key).digest()).collect();
    assert_eq!(distinct.len(), alike.len());
}

/// Golden values: a digest that changes between releases makes every stored record unreachable, and every retry run
/// again.
#[test]
fn b044_digests_never_change() {
    assert_eq!(
        hex(record_key("acct_1", "order-77").digest()),
        "48460b7cae88b9b06f8c4e61e7bde23f90f8193d2abeb4ed0376ed0936ea4018"
    );
    let global = RecordKey::new(Scope::global(), IdempotencyKey::new("order-77").unwrap());
    assert_eq!(hex(global.digest()), "8512dbf3e392c1822d2106ad91b70e8eff9b5ae2a6f04b147481bd9d578db555");
    assert_eq!(
        record_key("acct_1", "order-77").derive_key("charge").as_str(),
        "d0242639-7cf9-8fab-bf5e-1ade8ff9e5cd"
    );
}

#[test]
fn b059_a_derived_key_depends_on_scope_key_and_label_and_on_nothing_else() {
    let key = record_key("acct_1", "order-77");
    assert_eq!(key.derive_key("charge"), record_key("acct_1", "order-77").derive_key("charge"));
    let others = [
        key.derive_key("refund"),
        record_key("acct_1", "order-78").derive_key("charge"),
        record_key("acct_2", "order-77").derive_key("charge"),
        record_key("acct_1order-77", "x").derive_key("charge"),
    ];
    assert!(others.iter().all(|other| *other != key.derive_key("charge")), "{others:?}");
}

#[test]
fn b058_generated_keys_differ_and_can_be_parsed_again() {
    let generated: HashSet<_> = (0..1_000).map(|_| IdempotencyKey::generate()).collect();
    assert_eq!(generated.len(), 1_000);
    for key in generated {
        assert_eq!(key.as_str().parse::<IdempotencyKey>().unwrap(), key);
        assert_eq!(key.as_str().len(), 36);
        assert_eq!(key.as_str().as_bytes()[14], b'4', "a UUID of version 4");
    }
}

#[test]
fn b172_what_is_shown_of_keys_is_a_digest() {
    let key = record_key("SECRET-SCOPE", "SECRET-KEY-123");
    let error = IdempotencyKey::new("SECRET-KEY-123\0").unwrap_err();
    for shown in
        [format!("{key:?}"), format!("{:?}", key.key()), format!("{:?}", key.scope()), error.to_string()]
    {
        assert!(!shown.contains("SECRET"), "{shown}");
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
