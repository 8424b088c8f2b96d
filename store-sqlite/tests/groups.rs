//! What is committed together, and what that must not do to anybody.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;

use onceonly::{
    ClaimOutcome, ClaimRequest, Clock, CompleteOutcome, Expected, KeyStore, Status, StoreErrorKind,
    SystemClock, Timestamp,
};
use onceonly_sqlite::SqliteStore;

use crate::support::{self, Database, large_body};

/// Room for the table and some small records.
const SMALL: u64 = 256 * 1024;

#[tokio::test]
async fn one_calls_failure_is_not_its_neighbours() {
    let database = Database::new();
    let store = database.open_with(SqliteStore::options().file_bytes_max(SMALL));
    let keys: Vec<_> = (0..20).map(|number| support::key(&number.to_string())).collect();
    for key in &keys {
        support::claim(&store, key, 1).await;
    }
    // While somebody else holds the lock they queue, and are then carried out as one group.
    let raw = database.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (large, small) = (support::completion(&large_body()), support::completion(b"small"));
    let completion = |number| if number == 10 { &large } else { &small };
    let mut calls: Vec<_> = (0..)
        .zip(&keys)
        .map(|(number, key)| store.complete(key, support::token(1), completion(number)))
        .collect();
    for call in &mut calls {
        assert!(support::poll_once(call).is_pending());
    }
    raw.execute_batch("COMMIT").unwrap();
    for (number, call) in calls.into_iter().enumerate() {
        match call.await {
            Ok(CompleteOutcome::Applied(_)) => assert_ne!(number, 10, "there was no room for it"),
            Ok(other) => panic!("{number}: {other:?}"),
            Err(error) => {
                assert_eq!((number, error.kind()), (10, StoreErrorKind::Unavailable), "{error}");
            }
        }
    }
    for (number, key) in keys.iter().enumerate() {
        let record = store.load(key).await.unwrap().expect("nothing is lost").record;
        match record.status {
            Status::Completed(result) => assert_eq!(&result, &completion(number).result),
            status => {
                assert!(number == 10 && matches!(status, Status::InProgress { .. }), "{number}: {status:?}");
            }
        }
    }
    // The same holder may try again with less.
    let again = store.complete(&keys[10], support::token(1), &small).await.unwrap();
    assert!(matches!(again, CompleteOutcome::Applied(_)));
}

#[tokio::test]
async fn one_item_of_a_batch_fails_alone() {
    let store = Database::new().open_with(SqliteStore::options().file_bytes_max(SMALL));
    let request = |number: u8| {
        let mut claim = support::new_claim(number);
        claim.checkpoint = (number == 5).then(|| large_body().into());
        ClaimRequest { key: support::key(&number.to_string()), claim, expected: Expected::Absent }
    };
    let batch: Vec<_> = (0..10).map(request).collect();
    for (number, answer) in store.claim_many(&batch).await.into_iter().enumerate() {
        match answer {
            Ok(outcome) => assert!(number != 5 && matches!(outcome, ClaimOutcome::Claimed(_)), "{outcome:?}"),
            Err(error) => assert_eq!((number, error.kind()), (5, StoreErrorKind::Unavailable), "{error}"),
        }
    }
}

#[tokio::test]
async fn a_full_file_loses_nothing_and_comes_back() {
    let (database, clock) = (Database::new(), support::clock());
    let options = || SqliteStore::options().clock(clock.clone()).file_bytes_max(SMALL);
    let store = database.open_with(options());
    let mut claimed = Vec::new();
    let full = loop {
        let key = support::key(&format!("number {}", claimed.len()));
        match store.claim(&key, &support::new_claim(1), Expected::Absent).await {
            Ok(ClaimOutcome::Claimed(_)) => claimed.push(key),
            Ok(other) => panic!("{other:?}"),
            Err(error) => break error,
        }
    };
    assert_eq!(full.kind(), StoreErrorKind::Unavailable, "{full}");
    assert!(claimed.len() > 100, "{}", claimed.len());
    for key in &claimed {
        assert!(store.load(key).await.unwrap().is_some(), "an acknowledged claim is gone");
    }
    let raw = database.raw();
    let rows: i64 = raw.query_row("SELECT count(*) FROM onceonly_records", [], |row| row.get(0)).unwrap();
    let check: String = raw.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!((rows, check.as_str()), (claimed.len() as i64, "ok"));
    // A purge makes room again.
    clock.advance(support::KEEP_UNRESOLVED);
    assert_eq!(store.purge_expired(u32::MAX).await.unwrap(), claimed.len() as u64);
    support::claim(&store, &support::key("afterwards"), 1).await;
}

#[tokio::test]
async fn a_caller_that_goes_takes_nobody_along() {
    let database = Database::new();
    let store = database.open();
    let (held, kept, dropped) = (support::key("held"), support::key("kept"), support::key("dropped"));
    support::claim(&store, &held, 1).await;
    let raw = database.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (claim, completion) = (support::new_claim(1), support::completion(b"done"));
    {
        let mut goes = store.claim(&dropped, &claim, Expected::Absent);
        let mut goes_too = store.complete(&held, support::token(1), &completion);
        assert!(support::poll_once(&mut goes).is_pending());
        assert!(support::poll_once(&mut goes_too).is_pending());
    }
    let mut stays = store.claim(&kept, &claim, Expected::Absent);
    assert!(support::poll_once(&mut stays).is_pending());
    raw.execute_batch("COMMIT").unwrap();
    assert!(matches!(stays.await, Ok(ClaimOutcome::Claimed(_))));
    // They queued before the one that was answered, so their turn has come.
    assert!(store.load(&dropped).await.unwrap().is_none(), "a claim for nobody blocks its key");
    let record = store.load(&held).await.unwrap().expect("it was there").record;
    assert_eq!(record.status, Status::Completed(completion.result), "a result was dropped with its caller");
}

#[tokio::test]
async fn a_store_that_is_dropped_writes_what_is_queued() {
    let database = Database::new();
    let store = database.open();
    let keys: Vec<_> = (0..50).map(|number| support::key(&number.to_string())).collect();
    for key in &keys {
        support::claim(&store, key, 1).await;
    }
    let raw = database.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let completion = support::completion(b"done");
    for key in &keys {
        let mut call = store.complete(key, support::token(1), &completion);
        assert!(matches!(support::poll_once(&mut call), Poll::Pending));
    }
    drop(store);
    raw.execute_batch("COMMIT").unwrap();
    support::wait_until(|| {
        let sql = "SELECT count(*) FROM onceonly_records WHERE status = 1";
        raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() == keys.len() as i64
    });
    // Only a file that nobody else has open leaves the write-ahead mode: the threads have ended.
    support::wait_until(|| {
        let mode = raw.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0));
        mode.is_ok_and(|mode| mode == "delete")
    });
}

#[tokio::test]
async fn closing_waits_for_what_is_queued() {
    let database = Database::new();
    let (key, completion) = (support::key("key"), support::completion(b"done"));
    let store = database.open_with(SqliteStore::options().busy_timeout(support::PATIENCE));
    support::claim(&store, &key, 1).await;
    let raw = database.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    assert!(support::poll_once(&mut store.complete(&key, support::token(1), &completion)).is_pending());
    let clone = store.clone();
    // Not the last one: it would wait in vain for the lock that is held here.
    store.close();
    std::thread::scope(|scope| {
        let closing = scope.spawn(|| clone.close());
        assert!(!closing.is_finished(), "the write is still to be made");
        raw.execute_batch("COMMIT").unwrap();
        closing.join().unwrap();
    });
    // The last connection to close takes the log away.
    drop(raw);
    assert!(!database.log_path().exists(), "the connections are still open");
    let store = database.open();
    let status = store.load(&key).await.unwrap().unwrap().record.status;
    assert_eq!(status, Status::Completed(completion.result));
}

/// A clock that panics once fails one call. The thread, and everybody else, goes on.
#[tokio::test]
async fn a_call_that_panics_fails_alone() {
    let database = Database::new();
    let panics = Arc::new(AtomicBool::new(false));
    let store = database.open_with(SqliteStore::options().clock(Panicking(Arc::clone(&panics))));
    let key = support::key("charge");
    support::claim(&store, &key, 1).await;
    panics.store(true, Ordering::SeqCst);
    let error = store.complete(&key, support::token(1), &support::completion(b"done")).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Other, "{error}");
    let completed = store.complete(&key, support::token(1), &support::completion(b"done")).await;
    assert!(matches!(completed, Ok(CompleteOutcome::Applied(_))), "{completed:?}");
}

#[derive(Debug)]
struct Panicking(Arc<AtomicBool>);

impl Clock for Panicking {
    fn now(&self) -> Timestamp {
        assert!(!self.0.swap(false, Ordering::SeqCst), "the clock is broken");
        SystemClock.now()
    }
}
