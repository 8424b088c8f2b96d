//! Where one caller's operation stands.

use super::bounds::{Bounds, Policy};
use super::request::{Checkpoint, Claimant, Lease, Request};

/// One caller and its engine.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Engine {
    pub(crate) phase: Phase,
    /// Claims it has sent.
    pub(crate) claims: u8,
    /// Calls that are left.
    pub(crate) calls: u8,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Phase {
    Idle,
    /// A claim is out.
    Claiming(Claiming, Request),
    /// A renewal is out, without which nothing may start.
    Confirming(Holder, Request),
    /// The question about the attempt before is out.
    Asking(Holder),
    /// The handler runs, or is paused.
    Running(Holder),
    /// A result is out.
    Completing(Holder, Request, Whose),
    /// A release, or the end of the lease, is out. The last is what it comes to once it is applied.
    GivingBack(Request, Ended),
    Crashed,
    Ended(Ended),
}

/// Whose result is stored.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Whose {
    Handler,
    Verdict,
}

/// What a call came to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Ended {
    Stored,
    Superseded,
    Replayed,
    Released,
    Suspended,
    /// It was not the holder's any more to give back.
    NotHeld,
    InProgress,
    Abandoned,
    Mismatch,
    /// Only with [`super::bounds::Weakness::UnansweredClaimForgotten`].
    Forgotten,
    /// The bound on claims was reached. What follows from it is not judged.
    OutOfClaims,
}

/// The claims of one call: `Acquisition::acquire`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Claiming {
    /// Those sent so far, the one that is out last.
    pub(crate) earlier: Vec<Try>,
    /// Nobody waits for the answer any more.
    pub(crate) gone: bool,
}

/// A claim that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Try {
    pub(crate) claimant: Claimant,
    pub(crate) attempt: u8,
    pub(crate) checkpoint: Checkpoint,
    /// Whether to ask about the attempt before, once it is granted.
    pub(crate) ask: bool,
}

/// One granted claim, as its holder writes it: `core/src/holder.rs`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Holder {
    pub(crate) claimant: Claimant,
    pub(crate) attempt: u8,
    /// What an earlier attempt saved.
    pub(crate) checkpoint: Checkpoint,
    pub(crate) ask: bool,
    pub(crate) gone: bool,
    /// The number of the last write that was begun.
    pub(crate) revision: u8,
    /// The newest checkpoint that this attempt has tried to save.
    pub(crate) saved: Checkpoint,
    /// The handler has had its effect.
    pub(crate) effect: bool,
    pub(crate) lost: bool,
    /// The write in flight.
    pub(crate) writing: Option<Request>,
    /// Only with [`super::bounds::Weakness::SaveRepeatedUnderOldNumber`]: a save that was given up unanswered.
    pub(crate) unanswered: Option<Request>,
    /// Until when nobody can have taken over. Kept only where handlers heed it.
    pub(crate) relied_on_until: u8,
}

impl Holder {
    pub(crate) const fn granted(own: Try) -> Self {
        let Try { claimant, attempt, checkpoint, ask } = own;
        Self {
            claimant,
            attempt,
            checkpoint,
            ask,
            gone: false,
            revision: 1,
            saved: Checkpoint::None,
            effect: false,
            lost: false,
            writing: None,
            unanswered: None,
            relied_on_until: 0,
        }
    }

    pub(crate) const fn next_revision(&mut self) -> u8 {
        self.revision += 1;
        self.revision
    }

    pub(crate) const fn renewal(&mut self, lease: Lease, checkpoint: Checkpoint) -> Request {
        Request::Renew { claimant: self.claimant, revision: self.next_revision(), lease, checkpoint }
    }

    pub(crate) const fn completion(&mut self) -> Request {
        Request::Complete { claimant: self.claimant, revision: self.next_revision() }
    }

    /// `Holder::may_release`: whether giving the claim back forgets nothing.
    pub(crate) fn may_release(&self, bounds: &Bounds) -> bool {
        let first = self.attempt == 1 && self.checkpoint == Checkpoint::None;
        first && (bounds.policy == Policy::Park || self.saved == Checkpoint::None)
    }

    /// An earlier attempt had the effect, and this one knows it.
    pub(crate) fn resumes_after_effect(&self) -> bool {
        self.checkpoint == Checkpoint::After
    }
}

impl Engine {
    pub(crate) const fn new(bounds: &Bounds) -> Self {
        Self { phase: Phase::Idle, claims: 0, calls: bounds.calls }
    }

    /// A token that was never used, if the bound allows another claim.
    pub(crate) fn next_claimant(&mut self, engine: usize, bounds: &Bounds) -> Option<Claimant> {
        if self.claims == bounds.claims {
            return None;
        }
        self.claims += 1;
        let engine = u8::try_from(engine).expect("a run has few engines");
        Some(Claimant { engine, number: self.claims })
    }

    /// Whether a handler of its may still have an effect without asking anybody.
    pub(crate) const fn may_still_execute(&self) -> bool {
        matches!(&self.phase, Phase::Running(holder) if !holder.effect)
            || matches!(&self.phase, Phase::Completing(_, Request::Commit { .. }, _))
    }

    /// Whether `request` is the one whose answer it waits for.
    pub(crate) fn awaits(&self, request: Request) -> bool {
        match &self.phase {
            Phase::Claiming(_, sent) | Phase::Confirming(_, sent) | Phase::GivingBack(sent, _) => {
                *sent == request
            }
            Phase::Completing(holder, sent, _) => *sent == request || holder.writing == Some(request),
            Phase::Running(holder) => holder.writing == Some(request),
            Phase::Idle | Phase::Asking(_) | Phase::Crashed | Phase::Ended(_) => false,
        }
    }

    pub(crate) fn ended(&self, ended: Ended) -> bool {
        self.phase == Phase::Ended(ended)
    }
}
