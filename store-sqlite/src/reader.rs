//! Reading in place: a look into the write-ahead log takes microseconds, less than handing it to another thread.

use parking_lot::{Mutex, MutexGuard};
use rusqlite::Connection;

use onceonly::{RecordKey, Snapshot};

use crate::connection::{self, OpenedFile};
use crate::error::{self, Error};
use crate::records::Table;

/// Connections that only read.
#[derive(Debug)]
pub(crate) struct Readers(Box<[Mutex<Connection>]>);

/// The answer to a look.
pub(crate) enum Look {
    /// What is there.
    Seen(Option<Box<Snapshot>>),
    /// It could not be had without waiting. Ask the writer, whose thread may wait.
    AskWriter,
}

impl Readers {
    /// Opens `count` connections. A database in memory has none: it belongs to its one connection.
    pub(crate) fn open(file: Option<&OpenedFile>, count: usize) -> Result<Self, Error> {
        let Some(file) = file else {
            return Ok(Self(Box::default()));
        };
        let connections = (0..count).map(|_| connection::open_reader(file).map(Mutex::new));
        Ok(Self(connections.collect::<Result<_, _>>()?))
    }

    /// The record of `key` in the last committed state.
    pub(crate) fn look(&self, table: &Table, key: &RecordKey) -> Result<Look, Error> {
        let Some(connection) = self.any(key) else {
            return Ok(Look::AskWriter);
        };
        match table.on(&connection).load(key) {
            Ok(seen) => Ok(Look::Seen(seen.map(Box::new))),
            Err(Error::Sqlite(failure)) if error::is_busy(&failure) => Ok(Look::AskWriter),
            Err(failure) => Err(failure),
        }
    }

    /// A connection that is free. If there is none, the one whose turn it is by the key's digest: it is in use for
    /// microseconds, by somebody who awaits nothing.
    fn any(&self, key: &RecordKey) -> Option<MutexGuard<'_, Connection>> {
        let [first, ..] = key.digest();
        let turn = usize::from(*first).checked_rem(self.0.len())?;
        let (before, from) = self.0.split_at(turn);
        let free = from.iter().chain(before).find_map(Mutex::try_lock);
        Some(free.unwrap_or_else(|| self.0[turn].lock()))
    }
}
