//! Every byte of a result, a checkpoint and a fingerprint comes back.

use std::collections::HashSet;

use bytes::Bytes;
use onceonly::{
    CompleteOutcome, Expected, Fingerprint, Header, RecordKey, Status, StoreErrorKind, StoredResponse,
    StoredResult,
};
use proptest::arbitrary::any;
use proptest::option;
use proptest::strategy::Strategy;

use super::complete::result_of;
use crate::case::{Case, checkpoint, completion, fingerprint, seconds};
use crate::compare::{check_same_record, check_same_result};
use crate::handle::failed;
use crate::property::{Plan, drawn, for_all, row};
use crate::race::joined;
use crate::verdict::{broken, check, check_eq};

pub(super) async fn all_byte_values_come_back(case: &Case) {
    let all: Vec<u8> = (0..=255).collect();
    let mut pairs = Vec::new();
    for first in DANGEROUS {
        for second in DANGEROUS {
            pairs.extend([first, second]);
        }
    }
    for (name, bytes) in [("all values", all), ("dangerous pairs", pairs)] {
        let given = StoredResponse::new(200, bytes.clone()).with_header("x-bytes", bytes.clone());
        stored(case, name, StoredResult::Retained(given)).await;

        let (store, key, claim) = (case.store(), case.key(&format!("checkpoint of {name}")), case.claim());
        store.claimed(&key, &claim).await;
        store.renewed(&key, claim.token, &checkpoint(2, claim.lease, bytes.clone())).await;
        match store.record(&key).await.status {
            Status::InProgress { checkpoint: Some(found) } => {
                check!(found == bytes, "a checkpoint of {name} came back as {} bytes, altered", found.len());
            }
            other => broken(format!("a checkpoint of {name} came back as {other:?}")),
        }
    }
}

pub(super) async fn empty_absent_and_missing_are_three_things(case: &Case) {
    let bare = StoredResponse::new(0, "");
    let empty_header = bare.clone().with_header("", "");
    for (name, result) in [
        ("nothing at all", StoredResult::Retained(bare.clone())),
        ("an empty header", StoredResult::Retained(empty_header.clone())),
        ("no body", StoredResult::NotRetained(bare.into_head())),
        ("no body and an empty header", StoredResult::NotRetained(empty_header.into_head())),
    ] {
        stored(case, name, result).await;
    }
}

pub(super) async fn headers_keep_order_duplicates_case_and_bytes(case: &Case) {
    let given = StoredResponse::new(200, "done")
        .with_header("Set-Cookie", "b=2")
        .with_header("X-Empty", "")
        .with_header("set-cookie", "a=1")
        .with_header("Set-Cookie", "b=2")
        .with_header("A-First", Bytes::from_static(b"not utf-8: \xff\xfe"))
        .with_header("x-colon", "a: b\r\nno: header");
    stored(case, "headers", StoredResult::Retained(given)).await;
}

pub(super) async fn codes_keep_their_value(case: &Case) {
    for code in [0, 1, 16, 99, 100, 127, 128, 200, 255, 256, 404, 511, 599, 999, 32_767, 32_768, u16::MAX] {
        stored(case, &format!("code {code}"), StoredResult::Retained(StoredResponse::new(code, ""))).await;
    }
}

pub(super) async fn bodies_of_all_sizes_come_back(case: &Case) {
    let cap = case.declaration().response_bytes_max;
    let sizes = [
        0, 1, 63, 64, 65, 255, 256, 257, 4_095, 4_096, 4_097, 8_191, 8_192, 8_193, 65_535, 65_536, 65_537,
        cap,
    ];
    let mut random = case.random();
    for size in sizes.into_iter().filter(|size| *size <= cap) {
        let body = random.bytes(size);
        stored(case, &format!("{size} bytes"), StoredResult::Retained(StoredResponse::new(200, body))).await;
    }
    let constant = vec![b'a'; 65_536.min(cap)];
    stored(case, "one letter", StoredResult::Retained(StoredResponse::new(200, constant))).await;
}

pub(super) async fn checkpoints_of_all_sizes_come_back(case: &Case) {
    let store = case.store();
    let cap = case.declaration().response_bytes_max;
    let mut random = case.random();
    for size in [0, 1, 255, 256, 4_095, 4_096, 8_193, 65_535, 65_536, 65_537, 262_145] {
        let (key, mut claim) = (case.key(&format!("{size} bytes")), case.claim());
        let [brought, saved] = [(); 2].map(|()| Bytes::from(random.bytes(size.min(cap))));
        claim.checkpoint = Some(brought.clone());
        store.claimed(&key, &claim).await;
        same_checkpoint(&store.record(&key).await.status, &brought, "brought by a claim");
        store.renewed(&key, claim.token, &checkpoint(2, claim.lease, saved.clone())).await;
        same_checkpoint(&store.record(&key).await.status, &saved, "saved by a renewal");
    }
}

fn same_checkpoint(status: &Status, due: &Bytes, what: &str) {
    let Status::InProgress { checkpoint: Some(found) } = status else {
        broken(format!("a checkpoint {what} of {} bytes came back as {status:?}", due.len()));
    };
    check_eq!(found.len(), due.len(), "the bytes of a checkpoint {what}");
    check!(found == due, "a checkpoint {what} of {} bytes came back altered", due.len());
}

pub(super) async fn many_headers_come_back(case: &Case) {
    for count in [31, 32, 33, 63, 64, 65, 100, 128, 256, 257, 1_000] {
        let mut given = StoredResponse::new(200, "done");
        for number in 0..count {
            given = given.with_header(format!("x-{number}"), number.to_string());
        }
        stored(case, &format!("{count} headers"), StoredResult::Retained(given)).await;
    }
}

pub(super) async fn long_headers_come_back(case: &Case) {
    // Two headers, so that what follows a long one is seen as well.
    let longest = case.declaration().response_bytes_max / 4;
    let mut random = case.random();
    for size in [255, 256, 257, 4_095, 4_096, 4_097, 8_192, 8_193, 16_385, 65_535, 65_536, 65_537] {
        let long = random.bytes(size.min(longest));
        let given = StoredResponse::new(200, "done").with_header("x-long", long.clone());
        let given = given.with_header(long, "a long name");
        stored(case, &format!("{size} bytes in a header"), StoredResult::Retained(given)).await;
    }
}

pub(super) async fn a_response_beyond_the_limit_is_stored_whole_or_refused_whole(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let before = store.record(&key).await;
    let body = case.random().bytes(case.declaration().response_bytes_max + 1);
    let given = StoredResult::Retained(StoredResponse::new(200, body));

    let answer = store.plain().complete(&key, claim.token, &completion(2, given.clone())).await;

    let found = store.record(&key).await;
    match answer {
        Ok(CompleteOutcome::Applied(_)) => {
            check_same_result(&result_of(found), &given, "what was stored of a response beyond the limit");
        }
        Err(error) if error.kind() == StoreErrorKind::Rejected => {
            check_same_record(&found, &before, "a refused completion has changed the record");
            store.completed(&key, claim.token, &completion(2, crate::case::response("smaller"))).await;
        }
        Err(error) => failed("complete of a response beyond the limit", &error),
        Ok(other) => {
            broken(format!("a response beyond the limit was answered {other:?}, due Applied or Rejected"))
        }
    }
}

pub(super) async fn look_alikes_are_not_interpreted(case: &Case) {
    let texts: [&[u8]; 14] = [
        b"null",
        b"1e2",
        b"007",
        b"{\"b\":1,\"a\":1,\"a\":2}",
        b"\\u0000",
        b"\0",
        b"<script>alert(1)</script>",
        b"\xef\xbb\xbfwith a BOM",
        b"\xff\xfe\xfd",
        b"'; DROP TABLE records; --",
        b"\\x41\\101",
        b"%s%n%d",
        b"line\r\nline\nline\r",
        "e\u{301}\u{212a}".as_bytes(),
    ];
    for (number, text) in texts.into_iter().enumerate() {
        let given = StoredResponse::new(200, text).with_header("x-look-alike", text);
        stored(case, &format!("look-alike {number}"), StoredResult::Retained(given)).await;
    }
}

pub(super) async fn parallel_replays_are_one_byte_string(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let body = case.random().bytes(10_000);
    let given = StoredResult::Retained(StoredResponse::new(200, body.clone()));
    store.completed(&key, claim.token, &completion(2, given)).await;

    let replays: Vec<_> = (0..200)
        .map(|_| {
            let (store, key, claim) = (store.clone(), key.clone(), case.claim());
            tokio::spawn(async move { store.occupied(&key, &claim, Expected::Absent).await })
        })
        .collect();
    let mut bodies = HashSet::new();
    for replay in replays {
        let result = result_of(joined(replay).await.record);
        bodies.insert(result.body().cloned());
    }
    check_eq!(bodies.len(), 1, "how many different bodies 200 replays saw");
    check!(bodies.contains(&Some(Bytes::from(body))), "200 replays saw another body than was stored");
}

pub(super) async fn random_responses_come_back(case: &Case) {
    let plan = Plan { trials: 500, trials_min: 50, part: 12 };
    let responses = drawn(case, any_result());
    for_all(case, plan, responses, async |number, result: &StoredResult| {
        comes_back(case, &case.key(&format!("random {number}")), &in_words(result), result.clone()).await;
    })
    .await;
}

fn any_result() -> impl Strategy<Value = StoredResult> {
    let header = (some_bytes(20), some_bytes(60)).prop_map(|(name, value)| Header { name, value });
    (any::<u16>(), row(header, 0..=5_usize), option::weighted(0.85, some_bytes(2_000)))
        .prop_map(|(code, headers, body)| StoredResult::from_parts(code, headers, body))
}

fn some_bytes(most: usize) -> impl Strategy<Value = Bytes> {
    row(any::<u8>(), 0..=most).prop_map(Bytes::from)
}

fn in_words(result: &StoredResult) -> String {
    let start = |bytes: &Bytes| {
        let more = if bytes.len() > 24 { ".." } else { "" };
        format!("\"{}{more}\"", bytes.slice(..bytes.len().min(24)).escape_ascii())
    };
    let headers = result.headers().iter();
    let headers: Vec<_> =
        headers.map(|header| format!("{}: {}", start(&header.name), start(&header.value))).collect();
    let body = match result.body() {
        Some(body) => format!("a body of length {}, {}", body.len(), start(body)),
        None => "no body".to_owned(),
    };
    format!("code {}, headers [{}], {body}", result.code(), headers.join(", "))
}

pub(super) async fn fingerprints_and_attempts_keep_their_value(case: &Case) {
    let store = case.store();
    let mut unknown_algorithm = fingerprint("x").to_bytes();
    unknown_algorithm[..4].copy_from_slice(&[0xff, 0xfe, 0x80, 0x00]);
    let unknown_algorithm = Fingerprint::from_bytes(&unknown_algorithm);
    let prints = [Some(fingerprint("a")), Some(fingerprint("b")), unknown_algorithm];
    for (number, print) in prints.into_iter().flatten().enumerate() {
        for attempt in [1, 2, 255, 256, 65_536, u32::MAX] {
            let (key, mut claim) = (case.key(&format!("print {number}, attempt {attempt}")), case.claim());
            claim.fingerprint = print;
            claim.attempt = attempt;
            store.claimed(&key, &claim).await;
            let found = store.record(&key).await;
            check!(
                found.fingerprint.to_bytes() == print.to_bytes(),
                "a fingerprint came back altered: {:?}",
                found.fingerprint
            );
            check_eq!(found.attempt, attempt, "the attempt's number");
        }
    }
}

pub(super) async fn revisions_keep_their_value(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    for number in [2, 255, 256, 65_536, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1] {
        store.renewed(&key, claim.token, &crate::case::extension(number, seconds(60))).await;
        check_eq!(store.record(&key).await.version.revision.number(), number, "the revision");
    }
    store.completed(&key, claim.token, &completion(u32::MAX, crate::case::response("done"))).await;
    check_eq!(store.record(&key).await.version.revision.number(), u32::MAX, "the revision of the result");
}

pub(super) async fn no_debug_output_shows_a_body(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let secret = "card 4242 4242 4242 4242";
    store.completed(&key, claim.token, &completion(2, crate::case::response(secret))).await;

    let shown = store.occupied(&key, &case.claim(), Expected::Absent).await;

    check_same_result(&result_of(shown.record.clone()), &crate::case::response(secret), "the result");
    check!(!format!("{shown:?}").contains("4242"), "the Debug form of an answer shows the body");
}

/// Stores the result and compares what comes back, through both verbs that show it.
async fn stored(case: &Case, name: &str, given: StoredResult) {
    comes_back(case, &case.key(name), name, given).await;
}

async fn comes_back(case: &Case, key: &RecordKey, what: &str, given: StoredResult) {
    let (store, claim) = (case.store(), case.claim());
    store.claimed(key, &claim).await;
    store.completed(key, claim.token, &completion(2, given.clone())).await;
    let loaded = result_of(store.record(key).await);
    check_same_result(&loaded, &given, &format!("{what}: load gave another result than was stored"));
    let shown = store.occupied(key, &case.claim(), Expected::Absent).await;
    let what = format!("{what}: a refused claim was shown another result than was stored");
    check_same_result(&result_of(shown.record), &given, &what);
}

/// Terminators, quotes, escapes, separators, and bytes that are no UTF-8.
const DANGEROUS: [u8; 16] =
    [0x00, 0x01, 0x0a, 0x0d, 0x1a, 0x20, 0x22, 0x25, 0x27, 0x2c, 0x3a, 0x5c, 0x7f, 0x80, 0xc0, 0xff];
