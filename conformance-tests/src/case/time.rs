//! The store's time.

use onceonly::{ClaimOutcome, Expected, Span, Timestamp};

use super::{Case, set_up};
use crate::clock::ClockControl;
use crate::fixture::StoreClock;
use crate::verdict::{inconclusive, set_up_failed};

impl Case {
    /// The store's time.
    pub(crate) async fn now(&self) -> Timestamp {
        if let Some(clock) = self.clock_control() {
            return clock.now();
        }
        // A store tells its time with every answer; this key is for nothing else.
        match self.store.claim(&self.key("what time is it"), &self.claim(), Expected::Absent).await {
            ClaimOutcome::Claimed(stamp) => stamp.now,
            ClaimOutcome::Occupied(found) => found.now,
            ClaimOutcome::Vacant => inconclusive("a claim that expects absence was answered with Vacant"),
        }
    }

    /// Lets time pass until the store's clock shows `instant`: exactly that on a clock that the suite sets, that or
    /// later on one that runs.
    pub(crate) async fn reach(&self, instant: Timestamp) {
        if let Some(clock) = self.clock_control() {
            self.set_clock(instant.max(clock.now())).await;
            return;
        }
        loop {
            let remaining = instant.since(self.now().await);
            if remaining.is_zero() {
                return;
            }
            tokio::time::sleep(remaining).await;
        }
    }

    /// Lets time pass until one tick before `deadline`. On a clock that runs, nothing: the time is before it anyway,
    /// or the attempt is void, see [`Case::still_before`].
    pub(crate) async fn reach_just_before(&self, deadline: Timestamp) {
        if self.sets_clock() {
            self.reach(Timestamp::from_micros(deadline.as_micros() - self.tick())).await;
        }
        self.still_before(deadline).await;
    }

    /// Lets a minute pass, or a moment on a clock that runs, without a word from the store: while a lock is held it may
    /// be unable to tell the time. Gives an instant that is over then; `from` is one that was over before.
    pub(crate) async fn let_pass(&self, from: Timestamp) -> Timestamp {
        let later = from.plus(self.brief(1));
        if self.sets_clock() {
            self.set_clock(later).await;
        } else {
            // More than is told: the store's clock need not go as fast as this machine's.
            tokio::time::sleep(self.brief(2).as_duration()).await;
        }
        later
    }

    /// Voids this attempt if `deadline` has come: what was seen may have been seen on either side of it. A case calls
    /// this behind what must happen before a deadline, and ahead of judging it.
    pub(crate) async fn still_before(&self, deadline: Timestamp) {
        if deadline <= self.now().await {
            inconclusive("a deadline passed before the case had done what comes before it");
        }
    }

    /// Whether the suite sets the clock. Where it does not, a case can only wait, and cannot step the clock back.
    pub(crate) fn sets_clock(&self) -> bool {
        self.clock_control().is_some()
    }

    /// Steps the clock to `instant`, which may be back. Only where [`Case::sets_clock`].
    pub(crate) async fn set_clock(&self, instant: Timestamp) {
        match self.clock_control() {
            Some(clock) => set_up(clock.set(instant).await),
            None => set_up_failed("a case has set a clock that runs"),
        }
    }

    /// The store's clock, for tasks that set it.
    pub(crate) const fn clock(&self) -> &StoreClock {
        &self.clock
    }

    fn clock_control(&self) -> Option<&dyn ClockControl> {
        self.clock.control()
    }

    /// Whether `deadline` is `span` after `now`, rounded up to the store's resolution.
    pub(crate) fn is_deadline(&self, deadline: Timestamp, now: Timestamp, span: Span) -> bool {
        let late = deadline.as_micros() - now.plus(span).as_micros();
        (0..self.tick()).contains(&late)
    }

    /// The shortest difference between two deadlines, in microseconds.
    pub(crate) fn tick(&self) -> i64 {
        i64::try_from(self.declaration.resolution.as_micros()).unwrap_or(i64::MAX)
    }
}
