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
