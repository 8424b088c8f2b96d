//! Whoever settles an abandoned key by hand: `core/src/resolve.rs`.

use onceonly::{ClaimOutcome, CompleteOutcome, Fingerprints, KeyState, ReleaseOutcome, observe};

use super::acquire::number;
use super::bounds::Bounds;
use super::engine::{Holder, Try};
use super::recover::Verdict;
use super::request::{Asks, Checkpoint, Claimant, Request, Seen};
use super::store::Answer;
use super::world::World;

/// One call of `resolve`, which says what is true when it is made.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Operator {
    Waiting,
    /// Has seen the key abandoned, and claims it.
    Claiming(Verdict, Request, Try),
    /// Writes the verdict under the claim.
    Settling(Request),
    Ended(Resolution),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Resolution {
    Completed,
    Released,
    /// The key had changed when it was claimed. `resolve` looks again; a new abandonment is a new call.
    Changed,
}

impl Operator {
    pub(crate) fn awaits(self, request: Request) -> bool {
        matches!(self, Self::Claiming(_, sent, _) | Self::Settling(sent) if sent == request)
    }
}

impl World {
    /// Looks, and claims if the key is abandoned. Says whether it did.
    pub(crate) fn resolve(&mut self, verdict: Verdict, bounds: &Bounds) -> bool {
        let Some(record) = &self.store.record else { return false };
        let fingerprints = Fingerprints::from(record.fingerprint);
        let KeyState::Abandoned { version, attempt, checkpoint } =
            observe(Some(record), &fingerprints, self.instant())
        else {
            return false;
        };
        let (attempt, checkpoint) = (number(attempt) + 1, Checkpoint::of(checkpoint));
        let claimant = Claimant { engine: bounds.engines, number: 1 };
        let claim = Request::Claim {
            claimant,
            asks: Asks::ForThis,
            expected: Some(Seen::of(version)),
            attempt,
            checkpoint,
        };
        self.send(claim);
        self.operator = Operator::Claiming(verdict, claim, Try { claimant, attempt, checkpoint, ask: false });
        true
    }

    pub(crate) fn operator_answered(&mut self, answer: &Answer) {
        self.operator = match (self.operator, answer) {
            (Operator::Claiming(verdict, _, own), Answer::Claim(outcome)) => {
                let granted = match outcome {
                    ClaimOutcome::Claimed(_) => true,
                    ClaimOutcome::Occupied(seen) => seen.record.is_held_by(own.claimant.token(), seen.now),
                    ClaimOutcome::Vacant => false,
                };
                if granted { self.settle(verdict, own) } else { Operator::Ended(Resolution::Changed) }
            }
            (Operator::Settling(_), Answer::Complete(outcome)) => Operator::Ended(match outcome {
                CompleteOutcome::Applied(_) | CompleteOutcome::AlreadyCompleted(_) => Resolution::Completed,
                CompleteOutcome::NotHeld => Resolution::Changed,
            }),
            (Operator::Settling(_), Answer::Release(outcome)) => Operator::Ended(match outcome {
                ReleaseOutcome::Applied => Resolution::Released,
                ReleaseOutcome::NotHeld => Resolution::Changed,
            }),
            (unmoved, _) => unmoved,
        };
    }

    /// A verdict says what no attempt can: that nothing happened at all. So it releases whatever the attempt.
    fn settle(&mut self, verdict: Verdict, own: Try) -> Operator {
        let mut holder = Holder::granted(own);
        let last = match verdict {
            Verdict::Completed => holder.completion(),
            Verdict::NotExecuted => {
                Request::Release { claimant: own.claimant, revision: holder.next_revision() }
            }
            Verdict::Unknown => return Operator::Waiting,
        };
        self.send(last);
        Operator::Settling(last)
    }
}
