//! Effect and result in one transaction: the record is written over the caller's own connection.

use std::future::Future;
use std::pin::Pin;

use onceonly::{
    CompleteIn, CompleteOutcome, Holding, Mark, Record, RecordKey, Snapshot, StoreError, StoredResponse,
    Timestamp, encode_headers,
};
use sqlx::postgres::{PgConnection, PgPool, PgRow};
use sqlx::{AssertSqlSafe, Connection, Row};

use crate::carry;
use crate::error::Error;
use crate::job::Complete;
use crate::row;
use crate::store::PostgresStore;
use crate::types::{Sixteen, interval};

/// A write in the caller's transaction has failed. Roll back.
#[derive(Debug, thiserror::Error)]
#[expect(clippy::exhaustive_enums, reason = "each asks for another thing to do behind the rollback")]
pub enum TransactionError {
    /// The transaction met another one: at `REPEATABLE READ` and above somebody has written the record since the
    /// transaction began, or the two would wait for each other. Run all of it again.
    #[error("the transaction met another one and is to be run again")]
    RunAgain(#[source] StoreError),
    /// Anything else.
    #[error(transparent)]
    Failed(#[from] StoreError),
}

/// What became of [`PostgresStore::complete_with`].
#[derive(Debug)]
#[must_use = "only `Committed` has had an effect"]
#[expect(clippy::exhaustive_enums, reason = "only one of them has had an effect")]
pub enum CompleteWith {
    /// Effect and result are committed.
    Committed(StoredResponse),
    /// An earlier transaction of this same claim has committed effect and result. This one was rolled back.
    AlreadyCompleted,
    /// Somebody else took over, or the record is past its time. This transaction was rolled back.
    NotHeld,
}

/// The work of a transaction, over its connection.
pub type Work<'c, E> = Pin<Box<dyn Future<Output = Result<StoredResponse, E>> + Send + 'c>>;

impl PostgresStore {
    /// Stores `response` as the result of `claim` in the caller's own transaction, so that effect and result are
    /// committed together or not at all. Then `Policy::Rerun` is right for the operation, and even a lease that ran out
    /// cannot double the effect.
    ///
    /// `connection` is one of the application's own, with a transaction open on it that was begun with
    /// [`Connection::begin`], in the database of the store. The role needs to select and update the table. The record is
    /// locked from here to the transaction's end: make this its last step, or keep short what follows. The claim is not
    /// renewed meanwhile. Call it once in a transaction.
    ///
    /// A dropped future leaves the transaction in an unknown state: roll it back.
    ///
    /// # Errors
    /// Roll back on every one of them; [`TransactionError::RunAgain`] then asks for another try.
    /// [`Rejected`](onceonly::StoreErrorKind::Rejected) if no transaction is open.
    pub async fn complete_in(
        &self,
        connection: &mut PgConnection,
        claim: &impl Holding,
        response: StoredResponse,
    ) -> Result<CompleteIn, TransactionError> {
        in_transaction(connection)?;
        let write = claim.transaction_write();
        let completion = write.completion(response);
        let call = Complete { key: write.key().clone(), token: write.token(), completion };
        let statements = &self.settings().statements;
        let outcome = carry::all(connection, statements, &[&call]).await.and_then(|mut all| all.remove(0));
        Ok(match outcome.map_err(judged)? {
            CompleteOutcome::Applied(_) => CompleteIn::Stored(write),
            CompleteOutcome::AlreadyCompleted(_) => CompleteIn::AlreadyCompleted,
            CompleteOutcome::NotHeld => CompleteIn::NotHeld,
        })
    }

    /// Runs `work` in a transaction on a connection of `pool`, stores its response as the result of `claim` in the same
    /// transaction, and commits both. If `work` fails, or the claim is no longer held, nothing of it remains.
    ///
    /// The transaction runs in a task of its own on the current Tokio runtime, to its end also if this future is dropped:
    /// a dropped `begin` would leave an open transaction in the pool. Whether it was committed is then to be seen in the
    /// record.
    ///
    /// # Errors
    /// What `work` fails with, and a [`TransactionError`] of the writes around it. Where the connection breaks at the
    /// commit, nobody knows whether it happened: call again with the same claim, which answers
    /// [`CompleteWith::AlreadyCompleted`] if it has.
    pub async fn complete_with<C, F, E>(&self, pool: &PgPool, claim: &C, work: F) -> Result<CompleteWith, E>
    where
        C: Holding + Clone + Send + Sync + 'static,
        F: for<'c> FnOnce(&'c mut PgConnection) -> Work<'c, E> + Send + 'static,
        E: From<TransactionError> + Send + 'static,
    {
        let (store, pool, claim) = (self.clone(), pool.clone(), claim.clone());
        let running = tokio::spawn(async move {
            let mut transaction = pool.begin().await.map_err(of_sqlx)?;
            let response = work(&mut transaction).await?;
            match store.complete_in(&mut transaction, &claim, response.clone()).await? {
                CompleteIn::Stored(write) => {
                    transaction.commit().await.map_err(of_sqlx)?;
                    write.committed();
                    Ok(CompleteWith::Committed(response))
                }
                CompleteIn::AlreadyCompleted => {
                    transaction.rollback().await.map_err(of_sqlx)?;
                    Ok(CompleteWith::AlreadyCompleted)
                }
                CompleteIn::NotHeld => {
                    transaction.rollback().await.map_err(of_sqlx)?;
                    Ok(CompleteWith::NotHeld)
                }
            }
        });
        match running.await {
            Ok(outcome) => outcome,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(judged(Error::Unanswered("the runtime has ended")).into()),
            },
        }
    }

    /// Marks `key` as done in the caller's own transaction: for consumers whose effect is a write to the same database.
    /// One insert and one commit, no lease and no stored answer.
    ///
    /// The mark is kept for [`PostgresOptions::mark_retention`](crate::PostgresOptions::mark_retention). A rollback takes
    /// it back together with the effect. If another open transaction marks the key, the answer is [`Mark::Busy`] without
    /// a wait, and the transaction stays usable.
    ///
    /// # Errors
    /// Those of [`complete_in`](Self::complete_in). [`Corrupt`](onceonly::StoreErrorKind::Corrupt) if what is stored under
    /// the key cannot be read.
    pub async fn mark_in(
        &self,
        connection: &mut PgConnection,
        key: &RecordKey,
    ) -> Result<Mark, TransactionError> {
        in_transaction(connection)?;
        self.mark(connection, key).await.map_err(judged)
    }

    async fn mark(&self, connection: &mut PgConnection, key: &RecordKey) -> Result<Mark, Error> {
        let settings = self.settings();
        // Its deadlines are reckoned by the server.
        let mark = MarkColumns::of(&Record::marked(settings.mark_retention, Timestamp::from_micros(0)));
        let digest = row::key_digest(key);
        let row: PgRow = sqlx::query(AssertSqlSafe(settings.statements.mark.clone()))
            .bind(digest)
            .bind(key.scope().name().map(str::as_bytes))
            .bind(key.key().as_str().as_bytes())
            .bind(mark.token)
            .bind(&mark.fingerprint)
            .bind(interval(settings.mark_retention))
            .bind(mark.code)
            .bind(&mark.headers)
            .bind(lock_number(digest))
            .fetch_one(&mut *connection)
            .await?;
        if row.try_get(17)? {
            return Ok(Mark::First);
        }
        if row.try_get::<Option<Sixteen>, _>(0)?.is_none() {
            return Ok(Mark::Busy);
        }
        let Snapshot { record, now } = row::snapshot(&row, key)?;
        if let Some(met) = Mark::met(&record, now) {
            return Ok(met);
        }
        let replaced = sqlx::query(AssertSqlSafe(settings.statements.mark_over.clone()))
            .bind(digest)
            .bind(Sixteen(*record.version.token.as_bytes()))
            .bind(mark.token)
            .bind(&mark.fingerprint)
            .bind(interval(settings.mark_retention))
            .bind(mark.code)
            .bind(&mark.headers)
            .bind(i64::from(record.version.revision.number()))
            .fetch_optional(connection)
            .await?;
        Ok(if replaced.is_some() { Mark::First } else { Mark::Busy })
    }
}

/// The columns of a mark that the server does not reckon.
struct MarkColumns {
    token: Sixteen,
    fingerprint: Vec<u8>,
    code: i32,
    headers: Vec<u8>,
}

impl MarkColumns {
    fn of(mark: &Record) -> Self {
        let (code, headers) = match &mark.status {
            onceonly::Status::Completed(result) => (result.code(), result.headers()),
            _ => (0, &[][..]),
        };
        Self {
            token: Sixteen(*mark.version.token.as_bytes()),
            fingerprint: mark.fingerprint.to_bytes().to_vec(),
            code: code.into(),
            headers: encode_headers(headers),
        }
    }
}

/// Which advisory lock two transactions that mark one key meet at. Others may use the same number: then one turns away
/// that need not have, and is delivered again.
fn lock_number(Sixteen(digest): Sixteen) -> i64 {
    let [a, b, c, d, e, f, g, h, ..] = digest;
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

fn in_transaction(connection: &PgConnection) -> Result<(), TransactionError> {
    if connection.is_in_transaction() {
        return Ok(());
    }
    Err(judged(Error::SetUp("no transaction is open on the connection")))
}

fn judged(error: Error) -> TransactionError {
    match error.sqlstate().as_deref() {
        Some("40001" | "40P01") => TransactionError::RunAgain(error.into()),
        _ => TransactionError::Failed(error.into()),
    }
}

fn of_sqlx(error: sqlx::Error) -> TransactionError {
    judged(error.into())
}
