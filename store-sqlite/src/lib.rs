//! An SQLite key store for [Onceonly](onceonly): one file, no server, any number of processes on one host.
//!
//! ```
//! use onceonly_sqlite::SqliteStore;
//!
//! # fn main() -> Result<(), onceonly::StoreError> {
//! # let directory = tempfile::tempdir().expect("a temporary directory can be made");
//! # let path = directory.path().join("keys.db");
//! let store = SqliteStore::open(&path)?;
//! # let _ = store;
//! # Ok(())
//! # }
//! ```
//!
//! # How it works
//!
//! One thread writes. Calls that arrive while it commits are committed together next, so that they share one flush of
//! the disk; nobody waits for a timer. Each call is answered after the commit that it is part of. Replays of keys that
//! this store has met lately, and [`load`](onceonly::KeyStore::load), read in place, over connections of their own: a look
//! into the write-ahead log takes microseconds, may wait for the disk as any read of a file, and not for a commit. Where
//! SQLite cannot let it look at once, as while another process recovers the log, the writer is asked and answers in its
//! turn. The first replay of another key, as after a restart, is answered with the next commit.
//!
//! # What it needs
//!
//! * **A local disk.** The write-ahead log needs memory that all processes on the file share; on a network file system
//!   it does not work, and SQLite cannot tell. A disk that hangs without failing makes calls hang with it: SQLite knows
//!   no time limit for a flush.
//! * **A recent SQLite.** The feature `bundled`, a default, compiles one in. Without it the system's is linked: 3.37 at
//!   least, and better 3.51.3, which mends a rare corruption of write-ahead logs that two connections checkpoint at
//!   once (<https://www.sqlite.org/wal.html#walresetbug>).
//! * **Somebody who purges.** Run the engine's sweeper. The file does not shrink by that, the room is used again.
//! * **Room.** On a full disk every write is [`Unavailable`](onceonly::StoreErrorKind::Unavailable) and nothing is
//!   lost, but a purge needs room too: a full disk must be given some by other means.
//! * **Short transactions beside it.** SQLite lets one connection write at a time. An application that keeps a write
//!   transaction open makes every claim wait, for [`SqliteOptions::busy_timeout`] at most. One that keeps a *read*
//!   transaction open keeps the write-ahead log from starting over: the log grows until it ends.
//! * **One clock.** The host's time decides when leases and retentions end.
//! * **A file that stays where it is.** Deleting or replacing the file under a running store loses what is written
//!   from then on.
//! * **One name for the file.** The write-ahead log lies beside the file and is called after it. Under two names, by a
//!   hard link or a single file that is mounted into two containers, a file has two logs, and one key is granted twice.
//!   Hard links are refused on Unix when the store is opened, mounts cannot be seen: share the directory, never the file
//!   alone.
//! * **Nobody else who opens the file in this process.** On Unix, closing a file drops all locks that the process holds
//!   on it. Copying the file by the means of the operating system while the store is open, as for a backup, lets another
//!   process write in between. Copy with SQLite's backup or `VACUUM INTO`, or while no store is open. Connections of the
//!   same SQLite library are safe, those of a second copy linked into the process are not. See
//!   <https://www.sqlite.org/howtocorrupt.html>, section 2.2.
//! * **A store of its own for each process.** One that is carried over a `fork` may damage the file, and has no thread
//!   that writes: open it afterwards.
//!
//! # What survives
//!
//! With [`Synchronous::Full`], the default, every answered write survives the end of the process, of the operating
//! system and a loss of power, as far as the disk keeps its word. With [`Synchronous::Normal`] it survives the end of
//! the process.
//!
//! # Effect and result in one transaction
//!
//! If the operation's effect is a write to the same file, [`SqliteStore::complete_in`] commits both together, and
//! [`SqliteStore::mark_in`] does so for consumers that keep no answer.

mod checkpoint;
mod connection;
mod error;
mod options;
mod reader;
mod records;
mod row;
mod schema;
mod seen;
mod statements;
mod store;
mod sweep;
mod transaction;
mod writer;

pub use onceonly::{CompleteIn, Mark};
pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
