//! The SQL, with the name of the table put in.

use crate::error::Error;

/// The name of a table, fit to be put into SQL between double quotes.
#[derive(Clone, Debug)]
pub(crate) struct TableName(String);

impl TableName {
    pub(crate) const DEFAULT: &str = "onceonly_records";

    /// Takes letters, digits and underscores of ASCII, so that it needs no escaping anywhere.
    pub(crate) fn new(name: &str) -> Result<Self, Error> {
        let mut bytes = name.bytes();
        let starts_well = bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_');
        if !starts_well || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return Err(Error::SetUp(
                "a table name has letters, digits and underscores, and starts with no digit",
            ));
        }
        if name.len() > NAME_BYTES_MAX {
            return Err(Error::SetUp("a table name has at most 63 characters"));
        }
        let lower = name.to_ascii_lowercase();
        if lower.starts_with("sqlite_") || lower.starts_with("pragma_") || lower == "onceonly_schema" {
            return Err(Error::SetUp("the table name is reserved"));
        }
        Ok(Self(name.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    fn put_into(&self, sql: &str) -> String {
        sql.replace("{table}", &self.0)
    }
}

/// The statements of one table. Each says `main.`, so that a temporary table of the same name is not taken for it.
#[derive(Debug)]
pub(crate) struct Statements {
    pub(crate) schema: String,
    pub(crate) select: String,
    pub(crate) insert: String,
    pub(crate) update: String,
    pub(crate) held: String,
    pub(crate) complete: String,
    pub(crate) lock: String,
    pub(crate) sweep: String,
    pub(crate) delete: String,
    pub(crate) postpone: String,
}

impl Statements {
    pub(crate) fn new(table: &TableName) -> Self {
        Self {
            schema: table.put_into(include_str!("sql/schema.sql")),
            select: table.put_into(include_str!("sql/select.sql")),
            insert: table.put_into(include_str!("sql/insert.sql")),
            update: table.put_into(include_str!("sql/update.sql")),
            held: table.put_into(include_str!("sql/held.sql")),
            complete: table.put_into(include_str!("sql/complete.sql")),
            lock: table.put_into(include_str!("sql/lock.sql")),
            sweep: table.put_into(include_str!("sql/sweep.sql")),
            delete: table.put_into(include_str!("sql/delete.sql")),
            postpone: table.put_into(include_str!("sql/postpone.sql")),
        }
    }
}

const NAME_BYTES_MAX: usize = 63;
