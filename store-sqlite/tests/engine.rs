//! The engine on a file that the application writes to as well.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use onceonly::{
    Answer, Attempt, Clock, Fingerprint, Idempotency, Outcome, Policy, RecordKey, StoredResponse, SystemClock,
};
use onceonly_sqlite::{CompleteIn, SqliteStore};
use rusqlite::{Connection, TransactionBehavior};

use crate::support::{self, Database};

const LEASE: Duration = Duration::from_millis(90);

/// A database with a table of charges, and an engine on it with a lease that runs out soon.
struct Application {
    database: Arc<Database>,
    engine: Idempotency,
    store: SqliteStore,
    key: RecordKey,
}

impl Application {
    fn new(policy: Policy) -> Self {
        let database = Arc::new(Database::new());
        let store = database.open_with(SqliteStore::options().busy_timeout(Duration::from_secs(20)));
        database.raw().execute_batch("CREATE TABLE charges (cents INTEGER)").unwrap();
        let engine = Idempotency::builder(store.clone()).lease(LEASE).policy(policy).build().unwrap();
        Self { database, engine, store, key: support::key("order") }
    }

    async fn run<F, Fut>(&self, handler: F) -> Outcome
    where
        F: FnOnce(Attempt) -> Fut + Send + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        self.engine.run(&self.key, Fingerprint::builder().finish(), handler).await.unwrap()
    }

    fn charges(&self) -> i64 {
        self.database.raw().query_row("SELECT count(*) FROM charges", [], |row| row.get(0)).unwrap()
    }
}

fn charged() -> StoredResponse {
    StoredResponse::new(201, "charged")
}

fn charge(connection: &Connection) {
    connection.execute("INSERT INTO charges (cents) VALUES (1000)", []).unwrap();
}

/// Holds on until the lease, as it stood, has been over for twice its length.
fn outlive_the_lease() {
    let begun = SystemClock.now();
    while SystemClock.now().since(begun) < LEASE * 3 {
        std::thread::yield_now();
    }
}

/// B023: effect and result in one transaction that is open for longer than the lease, while a retry under Rerun tries to
/// take over. The retry finds the result; the effect is there once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_beside_a_transaction_longer_than_the_lease_finds_its_result() {
    let application = Application::new(Policy::Rerun);
    let (store, database) = (application.store.clone(), Arc::clone(&application.database));
    let (opened, is_open) = tokio::sync::oneshot::channel();
    let first = application.run(|attempt| async move {
        let in_transaction = move || {
            let mut connection = database.raw();
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
            charge(&transaction);
            let CompleteIn::Stored(write) = store.complete_in(&transaction, &attempt, charged()).unwrap()
            else {
                panic!("nobody took over")
            };
            opened.send(()).unwrap();
            outlive_the_lease();
            transaction.commit().unwrap();
            write.committed();
        };
        tokio::task::spawn_blocking(in_transaction).await.unwrap();
        Answer::Final(charged())
    });
    let retry = async {
        is_open.await.unwrap();
        application.run(|_| async { unreachable!("the charge is made twice") }).await
    };
    let (first, mut retry) = tokio::join!(first, retry);
    assert_eq!(first, Outcome::Executed(charged()));
    while let Outcome::InProgress(_) = retry {
        retry = application.run(|_| async { unreachable!("the charge is made twice") }).await;
    }
    assert_eq!(retry, Outcome::Replayed(charged()));
    assert_eq!(application.charges(), 1);
}

/// The application holds the file's write lock for longer than the lease, so that no heartbeat gets through.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b023_a_handler_that_locks_the_file_past_its_lease_completes_late() {
    let application = Application::new(Policy::Park);
    let database = Arc::clone(&application.database);
    let first = application
        .run(|_| async move {
            let in_transaction = move || {
                let mut connection = database.raw();
                let transaction =
                    connection.transaction_with_behavior(TransactionBehavior::Immediate).unwrap();
                charge(&transaction);
                outlive_the_lease();
                transaction.commit().unwrap();
            };
            tokio::task::spawn_blocking(in_transaction).await.unwrap();
            Answer::Final(charged())
        })
        .await;
    assert_eq!(first, Outcome::Executed(charged()));
    assert_eq!(application.engine.drain(Duration::from_secs(60)).await.unfinished, 0);
    let stored = application.engine.inspect(&application.key).await.unwrap().unwrap();
    assert_eq!(stored.state, onceonly::RecordState::Completed);
    assert_eq!(application.charges(), 1);
}

/// After a rollback the attempt had no effect: it says so, the key is free, and the next one charges.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_is_rolled_back_frees_the_key() {
    let application = Application::new(Policy::Rerun);
    let executions = Arc::new(AtomicUsize::new(0));
    for (commits, expected) in [(false, 0), (true, 1)] {
        let (store, database) = (application.store.clone(), Arc::clone(&application.database));
        let count = Arc::clone(&executions);
        let outcome = application
            .run(move |attempt| async move {
                count.fetch_add(1, Ordering::SeqCst);
                assert_eq!(attempt.number(), 1);
                let in_transaction = move || {
                    let mut connection = database.raw();
                    let transaction = connection.transaction().unwrap();
                    charge(&transaction);
                    let CompleteIn::Stored(write) =
                        store.complete_in(&transaction, &attempt, charged()).unwrap()
                    else {
                        panic!("nobody took over")
                    };
                    if commits {
                        transaction.commit().unwrap();
                        write.committed();
                        return Answer::Final(charged());
                    }
                    transaction.rollback().unwrap();
                    write.rolled_back();
                    Answer::NoEffect(StoredResponse::new(503, "rolled back"))
                };
                tokio::task::spawn_blocking(in_transaction).await.unwrap()
            })
            .await;
        assert!(matches!(outcome, Outcome::Executed(_)), "{outcome:?}");
        assert_eq!(application.charges(), expected);
    }
    assert_eq!(executions.load(Ordering::SeqCst), 2);
}
