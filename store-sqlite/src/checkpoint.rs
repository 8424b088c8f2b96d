//! Carrying the write-ahead log over into the file, off the path of commits.
//!
//! Left to SQLite, every so many pages one commit does it and everybody in its group waits. Here another thread copies
//! while commits go on. It can never quite finish, since the log grows meanwhile, and a log that is not copied to its
//! end is not started over. So the writer copies the short rest itself, between two groups, and the log starts over.
//! Where the disk is too slow for that, the writer waits for the copying: a log that grows without bound is worse.

use std::cell::Cell;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;

use crate::error::Error;

/// The writer's side.
#[derive(Debug)]
pub(crate) struct Checkpoints {
    /// Taken out when the thread is to end.
    request: Option<SyncSender<()>>,
    copied: Receiver<()>,
    thread: Option<JoinHandle<()>>,
    phase: Phase,
    /// The length of the log, in pages, from which on something is done.
    due: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    /// The other thread copies, or has copied.
    Copying,
}

impl Checkpoints {
    /// Starts the thread that copies, over a connection of its own. It ends with the writer.
    pub(crate) fn start(connection: Connection) -> Result<Self, Error> {
        let (request, requests) = mpsc::sync_channel(1);
        let (done, copied) = mpsc::sync_channel(1);
        let thread = thread::Builder::new()
            .name("onceonly-sqlite-checkpoint".to_owned())
            .spawn(move || {
                while requests.recv().is_ok() {
                    copy(&connection);
                    if done.send(()).is_err() {
                        break;
                    }
                }
            })
            .map_err(Error::Thread)?;
        Ok(Self { request: Some(request), copied, thread: Some(thread), phase: Phase::Idle, due: DUE_PAGES })
    }

    /// Makes SQLite say after each commit how long the log is.
    pub(crate) fn watch(connection: &Connection) {
        connection.wal_hook(Some(|_, pages| {
            LOG_PAGES.set(u32::try_from(pages).unwrap_or(u32::MAX));
            Ok(())
        }));
    }

    /// To be called by the writer's thread between two groups.
    pub(crate) fn after_commit(&mut self, connection: &Connection) {
        let pages = LOG_PAGES.get();
        match self.phase {
            Phase::Idle if pages >= self.due => {
                if let Some(request) = &self.request {
                    // If the thread is gone, it will be seen when the log has grown too far.
                    let _ = request.try_send(());
                }
                self.phase = Phase::Copying;
            }
            Phase::Copying if self.has_copied(pages) => {
                self.phase = Phase::Idle;
                // A reader that still needs the log, or another process, keeps it from starting over: later, then.
                let started_over =
                    pages < self.due || checkpoint(connection, RESTART).is_ok_and(|log| log.whole);
                self.due = if started_over { DUE_PAGES } else { pages.saturating_add(DUE_PAGES / 4) };
            }
            Phase::Idle | Phase::Copying => {}
        }
    }

    /// Whether the other thread is done; waits for it if the log has grown too far meanwhile.
    fn has_copied(&self, pages: u32) -> bool {
        if pages < self.due.saturating_add(DUE_PAGES) {
            return self.copied.try_recv().is_ok();
        }
        // An error means that the thread is gone. Then the writer copies everything itself.
        let _ = self.copied.recv();
        true
    }
}

impl Drop for Checkpoints {
    /// Waits for the thread, so that the writer's connection is the last one to close: of two that close at once,
    /// neither would carry the log over and delete it.
    fn drop(&mut self) {
        self.request = None;
        if let Some(thread) = self.thread.take() {
            // It panicked, if at all, with a connection of its own.
            let _ = thread.join();
        }
    }
}

/// Copies until little is left, without holding up anybody.
fn copy(connection: &Connection) {
    for _ in 0..ROUNDS_MAX {
        match checkpoint(connection, PASSIVE) {
            Ok(log) if log.rest > REST_PAGES => {}
            _ => return,
        }
    }
}

/// What a checkpoint left.
struct Log {
    /// It did all that its mode asks for.
    whole: bool,
    /// Pages that are still to be copied.
    rest: i64,
}

fn checkpoint(connection: &Connection, sql: &str) -> rusqlite::Result<Log> {
    let log = connection.query_row(sql, [], |row| {
        let (busy, pages, copied): (bool, i64, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(Log { whole: !busy, rest: pages - copied })
    });
    if let Err(failure) = &log {
        // Nothing is lost: the log keeps what was not copied, and grows.
        tracing::warn!(error = failure as &dyn std::error::Error, "checkpoint failed");
    }
    log
}

thread_local! {
    /// The hook is a plain function; it runs on the writer's thread, within COMMIT.
    static LOG_PAGES: Cell<u32> = const { Cell::new(0) };
}

const PASSIVE: &str = "PRAGMA main.wal_checkpoint(PASSIVE)";
/// Waits for nobody, since the connection has no busy timeout.
const RESTART: &str = "PRAGMA main.wal_checkpoint(RESTART)";

/// 40 MiB of pages of the usual size. The longer the log, the more often a page that was written many times is copied
/// only once.
const DUE_PAGES: u32 = 10_000;
const REST_PAGES: i64 = 200;
const ROUNDS_MAX: u32 = 4;
