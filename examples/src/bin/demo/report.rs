//! The table at the end, and the verdict.

use std::fmt;

use crate::ledger::Effects;

/// What one run came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// Operations that were wanted.
    pub(crate) wanted: u64,
    /// Requests that clients sent.
    pub(crate) attempts: u64,
    /// Worker processes that were killed in mid-charge.
    pub(crate) killed: u64,
    /// Operations of which two clients were told two different charges.
    pub(crate) contradictions: u64,
    /// What was found in the database.
    pub(crate) effects: Effects,
}

/// Both runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Report {
    pub(crate) without: Tally,
    pub(crate) with: Tally,
}

impl Report {
    /// What is wrong with the demonstration: with Onceonly something was doubled, lost or contradicted; or the network
    /// was not bad enough to show anything.
    pub(crate) const fn failure(&self) -> Option<&'static str> {
        let Effects { doubled, lost, .. } = self.with.effects;
        if doubled > 0 {
            return Some("with Onceonly, an operation was charged twice");
        }
        if lost > 0 {
            return Some("with Onceonly, an operation was never charged");
        }
        if self.with.contradictions > 0 {
            return Some("with Onceonly, callers of one operation were told of different charges");
        }
        if self.without.effects.doubled == 0 && self.without.effects.lost == 0 {
            return Some("without Onceonly, nothing was doubled or lost: this network proves nothing");
        }
        None
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { without, with } = self;
        let rows = [
            ("operations wanted", without.wanted, with.wanted),
            ("attempts made", without.attempts, with.attempts),
            ("workers killed in mid-charge", without.killed, with.killed),
            ("effects (charges, by SQL)", without.effects.charges, with.effects.charges),
            ("doubled (charged more than once)", without.effects.doubled, with.effects.doubled),
            ("lost (never charged)", without.effects.lost, with.effects.lost),
            ("callers told different charges", without.contradictions, with.contradictions),
        ];
        writeln!(f, "{:<34}{:>18}{:>15}", "", "without Onceonly", "with Onceonly")?;
        rows.iter().try_for_each(|(label, without, with)| writeln!(f, "{label:<34}{without:>18}{with:>15}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: Tally = Tally {
        wanted: 2,
        attempts: 3,
        killed: 1,
        contradictions: 0,
        effects: Effects { charges: 2, doubled: 0, lost: 0 },
    };
    const DOUBLED: Tally = Tally { effects: Effects { charges: 3, doubled: 1, lost: 0 }, ..CLEAN };
    const LOST: Tally = Tally { effects: Effects { charges: 1, doubled: 0, lost: 1 }, ..CLEAN };

    #[test]
    fn the_demonstration_fails_if_onceonly_does_or_if_it_was_not_needed() {
        assert_eq!(Report { without: DOUBLED, with: CLEAN }.failure(), None);
        assert_eq!(Report { without: LOST, with: CLEAN }.failure(), None);
        for (without, with) in [
            (DOUBLED, DOUBLED),
            (DOUBLED, LOST),
            (DOUBLED, Tally { contradictions: 1, ..CLEAN }),
            (CLEAN, CLEAN),
        ] {
            assert!(Report { without, with }.failure().is_some());
        }
    }
}
