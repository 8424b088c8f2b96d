//! A store's clock in the hands of the suite.

use std::fmt;

use async_trait::async_trait;
use onceonly::{Clock, ManualClock, Timestamp};

use crate::fixture::FixtureError;

/// A clock that stands still until it is set: the one that a store in this process was given, or the one of the server
/// that a store stands on.
#[async_trait]
pub trait ClockControl: fmt::Debug + Send + Sync + 'static {
    /// What the clock shows.
    fn now(&self) -> Timestamp;

    /// Shows `now` from here on, which may lie before what it showed.
    ///
    /// Returns once every call that begins after it goes by the new time. A server that looks at its clock from time to
    /// time only must be waited for here; otherwise cases judge it by a time that it does not have yet.
    async fn set(&self, now: Timestamp) -> Result<(), FixtureError>;
}

#[async_trait]
impl ClockControl for ManualClock {
    fn now(&self) -> Timestamp {
        Clock::now(self)
    }

    async fn set(&self, now: Timestamp) -> Result<(), FixtureError> {
        Self::set(self, now);
        Ok(())
    }
}
