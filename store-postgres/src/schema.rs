//! The table, and whether what is in the database is it.

use sqlx::postgres::{PgConnection, PgRow};
use sqlx::{AssertSqlSafe, Connection, Executor, Row};

use crate::error::Error;
use crate::statements::TableName;

/// Creates the table or brings it up to date, in one transaction.
pub(crate) async fn migrate(connection: &mut PgConnection, table: &TableName) -> Result<(), Error> {
    let mut transaction = connection.begin().await?;
    // One process at a time. It may wait for another one's migration longer than for any record.
    transaction.execute("SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0").await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(MIGRATIONS_LOCK).execute(&mut *transaction).await?;
    transaction.execute(AssertSqlSafe(table.fill(include_str!("sql/versions.sql")))).await?;
    let version = recorded_version(&mut transaction, table).await?;
    if version.is_none() && kind(&mut transaction, table).await?.is_some() {
        return Err(Error::SetUp("the table's name is taken by something that is not Onceonly's"));
    }
    let done = usize::try_from(version.unwrap_or(0)).map_err(|_| UNKNOWN_VERSION)?;
    for migration in MIGRATIONS.get(done..).ok_or(NEWER_VERSION)? {
        transaction.execute(AssertSqlSafe(table.fill(migration))).await?;
    }
    let record = format!(
        "INSERT INTO {} (table_name, version) VALUES ($1, $2) ON CONFLICT (table_name) \
         DO UPDATE SET version = excluded.version, migrated_at = excluded.migrated_at",
        table.versions()
    );
    if done < MIGRATIONS.len() {
        sqlx::query(AssertSqlSafe(record))
            .bind(&table.table)
            .bind(MIGRATIONS.len() as i32)
            .execute(&mut *transaction)
            .await?;
    }
    transaction.commit().await?;
    Ok(())
}

/// Looks at the table and changes nothing.
///
/// Refuses what a release other than this one may have written, and what is not Onceonly's at all: reading it wrongly
/// would run an operation again.
pub(crate) async fn check(connection: &mut PgConnection, table: &TableName) -> Result<(), Error> {
    let Some(kind) = kind(connection, table).await? else {
        return Err(Error::SetUp("the table does not exist: migrate first"));
    };
    match recorded_version(connection, table).await? {
        Some(version) if version == MIGRATIONS.len() as i32 => {}
        Some(version) if version > MIGRATIONS.len() as i32 => return Err(NEWER_VERSION),
        Some(_) => return Err(Error::SetUp("the table is of an older release: migrate first")),
        None => return Err(Error::SetUp("the table is not Onceonly's")),
    }
    if kind != "r" {
        return Err(Error::SetUp("the table is not an ordinary one"));
    }
    if columns(connection, table).await? != COLUMNS {
        return Err(Error::SetUp("the table's columns are not those of its schema version"));
    }
    if !is_unique(connection, table).await? {
        return Err(Error::SetUp("the table has no unique index on key_digest alone"));
    }
    Ok(())
}

async fn recorded_version(connection: &mut PgConnection, table: &TableName) -> Result<Option<i32>, Error> {
    let versions = TableName { schema: table.schema.clone(), table: "onceonly_schema".to_owned() };
    if kind(connection, &versions).await?.is_none() {
        return Ok(None);
    }
    let select = format!("SELECT version FROM {} WHERE table_name = $1", table.versions());
    let row = sqlx::query(AssertSqlSafe(select)).bind(&table.table).fetch_optional(connection).await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// What kind of relation has the name, if any: `r` is an ordinary table.
async fn kind(connection: &mut PgConnection, table: &TableName) -> Result<Option<String>, Error> {
    let row = sqlx::query(
        "SELECT relkind::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace \
         WHERE nspname = $1 AND relname = $2",
    )
    .bind(&table.schema)
    .bind(&table.table)
    .fetch_optional(connection)
    .await?;
    Ok(row.map(|row| row.try_get(0)).transpose()?)
}

/// Name and type of each column, in order.
async fn columns(connection: &mut PgConnection, table: &TableName) -> Result<Vec<String>, Error> {
    let rows = sqlx::query(
        "SELECT format('%s %s%s', attname, format_type(atttypid, atttypmod), CASE WHEN attnotnull THEN ' not null' END) \
         FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
    )
    .bind(table.qualified())
    .fetch_all(connection)
    .await?;
    rows.iter().map(|row: &PgRow| Ok(row.try_get(0)?)).collect()
}

/// Whether some unique, valid, whole index is on `key_digest` alone. Without it, one key could have two records.
async fn is_unique(connection: &mut PgConnection, table: &TableName) -> Result<bool, Error> {
    let row = sqlx::query(
        "SELECT EXISTS (SELECT FROM pg_index JOIN pg_attribute ON attrelid = indrelid AND attnum = indkey[0] \
         WHERE indrelid = $1::regclass AND indisunique AND indimmediate AND indisvalid AND indpred IS NULL \
         AND indnkeyatts = 1 AND attname = 'key_digest')",
    )
    .bind(table.qualified())
    .fetch_one(connection)
    .await?;
    Ok(row.try_get(0)?)
}

/// In order; the version is how many were applied.
const MIGRATIONS: [&str; 1] = [include_str!("sql/migrations/1_records.sql")];

const NEWER_VERSION: Error = Error::SetUp("the table was made by a newer release of onceonly-postgres");
const UNKNOWN_VERSION: Error = Error::SetUp("the recorded schema version is unknown");

/// The bytes of `onceonly`.
const MIGRATIONS_LOCK: i64 = i64::from_be_bytes(*b"onceonly");

const COLUMNS: [&str; 17] = [
    "key_digest uuid not null",
    "scope bytea",
    "key bytea not null",
    "status smallint not null",
    "token uuid not null",
    "revision bigint not null",
    "fingerprint bytea not null",
    "attempt bigint not null",
    "created_at timestamp with time zone not null",
    "lease_until timestamp with time zone not null",
    "expires_at timestamp with time zone not null",
    "unresolved_until timestamp with time zone not null",
    "sweep_at timestamp with time zone not null",
    "code integer",
    "headers bytea",
    "body bytea",
    "checkpoint bytea",
];
