//! What the tests share: one server, tables of their own, keys, claims and results.

use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use onceonly::{
    Completion, Fingerprint, IdempotencyKey, NewClaim, RecordKey, Release, Revision, Scope, Span,
    StoredResponse, StoredResult, Token,
};
use onceonly_conformance::servers::{Postgres, PostgresConfig};
use onceonly_postgres::{PostgresOptions, PostgresStore};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

/// A table that no other test uses, on the server of this test binary.
pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) url: String,
}

impl Table {
    /// Creates the table.
    pub(crate) async fn migrated() -> Self {
        let table = Self::named(&format!("t{}", IdempotencyKey::generate().as_str().replace('-', "")));
        table.options().migrate(&table.url).await.expect("the table can be created");
        table
    }

    /// The name alone.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), url: with_server(Postgres::url) }
    }

    pub(crate) fn options(&self) -> PostgresOptions {
        PostgresStore::options().table(&self.name)
    }

    pub(crate) async fn store(&self) -> PostgresStore {
        self.options().connect(&self.url).await.expect("the server is there")
    }

    pub(crate) async fn connect(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.expect("the server is there")
    }

    /// Runs statements, `{table}` standing for the table.
    pub(crate) async fn execute(&self, statements: &str) {
        let statements = statements.replace("{table}", &self.name);
        self.connect().await.execute(AssertSqlSafe(statements)).await.expect("the statements are right");
    }

    /// The one number that a statement gives.
    pub(crate) async fn number(&self, statement: &str) -> i64 {
        let statement = statement.replace("{table}", &self.name);
        let row = self.connect().await.fetch_one(AssertSqlSafe(statement)).await;
        row.expect("the statement is right").try_get(0).expect("a bigint")
    }
}

/// The server of this test binary.
pub(crate) fn with_server<T>(ask: impl FnOnce(&Postgres) -> T) -> T {
    ask(&SERVER.lock().unwrap_or_else(PoisonError::into_inner))
}

static SERVER: LazyLock<Mutex<Postgres>> = LazyLock::new(|| {
    let config = PostgresConfig::new().with("max_connections", "300").with("log_statement", "all");
    Mutex::new(config.with("autovacuum", "off").start().expect("PostgreSQL is installed"))
});

pub(crate) fn key(name: &str) -> RecordKey {
    RecordKey::new(Scope::global(), IdempotencyKey::new(name).expect("a key"))
}

pub(crate) fn token(number: u8) -> Token {
    Token::from_bytes([number; 16])
}

pub(crate) fn new_claim(token: Token) -> NewClaim {
    NewClaim {
        token,
        fingerprint: Fingerprint::builder().part("body", "charge 1000 usd").finish(),
        attempt: 1,
        checkpoint: None,
        lease: span(60),
        keep: span(3_600),
        keep_unresolved: span(7_200),
    }
}

pub(crate) fn completion(body: &str) -> Completion {
    Completion {
        revision: Revision::from_number(2),
        result: StoredResult::Retained(StoredResponse::new(201, body.to_owned())),
        retention: span(3_600),
    }
}

pub(crate) fn release() -> Release {
    Release { revision: Revision::from_number(2), keep: span(900) }
}

pub(crate) fn span(seconds: u64) -> Span {
    Span::new(Duration::from_secs(seconds)).expect("a span")
}
