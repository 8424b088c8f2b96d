//! From a call to a claim: what `core/src/acquire.rs` does with each answer.
//!
//! Names are the same as there, so that the two can be read side by side. What is not modelled: pauses between
//! repetitions (every order of events is tried anyway), and `LOOKS_MAX`, whose place the bound on claims takes.

use onceonly::{ClaimOutcome, Fingerprints, KeyState, Snapshot, Status, observe};

use super::bounds::{Bounds, Policy, Weakness};
use super::engine::{Claiming, Ended, Holder, Phase, Try};
use super::request::{Asks, Checkpoint, Claimant, Request, Seen, tick};
use super::world::World;

/// When an answer reaches its sender.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Heard {
    InTime,
    /// After the lease that it grants.
    TooLate,
}

/// A claim that is to be sent, or the end of the call.
pub(crate) enum Next {
    Claim(Plan),
    Stop(Ended),
}

/// A claim that has no token yet.
pub(crate) struct Plan {
    expected: Option<Seen>,
    attempt: u8,
    checkpoint: Checkpoint,
    ask: bool,
}

impl Plan {
    pub(crate) const fn fresh(expected: Option<Seen>) -> Self {
        Self { expected, attempt: 1, checkpoint: Checkpoint::None, ask: false }
    }

    pub(crate) const fn request(&self, claimant: Claimant, asks: Asks) -> Request {
        let Self { expected, attempt, checkpoint, .. } = *self;
        Request::Claim { claimant, asks, expected, attempt, checkpoint }
    }
}

/// What to do about somebody else's record: `Acquisition::judge`.
pub(crate) fn judge(snapshot: &Snapshot, asks: Asks, bounds: &Bounds) -> Next {
    let mut fingerprints = Fingerprints::from(asks.fingerprint());
    if bounds.weakness == Some(Weakness::FingerprintIgnored) {
        fingerprints = fingerprints.or(snapshot.record.fingerprint);
    }
    match observe(Some(&snapshot.record), &fingerprints, snapshot.now) {
        KeyState::Absent => Next::Claim(Plan::fresh(None)),
        KeyState::Expired { version } => Next::Claim(Plan::fresh(Some(Seen::of(version)))),
        KeyState::HashMismatch => Next::Stop(Ended::Mismatch),
        KeyState::Completed { .. } => Next::Stop(Ended::Replayed),
        KeyState::InProgress { .. } => Next::Stop(Ended::InProgress),
        KeyState::Abandoned { .. } if bounds.policy == Policy::Park => Next::Stop(Ended::Abandoned),
        KeyState::Abandoned { version, attempt, checkpoint } => Next::Claim(Plan {
            attempt: number(attempt) + 1,
            checkpoint: Checkpoint::of(checkpoint),
            ask: bounds.policy == Policy::Resolve,
            ..Plan::fresh(Some(Seen::of(version)))
        }),
    }
}

impl World {
    /// A caller calls.
    pub(crate) fn call(&mut self, engine: usize, bounds: &Bounds) {
        self.engines[engine].calls -= 1;
        let claiming = Claiming { earlier: Vec::new(), gone: false };
        self.claim(engine, claiming, &Plan::fresh(None), bounds);
    }

    /// The caller goes away. Claim and question go on in a task of their own.
    pub(crate) fn leave(&mut self, engine: usize, bounds: &Bounds) -> bool {
        match &mut self.engines[engine].phase {
            Phase::Claiming(_, _) if bounds.weakness == Some(Weakness::UnansweredClaimForgotten) => {
                self.end(engine, Ended::Forgotten, bounds);
            }
            Phase::Claiming(claiming, _) => claiming.gone = true,
            Phase::Confirming(holder, _) | Phase::Asking(holder) => holder.gone = true,
            _ => return false,
        }
        true
    }

    pub(crate) fn claim(&mut self, engine: usize, mut claiming: Claiming, plan: &Plan, bounds: &Bounds) {
        let Some(claimant) = self.engines[engine].next_claimant(engine, bounds) else {
            return self.end(engine, Ended::OutOfClaims, bounds);
        };
        let request = plan.request(claimant, self.asks(engine, bounds));
        let Plan { attempt, checkpoint, ask, .. } = *plan;
        claiming.earlier.push(Try { claimant, attempt, checkpoint, ask });
        self.send(request);
        self.engines[engine].phase = Phase::Claiming(claiming, request);
    }

    /// `Acquisition::acquire`, for one answer.
    pub(crate) fn claim_answered(
        &mut self,
        engine: usize,
        outcome: &ClaimOutcome,
        heard: Heard,
        bounds: &Bounds,
    ) {
        let Phase::Claiming(claiming, _) = self.engines[engine].phase.clone() else { return };
        let sent = *claiming.earlier.last().expect("a claim was sent");
        match outcome {
            ClaimOutcome::Claimed(stamp) => {
                self.grant(engine, sent, (tick(stamp.lease_until), heard), claiming.gone, bounds);
            }
            ClaimOutcome::Vacant => self.claim(engine, claiming, &Plan::fresh(None), bounds),
            ClaimOutcome::Occupied(snapshot) => match own_try(&claiming.earlier, snapshot) {
                Some(own) => self.judge_own(engine, own, claiming, snapshot, bounds),
                None => match judge(snapshot, self.asks(engine, bounds), bounds) {
                    Next::Claim(plan) => self.claim(engine, claiming, &plan, bounds),
                    Next::Stop(ended) => {
                        if let (Ended::Replayed, Status::Completed(result)) = (ended, &snapshot.record.status)
                        {
                            let asks = self.asks(engine, bounds);
                            self.ghost.replayed(asks, &snapshot.record, result, snapshot.now);
                        }
                        self.end(engine, ended, bounds);
                    }
                },
            },
        }
    }

    /// A claim of this very call landed after all: `Acquisition::judge_own`.
    fn judge_own(
        &mut self,
        engine: usize,
        own: Try,
        claiming: Claiming,
        snapshot: &Snapshot,
        bounds: &Bounds,
    ) {
        let Snapshot { record, now } = snapshot;
        let fresh = Plan::fresh(Some(Seen::of(record.version)));
        if record.is_past(*now) {
            return self.claim(engine, claiming, &fresh, bounds);
        }
        let whole_lease = self.now + bounds.lease;
        if record.lease_until > *now {
            let until = match bounds.weakness {
                Some(Weakness::WholeLeaseRelied) => whole_lease,
                _ => tick(record.lease_until),
            };
            return self.grant(engine, own, (until, Heard::InTime), claiming.gone, bounds);
        }
        let Try { mut attempt, checkpoint, mut ask, .. } = own;
        match bounds.weakness {
            Some(Weakness::OwnLapsedClaimTrusted) => {
                return self.grant(engine, own, (whole_lease, Heard::InTime), claiming.gone, bounds);
            }
            Some(Weakness::OwnLapsedClaimCounts) => attempt += 1,
            Some(Weakness::OwnLapsedClaimSkipsQuestion) => ask = false,
            _ => {}
        }
        self.claim(engine, claiming, &Plan { attempt, checkpoint, ask, ..fresh }, bounds);
    }

    /// `Acquisition::grant`: where the lease ran out before the answer arrived, it is extended first.
    fn grant(
        &mut self,
        engine: usize,
        own: Try,
        (until, heard): (u8, Heard),
        caller_is_gone: bool,
        bounds: &Bounds,
    ) {
        let mut holder = Holder::granted(own);
        holder.gone = caller_is_gone;
        if bounds.heed_lost {
            holder.relied_on_until = until;
        }
        match heard {
            Heard::InTime => self.proceed(engine, holder, bounds),
            Heard::TooLate => self.confirm(engine, holder),
        }
    }
}

/// The try that wrote what is in the way, if it was one of this call's own.
fn own_try(sent: &[Try], snapshot: &Snapshot) -> Option<Try> {
    let unfinished = matches!(snapshot.record.status, Status::InProgress { .. });
    let holder = Claimant::of(snapshot.record.version.token);
    sent.iter().find(|own| unfinished && own.claimant == holder).copied()
}

pub(crate) fn number(attempt: u32) -> u8 {
    u8::try_from(attempt).expect("a run has few attempts")
}
