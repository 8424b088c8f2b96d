//! Effect and result, or effect and mark, in one transaction.

use onceonly::{
    Answer, CompleteIn, Decision, Fingerprint, Idempotency, KeyStore, Mark, Outcome, Policy, RecordKey,
    Status, StoreErrorKind, StoredResponse,
};
use onceonly_postgres::{CompleteWith, PostgresStore, TransactionError};
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::{AssertSqlSafe, Connection, Executor};

use crate::support::{Table, key};

#[tokio::test]
async fn effect_and_result_are_committed_together() {
    let application = Application::new().await;
    let claim = application.claim(&key("order-1")).await;
    let mut connection = application.table.connect().await;
    let mut transaction = connection.begin().await.unwrap();
    application.charge(&mut transaction).await;

    let CompleteIn::Stored(write) =
        application.store.complete_in(&mut transaction, &claim, charged()).await.unwrap()
    else {
        panic!("the claim is held");
    };
    transaction.commit().await.unwrap();
    write.committed();

    assert_eq!(application.charges().await, 1);
    let record = application.store.load(&key("order-1")).await.unwrap().unwrap().record;
    assert!(matches!(record.status, Status::Completed(_)), "{record:?}");
}

#[tokio::test]
async fn a_rollback_leaves_neither_effect_nor_result() {
    let application = Application::new().await;
    let claim = application.claim(&key("order-1")).await;
    let mut connection = application.table.connect().await;
    let mut transaction = connection.begin().await.unwrap();
    application.charge(&mut transaction).await;
    let written = application.store.complete_in(&mut transaction, &claim, charged()).await.unwrap();
    assert!(matches!(written, CompleteIn::Stored(_)));

    transaction.rollback().await.unwrap();

    assert_eq!(application.charges().await, 0);
    let record = application.store.load(&key("order-1")).await.unwrap().unwrap().record;
    assert!(matches!(record.status, Status::InProgress { .. }), "{record:?}");
}

#[tokio::test]
async fn without_a_transaction_nothing_is_written() {
    let application = Application::new().await;
    let claim = application.claim(&key("order-1")).await;
    let mut connection = application.table.connect().await;

    let refusal = application.store.complete_in(&mut connection, &claim, charged()).await.unwrap_err();

    let TransactionError::Failed(refusal) = refusal else { panic!("{refusal}") };
    assert_eq!(refusal.kind(), StoreErrorKind::Rejected);
    let record = application.store.load(&key("order-1")).await.unwrap().unwrap().record;
    assert!(matches!(record.status, Status::InProgress { .. }), "{record:?}");
}

#[tokio::test]
async fn a_claim_that_was_taken_over_is_told_to_roll_back() {
    let application = Application::new().await;
    let claim = application.claim(&key("order-1")).await;
    application.table.execute("UPDATE {table} SET lease_until = created_at").await;
    let _taker = application.claim(&key("order-1")).await;
    let mut connection = application.table.connect().await;
    let mut transaction = connection.begin().await.unwrap();

    let late = application.store.complete_in(&mut transaction, &claim, charged()).await.unwrap();

    assert!(matches!(late, CompleteIn::NotHeld), "{late:?}");
}

#[tokio::test]
async fn at_repeatable_read_a_transaction_that_met_another_one_is_to_be_run_again() {
    let application = Application::new().await;
    let claim = application.claim(&key("order-1")).await;
    let mut connection = application.table.connect().await;
    let mut transaction = connection.begin().await.unwrap();
    transaction.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ").await.unwrap();
    application.charge(&mut transaction).await;
    // The heartbeat renews, behind the snapshot that the transaction has by now.
    application.table.execute("UPDATE {table} SET lease_until = lease_until + interval '1 s'").await;

    let refusal = application.store.complete_in(&mut transaction, &claim, charged()).await.unwrap_err();

    assert!(matches!(refusal, TransactionError::RunAgain(_)), "{refusal:?}");
}

#[tokio::test]
async fn under_run_a_handler_completes_in_a_transaction_of_the_pool() {
    let application = Application::new().await;
    let pool = PgPool::connect(&application.table.url).await.unwrap();
    let (store, table) = (application.store.clone(), application.table.name.clone());
    let handler = move |attempt: onceonly::Attempt| async move {
        let charging = store.complete_with(&pool, &attempt, move |connection| {
            Box::pin(async move {
                let insert = format!("INSERT INTO {table}_charges VALUES (1000)");
                connection.execute(AssertSqlSafe(insert)).await.unwrap();
                Ok::<_, TransactionError>(charged())
            })
        });
        match charging.await {
            Ok(CompleteWith::Committed(response)) => Answer::Final(response),
            other => panic!("{other:?}"),
        }
    };

    let first = application.engine.run(&key("order-1"), fingerprint(), handler.clone()).await.unwrap();
    let again = application.engine.run(&key("order-1"), fingerprint(), handler).await.unwrap();

    assert!(matches!(first, Outcome::Executed { .. }), "{first:?}");
    assert!(matches!(again, Outcome::Replayed(_)), "{again:?}");
    assert_eq!(application.charges().await, 1);
}

#[tokio::test]
async fn work_that_fails_leaves_nothing_behind() {
    let application = Application::new().await;
    let pool = PgPool::connect(&application.table.url).await.unwrap();
    let attempt = application.claim(&key("order-1")).await.attempt().clone();
    let table = application.table.name.clone();
    let charging = application.store.complete_with(&pool, &attempt, move |connection| {
        Box::pin(async move {
            let insert = format!("INSERT INTO {table}_charges VALUES (1000)");
            connection.execute(AssertSqlSafe(insert)).await.unwrap();
            Err(Declined)
        })
    });
    let declined: Result<CompleteWith, Declined> = charging.await;

    assert!(declined.is_err());
    assert_eq!(application.charges().await, 0);
}

#[tokio::test]
async fn a_message_is_marked_once() {
    let application = Application::new().await;
    let mut connection = application.table.connect().await;

    let mut transaction = connection.begin().await.unwrap();
    assert_eq!(application.store.mark_in(&mut transaction, &key("message-1")).await.unwrap(), Mark::First);
    assert_eq!(
        application.store.mark_in(&mut transaction, &key("message-1")).await.unwrap(),
        Mark::Duplicate
    );
    transaction.commit().await.unwrap();

    let mut transaction = connection.begin().await.unwrap();
    assert_eq!(
        application.store.mark_in(&mut transaction, &key("message-1")).await.unwrap(),
        Mark::Duplicate
    );
}

#[tokio::test]
async fn a_mark_that_was_rolled_back_was_never_there() {
    let application = Application::new().await;
    let mut connection = application.table.connect().await;
    let mut transaction = connection.begin().await.unwrap();
    assert_eq!(application.store.mark_in(&mut transaction, &key("message-1")).await.unwrap(), Mark::First);
    transaction.rollback().await.unwrap();

    let mut transaction = connection.begin().await.unwrap();
    assert_eq!(application.store.mark_in(&mut transaction, &key("message-1")).await.unwrap(), Mark::First);
}

#[tokio::test]
async fn beside_an_open_mark_a_second_one_is_busy_and_its_transaction_usable() {
    let application = Application::new().await;
    let (mut first, mut second) = (application.table.connect().await, application.table.connect().await);
    let mut open = first.begin().await.unwrap();
    assert_eq!(application.store.mark_in(&mut open, &key("message-1")).await.unwrap(), Mark::First);

    let mut transaction = second.begin().await.unwrap();
    assert_eq!(application.store.mark_in(&mut transaction, &key("message-1")).await.unwrap(), Mark::Busy);
    assert_eq!(application.store.mark_in(&mut transaction, &key("message-2")).await.unwrap(), Mark::First);
    application.charge(&mut transaction).await;
    transaction.commit().await.unwrap();

    open.commit().await.unwrap();
    assert_eq!(application.charges().await, 1);
}

#[tokio::test]
async fn a_mark_takes_the_place_of_what_is_past_its_time_or_released() {
    let application = Application::new().await;
    let mut connection = application.table.connect().await;
    for past in ["status = 2", "expires_at = created_at, unresolved_until = created_at"] {
        let name = format!("message {past}").replace(['=', ' ', ','], "-");
        drop(application.claim(&key(&name)).await);
        application.table.execute(&format!("UPDATE {{table}} SET {past}, checkpoint = NULL")).await;

        let mut transaction = connection.begin().await.unwrap();
        let mark = application.store.mark_in(&mut transaction, &key(&name)).await.unwrap();
        transaction.commit().await.unwrap();

        assert_eq!(mark, Mark::First, "{past}");
    }
}

#[tokio::test]
async fn a_message_that_is_claimed_is_busy() {
    let application = Application::new().await;
    let _claim = application.claim(&key("message-1")).await;
    let mut connection = application.table.connect().await;
    let mut transaction = connection.begin().await.unwrap();

    assert_eq!(application.store.mark_in(&mut transaction, &key("message-1")).await.unwrap(), Mark::Busy);
}

/// Keys, and charges in the same database.
struct Application {
    table: Table,
    store: PostgresStore,
    engine: Idempotency,
}

impl Application {
    async fn new() -> Self {
        let table = Table::migrated().await;
        table.execute("CREATE TABLE {table}_charges (cents bigint)").await;
        let store = table.store().await;
        let engine = Idempotency::builder(store.clone()).policy(Policy::Rerun).build().unwrap();
        Self { table, store, engine }
    }

    async fn claim(&self, key: &RecordKey) -> onceonly::Claim {
        match self.engine.begin(key, fingerprint()).await.unwrap() {
            Decision::Execute(claim) => claim,
            other => panic!("{other:?}"),
        }
    }

    async fn charge(&self, connection: &mut PgConnection) {
        let insert = format!("INSERT INTO {}_charges VALUES (1000)", self.table.name);
        connection.execute(AssertSqlSafe(insert)).await.unwrap();
    }

    async fn charges(&self) -> i64 {
        self.table.number("SELECT count(*) FROM {table}_charges").await
    }
}

#[derive(Debug)]
struct Declined;

impl From<TransactionError> for Declined {
    fn from(_: TransactionError) -> Self {
        Self
    }
}

fn fingerprint() -> Fingerprint {
    Fingerprint::builder().part("body", "charge 1000 usd").finish()
}

fn charged() -> StoredResponse {
    StoredResponse::new(201, "charged")
}
