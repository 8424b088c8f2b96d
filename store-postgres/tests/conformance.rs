//! The store contract, on a PostgreSQL server.

use std::sync::Arc;

use async_trait::async_trait;
use onceonly::{IdempotencyKey, KeyStore, RecordKey};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, RawAccess, StoreClock,
};
use onceonly_postgres::{PostgresOptions, PostgresStore};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

struct Postgres {
    url: String,
    options: PostgresOptions,
    table: String,
}

#[async_trait]
impl Fixture for Postgres {
    fn declare() -> Declaration {
        Declaration::new("postgres", ClockKind::System, Durability::PowerLoss, Processes::Many)
    }

    async fn open() -> Result<Self, FixtureError> {
        let url = std::env::var("ONCEONLY_POSTGRES_URL")
            .map_err(|_| FixtureError::new("set ONCEONLY_POSTGRES_URL"))?;
        let table = format!("t{}", IdempotencyKey::generate().as_str().replace('-', ""));
        let options = PostgresStore::options().table(&table);
        options.migrate(&url).await?;
        Ok(Self { url, options, table })
    }

    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::new(self.options.clone().connect(&self.url).await?))
    }

    fn clock(&self) -> StoreClock {
        StoreClock::System
    }

    fn raw(&self) -> Option<Arc<dyn RawAccess>> {
        Some(Arc::new(Rows { url: self.url.clone(), table: self.table.clone() }))
    }

    async fn close(&self) -> Result<(), FixtureError> {
        let mut connection = PgConnection::connect(&self.url).await?;
        connection.execute(AssertSqlSafe(format!("DROP TABLE {}", self.table))).await?;
        Ok(())
    }
}

struct Rows {
    url: String,
    table: String,
}

#[async_trait]
impl RawAccess for Rows {
    async fn count(&self) -> Result<u64, FixtureError> {
        let mut connection = PgConnection::connect(&self.url).await?;
        let row = connection.fetch_one(AssertSqlSafe(format!("SELECT count(*) FROM {}", self.table))).await?;
        Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
    }

    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError> {
        let mut connection = PgConnection::connect(&self.url).await?;
        let text = format!("SELECT stored::text FROM {} AS stored WHERE key = $1", self.table);
        let row = sqlx::query(AssertSqlSafe(text))
            .bind(key.key().as_str().as_bytes())
            .fetch_optional(&mut connection)
            .await?;
        Ok(row.map(|row| row.try_get::<String, _>(0)).transpose()?.map(String::into_bytes))
    }
}

onceonly_conformance::main!(Postgres);
