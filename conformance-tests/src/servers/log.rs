//! What a server says.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

use super::folder;
use crate::fixture::FixtureError;

/// The log of one server. The file is removed when this is dropped, unless its end was shown: in an error, or here, if
/// the thread panics.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    was_shown: AtomicBool,
}

impl Log {
    pub(super) fn create(server: &str) -> Result<Self, FixtureError> {
        let logs = folder::lasting("logs")?;
        remove_old(&logs);
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let path = logs.join(format!("{server}-{}-{number}.log", std::process::id()));
        File::create(&path)?;
        Ok(Self { path, was_shown: AtomicBool::new(false) })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn append(&self) -> io::Result<File> {
        File::options().append(true).open(&self.path)
    }

    pub(super) fn text(&self) -> Result<String, FixtureError> {
        Ok(String::from_utf8_lossy(&fs::read(&self.path)?).into_owned())
    }

    /// The last lines, and where the rest is.
    pub(super) fn end(&self) -> String {
        self.was_shown.store(true, Ordering::Relaxed);
        let text = self.text().unwrap_or_default();
        let lines = text.lines().collect::<Vec<_>>();
        let end = lines[lines.len().saturating_sub(LINES)..].join("\n");
        format!("the end of {}:\n{end}", self.path.display())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}", self.end());
        }
        if !self.was_shown.load(Ordering::Relaxed) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What earlier runs have left. Another process may be doing the same.
fn remove_old(logs: &Path) {
    let age = |path: &Path| -> Option<Duration> {
        SystemTime::now().duration_since(fs::metadata(path).ok()?.modified().ok()?).ok()
    };
    for entry in fs::read_dir(logs).into_iter().flatten().flatten() {
        if age(&entry.path()).is_some_and(|age| KEPT < age) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

static CREATED: AtomicU32 = AtomicU32::new(1);

/// How many lines are shown.
const LINES: usize = 30;

const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_of_yesterday_are_removed() {
        let logs = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| logs.path().join(name));
        let yesterday = SystemTime::now() - KEPT - Duration::from_secs(60);
        File::create(&old).unwrap().set_modified(yesterday).unwrap();
        File::create(&new).unwrap();

        remove_old(logs.path());

        assert!(!old.exists() && new.exists());
    }

    #[test]
    fn a_log_stays_if_its_end_was_shown_and_goes_if_not() {
        let [shown, silent] = [(); 2].map(|()| Log::create("log").unwrap());
        let paths = [&shown, &silent].map(|log| log.path().to_owned());
        io::Write::write_all(&mut shown.append().unwrap(), b"the reason").unwrap();

        assert!(shown.end().contains("the reason"));
        drop((shown, silent));

        assert_eq!(paths.each_ref().map(|path| path.exists()), [true, false]);
        fs::remove_file(&paths[0]).unwrap();
    }
}
