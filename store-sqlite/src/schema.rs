//! The table, and whether what is in the file is it.

use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior};

use crate::error::Error;
use crate::statements::{Statements, TableName};

/// What a file holds under the table's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing yet.
    Absent,
    /// The table in the version of this release.
    Current,
}

/// Looks at the file and changes nothing.
///
/// Refuses what a release other than this one may have written, and what is not Onceonly's at all: reading it wrongly
/// would run an operation again.
pub(crate) fn inspect(connection: &mut Connection, table: &TableName) -> Result<Found, Error> {
    // One state of the file: between two looks another process may have created the table.
    let transaction = connection.transaction()?;
    let found = find(&transaction, table)?;
    transaction.commit()?;
    Ok(found)
}

/// Creates the table, unless another process was faster.
pub(crate) fn create(
    connection: &mut Connection,
    table: &TableName,
    statements: &Statements,
) -> Result<(), Error> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    if find(&transaction, table)? == Found::Absent {
        transaction.execute_batch(include_str!("sql/versions.sql"))?;
        transaction.execute_batch(&statements.schema)?;
        transaction.execute(
            "INSERT INTO main.onceonly_schema (table_name, version) VALUES (?1, ?2)",
            (table.as_str(), VERSION),
        )?;
    }
    Ok(transaction.commit()?)
}

fn find(connection: &Connection, table: &TableName) -> Result<Found, Error> {
    match recorded_version(connection, table)? {
        Some(VERSION) => verify(connection, table).map(|()| Found::Current),
        Some(version) if version > VERSION => {
            Err(Error::SetUp("the table was made by a newer release of onceonly-sqlite"))
        }
        Some(_) => Err(Error::SetUp("the recorded schema version is unknown")),
        None => {
            // The table, and its two indexes.
            for suffix in ["", "_key_digest", "_sweep_at"] {
                if is_taken(connection, &format!("{}{suffix}", table.as_str()))? {
                    return Err(Error::SetUp("the table name is taken by something that is not Onceonly's"));
                }
            }
            Ok(Found::Absent)
        }
    }
}

fn recorded_version(connection: &Connection, table: &TableName) -> Result<Option<i64>, Error> {
    if !is_taken(connection, "onceonly_schema")? {
        return Ok(None);
    }
    if columns(connection, "onceonly_schema")? != VERSIONS_COLUMNS {
        return Err(Error::SetUp("the name onceonly_schema is taken by something that is not Onceonly's"));
    }
    let version = connection
        .query_row(
            "SELECT version FROM main.onceonly_schema WHERE table_name = ?1",
            [table.as_str()],
            |row| row.get(0),
        )
        .optional()?;
    Ok(version)
}

/// The version number says what the table was once; this says what it is.
fn verify(connection: &Connection, table: &TableName) -> Result<(), Error> {
    if columns(connection, table.as_str())? != COLUMNS {
        return Err(Error::SetUp("the table's columns are not those of its schema version"));
    }
    let strict: Vec<bool> = ask(connection, "table_list", table.as_str(), |row| row.get("strict"))?;
    if strict != [true] {
        return Err(Error::SetUp("the table is not STRICT"));
    }
    if !is_unique(connection, table)? {
        return Err(Error::SetUp("the table has no unique index on key_digest alone"));
    }
    Ok(())
}

/// Whether some unique, whole index is on `key_digest` alone. Without it, one key could have two records.
fn is_unique(connection: &Connection, table: &TableName) -> Result<bool, Error> {
    let indexes: Vec<(String, bool, bool)> = ask(connection, "index_list", table.as_str(), |row| {
        Ok((row.get("name")?, row.get("unique")?, row.get("partial")?))
    })?;
    for (index, unique, partial) in indexes {
        if !unique || partial {
            continue;
        }
        // An expression has no name.
        let columns: Vec<Option<String>> = ask(connection, "index_info", &index, |row| row.get("name"))?;
        if columns == [Some("key_digest".to_owned())] {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_taken(connection: &Connection, name: &str) -> Result<bool, Error> {
    let taken = connection.query_row(
        "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE)",
        [name],
        |row| row.get(0),
    )?;
    Ok(taken)
}

/// Name and declaration of each column, in order.
fn columns(connection: &Connection, table: &str) -> Result<Vec<String>, Error> {
    ask(connection, "table_xinfo", table, |row| {
        let (name, declared): (String, String) = (row.get("name")?, row.get("type")?);
        let constraint = if row.get("notnull")? { " NOT NULL" } else { "" };
        Ok(format!("{name} {declared}{constraint}"))
    })
}

/// What a PRAGMA says about `name`. As a statement and not as the table `pragma_…` that SQLite offers for it, since a
/// table of that name in the file would be taken for it.
fn ask<T>(
    connection: &Connection,
    pragma: &str,
    name: &str,
    mut read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, Error> {
    let mut answers = Vec::new();
    connection.pragma(Some("main"), pragma, name, |row| {
        answers.push(read(row)?);
        Ok(())
    })?;
    Ok(answers)
}

const VERSION: i64 = 1;

const VERSIONS_COLUMNS: [&str; 2] = ["table_name TEXT NOT NULL", "version INTEGER NOT NULL"];

const COLUMNS: [&str; 17] = [
    "key_digest BLOB NOT NULL",
    "scope BLOB",
    "key BLOB NOT NULL",
    "status INTEGER NOT NULL",
    "token BLOB NOT NULL",
    "revision INTEGER NOT NULL",
    "fingerprint BLOB NOT NULL",
    "attempt INTEGER NOT NULL",
    "created_at INTEGER NOT NULL",
    "lease_until INTEGER NOT NULL",
    "expires_at INTEGER NOT NULL",
    "unresolved_until INTEGER NOT NULL",
    "sweep_at INTEGER NOT NULL",
    "code INTEGER",
    "headers BLOB",
    "body BLOB",
    "checkpoint BLOB",
];
