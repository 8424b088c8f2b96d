//! The whole world of a run: the store, the network, the callers, the clock, and everything that can happen next.

use onceonly::{ReleaseOutcome, RenewOutcome, Timestamp};

use super::acquire::Heard;
use super::bounds::{Bounds, Weakness};
use super::engine::{Ended, Engine, Phase};
use super::ghost::Ghost;
use super::handler::Step;
use super::operator::Operator;
use super::recover::Verdict;
use super::request::{Asks, Request, Seen, at};
use super::store::{Answer, Store};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct World {
    pub(crate) now: u8,
    pub(crate) store: Store,
    /// Requests that may still arrive, in order of value.
    pub(crate) network: Vec<Request>,
    pub(crate) engines: Vec<Engine>,
    pub(crate) operator: Operator,
    pub(crate) crashes: u8,
    pub(crate) ghost: Ghost,
}

/// One thing that happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Action {
    Tick,
    Purge,
    Call(u8),
    /// The caller goes away.
    Leave(u8),
    /// The process dies, or the handler panics.
    Crash(u8),
    Handler(u8, Step),
    Verdict(u8, Verdict),
    /// The renewal without which nothing may start is sent again, under the next number.
    ConfirmAgain(u8),
    /// Only with [`Weakness::StartsWithoutConfirming`].
    StartUnconfirmed(u8),
    Resolve(Verdict),
    Deliver(Request, Fate),
}

/// What becomes of the answer to a request that arrives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Fate {
    Answered(Heard),
    /// It is lost, or nobody waits for it: the request was late, or a copy.
    Unheard,
}

impl World {
    pub(crate) fn new(bounds: &Bounds) -> Self {
        Self {
            now: 0,
            store: Store::default(),
            network: Vec::new(),
            engines: vec![Engine::new(bounds); bounds.engines.into()],
            operator: Operator::Waiting,
            crashes: 0,
            ghost: Ghost::default(),
        }
    }

    pub(crate) const fn instant(&self) -> Timestamp {
        at(self.now)
    }

    pub(crate) fn asks(&self, engine: usize, bounds: &Bounds) -> Asks {
        if bounds.stranger && engine + 1 == self.engines.len() {
            Asks::ForSomethingElse
        } else {
            Asks::ForThis
        }
    }

    pub(crate) fn send(&mut self, request: Request) {
        if let Err(place) = self.network.binary_search(&request) {
            self.network.insert(place, request);
        }
    }

    /// Everything that can happen next.
    pub(crate) fn actions(&self, bounds: &Bounds, actions: &mut Vec<Action>) {
        if self.now < bounds.ticks {
            actions.push(Action::Tick);
        }
        if self.store.record.is_some() {
            actions.push(Action::Purge);
        }
        for &request in &self.network {
            actions.push(Action::Deliver(request, Fate::Unheard));
            if self.awaited(request) {
                actions.push(Action::Deliver(request, Fate::Answered(Heard::InTime)));
                if bounds.slow_answers && matches!(request, Request::Claim { .. }) {
                    actions.push(Action::Deliver(request, Fate::Answered(Heard::TooLate)));
                }
            }
        }
        for engine in 0..bounds.engines {
            self.actions_of(engine, bounds, actions);
        }
        if bounds.operator && self.operator == Operator::Waiting {
            let told = [Verdict::Completed, Verdict::NotExecuted];
            actions.extend(told.into_iter().filter(|told| self.is_true(*told, None)).map(Action::Resolve));
        }
    }

    /// Whether somebody takes the answer to `request`. A confirming renewal is not sent twice under one number, so only
    /// its first arrival is answered.
    fn awaited(&self, request: Request) -> bool {
        let seen = self.store.record.as_ref().map(|record| Seen::of(record.version));
        self.operator.awaits(request)
            || self.engines.iter().any(|engine| match (&engine.phase, request) {
                (Phase::Confirming(..), Request::Renew { claimant, revision, .. }) => {
                    let written =
                        seen.is_some_and(|seen| seen.claimant == claimant && seen.revision >= revision);
                    engine.awaits(request) && !written
                }
                _ => engine.awaits(request),
            })
    }

    fn actions_of(&self, engine: u8, bounds: &Bounds, actions: &mut Vec<Action>) {
        let place = usize::from(engine);
        let mut steps = Vec::new();
        match &self.engines[place].phase {
            Phase::Idle => {
                if self.may_call(place, bounds) {
                    actions.push(Action::Call(engine));
                }
                return;
            }
            Phase::Crashed | Phase::Ended(_) => return,
            Phase::Claiming(claiming, _) if bounds.leaves && !claiming.gone => {
                actions.push(Action::Leave(engine));
            }
            Phase::Confirming(holder, _) => {
                if bounds.leaves && !holder.gone {
                    actions.push(Action::Leave(engine));
                }
                if holder.revision < bounds.revisions {
                    actions.push(Action::ConfirmAgain(engine));
                }
                if bounds.weakness == Some(Weakness::StartsWithoutConfirming) {
                    actions.push(Action::StartUnconfirmed(engine));
                }
            }
            Phase::Asking(holder) => {
                if bounds.leaves && !holder.gone {
                    actions.push(Action::Leave(engine));
                }
                let told = [Verdict::Completed, Verdict::NotExecuted, Verdict::Unknown];
                let told = told.into_iter().filter(|told| self.is_true(*told, Some(place)));
                actions.extend(told.map(|told| Action::Verdict(engine, told)));
            }
            Phase::Running(holder) => holder.steps(self.now, bounds, &mut steps),
            Phase::Completing(holder, last, _) => holder.steps_while_completing(*last, bounds, &mut steps),
            Phase::Claiming(..) | Phase::GivingBack(..) => {}
        }
        actions.extend(steps.into_iter().map(|step| Action::Handler(engine, step)));
        if self.crashes < bounds.crashes {
            actions.push(Action::Crash(engine));
        }
    }

    /// Callers are alike, so it is no loss of generality that they call for the first time in order.
    fn may_call(&self, engine: usize, bounds: &Bounds) -> bool {
        engine == 0
            || self.asks(engine, bounds) == Asks::ForSomethingElse
            || self.engines[engine - 1].calls < bounds.calls
    }

    /// Lets it happen. Says whether anything changed.
    pub(crate) fn happen(&mut self, action: Action, bounds: &Bounds) -> bool {
        match action {
            Action::Tick => self.now += 1,
            Action::Purge => {
                let now = self.instant();
                let Some(purged) = self.store.purge(now, bounds) else { return false };
                self.ghost.purged(&purged, now, bounds);
            }
            Action::Call(engine) => self.call(engine.into(), bounds),
            Action::Leave(engine) => return self.leave(engine.into(), bounds),
            Action::Crash(engine) => {
                self.engines[usize::from(engine)].phase = Phase::Crashed;
                self.crashes += 1;
            }
            Action::Handler(engine, step) => self.step(engine.into(), step, bounds),
            Action::Verdict(engine, verdict) => self.verdict(engine.into(), verdict),
            Action::ConfirmAgain(engine) => self.confirm_again(engine.into()),
            Action::StartUnconfirmed(engine) => self.start_unconfirmed(engine.into(), bounds),
            Action::Resolve(verdict) => return self.resolve(verdict, bounds),
            Action::Deliver(request, Fate::Unheard) => return self.deliver_unheard(request, bounds),
            Action::Deliver(request, Fate::Answered(heard)) => self.deliver(request, heard, bounds),
        }
        true
    }

    /// The store's step, witnessed.
    pub(crate) fn apply(&mut self, request: Request, bounds: &Bounds) -> Answer {
        let now = self.instant();
        let before = self.store.record.clone();
        let answer = self.store.apply(request, now, bounds);
        let records = [before.as_ref(), self.store.record.as_ref()];
        self.ghost.answered(request, &answer, records, now, bounds);
        answer
    }

    fn deliver_unheard(&mut self, request: Request, bounds: &Bounds) -> bool {
        let before = (self.store.clone(), self.ghost);
        self.apply(request, bounds);
        // A commit belongs to one connection: there are no copies of it.
        if matches!(request, Request::Commit { .. }) {
            self.network.retain(|other| *other != request);
            return true;
        }
        before != (self.store.clone(), self.ghost)
    }

    fn deliver(&mut self, request: Request, heard: Heard, bounds: &Bounds) {
        let waiting = self.engines.iter().position(|engine| engine.awaits(request));
        let answer = self.apply(request, bounds);
        if !bounds.late_copies || matches!(request, Request::Commit { .. }) {
            self.network.retain(|other| *other != request);
        }
        let Some(engine) = waiting else { return self.operator_answered(&answer) };
        match (&self.engines[engine].phase, &answer) {
            (Phase::Claiming(..), Answer::Claim(outcome)) => {
                self.claim_answered(engine, outcome, heard, bounds);
            }
            (Phase::Confirming(..), Answer::Renew(outcome)) => self.confirmed(engine, *outcome, bounds),
            (Phase::GivingBack(_, ended), answer) => {
                let ended = if refused(answer) { Ended::NotHeld } else { *ended };
                self.end(engine, ended, bounds);
            }
            _ => self.write_answered(engine, request, &answer, bounds),
        }
    }
}

const fn refused(answer: &Answer) -> bool {
    matches!(answer, Answer::Renew(RenewOutcome::NotHeld) | Answer::Release(ReleaseOutcome::NotHeld))
}
