//! Points in time and lengths of time, as stores keep them.

use std::fmt;
use std::time::Duration;

/// A point in time of a store's clock: microseconds since 1970-01-01T00:00:00Z.
///
/// Only timestamps of one store may be compared with each other. A timestamp of the application's clock means nothing
/// to a store, and no verb takes one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The timestamp that lies `micros` microseconds after the epoch; before it, if negative.
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The time from `earlier` to `self`, or zero if `self` does not lie after it.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// The deadline `span` after `self`. Stops at the largest timestamp instead of wrapping: a deadline that wraps
    /// would already be past, and a claim that is already past can be taken over while its holder runs.
    pub const fn plus(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}us", self.0)
    }
}

/// A length of time that a store can keep: at least a microsecond, at most [`Span::MAX`].
///
/// A deadline made of a `Span` is neither already past nor so far away that it means *for ever*. Fractions of a
/// microsecond round up, so that nothing ends earlier than asked for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(i64);

impl Span {
    /// A hundred years of 365.25 days.
    pub const MAX: Self = Self(36_525 * 86_400 * 1_000_000);

    /// Turns `duration` into a span, rounded up to the microsecond.
    ///
    /// # Errors
    /// [`InvalidSpan`] if `duration` is zero or longer than [`Span::MAX`].
    pub fn new(duration: Duration) -> Result<Self, InvalidSpan> {
        let micros = duration.as_nanos().div_ceil(1_000);
        match i64::try_from(micros) {
            Ok(0) => Err(InvalidSpan::Zero),
            Ok(micros) if micros <= Self::MAX.0 => Ok(Self(micros)),
            _ => Err(InvalidSpan::TooLong),
        }
    }

    pub(crate) const fn from_secs(secs: u32) -> Self {
        assert!(secs > 0, "a span is never empty");
        Self(secs as i64 * 1_000_000)
    }

    pub(crate) const fn from_millis(millis: u32) -> Self {
        assert!(millis > 0, "a span is never empty");
        Self(millis as i64 * 1_000)
    }

    /// Microseconds, always positive.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The span as a [`Duration`].
    pub const fn as_duration(self) -> Duration {
        Duration::from_micros(self.0.unsigned_abs())
    }

    /// Both spans together, at most [`Span::MAX`].
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0)).min(Self::MAX)
    }
}

impl TryFrom<Duration> for Span {
    type Error = InvalidSpan;

    fn try_from(duration: Duration) -> Result<Self, InvalidSpan> {
        Self::new(duration)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_duration().fmt(f)
    }
}

/// Why a length of time cannot be kept by a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSpan {
    /// The duration is zero: the deadline would already be past.
    #[error("duration is zero")]
    Zero,
    /// The duration is longer than [`Span::MAX`].
    #[error("duration is longer than 100 years")]
    TooLong,
}
