//! Charges made once.

use std::thread;

use serde_json::json;

use crate::client::{Request, padded_charge_body};
use crate::server::{Folder, Server};

#[test]
fn a_retry_is_answered_with_the_same_bytes_and_charges_nothing() {
    for server in [Folder::new().server(&[]), Server::start(&["--store", "memory"])] {
        let first = server.send(&Request::charge("key-1", 1000));
        assert_eq!(first.status, 201);
        assert_eq!(first.header("content-type"), Some("application/json"));
        assert_eq!(first.header("idempotent-replayed"), None, "the first answer is no replay");
        let charge = first.json();
        assert!(charge["id"].as_str().is_some_and(|id| id.starts_with("ch_")), "{charge}");

        let second = server.send(&Request::charge("key-1", 1000));
        assert_eq!(second.status, 201);
        assert!(second.is_replay());
        assert_eq!(second.body, first.body);
        assert_eq!(second.own_headers(), first.own_headers());

        let expected = json!({
            "id": charge["id"], "amount": 1000, "currency": "usd", "customer": "cus_8812", "asked": 1
        });
        assert_eq!(server.charges(), [expected]);
    }
}

#[test]
fn another_key_is_another_charge() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let first = server.send(&Request::charge("key-1", 1000));
    let second = server.send(&Request::charge("key-2", 1000));
    assert_eq!((first.status, second.status), (201, 201));
    assert!(!second.is_replay());
    assert_ne!(first.json()["id"], second.json()["id"]);
    assert_eq!(server.charges().len(), 2);
}

#[test]
fn quoted_and_bare_form_are_one_key() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let bare = server.send(&Request::charge("key-1", 1000));
    let quoted = server.send(&Request::charge("\"key-1\"", 1000));
    assert_eq!((bare.status, quoted.status), (201, 201));
    assert!(quoted.is_replay());
}

#[test]
fn accounts_do_not_meet() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let of_demo = server.send(&Request::charge("order-1", 1000));
    let of_other = server.send(&Request::charge("order-1", 2000).header("x-account", "acct_other"));
    assert_eq!((of_demo.status, of_other.status), (201, 201));
    assert!(!of_other.is_replay());

    let demo = server.charges();
    assert_eq!(demo.len(), 1);
    assert_eq!(demo[0]["amount"], 1000);
    assert_eq!(server.charges_of(&Request::get("/charges").header("x-account", "acct_demo")), demo);
    let other = server.charges_of(&Request::get("/charges").header("x-account", "acct_other"));
    assert_eq!(other.len(), 1);
    assert_eq!(other[0]["amount"], 2000);
}

#[test]
fn of_many_at_the_same_time_one_charges() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let request = Request::troubled_charge("key-1", r#"{"delay_ms":20}"#);
    let statuses: Vec<u16> = thread::scope(|scope| {
        let senders: Vec<_> = (0..16).map(|_| scope.spawn(|| server.send(&request))).collect();
        let responses = senders.into_iter().map(|sender| sender.join().expect("an answer"));
        responses.filter(|response| !response.is_replay()).map(|response| response.status).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [201, 409].contains(status)), "{statuses:?}");
    let charges = server.charges();
    assert_eq!((charges.len(), charges[0]["asked"].as_i64()), (1, Some(1)));
}

#[test]
fn the_body_may_be_as_large_as_the_limit() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    assert_eq!(server.send(&Request::post("/charges", padded_charge_body(1 << 20)).key("key-1")).status, 201);
}

#[test]
fn amounts_beyond_the_precision_of_a_float_stay_apart() {
    let folder = Folder::new();
    let server = folder.server(&[]);
    let first = server.send(&Request::charge("key-1", 9_007_199_254_740_993));
    assert_eq!(first.json()["amount"].as_i64(), Some(9_007_199_254_740_993));
    assert_eq!(server.send(&Request::charge("key-1", 9_007_199_254_740_992)).status, 422);
}
