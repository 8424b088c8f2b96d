//! A database that cannot be opened says why.

use std::fs;
use std::sync::Arc;

use onceonly::{Answer, Fingerprint, Idempotency, Outcome, StoreErrorKind, StoredResponse};

use crate::support::{Backend, Fjall, Redb, key, on_both};

on_both! {
    a_database_that_is_open_already_is_refused
    a_retry_after_a_restart_is_replayed
}

async fn a_database_that_is_open_already_is_refused<B: Backend>() {
    let folder = tempfile::tempdir().unwrap();
    let _first = B::open(folder.path()).unwrap();
    let second = B::open(folder.path()).err().unwrap();
    assert_eq!(second.kind(), StoreErrorKind::Rejected, "{second}");
}

/// The whole way: the engine over the store, twice.
async fn a_retry_after_a_restart_is_replayed<B: Backend>() {
    let folder = tempfile::tempdir().unwrap();
    let fingerprint = Fingerprint::builder().part("body", "charge 1000 usd").finish();
    let response = StoredResponse::new(201, "charged");
    for start in 1..=2 {
        let store = B::open(folder.path()).unwrap();
        let idempotency = Idempotency::new(Arc::clone(&store));
        let handler = |_| async { Answer::Final(StoredResponse::new(201, "charged")) };
        let outcome = idempotency.run(&key("order-77"), fingerprint, handler).await.unwrap();
        match (start, outcome) {
            (1, Outcome::Executed(given)) | (2, Outcome::Replayed(given)) => assert_eq!(given, response),
            (_, other) => panic!("start {start}: {other:?}"),
        }
        drop(idempotency);
        // Nobody but this test has the database open any more.
        while Arc::strong_count(&store) > 1 {
            tokio::task::yield_now().await;
        }
    }
}

#[test]
fn a_file_that_is_no_redb_database_is_reported_and_left() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys.redb");
    fs::write(&file, "something else entirely").unwrap();
    assert_eq!(Redb::open(folder.path()).err().unwrap().kind(), StoreErrorKind::Corrupt);
    assert_eq!(fs::read(&file).unwrap(), b"something else entirely");
}

#[test]
fn a_folder_of_another_fjall_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    drop(Fjall::open(folder.path()).unwrap());
    fs::write(folder.path().join("keys.fjall/version"), "FJL\u{9}").unwrap();
    assert_eq!(Fjall::open(folder.path()).err().unwrap().kind(), StoreErrorKind::Corrupt);
}

#[test]
fn a_folder_that_cannot_be_made_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    assert_eq!(Redb::open(&missing).err().unwrap().kind(), StoreErrorKind::Unavailable);
    fs::write(folder.path().join("file"), "").unwrap();
    let below_a_file = folder.path().join("file");
    assert_eq!(Fjall::open(&below_a_file).err().unwrap().kind(), StoreErrorKind::Unavailable);
}
