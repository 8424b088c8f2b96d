//! What a backend author writes: how to reach the store.

use std::any::Any;
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{KeyStore, ManualClock, RecordKey};

use crate::clock::ClockControl;
use crate::declaration::Declaration;

/// A place with no records in it, and the handles to it. Each case opens one of its own, so that cases can run at the
/// same time and cannot see each other: a map, a file, a table, a key prefix.
///
/// What the fixture holds, such as a temporary folder, lives until the case is over.
///
/// ```
/// use std::sync::Arc;
///
/// use onceonly::{KeyStore, ManualClock, Timestamp};
/// use onceonly_conformance::{
///     ClockKind, Declaration, Durability, Fixture, FixtureError, Processes, ReferenceStore, StoreClock,
/// };
///
/// struct Reference {
///     store: ReferenceStore,
///     clock: ManualClock,
/// }
///
/// #[async_trait::async_trait]
/// impl Fixture for Reference {
///     fn declare() -> Declaration {
///         Declaration::new("reference", ClockKind::Manual, Durability::Handle, Processes::One)
///     }
///
///     async fn open() -> Result<Self, FixtureError> {
///         let clock = ManualClock::starting_at(Timestamp::from_micros(1_700_000_000_000_000));
///         Ok(Self { store: ReferenceStore::new(clock.clone()), clock })
///     }
///
///     async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
///         Ok(Arc::new(self.store.clone()))
///     }
///
///     fn clock(&self) -> StoreClock {
///         StoreClock::Manual(self.clock.clone())
///     }
/// }
///
/// // In `tests/conformance.rs` this would be `onceonly_conformance::main!(Reference);`.
/// let suite = onceonly_conformance::Suite::of::<Reference>();
/// suite.run("claim::a_fresh_key_is_granted").unwrap();
/// ```
#[async_trait]
pub trait Fixture: Send + Sync + 'static {
    /// What the store says of itself.
    fn declare() -> Declaration
    where
        Self: Sized;

    /// A place that nobody else uses, without records.
    ///
    /// A server that is not there is an error, which fails the case: say in the message what to set or start. There is
    /// no way to skip.
    async fn open() -> Result<Self, FixtureError>
    where
        Self: Sized;

    /// One more handle to the same records, as independent of the others as another process would be: another
    /// connection, a second open of the same file. Handles that share one connection hide every race.
    async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError>;

    /// One more handle, whose calls give up after about `patience` where they wait for a lock that others hold. The
    /// cases of locks that stay need it: without it they are printed as not claimed.
    async fn impatient_handle(&self, patience: Duration) -> Result<Option<Arc<dyn KeyStore>>, FixtureError> {
        let _ = patience;
        Ok(None)
    }

    /// The clock that all handles go by.
    fn clock(&self) -> StoreClock;

    /// A look behind the store, if there is one. It makes some cases sharper, and those that damage records or lock them
    /// need it: without it they are printed as not claimed.
    fn raw(&self) -> Option<Arc<dyn RawAccess>> {
        None
    }

    /// Another store in the same database, where there can be one: under another table, prefix or schema. The two must
    /// not see each other.
    async fn neighbour(&self) -> Result<Option<Box<dyn Fixture>>, FixtureError> {
        Ok(None)
    }

    /// Where another process finds this place, such as a path or a URL with the table's name. A store that declares
    /// [`Processes::Many`](crate::Processes::Many) must say it, and [`join`](Self::join) must open it.
    fn address(&self) -> Option<String> {
        None
    }

    /// Opens, in another process, the place that [`address`](Self::address) names. The suite starts its own test binary
    /// again as that process.
    ///
    /// The process is killed while the place is still in use: what is joined must not be cleared away when this is
    /// dropped. On [`ClockKind::Manual`](crate::ClockKind::Manual) its [`clock`](Self::clock) is one of its own, which
    /// the suite sets with every call. Nothing in it may write to the standard output, on which the calls are answered.
    async fn join(address: &str) -> Result<Self, FixtureError>
    where
        Self: Sized,
    {
        Err(FixtureError::new(format!("this fixture cannot join the place at {address:?}")))
    }

    /// Names and values of what the report of a run should tell besides the suite's own version: those of driver and
    /// server, and the settings that bear on what the store keeps. Asked once for a run, if it leaves a report.
    async fn environment(&self) -> Result<Vec<(&'static str, String)>, FixtureError> {
        Ok(Vec::new())
    }

    /// Clears away what dropping the fixture would leave, such as a table on a server. Called when the case is over,
    /// whatever its verdict.
    async fn close(&self) -> Result<(), FixtureError> {
        Ok(())
    }
}

/// The clock of a store under test.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum StoreClock {
    /// Stands still until the suite sets it. Goes with [`ClockKind::Manual`](crate::ClockKind::Manual).
    Manual(ManualClock),
    /// The clock of a server, which stands still until the suite sets it. Goes with
    /// [`ClockKind::Steered`](crate::ClockKind::Steered).
    Steered(Arc<dyn ClockControl>),
    /// Runs. Goes with [`ClockKind::System`](crate::ClockKind::System).
    System,
}

impl StoreClock {
    /// The means to set it, where the suite does.
    pub(crate) fn control(&self) -> Option<&dyn ClockControl> {
        match self {
            Self::Manual(clock) => Some(clock),
            Self::Steered(clock) => Some(&**clock),
            Self::System => None,
        }
    }
}

/// A look at the records past the store that is under test.
#[async_trait]
pub trait RawAccess: Send + Sync {
    /// How many records there are, past their time or not.
    async fn count(&self) -> Result<u64, FixtureError>;

    /// The record as it is stored, for comparing before and after; none if there is none.
    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError>;

    /// Damages the record of `key` in one of the ways that this store can notice, counted from 0: a field cut, swapped,
    /// of another type, of a format that is newer. Says what was done, or none if there are no more ways.
    async fn damage(&self, key: &RecordKey, way: usize) -> Result<Option<String>, FixtureError> {
        let _ = (key, way);
        Ok(None)
    }

    /// Takes the lock that a write of `key` waits for, as another process holds it that has begun to write. It is given
    /// back when the value is dropped. None if writes never wait for each other.
    async fn lock(&self, key: &RecordKey) -> Result<Option<RawLock>, FixtureError> {
        let _ = key;
        Ok(None)
    }

    /// Begins to read, and holds on to the state as it is now, as another process does that makes a copy or a long
    /// report. It ends when the value is dropped. None if a reader holds on to nothing.
    async fn snapshot(&self) -> Result<Option<RawSnapshot>, FixtureError> {
        Ok(None)
    }
}

/// A lock that is held until this is dropped.
pub type RawLock = Box<dyn Any + Send>;

/// A state that is held on to until this is dropped.
pub type RawSnapshot = Box<dyn Any + Send>;

/// A fixture could not do what it was asked for. The case that asked fails as a fault of the set-up, not of the store.
pub struct FixtureError(Box<dyn Error + Send + Sync>);

impl FixtureError {
    /// An error that says what to do about it.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into().into())
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for FixtureError {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}

impl fmt::Display for FixtureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl fmt::Debug for FixtureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
