//! Somebody else holds the file's write lock.

use std::time::Duration;

use onceonly::{
    ClaimOutcome, CompleteOutcome, Expected, KeyStore, LeaseChange, Release, ReleaseOutcome, RenewOutcome,
    Renewal, Revision, StoreErrorKind,
};
use onceonly_sqlite::SqliteStore;
use tokio::time::timeout;

use crate::support::{self, Database, PATIENCE};

fn impatient() -> onceonly_sqlite::SqliteOptions {
    SqliteStore::options().busy_timeout(Duration::from_millis(100))
}

#[tokio::test]
async fn a_call_waits_for_a_lock_that_comes_free() {
    // B137.
    let database = Database::new();
    let store = database.open_with(SqliteStore::options().busy_timeout(PATIENCE));
    let other = database.open_with(impatient());
    let raw = database.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (key, claim) = (support::key("waits"), support::new_claim(1));
    let mut call = store.claim(&key, &claim, Expected::Absent);
    assert!(support::poll_once(&mut call).is_pending());
    // A less patient store, asked later, has given up by now: the first one has met the lock too.
    let refused = other.claim(&support::key("gives up"), &support::new_claim(2), Expected::Absent).await;
    assert_eq!(refused.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert!(
        support::poll_once(&mut call).is_pending(),
        "the lock is taken, and the call does not wait for it"
    );
    raw.execute_batch("COMMIT").unwrap();
    assert!(matches!(call.await, Ok(ClaimOutcome::Claimed(_))));
}

#[tokio::test]
async fn a_lock_that_stays_is_unavailable_and_nothing_is_written() {
    let database = Database::new();
    let store = database.open_with(impatient());
    let (held, free, token) = (support::key("held"), support::key("free"), support::token(1));
    support::claim(&store, &held, 1).await;
    let before = store.load(&held).await.unwrap().unwrap().record;
    let renewal = Renewal {
        revision: Revision::from_number(2),
        lease: LeaseChange::End,
        checkpoint: Some("late".into()),
    };
    let release = Release { revision: Revision::from_number(2), keep: support::span(support::LEASE) };
    let completion = support::completion(b"done");

    let raw = database.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answers = [
        store.claim(&free, &support::new_claim(2), Expected::Absent).await.map(drop),
        store.renew(&held, token, &renewal).await.map(drop),
        store.complete(&held, token, &completion).await.map(drop),
        store.release(&held, token, &release).await.map(drop),
        store.purge_expired(10).await.map(drop),
    ];
    for answer in answers {
        let error = answer.expect_err("the lock is taken");
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    }
    // Readers wait for nobody.
    assert_eq!(store.load(&held).await.unwrap().unwrap().record, before);
    assert!(store.load(&free).await.unwrap().is_none());
    let occupied = store.claim(&held, &support::new_claim(2), Expected::Absent).await.unwrap();
    assert!(matches!(occupied, ClaimOutcome::Occupied(_)));

    raw.execute_batch("COMMIT").unwrap();
    support::claim(&store, &free, 2).await;
    let renewed = store.renew(&held, token, &renewal).await.unwrap();
    assert!(matches!(renewed, RenewOutcome::Applied(_)));
    let completion = onceonly::Completion { revision: Revision::from_number(3), ..completion };
    assert!(matches!(store.complete(&held, token, &completion).await, Ok(CompleteOutcome::Applied(_))));
    assert_eq!(store.release(&held, token, &release).await.unwrap(), ReleaseOutcome::NotHeld);
}

#[tokio::test]
async fn a_long_queue_waits_no_longer_than_one_call() {
    // 1000 calls that wait one after the other would take a hundred seconds.
    let database = Database::new();
    let store = database.open_with(impatient());
    let raw = database.raw();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let keys: Vec<_> = (0..1000).map(|number| support::key(&number.to_string())).collect();
    let claim = support::new_claim(1);
    let mut calls: Vec<_> = keys.iter().map(|key| store.claim(key, &claim, Expected::Absent)).collect();
    for call in &mut calls {
        assert!(support::poll_once(call).is_pending());
    }
    timeout(PATIENCE, async {
        for call in calls {
            assert_eq!(call.await.unwrap_err().kind(), StoreErrorKind::Unavailable);
        }
    })
    .await
    .expect("the queue ends within the patience of a test");
    raw.execute_batch("COMMIT").unwrap();
    support::claim(&store, &keys[0], 1).await;
}

#[tokio::test]
async fn a_file_that_stays_locked_cannot_be_opened() {
    let database = Database::new();
    let raw = database.raw();
    // As a rollback journal's writer, which keeps even readers out.
    raw.execute_batch("CREATE TABLE business (note TEXT); BEGIN EXCLUSIVE").unwrap();
    let error = impatient().open(database.path()).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    raw.execute_batch("COMMIT").unwrap();
    impatient().open(database.path()).expect("the lock is free");
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_on_two_handles_do_not_fail_each_other() {
    // B136: two handles have two writers, which meet in the file's lock.
    let database = Database::new();
    let stores = [database.open(), database.open()];
    let workers: Vec<_> = (0..20)
        .map(|worker| {
            let store = stores[worker % 2].clone();
            tokio::spawn(async move {
                let mut granted = 0;
                for round in 0..50 {
                    let key = support::key(&format!("round {round}"));
                    let mut claim = support::new_claim(1);
                    claim.token = onceonly::Token::random();
                    match store.claim(&key, &claim, Expected::Absent).await.expect("no busy error gets out") {
                        ClaimOutcome::Claimed(_) => {
                            granted += 1;
                            let completion = support::completion(&claim.token.as_bytes()[..]);
                            let completed = store.complete(&key, claim.token, &completion).await.unwrap();
                            assert!(matches!(completed, CompleteOutcome::Applied(_)));
                        }
                        ClaimOutcome::Occupied(_) => {}
                        ClaimOutcome::Vacant => panic!("nobody deletes"),
                    }
                }
                granted
            })
        })
        .collect();
    let mut granted = 0;
    for worker in workers {
        granted += worker.await.unwrap();
    }
    assert_eq!(granted, 50, "each key is granted once");
}

#[tokio::test]
async fn a_table_that_is_gone_is_rejected() {
    let database = Database::new();
    let store = database.open();
    database.raw().execute_batch("DROP TABLE onceonly_records").unwrap();
    let key = support::key("any");
    assert_eq!(store.load(&key).await.unwrap_err().kind(), StoreErrorKind::Rejected);
    let error = support::try_claim(&store, "any").await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Rejected, "{error}");
}

#[tokio::test]
async fn a_damaged_file_is_corrupt() {
    use std::os::unix::fs::FileExt;

    let database = Database::new();
    let store = database.open();
    support::claim(&store, &support::key("before"), 1).await;
    drop(store);
    support::wait_until(|| !database.log_path().exists());
    let file = std::fs::OpenOptions::new().write(true).open(database.path()).unwrap();
    let pages = file.metadata().unwrap().len() / 4096;
    let store = database.open();
    // Everything but the first page, which says what tables there are.
    for page in 1..pages {
        file.write_all_at(&[0xa5; 4096], page * 4096).unwrap();
    }
    let error = store.load(&support::key("before")).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
    let error = support::try_claim(&store, "before").await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{error}");
}
