//! The end of a server.

use crate::client::{Request, Response};
use crate::server::Folder;

#[test]
fn a_server_that_is_asked_to_stop_finishes_what_it_has_begun() {
    let folder = Folder::new();
    let mut server = folder.server(&[]);
    let slow = Request::troubled_charge("key-1", r#"{"delay_ms":1000}"#);
    let answer = slow.begin(server.address).expect("a connection");
    folder.wait_for_claim();
    server.terminate();
    assert_eq!(Response::read(answer).expect("an answer").status, 201);
    assert!(server.wait().success());
}

#[test]
fn a_server_that_is_asked_to_stop_finishes_a_charge_whose_client_has_gone() {
    let folder = Folder::new();
    let mut server = folder.server(&["--lease", "3"]);
    let slow = Request::troubled_charge("key-1", r#"{"delay_ms":3000}"#);
    let connection = slow.begin(server.address).expect("a connection");
    folder.wait_for_renewal();
    drop(connection);
    server.terminate();
    assert!(server.wait().success());

    let server = folder.server(&[]);
    let retry = server.send(&slow);
    assert_eq!(retry.status, 201);
    assert!(retry.is_replay(), "the charge was finished before the server ended");
}

#[test]
fn a_server_that_is_asked_twice_to_stop_ends_at_once() {
    let folder = Folder::new();
    let mut server = folder.server(&[]);
    // Longer than this test waits for anything.
    let endless = Request::troubled_charge("key-1", r#"{"delay_ms":300000}"#);
    let _half = Request::charge("key-2", 1000).begin_its_body(server.address).expect("a connection");
    let _whole = endless.begin(server.address).expect("a connection");
    folder.wait_for_claim();
    server.terminate();
    server.wait_until_it_refuses();
    server.terminate();
    assert_eq!(server.wait().code(), Some(1), "a server that finishes, or gives up in time, says success");
}

#[test]
fn a_server_that_is_asked_to_stop_does_not_wait_for_ever_for_half_a_request() {
    let folder = Folder::new();
    let mut server = folder.server(&[]);
    let endless = Request::troubled_charge("key-1", r#"{"delay_ms":300000}"#);
    let _half = Request::charge("key-2", 1000).begin_its_body(server.address).expect("a connection");
    let whole = endless.begin(server.address).expect("a connection");
    folder.wait_for_claim();
    drop(whole);
    server.terminate();
    assert!(server.wait().success(), "one time limit for both, within what this test waits for anything");
}
