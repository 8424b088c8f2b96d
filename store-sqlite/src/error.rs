//! What can go wrong in here, and what it means to a caller.

use onceonly::{RecordKey, StoreError, StoreErrorKind};
use rusqlite::ffi;
use rusqlite::ffi::ErrorCode;

/// What the store is called in errors and logs.
pub(crate) const NAME: &str = "sqlite";

/// Everything that fails in this crate. Neither messages nor sources hold keys, bodies or checkpoints.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// A row that this release did not write, or that was changed since.
    #[error("{key:?}: {what}")]
    CorruptRecord { key: RecordKey, what: &'static str },
    /// Nothing was touched: somebody must set it up otherwise.
    #[error("{0}")]
    SetUp(&'static str),
    /// SQLite undid the transaction that the call was part of.
    #[error("the transaction was undone")]
    Undone,
    /// The call panicked while it was carried out.
    #[error("the call panicked")]
    Panicked,
    /// The writer's thread is gone.
    #[error("the writer has stopped")]
    Stopped,
    #[error("failed to start a thread")]
    Thread(#[source] std::io::Error),
    #[error("failed to look at the file")]
    File(#[from] std::io::Error),
}

impl Error {
    /// The same failure once more: one failed commit is the answer to many callers.
    pub(crate) fn again(failure: &rusqlite::Error) -> Self {
        let code = failure.sqlite_error().copied().unwrap_or_else(|| ffi::Error::new(ffi::SQLITE_INTERNAL));
        Self::Sqlite(rusqlite::Error::SqliteFailure(code, None))
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        use StoreErrorKind::{Corrupt, Other, Rejected, Unavailable};

        match error {
            Error::Sqlite(source) => {
                let (kind, detail) = match source.sqlite_error() {
                    Some(failure) => judge(failure),
                    None => (Other, "the driver failed"),
                };
                Self::new(kind, NAME, detail).with_source(source)
            }
            Error::CorruptRecord { .. } => {
                Self::new(Corrupt, NAME, "a stored record cannot be read").with_source(error)
            }
            Error::SetUp(reason) => Self::new(Rejected, NAME, reason),
            Error::Undone => Self::new(Unavailable, NAME, "the transaction was undone"),
            Error::Panicked => Self::new(Other, NAME, "the call panicked"),
            Error::Stopped => Self::new(Unavailable, NAME, "the writer has stopped"),
            Error::File(source) => {
                Self::new(Unavailable, NAME, "failed to look at the file").with_source(source)
            }
            Error::Thread(source) => {
                Self::new(Unavailable, NAME, "failed to start a thread").with_source(source)
            }
        }
    }
}

/// Whether somebody else holds a lock, so that waiting may help. A stale snapshot is not that: no wait mends it.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    let busy = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed)
    );
    busy && !is_stale_snapshot(error)
}

/// Whether a transaction that began by reading cannot write any more, since somebody else has written in between.
pub(crate) fn is_stale_snapshot(error: &rusqlite::Error) -> bool {
    error.sqlite_error().is_some_and(|failure| failure.extended_code == ffi::SQLITE_BUSY_SNAPSHOT)
}

/// By the code alone, never by the message: <https://www.sqlite.org/rescode.html>.
fn judge(failure: &ffi::Error) -> (StoreErrorKind, &'static str) {
    use StoreErrorKind::{Corrupt, Other, Rejected, Unavailable};

    match (failure.extended_code, failure.code) {
        (ffi::SQLITE_BUSY_SNAPSHOT, _) => {
            (Unavailable, "the transaction's snapshot is out of date: roll it back and run it again")
        }
        (ffi::SQLITE_IOERR_DATA | ffi::SQLITE_IOERR_CORRUPTFS, _) => (Corrupt, "the file is damaged"),
        (_, ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::FileLockingProtocolFailed) => {
            (Unavailable, "the database is locked")
        }
        (_, ErrorCode::DiskFull) => (Unavailable, "the disk is full"),
        (_, ErrorCode::SystemIoFailure) => (Unavailable, "reading or writing the file failed"),
        (_, ErrorCode::CannotOpen) => (Unavailable, "the file cannot be opened"),
        (_, ErrorCode::OutOfMemory) => (Unavailable, "out of memory"),
        (_, ErrorCode::OperationInterrupted | ErrorCode::OperationAborted) => {
            (Unavailable, "the operation was interrupted")
        }
        (_, ErrorCode::NotADatabase) => (Corrupt, "the file is not a database"),
        (_, ErrorCode::DatabaseCorrupt) => (Corrupt, "the file is damaged"),
        (_, ErrorCode::ReadOnly) => (Rejected, "the file is read-only"),
        (_, ErrorCode::PermissionDenied | ErrorCode::AuthorizationForStatementDenied) => {
            (Rejected, "access is denied")
        }
        (_, ErrorCode::TooBig) => (Rejected, "the record is larger than the database allows"),
        (_, ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch) => {
            (Rejected, "the table refused the record")
        }
        // SQLITE_ERROR: a statement that does not fit the schema, such as one on a table that was dropped.
        (_, ErrorCode::SchemaChanged | ErrorCode::Unknown) => {
            (Rejected, "the statement does not fit the schema")
        }
        _ => (Other, "SQLite failed"),
    }
}
