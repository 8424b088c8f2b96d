//! Cases, counted.

use super::{CaseReport, Verdict};

/// How many cases said what, and how much they looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// The cases that ran.
    pub cases: usize,
    /// In which the store behaved as the contract says.
    pub held: usize,
    /// That are not claimed.
    pub not_claimed: usize,
    /// In which the store broke the contract.
    pub broken: usize,
    /// That could not be brought about.
    pub inconclusive: usize,
    /// Whose fixture failed.
    pub set_up_failed: usize,
    /// In which callers raced.
    pub races: usize,
    /// In how many rounds, all races together.
    pub rounds: usize,
    /// The most calls that were under way at one instant, in the race that had the fewest.
    pub overlap_min: usize,
    /// How many inputs were tried in the cases that generate theirs.
    pub trials: usize,
    /// How often a case was tried again because its circumstances had not come about.
    pub tried_again: usize,
}

impl Tally {
    /// The cases that fail a run.
    pub const fn failed(&self) -> usize {
        self.broken + self.inconclusive + self.set_up_failed
    }

    fn add(&mut self, case: &CaseReport) {
        self.cases += 1;
        match case.verdict {
            Verdict::Held => self.held += 1,
            Verdict::NotClaimed { .. } => self.not_claimed += 1,
            Verdict::Broken { .. } => self.broken += 1,
            Verdict::Inconclusive { .. } => self.inconclusive += 1,
            Verdict::SetUpFailed { .. } => self.set_up_failed += 1,
        }
        self.trials += case.trials as usize;
        self.tried_again += case.attempts.saturating_sub(1) as usize;
        if case.rounds > 0 {
            self.overlap_min =
                if self.races == 0 { case.overlap } else { self.overlap_min.min(case.overlap) };
            self.races += 1;
            self.rounds += case.rounds;
        }
    }
}

impl<'a> FromIterator<&'a CaseReport> for Tally {
    fn from_iter<I: IntoIterator<Item = &'a CaseReport>>(cases: I) -> Self {
        let mut tally = Self::default();
        for case in cases {
            tally.add(case);
        }
        tally
    }
}
