//! What really happened. Never stored, never looked at by an engine; the promises are judged by it.
//!
//! It does its own arithmetic with deadlines instead of asking core, so that a mistake in core's shows.

use onceonly::{
    ClaimOutcome, CompleteOutcome, Record, ReleaseOutcome, RenewOutcome, Status, StoredResult, Timestamp,
};

use super::bounds::{Bounds, Policy, Weakness};
use super::request::{Asks, Checkpoint, Claimant, Lease, Request, author};
use super::store::Answer;

/// History, as far as the promises need it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Ghost {
    /// How often the effect happened since the key was last free. Counted to 3.
    pub(crate) effects: u8,
    /// Which keys it was passed on under downstream.
    pub(crate) derived: u64,
    /// Whose result was accepted, and until when it stands.
    accepted: Option<(Claimant, Timestamp)>,
    /// Every claim that was ever granted.
    granted: u64,
    /// Those after which another was granted.
    superseded: u64,
    /// The newest checkpoint that a handler was told is saved.
    acknowledged: Checkpoint,
    pub(crate) faults: Faults,
}

/// What went wrong so far.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Faults(u16);

impl Faults {
    pub(crate) const fn has(self, fault: Fault) -> bool {
        self.0 & 1 << fault as u16 != 0
    }

    const fn add(&mut self, fault: Fault) {
        self.0 |= 1 << fault as u16;
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    LiveDisplaced,
    SecondResultAccepted,
    ReplayedWhatDoesNotStand,
    SupersededAccepted,
    TokenGrantedAgain,
    CheckpointWentBack,
    CheckpointLost,
    ReleaseForgotEffect,
    StartedPastLease,
    EffectPastLease,
    KeyReboundWhileBound,
    ReplayedToAnother,
    OwnResultRefused,
    EndedLeaseGoesOn,
}

impl Ghost {
    /// The effect happened, under a key for calls downstream.
    pub(crate) fn effect(&mut self, claimant: Claimant, bounds: &Bounds) {
        self.effects = (self.effects + 1).min(3);
        self.derived |= if bounds.weakness == Some(Weakness::DerivedFromToken) { claimant.bit() } else { 1 };
    }

    pub(crate) const fn was_granted(&self, claimant: Claimant) -> bool {
        self.granted & claimant.bit() != 0
    }

    /// A handler starts under this claim.
    pub(crate) fn started(&mut self, claimant: Claimant, record: Option<&Record>, now: Timestamp) {
        if !is_live(claimant, record, now) {
            self.faults.add(Fault::StartedPastLease);
        }
    }

    /// A handler that heeds `lost()` has its effect.
    pub(crate) fn effect_under(&mut self, claimant: Claimant, record: Option<&Record>, now: Timestamp) {
        if !is_live(claimant, record, now) {
            self.faults.add(Fault::EffectPastLease);
        }
    }

    /// A caller is answered with a stored result.
    pub(crate) fn replayed(&mut self, asks: Asks, record: &Record, result: &StoredResult, now: Timestamp) {
        if self.accepted.is_none_or(|(claimant, until)| claimant != author(result) || until <= now) {
            self.faults.add(Fault::ReplayedWhatDoesNotStand);
        }
        if record.fingerprint != asks.fingerprint() {
            self.faults.add(Fault::ReplayedToAnother);
        }
    }

    /// A handler is told that its checkpoint is saved.
    pub(crate) fn acknowledged(&mut self, checkpoint: Checkpoint, record: Option<&Record>) {
        self.acknowledged = self.acknowledged.max(checkpoint);
        if record.is_some_and(|record| saved(record) < checkpoint) {
            self.faults.add(Fault::CheckpointLost);
        }
    }

    /// A holder is told that its result was refused.
    pub(crate) fn refused(&mut self, claimant: Claimant, now: Timestamp) {
        if self.accepted.is_some_and(|(author, until)| author == claimant && now < until) {
            self.faults.add(Fault::OwnResultRefused);
        }
    }

    /// What was past its time is gone.
    pub(crate) fn purged(&mut self, record: &Record, now: Timestamp, bounds: &Bounds) {
        if is_over(record, now, bounds) && record.status != Status::Released {
            self.new_period();
        }
    }

    /// The store has answered a request that it found `before` and left `after`.
    pub(crate) fn answered(
        &mut self,
        request: Request,
        answer: &Answer,
        [before, after]: [Option<&Record>; 2],
        now: Timestamp,
        bounds: &Bounds,
    ) {
        match (request, answer) {
            (Request::Claim { claimant, asks, .. }, Answer::Claim(ClaimOutcome::Claimed(_))) => {
                if let Some(displaced) = before {
                    self.displaced(displaced, asks, after.map(saved).unwrap_or_default(), now, bounds);
                }
                self.granted(claimant);
            }
            (Request::Renew { lease: Lease::End, claimant, .. }, Answer::Renew(RenewOutcome::Applied(_)))
                if is_live(claimant, after, now) =>
            {
                self.faults.add(Fault::EndedLeaseGoesOn);
            }
            (Request::Renew { .. }, Answer::Renew(RenewOutcome::Applied(_)))
                if before.map(saved) > after.map(saved) =>
            {
                self.faults.add(Fault::CheckpointWentBack);
            }
            (Request::Complete { claimant, .. }, Answer::Complete(CompleteOutcome::Applied(stamp))) => {
                self.accepted(claimant, stamp.expires_at, now);
            }
            (Request::Commit { claimant, .. }, Answer::Complete(CompleteOutcome::Applied(stamp))) => {
                self.effect(claimant, bounds);
                self.accepted(claimant, stamp.expires_at, now);
            }
            (Request::Commit { claimant, .. }, Answer::Complete(CompleteOutcome::AlreadyCompleted(_)))
                if bounds.weakness == Some(Weakness::CommitsDespiteCompleted) =>
            {
                self.effect(claimant, bounds);
            }
            (Request::Release { .. }, Answer::Release(ReleaseOutcome::Applied))
                if before.is_some_and(|record| record.status != Status::Released) =>
            {
                self.released(bounds);
            }
            _ => {}
        }
    }

    fn displaced(
        &mut self,
        record: &Record,
        asks: Asks,
        checkpoint: Checkpoint,
        now: Timestamp,
        bounds: &Bounds,
    ) {
        let over = is_over(record, now, bounds);
        match record.status {
            Status::Released => return,
            Status::InProgress { .. } if record.lease_until > now && !over => {
                self.faults.add(Fault::LiveDisplaced);
            }
            Status::Completed(_) if !over => self.faults.add(Fault::LiveDisplaced),
            _ => {}
        }
        if over {
            return self.new_period();
        }
        if record.fingerprint != asks.fingerprint() {
            self.faults.add(Fault::KeyReboundWhileBound);
        }
        if matches!(record.status, Status::InProgress { .. }) && checkpoint < self.acknowledged {
            self.faults.add(Fault::CheckpointLost);
        }
    }

    fn granted(&mut self, claimant: Claimant) {
        if self.granted & claimant.bit() != 0 {
            self.faults.add(Fault::TokenGrantedAgain);
        }
        self.superseded |= self.granted & !claimant.bit();
        self.granted |= claimant.bit();
    }

    fn accepted(&mut self, claimant: Claimant, until: Timestamp, now: Timestamp) {
        if self.accepted.is_some_and(|(_, until)| now < until) {
            self.faults.add(Fault::SecondResultAccepted);
        }
        if self.superseded & claimant.bit() != 0 {
            self.faults.add(Fault::SupersededAccepted);
        }
        self.accepted = Some((claimant, until));
    }

    fn released(&mut self, bounds: &Bounds) {
        if self.effects > 0 {
            self.faults.add(Fault::ReleaseForgotEffect);
        }
        // Under Park nobody but the first attempt can have saved it, and that attempt says that nothing happened.
        if self.acknowledged > Checkpoint::None && bounds.policy != Policy::Park {
            self.faults.add(Fault::CheckpointLost);
        }
        self.acknowledged = Checkpoint::None;
    }

    /// The key is free again: what happens under it from now on is another operation.
    fn new_period(&mut self) {
        self.effects = 0;
        self.derived = 0;
        self.accepted = None;
        self.acknowledged = Checkpoint::None;
    }
}

/// Whether the record may be forgotten.
fn is_over(record: &Record, now: Timestamp, bounds: &Bounds) -> bool {
    match record.status {
        // It is this deadline that the weakness gets wrong; within its run's bounds the right one never comes.
        Status::InProgress { .. } if bounds.weakness == Some(Weakness::UnfinishedForgottenLikeFinished) => {
            false
        }
        Status::InProgress { .. } => record.unresolved_until <= now,
        Status::Completed(_) | Status::Released => record.expires_at <= now,
    }
}

fn is_live(claimant: Claimant, record: Option<&Record>, now: Timestamp) -> bool {
    record.is_some_and(|record| {
        record.version.token == claimant.token()
            && matches!(record.status, Status::InProgress { .. })
            && now < record.lease_until
    })
}

fn saved(record: &Record) -> Checkpoint {
    match &record.status {
        Status::InProgress { checkpoint } => Checkpoint::of(checkpoint.as_ref()),
        Status::Completed(_) | Status::Released => Checkpoint::None,
    }
}
