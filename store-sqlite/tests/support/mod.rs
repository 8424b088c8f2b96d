//! What the tests share: a file that goes away, keys, claims and results, other processes.

mod child;
pub(crate) mod damage;

use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use onceonly::{
    ClaimOutcome, Completion, Expected, Fingerprint, IdempotencyKey, KeyStore, ManualClock, NewClaim,
    RecordKey, Revision, Scope, Span, Stamp, StoreError, StoredResponse, StoredResult, Timestamp, Token,
};
use onceonly_sqlite::{SqliteOptions, SqliteStore};
use rusqlite::Connection;
use tempfile::TempDir;

pub(crate) use child::{Child, directory, role, tell, wait_for_parent};

/// A database file in a directory of its own, deleted at the end of the test.
pub(crate) struct Database {
    directory: TempDir,
}

impl Database {
    pub(crate) fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("a temporary directory can be made") }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("records.db")
    }

    /// The write-ahead log beside the file.
    pub(crate) fn log_path(&self) -> PathBuf {
        self.directory.path().join("records.db-wal")
    }

    pub(crate) fn open(&self) -> SqliteStore {
        self.open_with(SqliteStore::options())
    }

    pub(crate) fn open_with(&self, options: SqliteOptions) -> SqliteStore {
        options.open(self.path()).expect("the store opens")
    }

    /// A connection as an application or an operator would have, on which checks can be turned off.
    pub(crate) fn raw(&self) -> Connection {
        let connection = Connection::open(self.path()).expect("the file opens");
        connection.busy_timeout(PATIENCE).expect("the timeout is set");
        connection
    }
}

/// Polls `call` once, as a caller would that is then busy with something else.
pub(crate) fn poll_once<T>(call: &mut (impl Future<Output = T> + Unpin)) -> Poll<T> {
    Pin::new(call).poll(&mut Context::from_waker(Waker::noop()))
}

/// Waits for something that happens on another thread or in another process.
pub(crate) fn wait_until(mut happened: impl FnMut() -> bool) {
    let given_up = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < given_up, "it does not happen");
        thread::yield_now();
    }
}

/// A clock that stands at [`START`] until it is moved.
pub(crate) fn clock() -> ManualClock {
    ManualClock::starting_at(START)
}

pub(crate) fn key(name: &str) -> RecordKey {
    RecordKey::new(Scope::global(), IdempotencyKey::new(name).expect("the key is valid"))
}

pub(crate) fn token(number: u8) -> Token {
    Token::from_bytes([number; 16])
}

pub(crate) fn span(length: Duration) -> Span {
    Span::new(length).expect("the span is valid")
}

pub(crate) fn fingerprint() -> Fingerprint {
    Fingerprint::builder().part("body", "one").finish()
}

/// A claim with a lease of a minute, kept for a day, remembered for a month.
pub(crate) fn new_claim(number: u8) -> NewClaim {
    NewClaim {
        token: token(number),
        fingerprint: fingerprint(),
        attempt: 1,
        checkpoint: None,
        lease: span(LEASE),
        keep: span(KEEP),
        keep_unresolved: span(KEEP_UNRESOLVED),
    }
}

pub(crate) fn completion(body: &[u8]) -> Completion {
    Completion {
        revision: Revision::from_number(2),
        result: StoredResult::Retained(
            StoredResponse::new(201, body.to_vec()).with_header("Location", "/charges/1"),
        ),
        retention: span(RETENTION),
    }
}

/// A response too large for what little room the tests leave.
pub(crate) fn large_body() -> Vec<u8> {
    vec![b'x'; 512 * 1024]
}

/// Claims a free key, and panics if it is not.
pub(crate) async fn claim(store: &SqliteStore, key: &RecordKey, number: u8) -> Stamp {
    match store.claim(key, &new_claim(number), Expected::Absent).await {
        Ok(ClaimOutcome::Claimed(stamp)) => stamp,
        other => panic!("the key should be free: {other:?}"),
    }
}

pub(crate) async fn try_claim(store: &SqliteStore, name: &str) -> Result<ClaimOutcome, StoreError> {
    store.claim(&key(name), &new_claim(1), Expected::Absent).await
}

pub(crate) const START: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);
pub(crate) const LEASE: Duration = Duration::from_mins(1);
pub(crate) const RETENTION: Duration = Duration::from_hours(24);
pub(crate) const KEEP: Duration = Duration::from_hours(25);
pub(crate) const KEEP_UNRESOLVED: Duration = Duration::from_hours(30 * 24);

/// Far longer than anything should take, so that a test that waits in vain fails instead of hanging.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);
