//! What somebody else can do to a row so that it cannot be read any more.

use onceonly::RecordKey;
use rusqlite::{Connection, OptionalExtension, Result};

/// The ways that go with the record of `key`, which differ for a completed one.
pub(crate) fn ways(connection: &Connection, key: &RecordKey) -> Result<Vec<&'static str>> {
    let sql = "SELECT status = 1 FROM onceonly_records WHERE key_digest = ?1";
    let completed = connection.query_row(sql, [digest(key)], |row| row.get(0))?;
    let own: &[&str] = if completed { &COMPLETED } else { &UNFINISHED };
    Ok(ANY.iter().chain(own).copied().collect())
}

/// Changes the row of `key` past the table's own checks.
pub(crate) fn damage(connection: &Connection, key: &RecordKey, way: &str) -> Result<()> {
    connection.execute_batch("PRAGMA ignore_check_constraints = ON")?;
    let sql = format!("UPDATE onceonly_records SET {way} WHERE key_digest = ?1");
    assert_eq!(connection.execute(&sql, [digest(key)])?, 1, "{way}");
    Ok(())
}

/// The whole row, as text; none if there is no record of `key`.
pub(crate) fn row(connection: &Connection, key: &RecordKey) -> Result<Option<String>> {
    let all = connection.prepare("SELECT * FROM onceonly_records LIMIT 0")?;
    let columns: Vec<String> = all.column_names().iter().map(|column| format!("quote({column})")).collect();
    let sql =
        format!("SELECT concat_ws('|', {}) FROM onceonly_records WHERE key_digest = ?1", columns.join(", "));
    connection.query_row(&sql, [digest(key)], |row| row.get(0)).optional()
}

/// The row is found by what nothing here changes.
fn digest(key: &RecordKey) -> &[u8] {
    &key.digest()[..16]
}

const ANY: [&str; 13] = [
    "key = x'00'",
    "key = CAST(key || x'20' AS BLOB)",
    "scope = x'61'",
    // As of a newer format.
    "status = 3",
    "status = -1",
    "token = x''",
    "token = zeroblob(17)",
    "revision = -1",
    "revision = 4294967296",
    "fingerprint = x'0001'",
    "fingerprint = CAST(fingerprint || x'00' AS BLOB)",
    "attempt = -1",
    "attempt = 9223372036854775807",
];

const UNFINISHED: [&str; 4] = ["status = 1", "code = 200", "headers = x'01'", "body = x'00'"];

const COMPLETED: [&str; 11] = [
    "status = 0",
    "status = 2",
    "code = NULL",
    "code = -1",
    "code = 65536",
    "headers = NULL",
    "headers = x''",
    "headers = x'02'",
    "headers = substr(headers, 1, length(headers) - 1)",
    "headers = CAST(headers || x'20' AS BLOB)",
    "checkpoint = x'00'",
];
