//! Requests that are refused, and what it does to their keys.

use std::collections::HashSet;

use crate::client::{Request, Response, charge_body, padded_charge_body};
use crate::server::{Folder, Server};

fn assert_problem(response: &Response, status: u16, suffix: &str) {
    assert_eq!(response.status, status, "{}", String::from_utf8_lossy(&response.body));
    assert_eq!(response.problem_type(), format!("urn:onceonly:problem:{suffix}"));
    assert!(!response.is_replay(), "a refusal is no replay");
}

#[test]
fn a_charge_without_a_key_is_refused() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let response = server.send(&Request::charge("key-1", 1000).without("idempotency-key"));
    assert_problem(&response, 400, "key-missing");
    assert!(server.charges().is_empty());
}

#[test]
fn a_malformed_key_is_refused_with_its_reason() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let vectors: [(&[u8], &str); 8] = [
        (b"", "empty"),
        (b"\"\"", "empty"),
        (b"\"  \"", "blank"),
        (b"a,b", "forbidden-character"),
        (b"\"abc", "malformed-string"),
        (b"caf\xc3\xa9", "not-ascii"),
        (b"a\tb", "control-character"),
        (&[b'k'; 256], "too-long"),
    ];
    for (key, reason) in vectors {
        let response =
            server.send(&Request::post("/charges", charge_body(1000, "null")).header("idempotency-key", key));
        assert_problem(&response, 400, "key-invalid");
        assert_eq!(response.json()["reason"], reason);
    }
    assert!(server.charges().is_empty());
}

#[test]
fn two_key_headers_are_refused() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let response = server.send(&Request::charge("key-1", 1000).key("key-1"));
    assert_problem(&response, 400, "key-invalid");
    assert_eq!(response.json()["reason"], "repeated");
    assert!(server.charges().is_empty());
}

#[test]
fn a_key_belongs_to_one_request() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let charge = Request::charge("key-1", 1000);
    assert_eq!(server.send(&charge).status, 201);

    assert_problem(&server.send(&Request::charge("key-1", 2000)), 422, "key-reused");
    let elsewhere = Request::post("/charges?dry_run=true", charge_body(1000, "null")).key("key-1");
    assert_problem(&server.send(&elsewhere), 422, "key-reused");
    let other_type = charge.clone().without("content-type").header("content-type", "text/plain");
    assert_problem(&server.send(&other_type), 422, "key-reused");

    let same_type = charge.without("content-type").header("content-type", "Application/JSON; charset=utf-8");
    assert!(server.send(&same_type).is_replay(), "a parameter of the content type makes no other request");
    assert_eq!(server.charges().len(), 1);
}

#[test]
fn while_a_request_runs_its_retry_is_told_to_come_back_and_another_request_is_not() {
    let folder = Folder::new();
    let server = folder.server(&["--lease", "5"]);
    let slow = Request::troubled_charge("key-1", r#"{"delay_ms":4000}"#);
    let first = slow.begin(server.address).expect("a connection");
    folder.wait_for_claim();

    let retry = server.send(&slow);
    assert_problem(&retry, 409, "request-in-progress");
    let seconds: u64 = retry.header("retry-after").expect("a hint").parse().expect("whole seconds");
    assert!((1..=5).contains(&seconds), "{seconds} s is not between a second and the lease");
    assert_problem(&server.send(&Request::charge("key-1", 2000)), 422, "key-reused");

    let first = Response::read(first).expect("an answer");
    assert_eq!(first.status, 201);
    let replay = server.send_until_settled(&slow);
    assert!(replay.is_replay());
    assert_eq!(replay.body, first.body);
    assert_eq!(server.charges().len(), 1);
}

#[test]
fn a_request_that_is_no_charge_leaves_its_key_unused() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    for (body, status, suffix) in [
        ("{".to_owned(), 400, "charge-invalid"),
        (r#"{"amount":1000}"#.to_owned(), 400, "charge-invalid"),
        (charge_body(0, "null"), 400, "charge-invalid"),
        (padded_charge_body((1 << 20) + 1), 413, "body-too-large"),
        (padded_charge_body(5 << 20), 413, "body-too-large"),
    ] {
        let response = server.send(&Request::post("/charges", body).key("key-1"));
        assert_eq!(response.status, status);
        assert_eq!(response.problem_type(), format!("urn:payments:problem:{suffix}"));
    }
    let corrected = server.send(&Request::charge("key-1", 1000));
    assert_eq!(corrected.status, 201);
    assert!(!corrected.is_replay());
}

#[test]
fn an_account_that_is_none_is_refused() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    for request in [Request::charge("key-1", 1000), Request::get("/charges")] {
        for broken in [
            request.clone().header("x-account", ""),
            request.clone().header("x-account", b"\xff"),
            request.clone().header("x-account", "a").header("x-account", "b"),
        ] {
            let response = server.send(&broken);
            assert_eq!(response.status, 400);
            assert_eq!(response.problem_type(), "urn:payments:problem:account-invalid");
        }
    }
}

#[test]
fn what_is_not_there_is_a_problem_too() {
    let server = Server::start(&["--store", "memory"]);
    let nowhere = server.send(&Request::get("/"));
    assert_eq!((nowhere.status, nowhere.problem_type().as_str()), (404, "urn:payments:problem:not-found"));
    let response = server.send(&Request::get("/charges/ch_1"));
    assert_eq!(response.status, 404);
}

#[test]
fn no_two_refusals_share_a_type() {
    let server = Server::start(&["--store", "memory", "--lease", "0.2"]);
    assert_eq!(server.send(&Request::charge("done", 1)).status, 201);
    assert_eq!(server.send(&Request::troubled_charge("parked", r#"{"then":"panic"}"#)).status, 500);
    let refusals = [
        Request::charge("done", 1).without("idempotency-key"),
        Request::charge("a,b", 1),
        Request::charge("done", 2),
        Request::troubled_charge("parked", r#"{"then":"panic"}"#),
        Request::charge("new", 0),
        Request::charge("new", 1).header("x-account", ""),
        Request::get("/nowhere"),
    ];
    let types: HashSet<String> =
        refusals.iter().map(|request| server.send_until_settled(request).problem_type()).collect();
    assert_eq!(types.len(), refusals.len(), "{types:?}");
}
