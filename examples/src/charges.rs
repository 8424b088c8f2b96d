//! The charges, and the payment provider that makes them.
//!
//! The provider is a stand-in for one on the other side of a network, so it does not share in anything of Onceonly's:
//! the table may lie in the same database file as the keys, but it is written on a connection of its own and in
//! transactions of its own. A crash can come between a charge and the completion of its key, as it can with a real
//! provider.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use onceonly::IdempotencyKey;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Row, params};
use serde::Serialize;

/// The table of charges. Clones share it.
#[derive(Clone, Debug)]
pub struct Charges {
    connection: Arc<Mutex<Connection>>,
}

/// What the provider is asked for.
#[derive(Clone, Debug)]
pub struct Order {
    /// On whose behalf.
    pub account: String,
    /// The provider's own idempotency key. It charges once per key, as a good provider does.
    pub provider_key: IdempotencyKey,
    /// In the currency's smallest unit.
    pub amount: i64,
    /// The currency's code.
    pub currency: String,
    /// Who pays.
    pub customer: String,
}

/// A charge that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Charge {
    /// The provider's id of it.
    pub id: String,
    /// In the currency's smallest unit.
    pub amount: i64,
    /// The currency's code.
    pub currency: String,
    /// Who paid.
    pub customer: String,
}

/// A charge, and how often the provider was asked for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ListedCharge {
    /// The charge.
    #[serde(flatten)]
    pub charge: Charge,
    /// 1, unless a handler ran a second time: the provider recognised its key then and made no second charge.
    pub asked: i64,
}

/// The provider made no charge, or nobody knows whether it did.
#[derive(Debug, thiserror::Error)]
#[expect(clippy::exhaustive_enums, reason = "a handler must decide what each of them means for its key")]
pub enum ProviderError {
    /// It did nothing, for sure.
    #[error("the provider could not be reached")]
    NothingDone(#[source] rusqlite::Error),
    /// It refused: its key was used for another order before. It did nothing.
    #[error("the provider has seen its key with another order")]
    KeyReused,
    /// It may have made the charge.
    #[error("the provider's answer was lost")]
    Unknown(#[source] rusqlite::Error),
}

impl Charges {
    /// Opens the table in the database file at `path`, making both if need be.
    ///
    /// # Errors
    /// The driver's, if the file cannot be opened or written.
    pub fn open(path: &Path) -> rusqlite::Result<Self> {
        Self::prepare(Connection::open(path)?)
    }

    /// A table in memory, which ends with its last clone.
    ///
    /// # Errors
    /// The driver's, if it has no memory.
    pub fn in_memory() -> rusqlite::Result<Self> {
        Self::prepare(Connection::open_in_memory()?)
    }

    /// Charges `order.customer`, or finds the charge that was made under this provider key before.
    ///
    /// A caller that drops the future does not stop the provider: the charge is made or not, as one whole.
    ///
    /// # Errors
    /// [`ProviderError`], which says whether there can be a charge.
    pub async fn charge(&self, order: Order) -> Result<Charge, ProviderError> {
        self.blocking(move |connection| ask(connection, &order)).await
    }

    /// The charges of `account`, oldest first.
    ///
    /// # Errors
    /// The driver's.
    pub async fn of_account(&self, account: String) -> rusqlite::Result<Vec<ListedCharge>> {
        self.blocking(move |connection| {
            let mut statement = connection.prepare_cached(OF_ACCOUNT)?;
            statement.query_map([account], listed)?.collect()
        })
        .await
    }

    /// The first charge that `customer` paid to `account`, if there is one: the question that decides an abandoned key.
    ///
    /// # Errors
    /// The driver's. It then is not known whether there is one.
    pub async fn of_customer(&self, account: String, customer: String) -> rusqlite::Result<Option<Charge>> {
        self.blocking(move |connection| {
            connection.prepare_cached(OF_CUSTOMER)?.query_row([account, customer], charge).optional()
        })
        .await
    }

    fn prepare(connection: Connection) -> rusqlite::Result<Self> {
        // The keys' connections write to the same file. Longer than they ever hold it.
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.execute_batch(SCHEMA)?;
        Ok(Self { connection: Arc::new(Mutex::new(connection)) })
    }

    async fn blocking<T: Send + 'static>(&self, work: impl FnOnce(&Connection) -> T + Send + 'static) -> T {
        let shared = Arc::clone(&self.connection);
        tokio::task::spawn_blocking(move || work(&lock(&shared)))
            .await
            .expect("the work does not panic, and the runtime outlives its callers")
    }
}

/// No statement leaves a transaction open behind a panic, so a poisoned lock guards nothing that is broken.
fn lock(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ask(connection: &Connection, order: &Order) -> Result<Charge, ProviderError> {
    let Order { account, provider_key, amount, currency, customer } = order;
    connection
        .prepare_cached(ASK)
        .and_then(|mut statement| {
            statement
                .query_row(params![account, provider_key.as_str(), amount, currency, customer], charge)
                .optional()
        })
        .map_err(classify)?
        .ok_or(ProviderError::KeyReused)
}

/// A statement that found the file locked, full or read-only was rolled back. Of other failures, such as one of the
/// disk during the commit, this cannot be said.
fn classify(error: rusqlite::Error) -> ProviderError {
    match error.sqlite_error_code() {
        Some(
            ErrorCode::DatabaseBusy
            | ErrorCode::DatabaseLocked
            | ErrorCode::DiskFull
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen,
        ) => ProviderError::NothingDone(error),
        _ => ProviderError::Unknown(error),
    }
}

fn charge(row: &Row<'_>) -> rusqlite::Result<Charge> {
    Ok(Charge { id: row.get(0)?, amount: row.get(1)?, currency: row.get(2)?, customer: row.get(3)? })
}

fn listed(row: &Row<'_>) -> rusqlite::Result<ListedCharge> {
    Ok(ListedCharge { charge: charge(row)?, asked: row.get(4)? })
}

const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS charges (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    account      TEXT NOT NULL,
    provider_key TEXT NOT NULL UNIQUE,
    amount       INTEGER NOT NULL,
    currency     TEXT NOT NULL,
    customer     TEXT NOT NULL,
    asked        INTEGER NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS charges_by_account ON charges (account, customer);
";

/// One statement, so that two who ask under one key cannot both be first. No row comes back if the key belongs to
/// another order.
const ASK: &str = "
INSERT INTO charges (id, account, provider_key, amount, currency, customer, asked)
VALUES ('ch_' || lower(hex(randomblob(12))), ?1, ?2, ?3, ?4, ?5, 1)
ON CONFLICT (provider_key) DO UPDATE SET asked = asked + 1
    WHERE account = excluded.account AND amount = excluded.amount
      AND currency = excluded.currency AND customer = excluded.customer
RETURNING id, amount, currency, customer
";

const OF_ACCOUNT: &str = "
SELECT id, amount, currency, customer, asked FROM charges WHERE account = ?1 ORDER BY number
";

const OF_CUSTOMER: &str = "
SELECT id, amount, currency, customer FROM charges WHERE account = ?1 AND customer = ?2 ORDER BY number LIMIT 1
";
