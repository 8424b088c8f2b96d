//! Calls and answers as JSON: whatever is written is read again as it was.

use std::error::Error;
use std::fmt::Debug;
use std::time::Duration;

use bytes::Bytes;
use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Completion, Expected, Fingerprint, Header, IdempotencyKey,
    LeaseChange, NewClaim, Record, RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal, Revision,
    Scope, Snapshot, Span, Stamp, Status, StoreError, StoreErrorKind, StoredResult, Timestamp, Token,
    Version,
};
use onceonly_conformance::{Answer, Request};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

proptest! {
    #[test]
    fn a_request_comes_back_as_it_was(request in request()) {
        let text = serde_json::to_string(&request).unwrap();
        let read: Request = serde_json::from_str(&text).unwrap();

        prop_assert_eq!(&read, &request);
        prop_assert!(!text.contains('\n'), "it must fit on a line");
    }

    #[test]
    fn an_answer_comes_back_as_it_was(answer in answer()) {
        let text = serde_json::to_string(&answer).unwrap();
        let read: Answer = serde_json::from_str(&text).unwrap();

        check_same(&read, &answer)?;
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), text, "what was read is written alike");
    }
}

#[test]
fn bytes_of_every_value_come_back() {
    let all: Vec<u8> = (0..=255).collect();
    let result = StoredResult::from_parts(200, Vec::new(), Some(all.into()));
    let token = Token::from_bytes([0; 16]);
    let completion = Completion { revision: Revision::FIRST, result, retention: Span::MAX };
    let key = RecordKey::new(Scope::global(), IdempotencyKey::new("a").unwrap());
    let request = Request::Complete { key, token, completion };

    let text = serde_json::to_string(&request).unwrap();

    assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
}

#[test]
fn what_no_store_could_have_been_asked_is_refused() {
    let request = r#"{"load":{"key":{"scope":null,"key":"a"}}}"#;
    assert!(serde_json::from_str::<Request>(request).is_ok());
    for (from, to) in [(r#""a""#, r#""""#), ("null", r#""""#), ("load", "peek")] {
        let changed = request.replace(from, to);
        assert!(serde_json::from_str::<Request>(&changed).is_err(), "{changed}");
    }

    let release = r#"{"release":{"key":{"scope":null,"key":"a"},
        "token":"00000000000000000000000000000000","release":{"revision":1,"keep_us":1}}}"#;
    assert!(serde_json::from_str::<Request>(release).is_ok());
    let changes = [
        (r#""keep_us":1"#, r#""keep_us":0"#),
        (r#""keep_us":1"#, r#""keep_us":-1"#),
        ("000000000000000000\"", "0000000000000000\""),
        ("000000000000000000\"", "00000000000000000\""),
        ("000000000000000000\"", "00000000000000000g\""),
    ];
    for (from, to) in changes {
        let changed = release.replace(from, to);
        assert_ne!(changed, release);
        assert!(serde_json::from_str::<Request>(&changed).is_err(), "{changed}");
    }
}

#[test]
fn an_error_keeps_its_kind_and_its_words() {
    let kinds = [
        StoreErrorKind::Unavailable,
        StoreErrorKind::Corrupt,
        StoreErrorKind::Rejected,
        StoreErrorKind::Other,
    ];
    for kind in kinds {
        let error = StoreError::new(kind, "sqlite", "the file is locked").with_source("code 5");
        let text = serde_json::to_string(&Answer::Load(Err(error))).unwrap();
        let read: Answer = serde_json::from_str(&text).unwrap();

        let read = read.error().unwrap();
        assert_eq!(read.kind(), kind);
        let words = read.source().unwrap().to_string();
        assert!(words.contains("the file is locked: code 5"), "{words}");
    }
}

/// Fails unless both are equal: values in every field, errors in kind. Their words are compared as they are written.
fn check_same(read: &Answer, due: &Answer) -> Result<(), TestCaseError> {
    match (read, due) {
        (Answer::Claim(read), Answer::Claim(due)) => same(read, due),
        (Answer::Load(read), Answer::Load(due)) => same(read, due),
        (Answer::Renew(read), Answer::Renew(due)) => same(read, due),
        (Answer::Complete(read), Answer::Complete(due)) => same(read, due),
        (Answer::Release(read), Answer::Release(due)) => same(read, due),
        (Answer::PurgeExpired(read), Answer::PurgeExpired(due)) => same(read, due),
        (Answer::ClaimMany(read), Answer::ClaimMany(due)) => {
            prop_assert_eq!(read.len(), due.len());
            read.iter().zip(due).try_for_each(|(read, due)| same(read, due))
        }
        _ => Err(TestCaseError::fail(format!("{read:?} is of another verb than {due:?}"))),
    }
}

fn same<T: PartialEq + Debug>(
    read: &Result<T, StoreError>,
    due: &Result<T, StoreError>,
) -> Result<(), TestCaseError> {
    match (read, due) {
        (Ok(read), Ok(due)) => prop_assert_eq!(read, due),
        (Err(read), Err(due)) => prop_assert_eq!(read.kind(), due.kind()),
        _ => return Err(TestCaseError::fail(format!("{read:?} is not {due:?}"))),
    }
    Ok(())
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        claim_request().prop_map(|ClaimRequest { key, claim, expected }| Request::Claim {
            key,
            claim,
            expected
        }),
        key().prop_map(|key| Request::Load { key }),
        (key(), token(), renewal()).prop_map(|(key, token, renewal)| Request::Renew { key, token, renewal }),
        (key(), token(), completion()).prop_map(|(key, token, completion)| Request::Complete {
            key,
            token,
            completion
        }),
        (key(), token(), release()).prop_map(|(key, token, release)| Request::Release {
            key,
            token,
            release
        }),
        any::<u32>().prop_map(|limit| Request::PurgeExpired { limit }),
        vec(claim_request(), 0..4).prop_map(|claims| Request::ClaimMany { claims }),
    ]
}

fn answer() -> impl Strategy<Value = Answer> {
    prop_oneof![
        result(claim_outcome()).prop_map(Answer::Claim),
        result(option::of(snapshot())).prop_map(Answer::Load),
        result(renew_outcome()).prop_map(Answer::Renew),
        result(complete_outcome()).prop_map(Answer::Complete),
        result(prop_oneof![Just(ReleaseOutcome::Applied), Just(ReleaseOutcome::NotHeld)])
            .prop_map(Answer::Release),
        result(any::<u64>()).prop_map(Answer::PurgeExpired),
        vec(result(claim_outcome()), 0..4).prop_map(Answer::ClaimMany),
    ]
}

/// A value, or one time in five an error.
fn result<T: Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Result<T, StoreError>> {
    let kind = prop_oneof![
        Just(StoreErrorKind::Unavailable),
        Just(StoreErrorKind::Corrupt),
        Just(StoreErrorKind::Rejected),
        Just(StoreErrorKind::Other),
    ];
    let error = (kind, any::<String>())
        .prop_map(|(kind, source)| StoreError::new(kind, "generated", "failed").with_source(source));
    prop_oneof![4 => value.prop_map(Ok), 1 => error.prop_map(Err)]
}

fn claim_outcome() -> impl Strategy<Value = ClaimOutcome> {
    prop_oneof![
        stamp().prop_map(ClaimOutcome::Claimed),
        snapshot().prop_map(|found| ClaimOutcome::Occupied(Box::new(found))),
        Just(ClaimOutcome::Vacant),
    ]
}

fn renew_outcome() -> impl Strategy<Value = RenewOutcome> {
    prop_oneof![stamp().prop_map(RenewOutcome::Applied), Just(RenewOutcome::NotHeld)]
}

fn complete_outcome() -> impl Strategy<Value = CompleteOutcome> {
    prop_oneof![
        stamp().prop_map(CompleteOutcome::Applied),
        snapshot().prop_map(|found| CompleteOutcome::AlreadyCompleted(Box::new(found))),
        Just(CompleteOutcome::NotHeld),
    ]
}

fn claim_request() -> impl Strategy<Value = ClaimRequest> {
    let expected = prop_oneof![Just(Expected::Absent), version().prop_map(Expected::Exactly)];
    (key(), claim(), expected).prop_map(|(key, claim, expected)| ClaimRequest { key, claim, expected })
}

fn claim() -> impl Strategy<Value = NewClaim> {
    let spans = (span(), span(), span());
    (token(), fingerprint(), any::<u32>(), option::of(some_bytes()), spans).prop_map(
        |(token, fingerprint, attempt, checkpoint, (lease, keep, keep_unresolved))| NewClaim {
            token,
            fingerprint,
            attempt,
            checkpoint,
            lease,
            keep,
            keep_unresolved,
        },
    )
}

fn renewal() -> impl Strategy<Value = Renewal> {
    let lease = prop_oneof![span().prop_map(LeaseChange::Extend), Just(LeaseChange::End)];
    (revision(), lease, option::of(some_bytes())).prop_map(|(revision, lease, checkpoint)| Renewal {
        revision,
        lease,
        checkpoint,
    })
}

fn completion() -> impl Strategy<Value = Completion> {
    (revision(), stored_result(), span()).prop_map(|(revision, result, retention)| Completion {
        revision,
        result,
        retention,
    })
}

fn release() -> impl Strategy<Value = Release> {
    (revision(), span()).prop_map(|(revision, keep)| Release { revision, keep })
}

fn snapshot() -> impl Strategy<Value = Snapshot> {
    (record(), timestamp()).prop_map(|(record, now)| Snapshot { record, now })
}

fn record() -> impl Strategy<Value = Record> {
    let status = prop_oneof![
        option::of(some_bytes()).prop_map(|checkpoint| Status::InProgress { checkpoint }),
        stored_result().prop_map(Status::Completed),
        Just(Status::Released),
    ];
    let times = (timestamp(), timestamp(), timestamp(), timestamp());
    (version(), fingerprint(), any::<u32>(), times, status).prop_map(
        |(version, fingerprint, attempt, times, status)| {
            let (created_at, lease_until, expires_at, unresolved_until) = times;
            Record {
                version,
                fingerprint,
                attempt,
                created_at,
                lease_until,
                expires_at,
                unresolved_until,
                status,
            }
        },
    )
}

fn stored_result() -> impl Strategy<Value = StoredResult> {
    let header = (some_bytes(), some_bytes()).prop_map(|(name, value)| Header { name, value });
    (any::<u16>(), vec(header, 0..4), option::of(some_bytes()))
        .prop_map(|(code, headers, body)| StoredResult::from_parts(code, headers, body))
}

fn stamp() -> impl Strategy<Value = Stamp> {
    (timestamp(), timestamp(), timestamp()).prop_map(|(now, lease_until, expires_at)| Stamp {
        now,
        lease_until,
        expires_at,
    })
}

fn version() -> impl Strategy<Value = Version> {
    (token(), revision()).prop_map(|(token, revision)| Version { token, revision })
}

fn key() -> impl Strategy<Value = RecordKey> {
    // Whatever has no control characters, as a key and as a scope.
    let name = || "\\PC{1,40}";
    (option::of(name()), name()).prop_map(|(scope, key)| {
        let scope = scope.map_or_else(Scope::global, |scope| Scope::named(&scope).unwrap());
        RecordKey::new(scope, IdempotencyKey::new(&key).unwrap())
    })
}

fn fingerprint() -> impl Strategy<Value = Fingerprint> {
    any::<Vec<u8>>().prop_map(|body| Fingerprint::builder().part("body", body).finish())
}

fn token() -> impl Strategy<Value = Token> {
    any::<[u8; 16]>().prop_map(Token::from_bytes)
}

fn revision() -> impl Strategy<Value = Revision> {
    any::<u32>().prop_map(Revision::from_number)
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    let micros = prop_oneof![4 => any::<i64>(), 1 => Just(i64::MIN), 1 => Just(0), 1 => Just(i64::MAX)];
    micros.prop_map(Timestamp::from_micros)
}

fn span() -> impl Strategy<Value = Span> {
    let max = Span::MAX.as_micros().unsigned_abs();
    let micros = prop_oneof![4 => 1..=max, 1 => Just(1), 1 => Just(max)];
    micros.prop_map(|micros| Span::new(Duration::from_micros(micros)).unwrap())
}

/// Bytes of all values; none at all is a case of its own.
fn some_bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![4 => any::<Vec<u8>>().prop_map(Bytes::from), 1 => Just(Bytes::new())]
}
