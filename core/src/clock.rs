//! Where time enters core.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime};

use crate::time::Timestamp;

/// The clock of a store that has no clock of its own, such as a store in memory or in an embedded database.
///
/// A store on a server takes the server's clock and needs none of this: two application hosts whose clocks differ must
/// come to the same decision about one record.
pub trait Clock: fmt::Debug + Send + Sync + 'static {
    /// The present time.
    fn now(&self) -> Timestamp;
}

impl<C: Clock + ?Sized> Clock for Arc<C> {
    fn now(&self) -> Timestamp {
        (**self).now()
    }
}

/// The host's real-time clock.
///
/// It may step when an operator or a time service sets it. A step forward can end leases early; a step back can
/// lengthen them. Results stay safe either way, since every write is guarded by its claim's token.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where real time is read")]
    fn now(&self) -> Timestamp {
        let micros = match SystemTime::now().duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => i64::try_from(after.as_micros()),
            Err(before) => i64::try_from(before.duration().as_micros()).map(i64::wrapping_neg),
        };
        Timestamp::from_micros(micros.unwrap_or(i64::MAX))
    }
}

/// A clock that stands still until a test moves it. Clones share the time.
///
/// ```
/// use onceonly::{Clock, ManualClock, Timestamp};
///
/// let clock = ManualClock::starting_at(Timestamp::from_micros(1_000));
/// clock.set(Timestamp::from_micros(2_500));
/// assert_eq!(clock.now().as_micros(), 2_500);
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that shows `start`.
    pub fn starting_at(start: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(start.as_micros())))
    }

    /// Shows `now` from here on. Setting it back is allowed: real clocks step back too.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_micros(), Ordering::SeqCst);
    }

    /// Moves the clock forward by `duration`, rounded down to the microsecond; at the last timestamp it stops.
    pub fn advance(&self, duration: std::time::Duration) {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        let later = |now: i64| Some(now.saturating_add(micros));
        let updated = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, later);
        debug_assert!(updated.is_ok(), "the closure always gives a value");
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Local time that never steps: how long a lease can still be relied on, measured from before it was asked for.
#[expect(clippy::disallowed_methods, reason = "the one place where monotonic time is read")]
pub(crate) fn monotonic() -> Instant {
    Instant::now()
}

/// The clock of the runtime's timers: how long something has been tried.
#[cfg(feature = "tokio")]
#[expect(clippy::disallowed_methods, reason = "the one place where the runtime's time is read")]
pub(crate) fn runtime() -> tokio::time::Instant {
    tokio::time::Instant::now()
}
