//! A connection of the store's own, opened again when it is lost.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use onceonly::Span;
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions, Connection, Executor, Row};
use tokio::time::timeout;

use crate::carry::Outcomes;
use crate::error::Error;
use crate::options::PostgresOptions;
use crate::statements::{Statements, TableName};

/// What every connection of a store has in common.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) connect: PgConnectOptions,
    pub(crate) table: TableName,
    pub(crate) statements: Statements,
    pub(crate) call_timeout: Duration,
    pub(crate) mark_retention: Span,
}

impl Settings {
    pub(crate) fn new(connect: PgConnectOptions, options: &PostgresOptions) -> Result<Self, Error> {
        let table = options.validate()?;
        let milliseconds = |duration: Duration| duration.as_millis().to_string();
        let connect = connect
            .application_name("onceonly")
            .options([
                // Whatever the role or the database has as its default: each statement sees what is committed.
                ("default_transaction_isolation", "read committed".to_owned()),
                ("default_transaction_read_only", "off".to_owned()),
                // A plan is made while the table is empty, when reading all of it is cheapest, and used while it grows.
                ("enable_seqscan", "off".to_owned()),
                ("lock_timeout", milliseconds(options.lock_timeout)),
                ("statement_timeout", milliseconds(options.call_timeout)),
                // A statement whose caller is gone must not win a key later.
                ("client_connection_check_interval", milliseconds(CHECK_INTERVAL)),
                ("idle_in_transaction_session_timeout", milliseconds(options.call_timeout)),
            ])
            .disable_statement_logging();
        let statements = Statements::new(&table);
        Ok(Self {
            connect,
            table,
            statements,
            call_timeout: options.call_timeout,
            mark_retention: options.mark_retention,
        })
    }

    /// Opens a connection to a primary.
    pub(crate) async fn open(&self) -> Result<PgConnection, Error> {
        let opening = async {
            let mut connection = PgConnection::connect_with(&self.connect).await?;
            let row = connection
                .fetch_one("SELECT pg_is_in_recovery(), current_setting('server_version_num')::integer")
                .await?;
            let (standby, version): (bool, i32) = (row.try_get(0)?, row.try_get(1)?);
            if standby {
                return Err(Error::Unanswered(
                    "the server is a standby: who holds a key is known to the primary",
                ));
            }
            if version < VERSION_MIN {
                return Err(Error::SetUp("the server is older than PostgreSQL 14"));
            }
            Ok(connection)
        };
        bounded(self.call_timeout, opening).await
    }
}

/// Waits for the server no longer than `bound`.
pub(crate) async fn bounded<T>(
    bound: Duration,
    asked: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    match timeout(bound, asked).await {
        Ok(answered) => answered,
        Err(_) => Err(Error::Unanswered("the server did not answer in time")),
    }
}

/// A connection that is opened when it is needed and given up when its state is not known.
pub(crate) struct Link {
    settings: Arc<Settings>,
    connection: Option<PgConnection>,
}

impl Link {
    pub(crate) const fn new(settings: Arc<Settings>) -> Self {
        Self { settings, connection: None }
    }

    /// Carries out calls of one verb, in bounded time.
    pub(crate) async fn carry_out<V, T>(
        &mut self,
        items: &[&V],
        carry: impl AsyncFn(&mut PgConnection, &Statements, &[&V]) -> Outcomes<T>,
    ) -> Outcomes<T> {
        let settings = Arc::clone(&self.settings);
        self.ask(async |connection| carry(connection, &settings.statements, items).await).await
    }

    /// Asks over the connection, in bounded time.
    ///
    /// A connection that has failed, or whose answer did not come, is given up: what comes over it later would be taken
    /// for the answer to something else.
    pub(crate) async fn ask<T>(
        &mut self,
        ask: impl AsyncFnOnce(&mut PgConnection) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.settings.open().await?,
        };
        let answered = bounded(self.settings.call_timeout + GRACE, ask(&mut connection)).await;
        if answered.as_ref().map_or_else(Error::is_of_the_statement, |_| true) {
            self.connection = Some(connection);
        }
        answered
    }

    pub(crate) async fn close(self) {
        if let Some(connection) = self.connection {
            // It says good-bye; if the server does not listen any more, that does not matter.
            let _ = timeout(GRACE, connection.close()).await;
        }
    }
}

/// How much longer than the server's own limit for a statement is waited for its answer.
const GRACE: Duration = Duration::from_millis(500);
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
const VERSION_MIN: i32 = 140_000;
