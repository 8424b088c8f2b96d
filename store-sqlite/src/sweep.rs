//! Deleting what is past its time, a bounded piece at a time.

use onceonly::Timestamp;
use rusqlite::params;

use crate::error::Error;
use crate::records::Records;
use crate::row;

/// A purge under way. Each piece is a transaction of its own, so that claims do not wait for a long one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sweep {
    remaining: u64,
    deleted: u64,
    unreadable: u64,
    /// Where the last piece stopped looking.
    after: Position,
    finished: bool,
}

#[derive(Clone, Copy, Debug)]
struct Position {
    sweep_at: i64,
    rowid: i64,
}

impl Sweep {
    /// A purge of at most `limit` records.
    pub(crate) fn new(limit: u32) -> Self {
        let after = Position { sweep_at: i64::MIN, rowid: i64::MIN };
        Self { remaining: limit.into(), deleted: 0, unreadable: 0, after, finished: limit == 0 }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.finished
    }

    /// How many records were deleted.
    pub(crate) fn deleted(&self) -> u64 {
        self.deleted
    }

    /// How many records have a status that this release does not know. They are left where they are.
    pub(crate) fn unreadable(&self) -> u64 {
        self.unreadable
    }
}

/// One row that a purge must look at.
struct Candidate {
    position: Position,
    past_from: Option<Timestamp>,
}

impl Records<'_> {
    /// Does the next piece of `sweep`, under the write lock: nothing changes between looking and deleting.
    pub(crate) fn sweep(&self, mut sweep: Sweep) -> Result<Sweep, Error> {
        let now = self.now();
        let piece = sweep.remaining.min(PIECE);
        let candidates = self.candidates(sweep.after, now, piece)?;
        sweep.finished = (candidates.len() as u64) < piece;
        let statements = &self.table.statements;
        for Candidate { position, past_from } in candidates {
            sweep.after = position;
            match past_from {
                Some(past_from) if past_from <= now => {
                    self.connection.prepare_cached(&statements.delete)?.execute([position.rowid])?;
                    sweep.deleted += 1;
                    sweep.remaining -= 1;
                }
                // It lives on: kept as unresolved, or completed with a longer retention than was foreseen.
                Some(past_from) => {
                    let later = params![position.rowid, past_from.as_micros()];
                    self.connection.prepare_cached(&statements.postpone)?.execute(later)?;
                }
                None => sweep.unreadable += 1,
            }
        }
        sweep.finished |= sweep.remaining == 0;
        Ok(sweep)
    }

    fn candidates(&self, after: Position, now: Timestamp, limit: u64) -> Result<Vec<Candidate>, Error> {
        let mut select = self.connection.prepare_cached(&self.table.statements.sweep)?;
        let range = params![now.as_micros(), after.sweep_at, after.rowid, limit.min(PIECE) as i64];
        let candidates = select.query_map(range, |row| {
            Ok(Candidate {
                position: Position { rowid: row.get(0)?, sweep_at: row.get(1)? },
                past_from: row::past_from(row.get(2)?, row.get(3)?, row.get(4)?),
            })
        })?;
        Ok(candidates.collect::<Result<_, _>>()?)
    }
}

/// Rows looked at in one transaction: a few milliseconds.
const PIECE: u64 = 256;
