//! Database files to measure on: the same rows in each, and nobody else at work on them.

use std::cell::{Cell, OnceCell};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use onceonly_sqlite::{SqliteStore, Synchronous};
use rusqlite::Connection;
use tempfile::TempDir;

use super::plain::Plain;
use crate::runner::Failure;

/// A folder with a database that every run starts from.
pub(super) struct Ground {
    folder: TempDir,
    template: OnceCell<PathBuf>,
    /// How many databases were made: each has a name of its own, so that what is left of one is not in the next.
    made: Cell<u32>,
}

impl Ground {
    pub(super) fn in_folder(folder: &Path) -> Result<Self, Failure> {
        let folder = TempDir::with_prefix_in("onceonly-bench-", folder)?;
        Ok(Self { folder, template: OnceCell::new(), made: Cell::new(0) })
    }

    /// A new database with the store's own schema and [`PRESENT`] completed records.
    pub(super) fn database(&self) -> Result<Database, Failure> {
        let template = match self.template.get() {
            Some(template) => template,
            None => {
                let made = self.make_template()?;
                self.template.get_or_init(|| made)
            }
        };
        let number = self.made.get();
        self.made.set(number + 1);
        let path = self.folder.path().join(format!("{number}.db"));
        fs::copy(template, &path)?;
        // Otherwise the copy is flushed together with the first commit that is measured.
        File::open(&path)?.sync_all()?;
        Ok(Database { path })
    }

    fn make_template(&self) -> Result<PathBuf, Failure> {
        let path = self.folder.path().join("template.db");
        drop(SqliteStore::open(&path)?);
        let mut plain = Plain::open(&path, Synchronous::Normal)?;
        plain.fill(PRESENT)?;
        drop(plain);
        wait_until_closed(&path)?;
        Ok(path)
    }
}

/// A database file that is deleted in the end.
pub(super) struct Database {
    path: PathBuf,
}

impl Database {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // The next run must not share the disk with the end of this one. Where this fails, a file too many stays until
        // the folder is deleted.
        let _ = wait_until_closed(&self.path);
        let _ = fs::remove_file(&self.path);
    }
}

/// Waits until nobody has the file open, and the log is carried over.
///
/// The last connection that closes does that and deletes the log. Where two close at the same moment, each takes the
/// other for the last one; so another one is opened and closed until the log is gone.
fn wait_until_closed(path: &Path) -> Result<(), Failure> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let deadline = Instant::now() + CLOSING_MAX;
    while fs::exists(&log)? {
        if Instant::now() >= deadline {
            return Err("a database was not closed".into());
        }
        thread::sleep(Duration::from_millis(1));
        Connection::open(path)?.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    }
    Ok(())
}

/// Records that are there before a run begins.
pub(super) const PRESENT: u64 = 20_000;

const CLOSING_MAX: Duration = Duration::from_secs(60);
