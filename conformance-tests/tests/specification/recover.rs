//! From a claim to a handler: what `core/src/recover.rs` does, and `core/src/run.rs` before it polls the handler.

use onceonly::{CompleteOutcome, RenewOutcome};

use super::acquire::Plan;
use super::bounds::{Bounds, Weakness};
use super::engine::{Claiming, Ended, Holder, Phase, Whose};
use super::request::{Checkpoint, Lease, tick};
use super::world::World;

/// What is known of the attempt before, when a claim has been granted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Verdict {
    Completed,
    NotExecuted,
    Unknown,
}

impl World {
    /// `Holder::extend_patiently`, which numbers each repetition anew: an answer to a number that was written before
    /// would say nothing of the lease.
    pub(crate) fn confirm(&mut self, engine: usize, mut holder: Holder) {
        let renewal = holder.renewal(Lease::Extend, Checkpoint::None);
        self.send(renewal);
        self.engines[engine].phase = Phase::Confirming(holder, renewal);
    }

    pub(crate) fn confirmed(&mut self, engine: usize, outcome: RenewOutcome, bounds: &Bounds) {
        let Phase::Confirming(mut holder, _) = self.engines[engine].phase.clone() else { return };
        match outcome {
            RenewOutcome::Applied(stamp) => {
                if bounds.heed_lost {
                    holder.relied_on_until = tick(stamp.lease_until);
                }
                self.proceed(engine, holder, bounds);
            }
            RenewOutcome::NotHeld => self.look_again(engine, &holder, bounds),
        }
    }

    pub(crate) fn confirm_again(&mut self, engine: usize) {
        let Phase::Confirming(holder, _) = self.engines[engine].phase.clone() else { return };
        self.confirm(engine, holder);
    }

    /// Only with [`Weakness::StartsWithoutConfirming`].
    pub(crate) fn start_unconfirmed(&mut self, engine: usize, bounds: &Bounds) {
        let Phase::Confirming(holder, _) = self.engines[engine].phase.clone() else { return };
        self.proceed(engine, holder, bounds);
    }

    /// Somebody took over meanwhile: `Acquisition::obtain` goes round again.
    fn look_again(&mut self, engine: usize, holder: &Holder, bounds: &Bounds) {
        let claiming = Claiming { earlier: Vec::new(), gone: holder.gone };
        self.claim(engine, claiming, &Plan::fresh(None), bounds);
    }

    /// There is a claim. First the question, if it has one; then the handler, if anybody waits for it.
    pub(crate) fn proceed(&mut self, engine: usize, holder: Holder, bounds: &Bounds) {
        if holder.ask {
            self.engines[engine].phase = Phase::Asking(holder);
        } else if holder.gone && bounds.weakness == Some(Weakness::UnawaitedAlwaysReleased) {
            self.release(engine, holder);
        } else if holder.gone {
            self.give_back(engine, holder, bounds);
        } else {
            self.ghost.started(holder.claimant, self.store.record.as_ref(), self.instant());
            self.engines[engine].phase = Phase::Running(holder);
        }
    }

    /// The world answers what became of the attempt before: `Acquisition::recover`.
    pub(crate) fn verdict(&mut self, engine: usize, verdict: Verdict) {
        let Phase::Asking(mut holder) = self.engines[engine].phase.clone() else { return };
        match verdict {
            Verdict::Completed => {
                let last = holder.completion();
                self.send(last);
                self.engines[engine].phase = Phase::Completing(holder, last, Whose::Verdict);
            }
            Verdict::NotExecuted => {
                holder.ask = false;
                self.confirm(engine, holder);
            }
            Verdict::Unknown => self.end_lease(engine, holder, Ended::Abandoned),
        }
    }

    /// `store_verdict`.
    pub(crate) fn verdict_stored(
        &mut self,
        engine: usize,
        holder: &Holder,
        outcome: &CompleteOutcome,
        bounds: &Bounds,
    ) {
        match outcome {
            CompleteOutcome::Applied(_) | CompleteOutcome::AlreadyCompleted(_) => {
                self.end(engine, Ended::Replayed, bounds);
            }
            CompleteOutcome::NotHeld => self.look_again(engine, holder, bounds),
        }
    }

    /// Whether `verdict` is true, and stays so under a claim of `asker`'s: the answer is the world's, not the store's.
    pub(crate) fn is_true(&self, verdict: Verdict, asker: Option<usize>) -> bool {
        let somebody_may_execute = || {
            let others = self.engines.iter().enumerate().filter(|(engine, _)| Some(*engine) != asker);
            others.into_iter().any(|(_, other)| other.may_still_execute())
        };
        match verdict {
            Verdict::Completed => self.ghost.effects > 0,
            Verdict::NotExecuted => self.ghost.effects == 0 && !somebody_may_execute(),
            Verdict::Unknown => true,
        }
    }
}
