//! What really happened, by SQL.
//!
//! Onceonly is not asked. The charges are counted where the provider has written them, against a list of what was
//! wanted.

use std::path::Path;
use std::time::Duration;

use onceonly_examples::charges::Charges;
use rusqlite::Connection;

use crate::plan::Operation;

/// The effects of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effects {
    /// How many charges there are.
    pub(crate) charges: u64,
    /// How many operations were charged more than once.
    pub(crate) doubled: u64,
    /// How many operations were never charged.
    pub(crate) lost: u64,
}

/// Makes the tables, and writes down what is wanted before anything is done.
///
/// # Errors
/// The driver's.
pub(crate) fn open(path: &Path, operations: &[Operation]) -> rusqlite::Result<Connection> {
    Charges::open(path)?;
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    let transaction = connection.transaction()?;
    transaction
        .execute_batch("CREATE TABLE wanted (customer TEXT PRIMARY KEY, amount INTEGER NOT NULL) STRICT")?;
    for Operation { customer, amount, .. } in operations {
        transaction.execute("INSERT INTO wanted VALUES (?1, ?2)", (customer, amount))?;
    }
    transaction.commit()?;
    Ok(connection)
}

/// Counts.
///
/// # Errors
/// The driver's.
pub(crate) fn count(connection: &Connection) -> rusqlite::Result<Effects> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs);
    Ok(Effects {
        charges: number("SELECT count(*) FROM charges")?,
        doubled: number(
            "SELECT count(*) FROM (SELECT customer FROM charges GROUP BY customer HAVING count(*) > 1)",
        )?,
        lost: number(
            "SELECT count(*) FROM wanted WHERE NOT EXISTS (
                 SELECT 1 FROM charges WHERE charges.customer = wanted.customer AND charges.amount = wanted.amount
             )",
        )?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan;

    #[test]
    fn doubled_and_lost_operations_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let operations = &plan::operations(1)[..4];
        let connection = open(&folder.path().join("charges.db"), operations).unwrap();
        assert_eq!(count(&connection).unwrap(), Effects { charges: 0, doubled: 0, lost: 4 });

        let charge = |id: &str, operation: &Operation, amount: i64| {
            let insert = "INSERT INTO charges (id, account, provider_key, amount, currency, customer, asked)
                          VALUES (?1, 'acct_demo', ?1, ?2, 'usd', ?3, 1)";
            connection.execute(insert, (id, amount, &operation.customer)).unwrap();
        };
        charge("ch_1", &operations[0], operations[0].amount);
        charge("ch_2", &operations[1], operations[1].amount);
        charge("ch_3", &operations[1], operations[1].amount);
        charge("ch_4", &operations[2], operations[2].amount + 1);
        assert_eq!(count(&connection).unwrap(), Effects { charges: 4, doubled: 1, lost: 2 });
    }
}
