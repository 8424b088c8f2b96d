//! The law, for every status, fingerprint and deadline.

use std::time::Duration;

use bytes::Bytes;
use onceonly::{
    Fingerprint, Fingerprints, KeyState, Record, ResponseHead, Revision, Status, StoredResponse,
    StoredResult, Timestamp, Token, Version, observe,
};

const NOW: i64 = 1_000_000;

fn fingerprint(body: &str) -> Fingerprint {
    Fingerprint::builder().part("body", body).finish()
}

fn record(status: Status, bound_to: &str, lease: i64, expires: i64, unresolved: i64) -> Record {
    let at = |offset| Timestamp::from_micros(NOW + offset);
    Record {
        version: Version { token: Token::from_bytes([7; 16]), revision: Revision::from_number(3) },
        fingerprint: fingerprint(bound_to),
        attempt: 2,
        created_at: at(-500),
        lease_until: at(lease),
        expires_at: at(expires),
        unresolved_until: at(unresolved),
        status,
    }
}

fn statuses() -> [Status; 5] {
    [
        Status::InProgress { checkpoint: None },
        Status::InProgress { checkpoint: Some(Bytes::from_static(b"step 1")) },
        Status::Completed(StoredResult::Retained(StoredResponse::new(201, "charged"))),
        Status::Completed(StoredResult::NotRetained(ResponseHead { code: 201, headers: vec![] })),
        Status::Released,
    ]
}

/// The table of the law, read row by row: a statement of its own, by the distance of each deadline from now.
fn expected<'a>(
    record: &'a Record,
    same_request: bool,
    lease: i64,
    expires: i64,
    unresolved: i64,
) -> KeyState<'a> {
    let expired = KeyState::Expired { version: record.version };
    match (&record.status, same_request) {
        (Status::Released, _) => expired,
        (Status::Completed(_), _) if expires <= 0 => expired,
        (Status::InProgress { .. }, _) if unresolved <= 0 => expired,
        (_, false) => KeyState::HashMismatch,
        (Status::Completed(result), true) => KeyState::Completed { result },
        (Status::InProgress { checkpoint }, true) if lease <= 0 => {
            KeyState::Abandoned { version: record.version, attempt: 2, checkpoint: checkpoint.as_ref() }
        }
        (Status::InProgress { .. }, true) => {
            KeyState::InProgress { remaining: Duration::from_micros(lease.unsigned_abs()) }
        }
    }
}

#[test]
fn every_status_fingerprint_and_deadline_has_the_state_of_the_table() {
    let now = Timestamp::from_micros(NOW);
    let mut judged = 0;
    for status in statuses() {
        for (bound_to, same_request) in [("request", true), ("older form", true), ("another", false)] {
            for lease in [-1, 0, 1] {
                for expires in [-1, 0, 1] {
                    for unresolved in [-1, 0, 1] {
                        let record = record(status.clone(), bound_to, lease, expires, unresolved);
                        let request =
                            Fingerprints::from(fingerprint("request")).or(fingerprint("older form"));
                        assert_eq!(
                            observe(Some(&record), &request, now),
                            expected(&record, same_request, lease, expires, unresolved),
                            "{status:?}, bound to {bound_to}, lease {lease}, expires {expires}, unresolved {unresolved}",
                        );
                        judged += 1;
                    }
                }
            }
        }
    }
    assert_eq!(judged, 5 * 3 * 27);
}

#[test]
fn no_record_is_absent_for_every_request() {
    assert_eq!(observe(None, &fingerprint("request").into(), Timestamp::from_micros(NOW)), KeyState::Absent);
}

/// B041: the order of the checks, spelt out for the two states where a mismatch could hide behind another answer.
#[test]
fn b041_a_running_or_abandoned_key_still_refuses_another_request() {
    let request = fingerprint("another").into();
    for lease in [-1, 1] {
        let record = record(Status::InProgress { checkpoint: None }, "request", lease, 10, 10);
        assert_eq!(observe(Some(&record), &request, Timestamp::from_micros(NOW)), KeyState::HashMismatch);
    }
}

#[test]
fn an_unfinished_record_is_remembered_past_its_retention() {
    let record = record(Status::InProgress { checkpoint: None }, "request", -1, -1, 1);
    let state = observe(Some(&record), &fingerprint("request").into(), Timestamp::from_micros(NOW));
    assert!(matches!(state, KeyState::Abandoned { .. }), "{state:?}");
}
