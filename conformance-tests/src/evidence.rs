//! What a case that did not fail has shown.

use std::sync::atomic::{AtomicUsize, Ordering};

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
    /// The most calls that were under way at one instant, if callers raced.
    pub overlap: usize,
}

/// What a case notes while it runs.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    rounds: AtomicUsize,
    overlap: AtomicUsize,
}

impl Notes {
    pub(crate) fn raced(&self, rounds: usize, overlap: usize) {
        self.rounds.fetch_add(rounds, Ordering::Relaxed);
        self.overlap.fetch_max(overlap, Ordering::Relaxed);
    }

    pub(crate) fn evidence(&self, attempts: u32) -> Evidence {
        Evidence {
            attempts,
            rounds: self.rounds.load(Ordering::Relaxed),
            overlap: self.overlap.load(Ordering::Relaxed),
        }
    }
}
