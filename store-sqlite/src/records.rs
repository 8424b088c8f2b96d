//! The verbs, on a connection whose transaction the caller has opened.

use onceonly::{
    ClaimOutcome, Clock, CompleteOutcome, Completion, Expected, NewClaim, Record, RecordKey, Release,
    ReleaseOutcome, RenewOutcome, Renewal, Snapshot, Span, Stamp, Status, Timestamp, Token,
};
use rusqlite::{Connection, params};

use crate::error::Error;
use crate::row::{Columns, ResultColumns, StoredRow};
use crate::statements::Statements;

/// What belongs to one table, whatever connection it is reached over.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) statements: Statements,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) mark_retention: Span,
}

impl Table {
    pub(crate) fn on<'a>(&'a self, connection: &'a Connection) -> Records<'a> {
        Records { table: self, connection }
    }
}

/// The records of a table over one connection.
///
/// The verbs that write expect the write lock to be held: they look, decide and write, and read the clock after the
/// lock was got. Each writes with one statement at most, which SQLite applies or undoes as a whole, so that a verb that
/// fails leaves its transaction as it was.
pub(crate) struct Records<'a> {
    pub(crate) table: &'a Table,
    pub(crate) connection: &'a Connection,
}

impl Records<'_> {
    pub(crate) fn now(&self) -> Timestamp {
        self.table.clock.now()
    }

    pub(crate) fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, Error> {
        let now = self.now();
        let written = Record::claimed(claim, now);
        // The frequent case without looking first: the index says whether the place is taken.
        if expected == Expected::Absent && self.insert(key, &written)? {
            return Ok(ClaimOutcome::Claimed(written.stamp(now)));
        }
        let Some(stored) = self.select(key)? else {
            return Ok(ClaimOutcome::Vacant);
        };
        if expected.admits(Some(&stored.record)) {
            self.update(stored.rowid, &written)?;
            return Ok(ClaimOutcome::Claimed(written.stamp(now)));
        }
        Ok(ClaimOutcome::Occupied(Box::new(Snapshot { record: stored.record, now })))
    }

    /// Needs no lock: a single statement sees one state.
    pub(crate) fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, Error> {
        let stored = self.select(key)?;
        let now = self.now();
        Ok(stored.map(|stored| Snapshot { record: stored.record, now }))
    }

    pub(crate) fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, Error> {
        let Some(mut stored) = self.select(key)? else {
            return Ok(RenewOutcome::NotHeld);
        };
        let before = stored.record.version;
        let outcome = stored.record.renew(token, renewal, self.now());
        if stored.record.version != before {
            self.update(stored.rowid, &stored.record)?;
        }
        Ok(outcome)
    }

    pub(crate) fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, Error> {
        let now = self.now();
        if let Some(stamp) = self.complete_at_once(key, token, completion, now)? {
            return Ok(CompleteOutcome::Applied(stamp));
        }
        let Some(mut stored) = self.select(key)? else {
            return Ok(CompleteOutcome::NotHeld);
        };
        let outcome = stored.record.complete(token, completion, now);
        if let CompleteOutcome::Applied(_) = outcome {
            self.update(stored.rowid, &stored.record)?;
        }
        Ok(outcome)
    }

    pub(crate) fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, Error> {
        let Some(mut stored) = self.select(key)? else {
            return Ok(ReleaseOutcome::NotHeld);
        };
        let was_released = stored.record.status == Status::Released;
        let outcome = stored.record.release(token, release, self.now());
        // Whatever its revision: only a mark that stands already is left as it is.
        if outcome == ReleaseOutcome::Applied && !was_released {
            self.update(stored.rowid, &stored.record)?;
        }
        Ok(outcome)
    }

    pub(crate) fn select(&self, key: &RecordKey) -> Result<Option<StoredRow>, Error> {
        let mut select = self.connection.prepare_cached(&self.table.statements.select)?;
        let mut rows = select.query([index_digest(key)])?;
        match rows.next()? {
            Some(row) => StoredRow::read(row, key).map(Some),
            None => Ok(None),
        }
    }

    /// Whether the place was free.
    pub(crate) fn insert(&self, key: &RecordKey, record: &Record) -> Result<bool, Error> {
        let columns = Columns::of(record);
        let inserted = self.connection.prepare_cached(&self.table.statements.insert)?.execute(params![
            index_digest(key),
            key.scope().name().map(str::as_bytes),
            key.key().as_str().as_bytes(),
            columns.status,
            record.version.token.as_bytes(),
            record.version.revision.number(),
            record.fingerprint.to_bytes(),
            record.attempt,
            record.created_at.as_micros(),
            record.lease_until.as_micros(),
            record.expires_at.as_micros(),
            record.unresolved_until.as_micros(),
            columns.sweep_at,
            columns.result.code,
            columns.result.headers,
            columns.result.body,
            columns.checkpoint,
        ])?;
        Ok(inserted == 1)
    }

    pub(crate) fn update(&self, rowid: i64, record: &Record) -> Result<(), Error> {
        let columns = Columns::of(record);
        self.connection.prepare_cached(&self.table.statements.update)?.execute(params![
            rowid,
            columns.status,
            record.version.token.as_bytes(),
            record.version.revision.number(),
            record.fingerprint.to_bytes(),
            record.attempt,
            record.created_at.as_micros(),
            record.lease_until.as_micros(),
            record.expires_at.as_micros(),
            record.unresolved_until.as_micros(),
            columns.sweep_at,
            columns.result.code,
            columns.result.headers,
            columns.result.body,
            columns.checkpoint,
        ])?;
        Ok(())
    }

    /// Completes without reading the whole row, where it can: the frequent case.
    fn complete_at_once(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
        now: Timestamp,
    ) -> Result<Option<Stamp>, Error> {
        let retained_until = now.plus(completion.retention);
        let Some((rowid, mut stamp)) = self.held(key, token, retained_until, now)? else {
            return Ok(None);
        };
        stamp.expires_at = stamp.expires_at.max(retained_until);
        let result = ResultColumns::of(&completion.result);
        self.connection.prepare_cached(&self.table.statements.complete)?.execute(params![
            rowid,
            completion.revision.number(),
            stamp.expires_at.as_micros(),
            result.code,
            result.headers,
            result.body,
        ])?;
        Ok(Some(stamp))
    }

    fn held(
        &self,
        key: &RecordKey,
        token: Token,
        retained_until: Timestamp,
        now: Timestamp,
    ) -> Result<Option<(i64, Stamp)>, Error> {
        let mut select = self.connection.prepare_cached(&self.table.statements.held)?;
        let mut rows = select.query(params![
            index_digest(key),
            key.scope().name().map(str::as_bytes),
            key.key().as_str().as_bytes(),
            token.as_bytes(),
            now.as_micros(),
            retained_until.as_micros(),
        ])?;
        let Some(row) = rows.next()? else {
            return Ok(None);
        };
        let stamp = Stamp {
            now,
            lease_until: Timestamp::from_micros(row.get(1)?),
            expires_at: Timestamp::from_micros(row.get(2)?),
        };
        Ok(Some((row.get(0)?, stamp)))
    }
}

/// The half of the digest that the index holds: enough that two keys do not meet by chance, at half the size.
fn index_digest(key: &RecordKey) -> &[u8] {
    &key.digest()[..16]
}
