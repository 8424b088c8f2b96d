//! The store contract, on PostgreSQL servers of the test's own.
//!
//! Where the machine can do it, each case has a server to itself, whose clock it sets: deadlines are then tested to the
//! microsecond. Elsewhere all share one, whose clock runs.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{IdempotencyKey, KeyStore, RecordKey, Timestamp};
use onceonly_conformance::servers::{Postgres, PostgresConfig, ServerClock, SteeredClock};
use onceonly_conformance::{
    ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, RawAccess, RawLock, RawSnapshot,
    StoreClock,
};
use onceonly_postgres::{PostgresOptions, PostgresStore};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};

#[path = "support/damage.rs"]
mod damage;

struct Table {
    /// None in another process, which only knows where it is.
    server: Option<Arc<Lent>>,
    url: String,
    name: String,
}

impl Table {
    async fn create(server: Arc<Lent>) -> Result<Self, FixtureError> {
        let name = format!("t{}", IdempotencyKey::generate().as_str().replace('-', ""));
        let table = Self { url: server.server().postgres.url(), server: Some(server), name };
        table.options().migrate(&table.url).await?;
        Ok(table)
    }

    fn options(&self) -> PostgresOptions {
        PostgresStore::options().table(&self.name).call_timeout(PATIENCE).lock_timeout(PATIENCE / 2)
    }

    fn rows(&self) -> Rows {
        Rows { url: self.url.clone(), table: self.name.clone() }
    }
}

#[async_trait]
impl Fixture for Table {
    fn declare() -> Declaration {
        let clock = match SteeredClock::availability() {
            Ok(()) => ClockKind::Steered,
            Err(_) => ClockKind::System,
        };
        Declaration::new("postgres", clock, Durability::PowerLoss, Processes::Many)
    }

    async fn open() -> Result<Self, FixtureError> {
        Self::create(Arc::new(Lent::take()?)).await
    }

    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
        Ok(Arc::new(self.options().connect(&self.url).await?))
    }

    async fn impatient_handle(&self, patience: Duration) -> Result<Option<Arc<dyn KeyStore>>, FixtureError> {
        let options = self.options().lock_timeout(patience);
        Ok(Some(Arc::new(options.connect(&self.url).await?)))
    }

    fn clock(&self) -> StoreClock {
        match self.server.as_ref().and_then(|server| server.server().clock.clone()) {
            Some(clock) => StoreClock::Steered(Arc::new(clock)),
            // Also in another process: the server's clock is set by the one that started it.
            None => StoreClock::System,
        }
    }

    fn raw(&self) -> Option<Arc<dyn RawAccess>> {
        Some(Arc::new(self.rows()))
    }

    /// Another table on the same server.
    async fn neighbour(&self) -> Result<Option<Box<dyn Fixture>>, FixtureError> {
        let Some(server) = &self.server else { return Ok(None) };
        Ok(Some(Box::new(Self::create(Arc::clone(server)).await?)))
    }

    fn address(&self) -> Option<String> {
        Some(format!("{} {}", self.url, self.name))
    }

    async fn join(address: &str) -> Result<Self, FixtureError> {
        let Some((url, name)) = address.split_once(' ') else {
            return Err(FixtureError::new("the address is a URL and a table's name"));
        };
        Ok(Self { server: None, url: url.to_owned(), name: name.to_owned() })
    }

    async fn environment(&self) -> Result<Vec<(&'static str, String)>, FixtureError> {
        let mut connection = self.rows().connect().await?;
        let mut facts = Vec::new();
        for setting in ["server_version", "synchronous_commit", "fsync"] {
            let row = connection.fetch_one(AssertSqlSafe(format!("SHOW {setting}"))).await?;
            facts.push((setting, row.try_get(0)?));
        }
        Ok(facts)
    }

    async fn close(&self) -> Result<(), FixtureError> {
        let mut connection = self.rows().connect().await?;
        connection.execute(AssertSqlSafe(format!("DROP TABLE {}", self.name))).await?;
        Ok(())
    }
}

/// A server, and the clock that it goes by if that can be set.
struct Server {
    postgres: Postgres,
    clock: Option<SteeredClock>,
}

impl Server {
    fn start() -> Result<Self, FixtureError> {
        let config = PostgresConfig::new().with("max_connections", "400");
        let Ok(()) = SteeredClock::availability() else {
            return Ok(Self { postgres: config.start()?, clock: None });
        };
        let clock = SteeredClock::new()?;
        let postgres = config.with_clock(&clock).start()?;
        Ok(Self { postgres, clock: Some(clock) })
    }
}

/// A server in the hands of one case. With a clock that is set, nobody else may use it meanwhile.
struct Lent(Option<Arc<Server>>);

impl Lent {
    fn take() -> Result<Self, FixtureError> {
        let free = FREE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let server = match free {
            Some(server) => server,
            None if SteeredClock::availability().is_ok() => Arc::new(Server::start()?),
            None => shared()?,
        };
        if let Some(clock) = &server.clock {
            // Some time in 2027: a time near zero would hide arithmetic that goes below it.
            clock.show(ServerClock::Frozen(Timestamp::from_micros(1_800_000_000_000_000)))?;
        }
        Ok(Self(Some(server)))
    }

    fn server(&self) -> &Server {
        self.0.as_ref().expect("it is lent until it is dropped")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(server) = self.0.take()
            && server.clock.is_some()
        {
            FREE.lock().unwrap_or_else(PoisonError::into_inner).push(server);
        }
    }
}

/// The one server of all cases, where clocks run.
fn shared() -> Result<Arc<Server>, FixtureError> {
    static SHARED: OnceLock<Result<Arc<Server>, String>> = OnceLock::new();
    let started = SHARED.get_or_init(|| Server::start().map(Arc::new).map_err(|error| error.to_string()));
    started.clone().map_err(FixtureError::new)
}

/// Servers that no case uses at the moment.
static FREE: Mutex<Vec<Arc<Server>>> = Mutex::new(Vec::new());

/// Connections of others to the table.
struct Rows {
    url: String,
    table: String,
}

impl Rows {
    async fn connect(&self) -> Result<PgConnection, FixtureError> {
        Ok(PgConnection::connect(&self.url).await?)
    }

    async fn begun(&self, statement: String) -> Result<PgConnection, FixtureError> {
        let mut connection = self.connect().await?;
        connection.execute(AssertSqlSafe(statement)).await?;
        Ok(connection)
    }
}

#[async_trait]
impl RawAccess for Rows {
    async fn count(&self) -> Result<u64, FixtureError> {
        let sql = format!("SELECT count(*) FROM {}", self.table);
        let row = self.connect().await?.fetch_one(AssertSqlSafe(sql)).await?;
        Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
    }

    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError> {
        let sql =
            format!("SELECT stored::text FROM {} AS stored WHERE key_digest = {}", self.table, digest(key));
        let row = self.connect().await?.fetch_optional(AssertSqlSafe(sql)).await?;
        Ok(row.map(|row| row.try_get::<String, _>(0)).transpose()?.map(String::into_bytes))
    }

    async fn damage(&self, key: &RecordKey, way: usize) -> Result<Option<String>, FixtureError> {
        let mut connection = self.connect().await?;
        let (table, digest) = (&self.table, digest(key));
        let sql = format!("SELECT status = 1 FROM {table} WHERE key_digest = {digest}");
        let completed = connection.fetch_one(AssertSqlSafe(sql)).await?.try_get(0)?;
        let ways = damage::ways(completed);
        let Some(way) = ways.get(way) else { return Ok(None) };
        // Past the table's own checks, which others may have dropped.
        let checks = format!(
            "DO $$ DECLARE check_name text; BEGIN FOR check_name IN SELECT conname FROM pg_constraint \
             WHERE conrelid = '{table}'::regclass AND contype = 'c' \
             LOOP EXECUTE format('ALTER TABLE {table} DROP CONSTRAINT %I', check_name); END LOOP; END $$"
        );
        connection.execute(AssertSqlSafe(checks)).await?;
        let sql = format!("UPDATE {table} SET {way} WHERE key_digest = {digest}");
        connection.execute(AssertSqlSafe(sql)).await?;
        Ok(Some((*way).to_owned()))
    }

    /// The lock of a migration that holds up every write, and lets others read.
    async fn lock(&self, _: &RecordKey) -> Result<Option<RawLock>, FixtureError> {
        let connection = self.begun(format!("BEGIN; LOCK TABLE {} IN EXCLUSIVE MODE", self.table)).await?;
        Ok(Some(Box::new(connection)))
    }

    async fn snapshot(&self) -> Result<Option<RawSnapshot>, FixtureError> {
        let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ";
        let connection = self.begun(format!("{begin}; SELECT count(*) FROM {}", self.table)).await?;
        Ok(Some(Box::new(connection)))
    }
}

/// The row is found by what nothing here changes.
fn digest(key: &RecordKey) -> String {
    let half: String = key.digest()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("'{half}'::uuid")
}

/// The server measures its time limits by the clock that cases set, and so takes a call for as long as they make it. One
/// that hangs is found out by the minute that a case may take.
const PATIENCE: Duration = Duration::from_hours(1);

onceonly_conformance::main!(Table);
