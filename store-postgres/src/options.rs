//! How a store is opened.

use std::str::FromStr;
use std::time::Duration;

use onceonly::{Span, StoreError};
use sqlx::postgres::PgConnectOptions;

use crate::connection::Settings;
use crate::error::Error;
use crate::schema;
use crate::statements::TableName;
use crate::store::PostgresStore;

/// How a [`PostgresStore`] is opened. Begin with [`PostgresStore::options`].
#[derive(Clone, Debug)]
#[must_use = "a store is opened by `connect`"]
pub struct PostgresOptions {
    pub(crate) schema: String,
    pub(crate) table: String,
    pub(crate) lanes: usize,
    pub(crate) call_timeout: Duration,
    pub(crate) lock_timeout: Duration,
    pub(crate) mark_retention: Span,
}

impl PostgresOptions {
    pub(crate) fn new() -> Self {
        Self {
            schema: "public".to_owned(),
            table: "onceonly_records".to_owned(),
            lanes: 2,
            call_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_secs(1),
            mark_retention: Span::new(Duration::from_hours(7 * 24)).expect("a week is a span"),
        }
    }

    /// The schema that the table is in, `public` unless set: ASCII letters, digits and underscores.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// The name of the table, `onceonly_records` unless set: ASCII letters, digits and underscores, at most 50. It is
    /// taken as it stands, without folding its case.
    ///
    /// Two stores with different tables know nothing of each other.
    pub fn table(mut self, name: impl Into<String>) -> Self {
        self.table = name.into();
        self
    }

    /// How many connections carry out the verbs, 2 unless set, 32 at most; one more purges. Calls that come while a
    /// statement runs travel together in the next one, so few connections carry much, and many cost the server more than
    /// they bring.
    pub fn lanes(mut self, count: usize) -> Self {
        self.lanes = count;
        self
    }

    /// How long a call may take on the server, 5 s unless set, at least 100 ms, an hour at most. Then it is
    /// [`Unavailable`](onceonly::StoreErrorKind::Unavailable).
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = timeout;
        self
    }

    /// How long a call waits for a row that an open transaction has locked, 1 s unless set, and less than the time of a
    /// call. Then a claim is answered as *look again*, and everything else is
    /// [`Unavailable`](onceonly::StoreErrorKind::Unavailable).
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    /// How long a mark of [`PostgresStore::mark_in`] is kept, 7 days unless set. A message that is delivered again after
    /// that is processed again, so this must exceed the longest time by which a delivery can be late.
    pub fn mark_retention(mut self, retention: Span) -> Self {
        self.mark_retention = retention;
        self
    }

    /// Creates the table in the database at `url`, or brings it up to date. Several processes may do so at once: one
    /// does, the others wait for it. Call it from a Tokio runtime.
    ///
    /// The role needs the right to create tables in the schema; the one that [`connect`](Self::connect) uses needs to
    /// select, insert, update and delete only.
    ///
    /// # Errors
    /// [`Rejected`](onceonly::StoreErrorKind::Rejected) if the table was made by a newer release, its name is taken by
    /// something else, or the role lacks rights; [`Unavailable`](onceonly::StoreErrorKind::Unavailable) if the server
    /// cannot be reached. In each of these cases nothing was changed.
    pub async fn migrate(&self, url: &str) -> Result<(), StoreError> {
        self.migrate_with(parsed(url)?).await
    }

    /// [`migrate`](Self::migrate) with options that say more than a URL can.
    ///
    /// # Errors
    /// Those of [`migrate`](Self::migrate).
    pub async fn migrate_with(&self, connect: PgConnectOptions) -> Result<(), StoreError> {
        let settings = Settings::new(connect, self)?;
        let mut connection = settings.open().await?;
        Ok(schema::migrate(&mut connection, &settings.table).await?)
    }

    /// Opens a store in the database at `url`, on connections of its own. Call it from a Tokio runtime; the store can then
    /// be used from any other, and from none.
    ///
    /// # Errors
    /// [`Rejected`](onceonly::StoreErrorKind::Rejected) if an option makes no sense, the table has not been
    /// [migrated](Self::migrate), was made by a newer release, or is not what its version says;
    /// [`Unavailable`](onceonly::StoreErrorKind::Unavailable) if the server cannot be reached or is a standby.
    pub async fn connect(self, url: &str) -> Result<PostgresStore, StoreError> {
        self.connect_with(parsed(url)?).await
    }

    /// [`connect`](Self::connect) with options that say more than a URL can, such as those of the application's own pool.
    /// The store opens connections with them, and takes none from the pool.
    ///
    /// # Errors
    /// Those of [`connect`](Self::connect).
    pub async fn connect_with(self, connect: PgConnectOptions) -> Result<PostgresStore, StoreError> {
        let settings = Settings::new(connect, &self)?;
        let mut connection = settings.open().await?;
        schema::check(&mut connection, &settings.table).await?;
        drop(connection);
        Ok(PostgresStore::start(settings, self.lanes)?)
    }

    pub(crate) fn validate(&self) -> Result<TableName, Error> {
        if self.lanes == 0 || self.lanes > LANES_MAX {
            return Err(Error::SetUp("a store has from 1 to 32 lanes"));
        }
        if self.call_timeout < CALL_TIMEOUT_MIN || self.call_timeout > CALL_TIMEOUT_MAX {
            return Err(Error::SetUp("the time of a call is from 100 ms to an hour"));
        }
        if self.lock_timeout.as_millis() == 0 || self.lock_timeout >= self.call_timeout {
            return Err(Error::SetUp("the wait for a lock is from 1 ms to less than the time of a call"));
        }
        TableName::new(&self.schema, &self.table)
    }
}

fn parsed(url: &str) -> Result<PgConnectOptions, Error> {
    // The driver's words may hold the password.
    PgConnectOptions::from_str(url).map_err(|_| Error::SetUp("the URL cannot be read"))
}

const LANES_MAX: usize = 32;
const CALL_TIMEOUT_MIN: Duration = Duration::from_millis(100);
const CALL_TIMEOUT_MAX: Duration = Duration::from_hours(1);
