//! Records as files, one each, that processes share.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use onceonly::{Record, RecordKey, Snapshot, StoreError, StoreErrorKind};
use onceonly_conformance::Answer;

/// A folder of records.
pub(crate) struct Files {
    pub(crate) folder: PathBuf,
}

impl Files {
    pub(crate) fn open(folder: &Path) -> io::Result<Self> {
        fs::create_dir_all(folder.join("records"))?;
        Ok(Self { folder: folder.to_owned() })
    }

    pub(crate) fn records(&self) -> PathBuf {
        self.folder.join("records")
    }

    /// The file of a record: keys that differ have digests that differ.
    pub(crate) fn file(&self, key: &RecordKey) -> PathBuf {
        let name: String = key.digest().iter().map(|byte| format!("{byte:02x}")).collect();
        self.records().join(name)
    }

    /// Every record's file.
    pub(crate) fn all(&self) -> Result<Vec<PathBuf>, StoreError> {
        let entries = fs::read_dir(self.records()).map_err(unavailable)?;
        entries.map(|entry| entry.map(|entry| entry.path()).map_err(unavailable)).collect()
    }

    pub(crate) fn read(&self, file: &Path) -> Result<Option<Record>, StoreError> {
        let text = match fs::read(file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unavailable(error)),
        };
        match serde_json::from_slice(&text) {
            Ok(Answer::Load(Ok(found))) => Ok(found.map(|snapshot| snapshot.record)),
            _ => Err(StoreError::new(StoreErrorKind::Corrupt, NAME, "the file holds no record")),
        }
    }

    /// Writes the record as a whole: whoever reads meanwhile sees the old one or the new one. The caller has the lock.
    pub(crate) fn write(&self, file: &Path, record: &Record) -> Result<(), StoreError> {
        let snapshot = Snapshot { record: record.clone(), now: record.created_at };
        let text = serde_json::to_string(&Answer::Load(Ok(Some(snapshot)))).map_err(unavailable)?;
        let new = self.folder.join("new");
        fs::write(&new, text).and_then(|()| fs::rename(&new, file)).map_err(unavailable)
    }

    /// The lock under which records are written, if nobody has it. The system takes it back from a process that ends.
    pub(crate) fn try_lock(&self) -> io::Result<Option<File>> {
        let path = self.folder.join("lock");
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

pub(crate) fn unavailable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> StoreError {
    StoreError::new(StoreErrorKind::Unavailable, NAME, "a file cannot be used").with_source(error)
}

pub(crate) const NAME: &str = "files";
