//! Errors, panics, crashes, and clients that hang up.

use std::io::Read;

use crate::client::{Request, Response};
use crate::server::{Folder, Server};

const INDETERMINATE: &str = "urn:onceonly:problem:outcome-indeterminate";

fn assert_one_charge(server: &Server, asked: i64) {
    let charges = server.charges();
    assert_eq!(charges.len(), 1, "{charges:?}");
    assert_eq!(charges[0]["asked"], asked);
}

#[test]
fn an_error_after_the_charge_is_the_answer_for_good() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let request = Request::troubled_charge("key-1", r#"{"delay_ms":10,"then":"error"}"#);
    let first = server.send(&request);
    assert_eq!(first.status, 500);
    assert!(!first.is_replay());
    let retry = server.send(&request);
    assert_eq!(retry.status, 500);
    assert!(retry.is_replay());
    assert_eq!((&retry.body, retry.own_headers()), (&first.body, first.own_headers()));
    assert_one_charge(&server, 1);
}

#[test]
fn a_panic_parks_the_key_when_its_lease_is_over() {
    let folder = Folder::new();
    let server = folder.server(&["--lease", "1"]);
    let request = Request::troubled_charge("key-1", r#"{"then":"panic"}"#);
    assert_eq!(server.send(&request).status, 500);

    let settled = server.send_until_settled(&request);
    assert_eq!((settled.status, settled.problem_type().as_str()), (409, INDETERMINATE));
    assert_eq!(settled.header("retry-after"), None, "coming back does not help");
    let again = server.send(&request);
    assert_eq!((again.status, again.problem_type().as_str()), (409, INDETERMINATE));
    assert_one_charge(&server, 1);
}

#[test]
fn a_panic_is_run_again_where_the_handler_may_run_again() {
    let folder = Folder::new();
    let server = folder.server(&["--lease", "1", "--recovery", "rerun"]);
    let request = Request::troubled_charge("key-1", r#"{"then":"panic"}"#);
    assert_eq!(server.send(&request).status, 500);
    let settled = server.send_until_settled(&request);
    assert_eq!(settled.status, 201);
    assert!(!settled.is_replay());
    assert_one_charge(&server, 2);
    assert!(server.send(&request).is_replay());
}

/// Sends a charge that ends the server, and starts another one on the same database.
fn crash_and_restart(folder: &Folder, request: &Request, options: &[&str]) -> Server {
    let mut crashed = folder.server(options);
    assert!(request.send(crashed.address).is_err(), "a server that crashes answers nothing");
    assert!(!crashed.wait().success());
    folder.server(options)
}

#[test]
fn a_crash_after_the_charge_parks_the_key() {
    let folder = Folder::new();
    let request = Request::troubled_charge("key-1", r#"{"then":"abort"}"#);
    let server = crash_and_restart(&folder, &request, &["--lease", "1", "--recovery", "park"]);
    let settled = server.send_until_settled(&request);
    assert_eq!((settled.status, settled.problem_type().as_str()), (409, INDETERMINATE));
    assert_one_charge(&server, 1);
}

#[test]
fn a_crash_after_the_charge_is_run_again_and_finds_its_charge() {
    let folder = Folder::new();
    let request = Request::troubled_charge("key-1", r#"{"delay_ms":10,"then":"abort"}"#);
    let server = crash_and_restart(&folder, &request, &["--lease", "1", "--recovery", "rerun"]);
    let settled = server.send_until_settled(&request);
    assert_eq!(settled.status, 201);
    assert_one_charge(&server, 2);
    assert_eq!(settled.json()["id"], server.charges()[0]["id"]);

    let replay = server.send(&request);
    assert!(replay.is_replay());
    assert_eq!(replay.body, settled.body);
    assert_one_charge(&server, 2);
}

#[test]
fn a_client_that_hangs_up_loses_its_answer_and_not_its_charge() {
    let folder = Folder::new();
    let server = folder.server(&["--lease", "3"]);
    let request = Request::troubled_charge("key-1", r#"{"delay_ms":3000}"#);
    let connection = request.begin(server.address).expect("a connection");
    folder.wait_for_renewal();
    drop(connection);

    let retry = server.send_until_settled(&request);
    assert_eq!(retry.status, 201);
    assert!(retry.is_replay());
    assert_one_charge(&server, 1);
}

#[test]
fn charges_and_answers_survive_a_restart() {
    let folder = Folder::new();
    let mut server = folder.server(&[]);
    let request = Request::charge("key-1", 1000);
    let first = server.send(&request);
    let listed = server.charges();
    server.terminate();
    assert!(server.wait().success());

    let server = folder.server(&[]);
    let retry = server.send(&request);
    assert!(retry.is_replay());
    assert_eq!((retry.status, &retry.body), (201, &first.body));
    assert_eq!(server.charges(), listed);
}

#[test]
fn two_servers_on_one_database_charge_once() {
    let folder = Folder::new();
    let (one, other) = (folder.server(&[]), folder.server(&[]));
    let slow = Request::troubled_charge("key-1", r#"{"delay_ms":4000}"#);
    let first = slow.begin(one.address).expect("a connection");
    folder.wait_for_claim();
    assert_eq!(other.send(&slow).problem_type(), "urn:onceonly:problem:request-in-progress");
    let first = Response::read(first).expect("an answer");
    let retry = other.send_until_settled(&slow);
    assert!(retry.is_replay());
    assert_eq!(retry.body, first.body);
    assert_one_charge(&other, 1);
}

/// B011: what the documentation says of the memory store, seen from outside: it is for one process, and for its life.
#[test]
fn servers_with_a_memory_store_each_remember_their_own() {
    let charge = Request::charge("key-1", 1000);
    for _restart in 0..2 {
        let server = Server::start(&["--store", "memory"]);
        assert!(
            !server.send(&charge).is_replay(),
            "the store is shared after all: say so in its documentation"
        );
        assert!(server.send(&charge).is_replay());
    }
}

#[test]
fn a_charge_that_takes_longer_than_its_lease_keeps_its_key() {
    let folder = Folder::new();
    // Whoever found the key abandoned would charge again. The lease leaves room for a machine on which a thread waits
    // seconds for its turn.
    let server = folder.server(&["--lease", "5", "--recovery", "rerun"]);
    let slow = Request::troubled_charge("key-1", r#"{"delay_ms":8000}"#);
    let first = slow.begin(server.address).expect("a connection");
    folder.wait_for_claim();
    let retry = server.send_until_settled(&slow);
    assert!(retry.is_replay());
    assert_eq!(retry.body, Response::read(first).expect("an answer").body);
    assert_one_charge(&server, 1);
}

#[test]
fn nothing_is_charged_while_keys_cannot_be_checked() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let locking = folder.connect();
    locking.execute_batch("BEGIN IMMEDIATE").expect("the write lock");
    let refused = server.send(&Request::charge("key-1", 1000));
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    assert_eq!(refused.problem_type(), "urn:onceonly:problem:store-unavailable");
    assert!(server.charges().is_empty());

    locking.execute_batch("ROLLBACK").expect("the end of the transaction");
    let retry = server.send_until_settled(&Request::charge("key-1", 1000));
    assert_eq!(retry.status, 201);
    assert_one_charge(&server, 1);
}

#[test]
fn an_outage_is_not_taken_for_a_charge_that_was_not_made() {
    let folder = Folder::new();
    let request = Request::troubled_charge("key-1", r#"{"then":"abort"}"#);
    let server = crash_and_restart(&folder, &request, &["--lease", "1", "--recovery", "rerun"]);
    assert_one_charge(&server, 1);

    // The server waits a bounded time for the lock, so the answer comes while it is still held.
    let locking = folder.connect();
    locking.execute_batch("BEGIN IMMEDIATE").expect("the write lock");
    let refused = server.send(&request);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    let problem = refused.json();
    let detail = problem["detail"].as_str().expect("a problem has a detail");
    assert!(!detail.contains("Nothing was charged"), "{detail}");
    assert!(detail.contains("an earlier one under the same key may have"), "{detail}");
    assert!(detail.contains("under the same key."), "{detail}");

    locking.execute_batch("ROLLBACK").expect("the end of the transaction");
    assert_eq!(server.send_until_settled(&request).status, 201);
    assert_one_charge(&server, 2);
}

#[test]
fn a_request_that_does_not_come_to_its_end_does_not_keep_its_connection() {
    let server = Server::start(&["--store", "memory"]);
    let request = Request::charge("key-1", 1000);
    let mut head = request.begin_its_head(server.address).expect("a connection");
    let body = request.begin_its_body(server.address).expect("a connection");
    let answer = Response::read(body).expect("an answer");
    assert_eq!(
        (answer.status, answer.problem_type().as_str()),
        (408, "urn:payments:problem:body-incomplete")
    );
    // Both fail if the connection is still open after the client's own, longer time limit.
    head.read_to_end(&mut Vec::new()).expect("the end of the connection");
    assert!(server.charges().is_empty());
}
