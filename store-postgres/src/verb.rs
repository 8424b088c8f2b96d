//! What each verb binds, and how its answer reads.

use onceonly::{
    ClaimOutcome, CompleteOutcome, LeaseChange, NewClaim, RecordKey, ReleaseOutcome, RenewOutcome, Revision,
    Snapshot, Stamp, Status, Token, encode_headers,
};
use sqlx::Row;
use sqlx::postgres::PgRow;

use crate::error::Error;
use crate::job::{Claim, Complete, Load, ReleaseCall, Renew, Takeover};
use crate::parameters::Parameters;
use crate::row;
use crate::statements::{Statement, Statements};
use crate::types::{Instant, Sixteen, interval};

/// A verb, as one statement for any number of records.
pub(crate) trait Verb: Sync + Sized {
    type Outcome;

    fn key(&self) -> &RecordKey;

    fn statement(statements: &Statements) -> &Statement;

    fn bind(items: &[&Self], parameters: &mut Parameters) -> Result<(), Error>;

    /// What a row of the statement says.
    fn outcome(&self, row: &PgRow) -> Result<Self::Outcome, Error>;

    /// What it means that the statement gave no row, seeing what is there now. None if it contradicts that: somebody
    /// else has written between the two looks.
    fn without_row(&self, found: Option<Snapshot>) -> Option<Self::Outcome>;

    /// The outcome if somebody else's open transaction holds the record, unless that is an error.
    fn when_locked() -> Option<Self::Outcome> {
        None
    }
}

impl Verb for Load {
    type Outcome = Option<Snapshot>;

    fn key(&self) -> &RecordKey {
        &self.key
    }

    fn statement(statements: &Statements) -> &Statement {
        &statements.load
    }

    fn bind(items: &[&Self], parameters: &mut Parameters) -> Result<(), Error> {
        parameters.column(items, |item| row::key_digest(&item.key))
    }

    fn outcome(&self, row: &PgRow) -> Result<Self::Outcome, Error> {
        row::snapshot(row, &self.key).map(Some)
    }

    fn without_row(&self, found: Option<Snapshot>) -> Option<Self::Outcome> {
        Some(found)
    }
}

impl Verb for Claim {
    type Outcome = Claimed;

    fn key(&self) -> &RecordKey {
        &self.key
    }

    fn statement(statements: &Statements) -> &Statement {
        &statements.claim
    }

    fn bind(items: &[&Self], parameters: &mut Parameters) -> Result<(), Error> {
        bind_key(items, parameters)?;
        bind_claim(items, |item| &item.claim, parameters)
    }

    fn outcome(&self, row: &PgRow) -> Result<Self::Outcome, Error> {
        let Some(written_at) = row.try_get::<Option<Instant>, _>(17)? else {
            let found = row::snapshot(row, &self.key)?;
            return Ok(Claimed::Settled(ClaimOutcome::Occupied(Box::new(found))));
        };
        let stamp = stamp(row, [16, 9, 10])?;
        // The deadlines were reckoned before the insert, which may have had to wait for somebody else's that was then
        // taken back.
        let waited = written_at.0.since(stamp.now) >= WAIT_MAX;
        Ok(if waited { Claimed::Late } else { Claimed::Settled(ClaimOutcome::Claimed(stamp)) })
    }

    fn without_row(&self, found: Option<Snapshot>) -> Option<Self::Outcome> {
        found.map(|found| Claimed::Settled(ClaimOutcome::Occupied(Box::new(found))))
    }

    fn when_locked() -> Option<Self::Outcome> {
        Some(Claimed::Settled(ClaimOutcome::Vacant))
    }
}

/// The answer to a claim that expects absence.
#[derive(Debug)]
pub(crate) enum Claimed {
    Settled(ClaimOutcome),
    /// It is written, with deadlines from before a wait.
    Late,
}

impl Verb for Takeover {
    type Outcome = ClaimOutcome;

    fn key(&self) -> &RecordKey {
        &self.key
    }

    fn statement(statements: &Statements) -> &Statement {
        &statements.takeover
    }

    fn bind(items: &[&Self], parameters: &mut Parameters) -> Result<(), Error> {
        bind_key(items, parameters)?;
        bind_claim(items, |item| &item.claim, parameters)?;
        parameters.column(items, |item| Sixteen(*item.expected.token.as_bytes()))?;
        parameters.column(items, |item| i64::from(item.expected.revision.number()))
    }

    fn outcome(&self, row: &PgRow) -> Result<Self::Outcome, Error> {
        Ok(ClaimOutcome::Claimed(stamp(row, [1, 2, 3])?))
    }

    fn without_row(&self, found: Option<Snapshot>) -> Option<Self::Outcome> {
        match found {
            None => Some(ClaimOutcome::Vacant),
            Some(found) if found.record.version == self.expected => None,
            Some(found) => Some(ClaimOutcome::Occupied(Box::new(found))),
        }
    }

    fn when_locked() -> Option<Self::Outcome> {
        Some(ClaimOutcome::Vacant)
    }
}

impl Verb for Renew {
    type Outcome = RenewOutcome;

    fn key(&self) -> &RecordKey {
        &self.key
    }

    fn statement(statements: &Statements) -> &Statement {
        &statements.renew
    }

    fn bind(items: &[&Self], parameters: &mut Parameters) -> Result<(), Error> {
        bind_key(items, parameters)?;
        bind_holder(items, |item| (item.token, item.renewal.revision), parameters)?;
        parameters.column(items, |item| match item.renewal.lease {
            LeaseChange::Extend(lease) => Some(interval(lease)),
            LeaseChange::End => None,
        })?;
        parameters.column(items, |item| item.renewal.checkpoint.as_deref())
    }

    fn outcome(&self, row: &PgRow) -> Result<Self::Outcome, Error> {
        Ok(RenewOutcome::Applied(stamp(row, [1, 2, 3])?))
    }

    fn without_row(&self, found: Option<Snapshot>) -> Option<Self::Outcome> {
        (!is_held(self.token, found.as_ref())).then_some(RenewOutcome::NotHeld)
    }
}

impl Verb for Complete {
    type Outcome = CompleteOutcome;

    fn key(&self) -> &RecordKey {
        &self.key
    }

    fn statement(statements: &Statements) -> &Statement {
        &statements.complete
    }

    fn bind(items: &[&Self], parameters: &mut Parameters) -> Result<(), Error> {
        bind_key(items, parameters)?;
        bind_holder(items, |item| (item.token, item.completion.revision), parameters)?;
        parameters.column(items, |item| interval(item.completion.retention))?;
        parameters.column(items, |item| i32::from(item.completion.result.code()))?;
        parameters.column(items, |item| encode_headers(item.completion.result.headers()))?;
        parameters.column(items, |item| item.completion.result.body().map(|body| &body[..]))
    }

    fn outcome(&self, row: &PgRow) -> Result<Self::Outcome, Error> {
        Ok(CompleteOutcome::Applied(stamp(row, [1, 2, 3])?))
    }

    fn without_row(&self, found: Option<Snapshot>) -> Option<Self::Outcome> {
        if is_held(self.token, found.as_ref()) {
            return None;
        }
        Some(match found {
            Some(found)
                if found.record.version.token == self.token
                    && matches!(found.record.status, Status::Completed(_))
                    && !found.record.is_past(found.now) =>
            {
                CompleteOutcome::AlreadyCompleted(Box::new(found))
            }
            _ => CompleteOutcome::NotHeld,
        })
    }
}

impl Verb for ReleaseCall {
    type Outcome = ReleaseOutcome;

    fn key(&self) -> &RecordKey {
        &self.key
    }

    fn statement(statements: &Statements) -> &Statement {
        &statements.release
    }

    fn bind(items: &[&Self], parameters: &mut Parameters) -> Result<(), Error> {
        bind_key(items, parameters)?;
        bind_holder(items, |item| (item.token, item.release.revision), parameters)?;
        parameters.column(items, |item| interval(item.release.keep))
    }

    fn outcome(&self, _: &PgRow) -> Result<Self::Outcome, Error> {
        Ok(ReleaseOutcome::Applied)
    }

    fn without_row(&self, found: Option<Snapshot>) -> Option<Self::Outcome> {
        if is_held(self.token, found.as_ref()) {
            return None;
        }
        let marked = found.is_some_and(|found| {
            found.record.version.token == self.token
                && found.record.status == Status::Released
                && !found.record.is_past(found.now)
        });
        Some(if marked { ReleaseOutcome::Applied } else { ReleaseOutcome::NotHeld })
    }
}

fn is_held(token: Token, found: Option<&Snapshot>) -> bool {
    found.is_some_and(|found| found.record.is_held_by(token, found.now))
}

/// Instant, lease and retention in these columns.
fn stamp(row: &PgRow, [now, lease_until, expires_at]: [usize; 3]) -> Result<Stamp, Error> {
    let time = |column: usize| row.try_get::<Instant, _>(column).map(|instant| instant.0);
    Ok(Stamp { now: time(now)?, lease_until: time(lease_until)?, expires_at: time(expires_at)? })
}

fn bind_key<V: Verb>(items: &[&V], parameters: &mut Parameters) -> Result<(), Error> {
    parameters.column(items, |item| row::key_digest(item.key()))?;
    parameters.column(items, |item| item.key().scope().name().map(str::as_bytes))?;
    parameters.column(items, |item| item.key().key().as_str().as_bytes())
}

fn bind_claim<V>(
    items: &[&V],
    claim: impl Fn(&V) -> &NewClaim,
    parameters: &mut Parameters,
) -> Result<(), Error> {
    parameters.column(items, |item| Sixteen(*claim(item).token.as_bytes()))?;
    parameters.column(items, |item| claim(item).fingerprint.to_bytes().to_vec())?;
    parameters.column(items, |item| i64::from(claim(item).attempt))?;
    parameters.column(items, |item| claim(item).checkpoint.as_deref())?;
    parameters.column(items, |item| interval(claim(item).lease))?;
    parameters.column(items, |item| interval(claim(item).keep))?;
    parameters.column(items, |item| interval(claim(item).keep_unresolved))
}

fn bind_holder<V>(
    items: &[&V],
    holder: impl Fn(&V) -> (Token, Revision),
    parameters: &mut Parameters,
) -> Result<(), Error> {
    parameters.column(items, |item| Sixteen(*holder(item).0.as_bytes()))?;
    parameters.column(items, |item| i64::from(holder(item).1.number()))
}

/// Above the time that an insert takes, and far below any lease.
const WAIT_MAX: std::time::Duration = std::time::Duration::from_millis(20);
