//! The statements, for one table.

use std::sync::Arc;

use crate::error::Error;

/// A table's name, with its schema, that is safe to stand in a statement.
#[derive(Clone, Debug)]
pub(crate) struct TableName {
    pub(crate) schema: String,
    pub(crate) table: String,
}

impl TableName {
    pub(crate) fn new(schema: &str, table: &str) -> Result<Self, Error> {
        if !is_plain(schema) {
            return Err(Error::SetUp("the schema's name is not of ASCII letters, digits and underscores"));
        }
        // The names of its index and constraints are longer, and PostgreSQL cuts names at 63 bytes.
        if !is_plain(table) || table.len() > TABLE_BYTES_MAX {
            return Err(Error::SetUp(
                "the table's name is not of ASCII letters, digits and underscores, 50 at most",
            ));
        }
        Ok(Self { schema: schema.to_owned(), table: table.to_owned() })
    }

    pub(crate) fn qualified(&self) -> String {
        format!("\"{}\".\"{}\"", self.schema, self.table)
    }

    /// The table with the schema versions.
    pub(crate) fn versions(&self) -> String {
        format!("\"{}\".\"onceonly_schema\"", self.schema)
    }

    /// `text` with the names in their places.
    pub(crate) fn fill(&self, text: &str) -> String {
        text.replace("{table}", &self.qualified())
            .replace("{name}", &self.table)
            .replace("{versions}", &self.versions())
    }
}

fn is_plain(name: &str) -> bool {
    let first_is_no_digit = name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    first_is_no_digit && plain && name.len() <= 63
}

/// A verb's statement: for one item, and for several at once.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    one: Arc<str>,
    many: Arc<str>,
}

impl Statement {
    fn new(table: &TableName, text: &str, asked: &[(&str, &str)]) -> Self {
        let filled = |asked: String| filled(table, &text.replace("{asked}", &asked));
        let places = asked.iter().zip(1..);
        let one: Vec<String> =
            places.clone().map(|((name, of), place)| format!("${place}::{of} AS {name}")).collect();
        let many: Vec<String> = places.map(|((_, of), place)| format!("${place}::{of}[]")).collect();
        let names: Vec<&str> = asked.iter().map(|(name, _)| *name).collect();
        Self {
            one: filled(format!("SELECT {}", one.join(", "))),
            many: filled(format!("SELECT * FROM unnest({}) AS item ({})", many.join(", "), names.join(", "))),
        }
    }

    /// The text for so many items. A batch of one has a statement of its own, at little more than half the cost.
    pub(crate) fn of(&self, items: usize) -> Arc<str> {
        Arc::clone(if items == 1 { &self.one } else { &self.many })
    }
}

fn filled(table: &TableName, text: &str) -> Arc<str> {
    let text = text.replace("{sound}", SOUND).replace("{no_record}", NO_RECORD).replace("{record}", RECORD);
    table.fill(&text).into()
}

/// Every statement of a store.
#[derive(Clone, Debug)]
pub(crate) struct Statements {
    pub(crate) load: Statement,
    pub(crate) claim: Statement,
    pub(crate) takeover: Statement,
    pub(crate) renew: Statement,
    pub(crate) complete: Statement,
    pub(crate) release: Statement,
    pub(crate) purge: Arc<str>,
    pub(crate) mark: Arc<str>,
    pub(crate) mark_over: Arc<str>,
}

impl Statements {
    pub(crate) fn new(table: &TableName) -> Self {
        let key = [("key_digest", "uuid"), ("scope", "bytea"), ("key", "bytea")];
        let claim = [
            ("token", "uuid"),
            ("fingerprint", "bytea"),
            ("attempt", "bigint"),
            ("checkpoint", "bytea"),
            ("lease", "interval"),
            ("keep", "interval"),
            ("keep_unresolved", "interval"),
        ];
        let expected = [("expected_token", "uuid"), ("expected_revision", "bigint")];
        let held = [("token", "uuid"), ("revision", "bigint")];
        let renewal = [("extend", "interval"), ("checkpoint", "bytea")];
        let completion =
            [("retention", "interval"), ("code", "integer"), ("headers", "bytea"), ("body", "bytea")];
        let release = [("keep", "interval")];
        let statement = |text, asked: &[&[(&str, &str)]]| Statement::new(table, text, &asked.concat());
        Self {
            load: statement(include_str!("sql/load.sql"), &[&key[..1]]),
            claim: statement(include_str!("sql/claim.sql"), &[&key, &claim]),
            takeover: statement(include_str!("sql/takeover.sql"), &[&key, &claim, &expected]),
            renew: statement(include_str!("sql/renew.sql"), &[&key, &held, &renewal]),
            complete: statement(include_str!("sql/complete.sql"), &[&key, &held, &completion]),
            release: statement(include_str!("sql/release.sql"), &[&key, &held, &release]),
            purge: filled(table, include_str!("sql/purge.sql")),
            mark: filled(table, include_str!("sql/mark.sql")),
            mark_over: filled(table, include_str!("sql/mark_over.sql")),
        }
    }
}

/// The columns of a record, in the order in which they are read.
const RECORD: &str = "stored.key_digest, stored.scope, stored.key, stored.status, stored.token, stored.revision, \
    stored.fingerprint, stored.attempt, stored.created_at, stored.lease_until, stored.expires_at, \
    stored.unresolved_until, stored.code, stored.headers, stored.body, stored.checkpoint";

/// The same columns for a record that was just written, of which only the deadlines are of interest.
const NO_RECORD: &str = "written.key_digest, NULL::bytea, NULL::bytea, NULL::smallint, NULL::uuid, NULL::bigint, \
    NULL::bytea, NULL::bigint, NULL::timestamptz, written.lease_until, written.expires_at, NULL::timestamptz, \
    NULL::integer, NULL::bytea, NULL::bytea, NULL::bytea";

/// What the table's constraints demand of a row. Asked once more where a row is written over, so that one that somebody
/// else has changed is reported and not overwritten.
const SOUND: &str = "octet_length(fingerprint) = 36 AND revision BETWEEN 0 AND 4294967295 \
    AND attempt BETWEEN 0 AND 4294967295 AND status IN (0, 1, 2) AND (status = 1) = (code IS NOT NULL) \
    AND (code IS NULL OR code BETWEEN 0 AND 65535) \
    AND (code IS NULL) = (headers IS NULL) AND (body IS NULL OR status = 1) AND (checkpoint IS NULL OR status = 0)";

const TABLE_BYTES_MAX: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_have_to_be_escaped_are_refused() {
        for (schema, table) in [("", "a"), ("a", ""), ("a\"b", "a"), ("a", "a.b"), ("a", "1a"), ("a", "ä")] {
            assert!(TableName::new(schema, table).is_err(), "{schema:?} {table:?}");
        }
        assert!(TableName::new("public", &"a".repeat(51)).is_err());
        assert_eq!(TableName::new("public", "keys").unwrap().qualified(), "\"public\".\"keys\"");
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        let statements = Statements::new(&TableName::new("public", "keys").unwrap());
        let Statements { load, claim, takeover, renew, complete, release, purge, mark, mark_over } =
            statements;
        for statement in [load, claim, takeover, renew, complete, release] {
            for text in [statement.of(1), statement.of(2)] {
                assert!(!text.contains('{'), "{text}");
            }
        }
        for text in [purge, mark, mark_over] {
            assert!(!text.contains('{'), "{text}");
        }
    }
}
