//! Fingerprints: what differs, what stays the same for ever, what cannot be guessed.

use std::num::NonZeroU16;

use onceonly::{Fingerprint, FingerprintSecret, Fingerprints};

fn plain(parts: &[(&str, &str)]) -> Fingerprint {
    let builder = Fingerprint::builder();
    parts.iter().fold(builder, |builder, (name, content)| builder.part(name, content)).finish()
}

fn secret(id: u16, key: &[u8]) -> FingerprintSecret {
    FingerprintSecret::new(NonZeroU16::new(id).unwrap(), key).unwrap()
}

#[test]
fn a_byte_that_moves_between_parts_changes_the_fingerprint() {
    let splits = [
        plain(&[("path", "/pay"), ("body", "a=1")]),
        plain(&[("path", "/paya"), ("body", "=1")]),
        plain(&[("pathb", "/pay"), ("ody", "a=1")]),
        plain(&[("path", "/pay"), ("body", "a=1"), ("", "")]),
        plain(&[("body", "a=1"), ("path", "/pay")]),
        plain(&[("path", "/payodya=1")]),
    ];
    for (index, one) in splits.iter().enumerate() {
        assert!(splits[index + 1..].iter().all(|other| other != one), "split {index} meets another");
    }
}

#[test]
fn b035_query_b037_content_type_and_b034_amounts_are_told_apart_as_parts() {
    let request =
        |query, essence, body| plain(&[("query", query), ("content-type", essence), ("body", body)]);
    let pay = request("", "application/json", r#"{"amount":9007199254740993}"#);
    assert_ne!(pay, request("dry_run=true", "application/json", r#"{"amount":9007199254740993}"#));
    assert_ne!(pay, request("", "text/plain", r#"{"amount":9007199254740993}"#));
    assert_ne!(pay, request("", "application/json", r#"{"amount":9007199254740992}"#));
}

/// Golden values: a fingerprint that changes between releases turns every honest retry into a mismatch.
#[test]
fn b044_fingerprints_are_whole_sha256_digests_and_never_change() {
    let charge = plain(&[("path", "/charges"), ("body", r#"{"amount":1000}"#)]);
    assert_eq!(
        hex(&charge.to_bytes()),
        "000100008ed5a901df75c113381a083a3101346b2088e919e0c28ad3d034e86460a26877"
    );
    let keyed =
        Fingerprint::builder_with_secret(&secret(7, b"sixteen bytes ok")).part("pin", "1234").finish();
    assert_eq!(
        hex(&keyed.to_bytes()),
        "00020007725ed527f91186837b73f390fbf19c215e5e164b678c7f7937095f69c756d1eb"
    );
}

#[test]
fn b043_a_keyed_fingerprint_cannot_be_found_by_trying_all_codes() {
    let keyed =
        Fingerprint::builder_with_secret(&secret(1, b"0123456789abcdef")).part("pin", "4711").finish();
    let guessed = (0..10_000).any(|pin| {
        let pin = format!("{pin:04}");
        let other = FingerprintSecret::new(NonZeroU16::MIN, b"fedcba9876543210").unwrap();
        plain(&[("pin", &pin)]) == keyed
            || Fingerprint::builder_with_secret(&other).part("pin", &pin).finish() == keyed
    });
    assert!(!guessed, "the code was found without the secret");
    assert_ne!(keyed.algorithm(), plain(&[]).algorithm());
}

#[test]
fn b043_a_secret_is_changed_with_the_old_one_as_equivalent() {
    let (old, new) = (secret(1, b"0123456789abcdef"), secret(2, b"0123456789abcdef"));
    let under =
        |secret: &FingerprintSecret| Fingerprint::builder_with_secret(secret).part("pin", "4711").finish();
    assert_ne!(under(&old), under(&new), "two ids are two fingerprints");
    assert!(Fingerprints::from(under(&new)).or(under(&old)).matches(&under(&old)));
    assert!(!Fingerprints::from(under(&new)).matches(&under(&old)));
}

#[test]
fn secrets_below_sixteen_bytes_are_refused_and_never_shown() {
    assert_eq!(FingerprintSecret::new(NonZeroU16::MIN, b"fifteen bytes o").unwrap_err().bytes, 15);
    assert!(!format!("{:?}", secret(1, b"SECRET-SECRET-16")).contains("SECRET"));
}

#[test]
fn stored_bytes_come_back_and_other_lengths_do_not() {
    let one = plain(&[("body", "x")]);
    assert_eq!(Fingerprint::from_bytes(&one.to_bytes()), Some(one));
    assert_eq!(Fingerprint::from_bytes(&one.to_bytes()[1..]), None);
    assert_eq!(Fingerprint::from_bytes(&[&one.to_bytes()[..], &[0]].concat()), None);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
