//! From a handler to the end: what `core/src/run.rs`, `conclude.rs`, `persist.rs` and `holder.rs` do.

use onceonly::{CompleteOutcome, Fingerprints, KeyState, RenewOutcome, observe};

use super::bounds::{Bounds, Weakness};
use super::engine::{Ended, Holder, Phase, Whose};
use super::request::{Checkpoint, Lease, Request, tick};
use super::store::Answer;
use super::world::World;

/// What a handler, or its heartbeat, does next.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Step {
    /// The effect happens.
    Effect,
    Save,
    Renew,
    /// Nobody waits for the write in flight any more. It may still land.
    GiveUp,
    /// Only with [`Weakness::SaveRepeatedUnderOldNumber`].
    SaveAgain,
    /// `Answer::Final`.
    Final,
    /// The result is sent again, under the next number.
    FinalAgain,
    /// `Answer::NoEffect`.
    NoEffect,
    /// Effect and result are sent in one transaction.
    Commit,
}

impl Holder {
    /// What can come next while the handler runs.
    pub(crate) fn steps(&self, now: u8, bounds: &Bounds, steps: &mut Vec<Step>) {
        if bounds.transaction {
            return steps.extend([Step::Commit, Step::NoEffect]);
        }
        let relied_on = !bounds.heed_lost || (now < self.relied_on_until && !self.lost);
        if !self.effect && !self.resumes_after_effect() && relied_on {
            steps.push(Step::Effect);
        }
        if self.writing.is_some() {
            // The writes of one claim go out one at a time: `Holder::begin_write`.
            return steps.push(Step::GiveUp);
        }
        if !self.lost && self.revision < bounds.revisions {
            let next = self.next_checkpoint();
            if bounds.checkpoints && next > self.saved && next > self.checkpoint {
                steps.push(Step::Save);
            }
            if bounds.heartbeats {
                steps.push(Step::Renew);
            }
            if self.unanswered.is_some() {
                steps.push(Step::SaveAgain);
            }
        }
        if self.effect || self.resumes_after_effect() {
            steps.push(Step::Final);
        }
        if !self.effect {
            steps.push(Step::NoEffect);
        }
    }

    /// What can come next while its result is out.
    pub(crate) fn steps_while_completing(&self, last: Request, bounds: &Bounds, steps: &mut Vec<Step>) {
        // No heartbeat while a transaction is open: `TransactionWrite`.
        if self.writing.is_some() || self.revision >= bounds.revisions {
            return;
        }
        if matches!(last, Request::Commit { .. }) {
            return steps.push(Step::Commit);
        }
        steps.push(Step::FinalAgain);
        if bounds.heartbeats && !self.lost {
            steps.push(Step::Renew);
        }
    }

    const fn next_checkpoint(&self) -> Checkpoint {
        if self.effect { Checkpoint::After } else { Checkpoint::Before }
    }
}

impl World {
    pub(crate) fn step(&mut self, engine: usize, step: Step, bounds: &Bounds) {
        let (mut holder, completing) = match self.engines[engine].phase.clone() {
            Phase::Running(holder) => (holder, None),
            Phase::Completing(holder, last, whose) => (holder, Some((last, whose))),
            _ => return,
        };
        match step {
            Step::Effect => {
                holder.effect = true;
                self.ghost.effect(holder.claimant, bounds);
                if bounds.heed_lost {
                    self.ghost.effect_under(holder.claimant, self.store.record.as_ref(), self.instant());
                }
            }
            Step::Save => {
                holder.saved = holder.next_checkpoint();
                let save = holder.renewal(Lease::Extend, holder.saved);
                self.write(&mut holder, save);
            }
            Step::Renew => {
                let renewal = holder.renewal(Lease::Extend, Checkpoint::None);
                self.write(&mut holder, renewal);
            }
            Step::SaveAgain => {
                let save = holder.unanswered.take().expect("a save was given up");
                self.write(&mut holder, save);
            }
            Step::GiveUp => {
                let given_up = holder.writing.take();
                let save = given_up.filter(|write| matches!(write, Request::Renew { checkpoint, .. } if *checkpoint > Checkpoint::None));
                if bounds.weakness == Some(Weakness::SaveRepeatedUnderOldNumber) && save.is_some() {
                    holder.unanswered = save;
                }
            }
            Step::Final | Step::FinalAgain | Step::Commit => {
                let mut last = holder.completion();
                if let (Step::Commit, Request::Complete { claimant, revision }) = (step, last) {
                    last = Request::Commit { claimant, revision };
                }
                let whose = completing.map_or(Whose::Handler, |(_, whose)| whose);
                self.send(last);
                self.engines[engine].phase = Phase::Completing(holder, last, whose);
                return;
            }
            Step::NoEffect => {
                return match bounds.weakness {
                    Some(Weakness::ReleaseOnAnyAttempt) => self.release(engine, holder),
                    Some(Weakness::CheckpointForbidsRelease) if holder.saved > Checkpoint::None => {
                        self.end_lease(engine, holder, Ended::Suspended);
                    }
                    _ => self.give_back(engine, holder, bounds),
                };
            }
        }
        self.engines[engine].phase = match completing {
            Some((last, whose)) => Phase::Completing(holder, last, whose),
            None => Phase::Running(holder),
        };
    }

    fn write(&mut self, holder: &mut Holder, write: Request) {
        self.send(write);
        holder.writing = Some(write);
    }

    /// `Holder::give_back`.
    pub(crate) fn give_back(&mut self, engine: usize, holder: Holder, bounds: &Bounds) {
        if holder.may_release(bounds) {
            self.release(engine, holder);
        } else {
            self.end_lease(engine, holder, Ended::Suspended);
        }
    }

    /// `Holder::release`.
    pub(crate) fn release(&mut self, engine: usize, mut holder: Holder) {
        let last = Request::Release { claimant: holder.claimant, revision: holder.next_revision() };
        self.send(last);
        self.engines[engine].phase = Phase::GivingBack(last, Ended::Released);
    }

    /// `Holder::end_lease`.
    pub(crate) fn end_lease(&mut self, engine: usize, mut holder: Holder, ended: Ended) {
        let last = holder.renewal(Lease::End, Checkpoint::None);
        self.send(last);
        self.engines[engine].phase = Phase::GivingBack(last, ended);
    }

    /// A write of the holder's was answered, in whatever phase it is.
    pub(crate) fn write_answered(
        &mut self,
        engine: usize,
        request: Request,
        answer: &Answer,
        bounds: &Bounds,
    ) {
        match (self.engines[engine].phase.clone(), answer) {
            (Phase::Completing(holder, last, whose), Answer::Complete(outcome)) if last == request => {
                match whose {
                    Whose::Handler => self.concluded(engine, &holder, outcome, bounds),
                    Whose::Verdict => self.verdict_stored(engine, &holder, outcome, bounds),
                }
            }
            (Phase::Completing(holder, last, whose), Answer::Renew(outcome)) => {
                let holder = self.renewed(holder, request, *outcome, bounds);
                self.engines[engine].phase = Phase::Completing(holder, last, whose);
            }
            (Phase::Running(holder), Answer::Renew(outcome)) => {
                let holder = self.renewed(holder, request, *outcome, bounds);
                self.engines[engine].phase = Phase::Running(holder);
            }
            _ => {}
        }
    }

    /// `Holder::send_renewal`, for one answer.
    fn renewed(
        &mut self,
        mut holder: Holder,
        request: Request,
        outcome: RenewOutcome,
        bounds: &Bounds,
    ) -> Holder {
        holder.writing = None;
        match outcome {
            RenewOutcome::Applied(stamp) => {
                if bounds.heed_lost {
                    holder.relied_on_until = tick(stamp.lease_until);
                }
                if let Request::Renew { checkpoint, .. } = request
                    && checkpoint > Checkpoint::None
                {
                    self.ghost.acknowledged(checkpoint, self.store.record.as_ref());
                }
            }
            RenewOutcome::NotHeld => holder.lost = true,
        }
        holder
    }

    /// `Holder::store_result`, and what `run` answers.
    fn concluded(&mut self, engine: usize, holder: &Holder, outcome: &CompleteOutcome, bounds: &Bounds) {
        let ended = match outcome {
            CompleteOutcome::Applied(_) | CompleteOutcome::AlreadyCompleted(_) => Ended::Stored,
            CompleteOutcome::NotHeld => {
                self.ghost.refused(holder.claimant, self.instant());
                self.answer_of_record(engine, bounds);
                Ended::Superseded
            }
        };
        self.end(engine, ended, bounds);
    }

    /// `Operation::answer_of_record`: somebody took over, so the caller is told what the record says.
    fn answer_of_record(&mut self, engine: usize, bounds: &Bounds) {
        let asks = self.asks(engine, bounds);
        let (Some(record), now) = (self.store.record.as_ref(), self.instant()) else { return };
        if let KeyState::Completed { result } =
            observe(Some(record), &Fingerprints::from(asks.fingerprint()), now)
        {
            self.ghost.replayed(asks, record, result, now);
        }
    }

    /// A call is over. The caller comes again if it has reason to.
    pub(crate) fn end(&mut self, engine: usize, ended: Ended, bounds: &Bounds) {
        let again = match ended {
            Ended::InProgress | Ended::Abandoned => true,
            Ended::Released | Ended::Suspended | Ended::NotHeld => bounds.returns,
            _ => false,
        };
        let calls = self.engines[engine].calls;
        self.engines[engine].phase = if again && calls > 0 { Phase::Idle } else { Phase::Ended(ended) };
    }
}
