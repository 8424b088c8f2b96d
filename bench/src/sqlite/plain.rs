//! What is left of the store when threads, callers and rules are taken away: prepared statements in a loop.

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use bytes::Bytes;
use onceonly::{Clock, Fingerprint, Span, StoredResponse, SystemClock, Timestamp, encode_headers};
use onceonly_sqlite::Synchronous;
use rusqlite::{Connection, OpenFlags, OptionalExtension, named_params};

use super::{absent, present};
use crate::load::{Request, completion, fingerprint, response};
use crate::runner::{Failure, Sample};

/// A connection to a file that the store has made, so that table and indexes are the same.
pub(super) struct Plain {
    connection: Connection,
    fingerprint: Fingerprint,
    response: StoredResponse,
    headers: Vec<u8>,
    retention: Span,
}

impl Plain {
    /// Opens the file with the store's settings. Only checkpoints are left to SQLite, at the length of log at which the
    /// store begins one.
    pub(super) fn open(path: &Path, synchronous: Synchronous) -> Result<Self, Failure> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(Duration::from_secs(5))?;
        connection.pragma_update(
            None,
            "synchronous",
            match synchronous {
                Synchronous::Full => "FULL",
                Synchronous::Normal => "NORMAL",
            },
        )?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        let response = response();
        let headers = encode_headers(&response.headers);
        let retention = completion(response.clone()).retention;
        Ok(Self { connection, fingerprint: fingerprint(), response, headers, retention })
    }

    /// Writes completed records for the first `count` requests.
    pub(super) fn fill(&mut self, count: u64) -> Result<(), Failure> {
        self.begin()?;
        for request in (0..count).map(Request::numbered) {
            self.claim(&request)?;
            self.complete(&request)?;
        }
        self.commit()
    }

    /// As many claims as `group` in a transaction, then their completions in another one, for about `duration`.
    pub(super) fn fresh_in_groups(&mut self, group: usize, duration: Duration) -> Result<Sample, Failure> {
        let mut numbers = 0..;
        let started = Instant::now();
        let mut sample = Sample::default();
        while sample.elapsed < duration {
            let requests: Vec<Request> = numbers.by_ref().take(group).map(absent).collect();
            self.begin()?;
            requests.iter().try_for_each(|request| self.claim(request))?;
            self.commit()?;
            self.begin()?;
            requests.iter().try_for_each(|request| self.complete(request))?;
            self.commit()?;
            sample.operations += group as u64;
            sample.elapsed = started.elapsed();
        }
        Ok(sample)
    }

    /// Reads completed records one by one for about `duration`.
    pub(super) fn replay(&mut self, duration: Duration) -> Result<Sample, Failure> {
        let started = Instant::now();
        let mut sample = Sample::default();
        while sample.elapsed < duration {
            for number in sample.operations..sample.operations + REPLAYS_BETWEEN_LOOKS {
                black_box(self.read(&present(number))?);
            }
            sample.operations += REPLAYS_BETWEEN_LOOKS;
            sample.elapsed = started.elapsed();
        }
        Ok(sample)
    }

    pub(super) fn claim_alone(&self, request: &Request) -> Result<(), Failure> {
        self.begin()?;
        self.claim(request)?;
        self.commit()
    }

    pub(super) fn complete_alone(&self, request: &Request) -> Result<(), Failure> {
        self.begin()?;
        self.complete(request)?;
        self.commit()
    }

    fn begin(&self) -> Result<(), Failure> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        Ok(())
    }

    fn commit(&self) -> Result<(), Failure> {
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    fn claim(&self, request: &Request) -> Result<(), Failure> {
        let claim = request.claim(self.fingerprint);
        let now = SystemClock.now();
        let inserted = self.connection.prepare_cached(include_str!("claim.sql"))?.execute(named_params! {
            ":digest": half(request),
            ":scope": request.key.scope().name().map(str::as_bytes),
            ":key": request.key.key().as_str().as_bytes(),
            ":token": claim.token.as_bytes(),
            ":fingerprint": claim.fingerprint.to_bytes(),
            ":now": now.as_micros(),
            ":lease_until": now.plus(claim.lease).as_micros(),
            ":expires_at": now.plus(claim.keep).as_micros(),
            ":unresolved_until": now.plus(claim.keep_unresolved).as_micros(),
        })?;
        (inserted == 1).then_some(()).ok_or_else(|| "a fresh key was in the table".into())
    }

    fn complete(&self, request: &Request) -> Result<(), Failure> {
        let updated =
            self.connection.prepare_cached(include_str!("complete.sql"))?.execute(named_params! {
                ":digest": half(request),
                ":token": request.token.as_bytes(),
                ":code": self.response.code,
                ":headers": self.headers,
                ":body": &self.response.body[..],
                ":expires_at": SystemClock.now().plus(self.retention).as_micros(),
            })?;
        (updated == 1).then_some(()).ok_or_else(|| "a held key was not in the table".into())
    }

    /// The response, and until when it is kept, if the request is the one that the key is bound to.
    fn read(&self, request: &Request) -> Result<(Timestamp, StoredResponse), Failure> {
        let mut select = self.connection.prepare_cached(include_str!("replay.sql"))?;
        let found = select.query_row(
            named_params! {
                ":digest": half(request),
                ":key": request.key.key().as_str().as_bytes(),
                ":fingerprint": self.fingerprint.to_bytes(),
            },
            |row| {
                let body = Bytes::copy_from_slice(row.get_ref(1)?.as_blob()?);
                Ok((Timestamp::from_micros(row.get(2)?), StoredResponse::new(row.get(0)?, body)))
            },
        );
        found.optional()?.ok_or_else(|| "a completed key was not in the table".into())
    }
}

/// What the table's index is on.
fn half(request: &Request) -> &[u8] {
    &request.key.digest()[..16]
}

/// The store's.
const CACHE_KIB: i64 = 64 * 1024;
const CHECKPOINT_PAGES: i64 = 10_000;

const REPLAYS_BETWEEN_LOOKS: u64 = 64;
