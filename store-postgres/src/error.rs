//! What can go wrong in here, and what it means to a caller.

use onceonly::{RecordKey, StoreError, StoreErrorKind};
use sqlx::error::DatabaseError;

/// What the store is called in errors and logs.
pub(crate) const NAME: &str = "postgres";

/// Everything that fails in this crate. Neither messages nor sources hold keys, bodies or checkpoints.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Sqlx(#[from] sqlx::Error),
    /// A row that this release did not write, or that was changed since.
    #[error("{key:?}: {what}")]
    CorruptRecord { key: RecordKey, what: &'static str },
    /// Nothing was touched: somebody must set it up otherwise.
    #[error("{0}")]
    SetUp(&'static str),
    /// The call may have been carried out.
    #[error("{0}")]
    Unanswered(&'static str),
    #[error("failed to start a thread")]
    Thread(#[source] std::io::Error),
}

impl Error {
    /// The code of a refusal by the server that concerns the statement and not the connection.
    pub(crate) fn sqlstate(&self) -> Option<String> {
        match self {
            Self::Sqlx(sqlx::Error::Database(refusal)) => refusal.code().map(|code| code.into_owned()),
            _ => None,
        }
    }

    /// Whether the server has refused the statement because of what is in it, or of who else writes: the connection is
    /// fine, nothing was written, and another statement may pass.
    pub(crate) fn is_of_the_statement(&self) -> bool {
        match self {
            Self::Sqlx(sqlx::Error::Database(refusal)) => {
                let code = refusal.code().unwrap_or_default();
                // Data, constraints, limits; locks, deadlocks and serialization; time-outs of the statement.
                ["22", "23", "40", "54", "55"].iter().any(|class| code.starts_with(class)) || code == "57014"
            }
            Self::CorruptRecord { .. } | Self::SetUp(_) => true,
            _ => false,
        }
    }

    /// Whether somebody else holds a lock on the record.
    pub(crate) fn is_locked(&self) -> bool {
        self.sqlstate().is_some_and(|code| code == "55P03")
    }

    /// The same failure once more: one failed statement is the answer to many callers. The server's words may hold
    /// values of the row, so only the code goes along.
    pub(crate) fn again(&self) -> StoreError {
        match self {
            Self::Sqlx(sqlx::Error::Database(refusal)) => judged(&**refusal),
            Self::Sqlx(error) => of_driver(error),
            Self::CorruptRecord { key, what } => {
                StoreError::new(StoreErrorKind::Corrupt, NAME, "a stored record cannot be read")
                    .with_source(Self::CorruptRecord { key: key.clone(), what })
            }
            Self::SetUp(reason) => StoreError::new(StoreErrorKind::Rejected, NAME, reason),
            Self::Unanswered(reason) => StoreError::new(StoreErrorKind::Unavailable, NAME, reason),
            Self::Thread(_) => StoreError::new(StoreErrorKind::Unavailable, NAME, "failed to start a thread"),
        }
    }
}

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        error.again()
    }
}

/// By the code alone, never by the message: <https://www.postgresql.org/docs/current/errcodes-appendix.html>.
fn judged(refusal: &dyn DatabaseError) -> StoreError {
    use StoreErrorKind::{Other, Rejected, Unavailable};

    let code = refusal.code().unwrap_or_default();
    let (kind, detail) = match &*code {
        "55P03" => (Unavailable, "somebody else holds a lock on the record"),
        "40001" | "40P01" => (Unavailable, "the statement met another one; run it again"),
        "57014" => (Unavailable, "the statement took too long"),
        "25006" => (Unavailable, "the server is read-only, as a standby is"),
        "53100" => (Unavailable, "the disk is full"),
        "53200" => (Unavailable, "the server is out of memory"),
        "53300" => (Unavailable, "the server takes no more connections"),
        "42501" => (Rejected, "the role lacks rights"),
        "28000" | "28P01" => (Rejected, "the server refused the login"),
        "3D000" => (Rejected, "the database does not exist"),
        "42P01" => (Rejected, "the table does not exist: has it been migrated?"),
        code => match code.get(..2).unwrap_or_default() {
            // Starting up, shutting down, crashed; connections; resources.
            "57" | "08" | "53" | "58" => (Unavailable, "the server is not available"),
            "22" | "54" => (Rejected, "the record is larger than the database allows, or of another form"),
            "23" => (Rejected, "the table refused the record"),
            "42" => (Rejected, "the statement does not fit the schema"),
            _ => (Other, "the server failed"),
        },
    };
    StoreError::new(kind, NAME, detail).with_source(Refusal(code.into_owned()))
}

fn of_driver(error: &sqlx::Error) -> StoreError {
    use StoreErrorKind::{Corrupt, Other, Rejected, Unavailable};

    let (kind, detail) = match error {
        sqlx::Error::Configuration(_) => (Rejected, "the connection's settings make no sense"),
        sqlx::Error::Io(_) => (Unavailable, "the connection failed"),
        sqlx::Error::Tls(_) => (Unavailable, "the encryption of the connection failed"),
        sqlx::Error::Protocol(_) => (Unavailable, "the connection is out of step"),
        sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_) => {
            (Corrupt, "a stored record cannot be read")
        }
        _ => (Other, "the driver failed"),
    };
    StoreError::new(kind, NAME, detail).with_source(error.to_string())
}

/// The server's code for what it refused.
#[derive(Debug, thiserror::Error)]
#[error("SQLSTATE {0}")]
struct Refusal(String);
