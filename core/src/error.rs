//! What can go wrong in a store.

use std::error::Error;
use std::fmt;

/// A store could not do what it was asked for.
///
/// That somebody else holds a key, or that a request differs, is no error but an outcome. An error never means
/// *absent*, *claimed* or *replay*: no handler runs on one.
///
/// Neither the message nor the sources carry keys, bodies or checkpoints.
#[derive(Debug)]
pub struct StoreError {
    kind: StoreErrorKind,
    store: &'static str,
    detail: &'static str,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl StoreError {
    /// An error of the store called `store`; `detail` says in a few words what failed.
    pub const fn new(kind: StoreErrorKind, store: &'static str, detail: &'static str) -> Self {
        Self { kind, store, detail, source: None }
    }

    /// Keeps the driver's error.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What to do about it.
    pub const fn kind(&self) -> StoreErrorKind {
        self.kind
    }

    /// Whether the call may have had its effect, or may have it later.
    pub const fn outcome_is_unknown(&self) -> bool {
        match self.kind {
            StoreErrorKind::Unavailable | StoreErrorKind::Other => true,
            StoreErrorKind::Corrupt | StoreErrorKind::Rejected => false,
        }
    }

    /// The name of the store.
    pub const fn store(&self) -> &'static str {
        self.store
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} store {}: {}", self.store, self.kind, self.detail)
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn Error + 'static))
    }
}

/// What to do about a [`StoreError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The outcome is unknown: no effect, or the whole effect, now or later. Repeat the call with the same token, or
    /// refuse the request for now.
    Unavailable,
    /// The stored record is corrupt, foreign, or of a newer release. Alert somebody; never run, never overwrite.
    Corrupt,
    /// The call or the set-up is wrong: schema, rights, size. Nothing was written; repeating does not help.
    Rejected,
    /// Anything else. Nothing is known about the outcome; treat it as [`Unavailable`](Self::Unavailable).
    Other,
}

impl fmt::Display for StoreErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unavailable => "unavailable",
            Self::Corrupt => "holds an unreadable record",
            Self::Rejected => "rejected the call",
            Self::Other => "failed",
        })
    }
}
