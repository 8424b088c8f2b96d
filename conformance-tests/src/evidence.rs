//! What a case that did not fail has shown.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// How a case ended that did not fail.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a report must not take the one for the other")]
pub enum Outcome {
    /// The store behaved as the contract says.
    Held(Evidence),
    /// The case is about something that the store does not declare, such as to survive the end of its process, or that
    /// the fixture has no means to bring about. It says nothing, and the reason is printed behind the run.
    NotClaimed(String),
}

/// How much a case looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Evidence {
    /// How often it was tried until its circumstances came about, the last time included.
    pub attempts: u32,
    /// How many rounds callers raced in, if they did.
    pub rounds: usize,
    /// How many rounds were planned. More are raced while no two calls have met, fewer if one shows a fault.
    pub rounds_planned: usize,
    /// The most calls that were under way at one instant, if callers raced.
    pub overlap: usize,
    /// How many inputs were tried, if they were generated: fewer on a slow store.
    pub trials: u32,
}

impl Evidence {
    /// That of an attempt that has seen nothing yet. Each attempt has twice the scale of the one before.
    pub(crate) const fn of_attempt(scale: u32) -> Self {
        Self { attempts: scale.ilog2() + 1, rounds: 0, rounds_planned: 0, overlap: 0, trials: 0 }
    }
}

/// What a case notes while it runs.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    rounds: AtomicUsize,
    rounds_planned: AtomicUsize,
    overlap: AtomicUsize,
    trials: AtomicU32,
}

impl Notes {
    /// A race of so many rounds begins.
    pub(crate) fn race_planned(&self, rounds: usize) {
        self.rounds_planned.fetch_add(rounds, Ordering::Relaxed);
    }

    /// One more round begins. Noted before anything in it can fail, so that a report names the round that showed it.
    pub(crate) fn round_begun(&self) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
    }

    /// So many calls of a round were under way at one instant.
    pub(crate) fn overlapped(&self, calls: usize) {
        self.overlap.fetch_max(calls, Ordering::Relaxed);
    }

    /// A property is tried on one more input.
    pub(crate) fn tried(&self) {
        self.trials.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn evidence(&self, scale: u32) -> Evidence {
        Evidence {
            rounds: self.rounds.load(Ordering::Relaxed),
            rounds_planned: self.rounds_planned.load(Ordering::Relaxed),
            overlap: self.overlap.load(Ordering::Relaxed),
            trials: self.trials.load(Ordering::Relaxed),
            ..Evidence::of_attempt(scale)
        }
    }
}
