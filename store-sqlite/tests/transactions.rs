//! Effect and result in the application's own transaction.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use onceonly::{
    Claim, ClaimOutcome, Clock, Completion, Decision, Expected, Fingerprint, Idempotency, KeyStore,
    LeaseChange, RecordKey, Release, Renewal, Revision, Status, StoreErrorKind, StoredResponse, SystemClock,
    Timestamp,
};
use onceonly_sqlite::{CompleteIn, Mark, SqliteStore};
use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use crate::support::{self, Database};

/// A database with a table of the application's, and a store on it.
struct Application {
    database: Database,
    store: SqliteStore,
    connection: Connection,
}

impl Application {
    fn new() -> Self {
        Self::with_options(SqliteStore::options())
    }

    fn with_options(options: onceonly_sqlite::SqliteOptions) -> Self {
        let database = Database::new();
        let store = database.open_with(options);
        let connection = database.raw();
        connection.execute_batch("CREATE TABLE charges (cents INTEGER)").unwrap();
        Self { database, store, connection }
    }

    fn charges(&self) -> i64 {
        self.database.raw().query_row("SELECT count(*) FROM charges", [], |row| row.get(0)).unwrap()
    }

    async fn begin(&self, key: &RecordKey) -> Claim {
        let onceonly = Idempotency::new(self.store.clone());
        match onceonly.begin(key, Fingerprint::builder().finish()).await.unwrap() {
            Decision::Execute(claim) => claim,
            other => panic!("the key should be free: {other:?}"),
        }
    }

    async fn status(&self, key: &RecordKey) -> Status {
        self.store.load(key).await.unwrap().expect("the record is there").record.status
    }
}

const CHARGE: &str = "INSERT INTO charges (cents) VALUES (1000)";

fn charged() -> StoredResponse {
    StoredResponse::new(201, "charged")
}

#[tokio::test]
async fn effect_and_result_are_committed_together() {
    let mut application = Application::new();
    let key = support::key("charge");
    let claim = application.begin(&key).await;
    for behavior in [TransactionBehavior::Deferred, TransactionBehavior::Immediate] {
        let transaction = application.connection.transaction_with_behavior(behavior).unwrap();
        transaction.execute(CHARGE, []).unwrap();
        match application.store.complete_in(&transaction, &claim, charged()).unwrap() {
            CompleteIn::Stored(write) => {
                transaction.commit().unwrap();
                write.committed();
            }
            // The second time round, as after a commit whose answer was lost.
            CompleteIn::AlreadyCompleted => transaction.rollback().unwrap(),
            CompleteIn::NotHeld => panic!("nobody took over"),
        }
    }
    assert_eq!(application.charges(), 1);
    assert!(matches!(application.status(&key).await, Status::Completed(result) if result.code() == 201));
}

#[tokio::test]
async fn a_rollback_leaves_neither_effect_nor_result() {
    let mut application = Application::new();
    let key = support::key("charge");
    let claim = application.begin(&key).await;
    let transaction = application.connection.transaction().unwrap();
    transaction.execute(CHARGE, []).unwrap();
    let CompleteIn::Stored(write) = application.store.complete_in(&transaction, &claim, charged()).unwrap()
    else {
        panic!("nobody took over");
    };
    transaction.rollback().unwrap();
    write.rolled_back();
    assert_eq!(application.charges(), 0);
    assert_eq!(application.status(&key).await, Status::InProgress { checkpoint: None });

    let transaction = application.connection.transaction().unwrap();
    transaction.execute(CHARGE, []).unwrap();
    let again = application.store.complete_in(&transaction, &claim, charged()).unwrap();
    assert!(matches!(again, CompleteIn::Stored(_)), "{again:?}");
    transaction.commit().unwrap();
    assert_eq!(application.charges(), 1);
}

#[tokio::test]
async fn a_holder_that_was_displaced_does_not_hold() {
    let mut application = Application::new();
    let key = support::key("charge");
    let claim = application.begin(&key).await;
    let version = application.store.load(&key).await.unwrap().unwrap().record.version;
    application.store.claim(&key, &support::new_claim(2), Expected::Exactly(version)).await.unwrap();
    let transaction = application.connection.transaction().unwrap();
    transaction.execute(CHARGE, []).unwrap();
    let late = application.store.complete_in(&transaction, &claim, charged()).unwrap();
    assert!(matches!(late, CompleteIn::NotHeld), "{late:?}");
    transaction.rollback().unwrap();
    assert_eq!(application.charges(), 0);
}

#[tokio::test]
async fn b023_a_transaction_longer_than_the_lease_ends_in_one_result() {
    let clock = support::clock();
    let options = SqliteStore::options().clock(clock.clone()).busy_timeout(support::PATIENCE);
    let mut application = Application::with_options(options);
    let key = support::key("charge");
    let claim = application.begin(&key).await;
    let transaction = application.connection.transaction().unwrap();
    transaction.execute(CHARGE, []).unwrap();
    let CompleteIn::Stored(write) = application.store.complete_in(&transaction, &claim, charged()).unwrap()
    else {
        panic!("nobody took over");
    };
    // To everybody else the claim now looks abandoned, and somebody takes it over.
    clock.advance(support::LEASE * 2);
    let seen = application.store.load(&key).await.unwrap().unwrap();
    assert!(seen.record.lease_until <= seen.now, "{seen:?}");
    let (takeover, expected) = (support::new_claim(2), Expected::Exactly(seen.record.version));
    let mut rival = application.store.claim(&key, &takeover, expected);
    assert!(support::poll_once(&mut rival).is_pending());
    transaction.commit().unwrap();
    write.committed();
    let ClaimOutcome::Occupied(snapshot) = rival.await.unwrap() else { panic!("the key was granted twice") };
    assert!(matches!(snapshot.record.status, Status::Completed(result) if result.code() == 201));
    assert_eq!(application.charges(), 1);
}

#[tokio::test]
async fn a_stale_snapshot_is_an_error_to_be_retried() {
    let mut application = Application::new();
    let key = support::key("charge");
    let claim = application.begin(&key).await;
    let transaction = application.connection.transaction().unwrap();
    transaction.query_row("SELECT count(*) FROM charges", [], |row| row.get::<_, i64>(0)).unwrap();
    support::claim(&application.store, &support::key("another"), 1).await;
    let errors = [
        application.store.complete_in(&transaction, &claim, charged()).map(drop).unwrap_err(),
        application.store.mark_in(&transaction, &support::key("message")).map(drop).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("run it again"), "{error}");
    }
    transaction.rollback().unwrap();
    let transaction = application.connection.transaction().unwrap();
    let again = application.store.complete_in(&transaction, &claim, charged()).unwrap();
    assert!(matches!(again, CompleteIn::Stored(_)));
}

/// SQLite undoes a transaction by itself, and its value goes on in autocommit: a result written over it would be stored
/// without the effect, and replayed for a day.
#[tokio::test]
async fn a_transaction_that_sqlite_has_undone_is_refused() {
    for undone_by in ["constraint", "full disk"] {
        let mut application = Application::new();
        let (key, message) = (support::key("charge"), support::key("message"));
        let claim = application.begin(&key).await;
        application
            .connection
            .execute_batch("CREATE TABLE only (id INTEGER PRIMARY KEY); INSERT INTO only VALUES (1)")
            .unwrap();
        if undone_by == "full disk" {
            application.connection.pragma_update(None, "max_page_count", 64).unwrap();
        }
        let transaction = application.connection.transaction().unwrap();
        transaction.execute(CHARGE, []).unwrap();
        let undoing = match undone_by {
            "constraint" => "INSERT OR ROLLBACK INTO only VALUES (1)",
            _ => {
                "INSERT INTO charges (cents) SELECT value FROM (WITH RECURSIVE n(value) AS
                  (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 1000000) SELECT value FROM n)"
            }
        };
        transaction.execute(undoing, []).unwrap_err();
        assert!(transaction.is_autocommit(), "{undone_by}: SQLite has not undone it");

        let refused = [
            application.store.complete_in(&transaction, &claim, charged()).map(drop).unwrap_err(),
            application.store.mark_in(&transaction, &message).map(drop).unwrap_err(),
        ];

        for error in refused {
            assert_eq!(error.kind(), StoreErrorKind::Rejected, "{undone_by}: {error}");
            assert!(error.to_string().contains("run it again"), "{error}");
        }
        drop(transaction);
        assert_eq!(application.charges(), 0);
        assert!(matches!(application.status(&key).await, Status::InProgress { .. }), "{undone_by}");
        assert_eq!(application.store.load(&message).await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_transaction_on_another_file_is_rejected() {
    let application = Application::new();
    let (key, elsewhere) = (support::key("charge"), Database::new());
    let claim = application.begin(&key).await;
    // With the same table in it, which would otherwise take the result.
    let other_store = elsewhere.open();
    support::claim(&other_store, &key, 1).await;
    let mut other = elsewhere.raw();
    let transaction = other.transaction().unwrap();
    let error = application.store.complete_in(&transaction, &claim, charged()).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Rejected, "{error}");
    let error = application.store.mark_in(&transaction, &key).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Rejected, "{error}");
    drop(transaction);
    let mut memory = Connection::open_in_memory().unwrap();
    let in_memory = SqliteStore::in_memory().unwrap();
    let error = in_memory.mark_in(&memory.transaction().unwrap(), &key).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Rejected, "{error}");
}

#[tokio::test]
async fn a_temporary_table_of_that_name_is_not_taken_for_it() {
    let mut application = Application::new();
    let sql = "CREATE TEMP TABLE onceonly_records AS SELECT * FROM main.onceonly_records";
    application.connection.execute_batch(sql).unwrap();
    let key = support::key("message");
    let transaction = application.connection.transaction().unwrap();
    assert_eq!(application.store.mark_in(&transaction, &key).unwrap(), Mark::First);
    assert_eq!(application.store.mark_in(&transaction, &key).unwrap(), Mark::Duplicate);
    transaction.commit().unwrap();
    assert!(application.store.load(&key).await.unwrap().is_some());
}

#[tokio::test]
async fn a_message_is_first_once() {
    let clock = support::clock();
    let retention = Duration::from_hours(1);
    let options = SqliteStore::options().clock(clock.clone()).mark_retention(support::span(retention));
    let mut application = Application::with_options(options);
    let key = support::key("message");
    let deliver = |application: &mut Application| {
        let transaction = application.connection.transaction().unwrap();
        let mark = application.store.mark_in(&transaction, &key).unwrap();
        if mark == Mark::First {
            transaction.execute(CHARGE, []).unwrap();
        }
        transaction.commit().unwrap();
        mark
    };
    assert_eq!(deliver(&mut application), Mark::First);
    assert_eq!(deliver(&mut application), Mark::Duplicate);
    clock.advance(retention - Duration::from_micros(1));
    assert_eq!(deliver(&mut application), Mark::Duplicate);
    clock.advance(Duration::from_micros(1));
    assert_eq!(deliver(&mut application), Mark::First, "the mark is past its time");
    assert_eq!(application.charges(), 2);
    assert!(matches!(application.status(&support::key("message")).await, Status::Completed(_)));
}

#[tokio::test]
async fn a_mark_that_is_rolled_back_was_never_there() {
    let mut application = Application::new();
    let key = support::key("message");
    let transaction = application.connection.transaction().unwrap();
    assert_eq!(application.store.mark_in(&transaction, &key).unwrap(), Mark::First);
    transaction.rollback().unwrap();
    assert!(application.store.load(&key).await.unwrap().is_none());
    let transaction = application.connection.transaction().unwrap();
    assert_eq!(application.store.mark_in(&transaction, &key).unwrap(), Mark::First);
}

#[tokio::test]
async fn a_rivals_open_mark_is_busy_and_the_transaction_stays_usable() {
    let mut application = Application::new();
    let key = support::key("message");
    let mut rival = application.database.raw();
    let marking = rival.transaction().unwrap();
    assert_eq!(application.store.mark_in(&marking, &key).unwrap(), Mark::First);

    application.connection.busy_timeout(Duration::from_millis(50)).unwrap();
    let transaction = application.connection.transaction().unwrap();
    assert_eq!(application.store.mark_in(&transaction, &key).unwrap(), Mark::Busy);
    marking.commit().unwrap();
    assert_eq!(application.store.mark_in(&transaction, &key).unwrap(), Mark::Duplicate);
    transaction.commit().unwrap();
}

#[tokio::test]
async fn a_claimed_key_is_busy_until_it_is_given_up() {
    let clock = support::clock();
    let mut application = Application::with_options(SqliteStore::options().clock(clock.clone()));
    let key = support::key("message");
    support::claim(&application.store, &key, 1).await;
    let transaction = application.connection.transaction().unwrap();
    assert_eq!(application.store.mark_in(&transaction, &key).unwrap(), Mark::Busy);
    // Abandoned is not undone: whether the effect happened, nobody knows.
    clock.advance(support::LEASE);
    assert_eq!(application.store.mark_in(&transaction, &key).unwrap(), Mark::Busy);
    clock.advance(support::KEEP_UNRESOLVED);
    assert_eq!(application.store.mark_in(&transaction, &key).unwrap(), Mark::First);
    transaction.commit().unwrap();
}

#[tokio::test]
async fn the_clock_is_read_under_the_write_lock() {
    // Read before a wait for the lock, it would make a deadline that has passed meanwhile look far away.
    let application = Application::new();
    let witness = Witness::default();
    let store = application.database.open_with(SqliteStore::options().readers(0).clock(witness.clone()));
    witness.watch(application.database.raw());

    let (token, completion) = (support::token(1), support::completion(b"done"));
    let (held, released, message) = (support::key("held"), support::key("released"), support::key("message"));
    support::claim(&store, &held, 1).await;
    support::claim(&store, &released, 1).await;
    let renewal = Renewal { revision: Revision::from_number(2), lease: LeaseChange::End, checkpoint: None };
    store.renew(&held, token, &renewal).await.unwrap();
    store
        .complete(&held, token, &Completion { revision: Revision::from_number(3), ..completion })
        .await
        .unwrap();
    let release = Release { revision: Revision::from_number(2), keep: support::span(support::LEASE) };
    store.release(&released, token, &release).await.unwrap();
    store.purge_expired(1).await.unwrap();

    let key = support::key("charge");
    let claim = application.begin(&key).await;
    let mut connection = application.database.raw();
    let transaction = connection.transaction().unwrap();
    assert_eq!(store.mark_in(&transaction, &message).unwrap(), Mark::First);
    transaction.commit().unwrap();
    let transaction = connection.transaction().unwrap();
    let stored = store.complete_in(&transaction, &claim, charged()).unwrap();
    assert!(matches!(stored, CompleteIn::Stored(_)));
    transaction.commit().unwrap();
    assert_eq!(witness.looks(), 8);
}

/// The host's clock, which looks at each reading whether the write lock is taken.
#[derive(Clone, Debug, Default)]
struct Witness(Arc<Mutex<Watching>>);

#[derive(Debug, Default)]
struct Watching {
    connection: Option<Connection>,
    looks: usize,
}

impl Witness {
    fn watch(&self, connection: Connection) {
        connection.busy_timeout(Duration::ZERO).unwrap();
        self.0.lock().unwrap().connection = Some(connection);
    }

    fn looks(&self) -> usize {
        self.0.lock().unwrap().looks
    }
}

impl Clock for Witness {
    fn now(&self) -> Timestamp {
        let mut watching = self.0.lock().unwrap();
        if let Some(connection) = &watching.connection {
            let lock = connection.execute_batch("BEGIN IMMEDIATE; COMMIT");
            let code = lock.err().and_then(|taken| taken.sqlite_error_code());
            assert_eq!(code, Some(ErrorCode::DatabaseBusy), "the clock is read without the lock");
            watching.looks += 1;
        }
        SystemClock.now()
    }
}
