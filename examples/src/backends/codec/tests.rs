//! What is written comes back; what is not whole is reported.

use onceonly::{Header, IdempotencyKey, ResponseHead, Scope, StoredResponse};

use super::*;

fn record(status: Status) -> Record {
    Record {
        version: Version { token: Token::from_bytes([7; 16]), revision: Revision::from_number(u32::MAX) },
        fingerprint: Fingerprint::builder().part("body", "charge 1000 usd").finish(),
        attempt: 0x0102_0304,
        created_at: Timestamp::from_micros(-1),
        lease_until: Timestamp::from_micros(i64::MIN),
        expires_at: Timestamp::from_micros(i64::MAX),
        unresolved_until: Timestamp::from_micros(1_800_000_000_000_000),
        status,
    }
}

fn header(name: &'static [u8], value: &'static [u8]) -> Header {
    Header { name: name.into(), value: value.into() }
}

/// A record of every kind, with what is empty told from what is absent.
fn records() -> Vec<Record> {
    let headers = vec![header(b"content-type", b"text/plain"), header(b"", b""), header(b"X", &[0, 255])];
    let response = StoredResponse { code: 201, headers, body: "charged".into() };
    let statuses = [
        Status::InProgress { checkpoint: None },
        Status::InProgress { checkpoint: Some(Bytes::new()) },
        Status::InProgress { checkpoint: Some("half-way".into()) },
        Status::Completed(StoredResult::Retained(response.clone())),
        Status::Completed(StoredResult::Retained(StoredResponse::new(0, ""))),
        Status::Completed(StoredResult::NotRetained(response.into_head())),
        Status::Completed(StoredResult::NotRetained(ResponseHead { code: u16::MAX, headers: Vec::new() })),
        Status::Released,
    ];
    statuses.map(record).into()
}

fn encoded(record: &Record) -> Bytes {
    encode(record).unwrap().into()
}

#[test]
fn records_of_every_status_come_back() {
    for record in records() {
        assert_eq!(decode(&encoded(&record)), Ok(record));
    }
}

/// Written out by hand: whoever changes it makes the records of earlier releases unreadable.
#[test]
fn the_layout_is_the_one_of_format_1() {
    let response = StoredResponse::new(0x0203, "body").with_header("n", "value");
    let record = record(Status::Completed(StoredResult::Retained(response)));
    let due = [
        &[1, 2][..],
        &[7; 16],
        &[0xff; 4],
        &record.fingerprint.to_bytes(),
        &[1, 2, 3, 4],
        &[0xff; 8],
        &[0x80, 0, 0, 0, 0, 0, 0, 0],
        &[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        &1_800_000_000_000_000_i64.to_be_bytes(),
        &[2, 3],
        &[0, 0, 0, 15],
        &[0, 0, 0, 4],
        &[1, 1, 0, 0, 0, 5, 0, 0, 0],
        b"nvaluebody",
    ];
    assert_eq!(encode(&record).unwrap(), due.concat());
}

#[test]
fn a_record_that_is_cut_off_anywhere_is_corrupt() {
    for record in records() {
        let whole = encoded(&record);
        for len in 0..whole.len() {
            decode(&whole.slice(..len)).expect_err(&format!("{len} bytes of {}: {record:?}", whole.len()));
        }
    }
}

#[test]
fn a_record_with_more_behind_it_is_corrupt() {
    for record in records() {
        let longer = [&encoded(&record)[..], &[0]].concat();
        decode(&longer.into()).expect_err(&format!("{record:?}"));
    }
}

#[test]
fn a_length_that_is_changed_is_corrupt() {
    for record in records() {
        for at in FIXED_LEN - 8..FIXED_LEN {
            for change in 1..=u8::MAX {
                let mut bytes = encode(&record).unwrap();
                bytes[at] ^= change;
                decode(&bytes.into()).expect_err(&format!("byte {at} changed by {change}: {record:?}"));
            }
        }
    }
}

#[test]
fn a_record_of_another_format_is_corrupt() {
    for format in (0..=u8::MAX).filter(|&format| format != FORMAT) {
        let mut bytes = encode(&record(Status::Released)).unwrap();
        bytes[0] = format;
        assert_eq!(decode(&bytes.into()), Err(CorruptRecord("it is of another format")));
    }
}

/// A byte that is changed may give another record, or none: it never gives a panic.
#[test]
fn whatever_byte_is_changed_nothing_panics() {
    for record in records() {
        for at in 0..encode(&record).unwrap().len() {
            for change in 1..=u8::MAX {
                let mut bytes = encode(&record).unwrap();
                bytes[at] ^= change;
                let _ = decode(&bytes.into());
            }
        }
    }
}

#[test]
fn a_status_that_does_not_go_with_the_rest_is_corrupt() {
    for record in records() {
        let bytes = encode(&record).unwrap();
        let (kind, bare) = (bytes[1], bytes.len() == FIXED_LEN);
        for other in (0..=u8::MAX).filter(|&other| other != kind) {
            // Without headers, checkpoint and body nothing tells these three apart.
            let bare_kinds = [IN_PROGRESS, IN_PROGRESS_WITH_CHECKPOINT, RELEASED];
            // A body or checkpoint that is empty is as long as none.
            let results = [RETAINED, NOT_RETAINED];
            let bodiless = results.contains(&kind) && bytes[FIXED_LEN - 4..FIXED_LEN] == [0; 4];
            if bare && bare_kinds.contains(&other) || bodiless && results.contains(&other) {
                continue;
            }
            let mut bytes = bytes.clone();
            bytes[1] = other;
            decode(&bytes.into()).expect_err(&format!("{other} in place of {kind}: {record:?}"));
        }
    }
}

#[test]
fn no_two_record_keys_share_their_bytes() {
    let scopes = [None, Some("a"), Some("ab"), Some("ba"), Some("0")];
    let keys = ["a", "b", "ab", "ba", "aab", "0", "00"];
    let long = "x".repeat(255);
    let mut seen = std::collections::HashSet::new();
    let mut count = 0;
    for scope in scopes.into_iter().chain([Some(long.as_str())]) {
        let scope = scope.map_or_else(Scope::global, |name| Scope::named(name).unwrap());
        for key in keys.into_iter().chain([long.as_str()]) {
            let key = RecordKey::new(scope.clone(), IdempotencyKey::new(key).unwrap());
            seen.insert(encode_key(&key));
            count += 1;
        }
    }
    assert_eq!(seen.len(), count);
}
