//! What is searched, within which bounds, and what must come of it: the design itself. See [`super::wrong_runs`].

use super::bounds::{Bounds, Policy, Weakness};
use super::properties::Promise::{
    self, CheckpointKept, DerivedEffectOnce, EffectAtMostOnce, EffectWithinLease, KeyStaysBound,
    LiveNotDisplaced, NobodyStuck, OneResult, ParkedOnlyWithCulprit, ReleaseForgetsNothing, RepeatRecognised,
    StartsWithinLease, SupersededRefused, SuspendedIsFree, TokenGrantedOnce,
};
use super::properties::Reached;

/// One search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) name: &'static str,
    pub(crate) bounds: Bounds,
    /// What is judged in each state.
    pub(crate) promises: &'static [Promise],
    pub(crate) expected: Outcome,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Outcome {
    /// Every promise holds in every state, and all of these are reached.
    Holds(&'static [Reached]),
    /// The only promise judged is broken.
    Breaks(Promise),
}

impl Run {
    const fn holds(
        name: &'static str,
        bounds: Bounds,
        promises: &'static [Promise],
        reached: &'static [Reached],
    ) -> Self {
        Self { name, bounds, promises, expected: Outcome::Holds(reached) }
    }

    /// A world with one weakness, and the promise that it breaks.
    pub(crate) const fn breaks(
        name: &'static str,
        bounds: Bounds,
        weakness: Weakness,
        promise: &'static [Promise; 1],
    ) -> Self {
        Self::breaks_without_weakness(name, Bounds { weakness: Some(weakness), ..bounds }, promise)
    }

    /// Nothing is done otherwise than it should be, and yet the world breaks the promise.
    pub(crate) const fn breaks_without_weakness(
        name: &'static str,
        bounds: Bounds,
        promise: &'static [Promise; 1],
    ) -> Self {
        Self { name, bounds, promises: promise, expected: Outcome::Breaks(promise[0]) }
    }
}

/// Under Park and Resolve the effect happens at most once.
const ONCE: &[Promise] = &[
    EffectAtMostOnce,
    OneResult,
    SupersededRefused,
    LiveNotDisplaced,
    TokenGrantedOnce,
    CheckpointKept,
    ReleaseForgetsNothing,
    StartsWithinLease,
    RepeatRecognised,
    SuspendedIsFree,
    NobodyStuck,
];

/// Under Rerun it may happen again, but everybody downstream is told that it is the same.
const AGAIN: &[Promise] = &[
    DerivedEffectOnce,
    OneResult,
    SupersededRefused,
    LiveNotDisplaced,
    TokenGrantedOnce,
    CheckpointKept,
    ReleaseForgetsNothing,
    StartsWithinLease,
    RepeatRecognised,
    SuspendedIsFree,
    NobodyStuck,
];

/// Longer than any run: a deadline that does not come.
const NEVER: u8 = 90;

pub(crate) const PARK: Bounds = Bounds {
    policy: Policy::Park,
    engines: 2,
    stranger: false,
    operator: false,
    calls: 2,
    returns: false,
    leaves: false,
    claims: 2,
    revisions: 2,
    crashes: 1,
    checkpoints: false,
    heartbeats: false,
    transaction: false,
    heed_lost: false,
    slow_answers: false,
    late_copies: false,
    ticks: 2,
    lease: 1,
    keep: NEVER,
    retention: NEVER,
    keep_unresolved: NEVER,
    keep_released: NEVER,
    weakness: None,
};
pub(crate) const RERUN: Bounds = Bounds { policy: Policy::Rerun, ..PARK };
pub(crate) const RESOLVE: Bounds = Bounds { policy: Policy::Resolve, ..PARK };

/// Everybody may come to know of a claim only after its lease, and copies never end.
const RESTLESS: Bounds = Bounds { late_copies: true, slow_answers: true, ..PARK };

/// Records are short-lived: all times end within the run.
pub(crate) const SHORT_LIVED: Bounds = Bounds { keep: 2, retention: 1, keep_unresolved: 2, ..PARK };

/// The design, under Park.
pub(crate) const PARKED: &[Run] = &[
    Run::holds(
        "Park: handlers save, are renewed, and die",
        Bounds { checkpoints: true, heartbeats: true, calls: 1, ..PARK },
        ONCE,
        &[Reached::Release, Reached::LateCompletion],
    ),
    Run::holds(
        "Park: callers leave and come back",
        Bounds { leaves: true, returns: true, slow_answers: true, claims: 3, ..PARK },
        ONCE,
        &[Reached::Replay, Reached::Release, Reached::Parked, Reached::ClaimOverMark, Reached::Confirmation],
    ),
    Run::holds(
        "Park: copies of requests never end",
        Bounds { returns: true, claims: 3, ..RESTLESS },
        ONCE,
        &[Reached::Replay, Reached::Release, Reached::Parked, Reached::OwnClaimFound],
    ),
    Run::holds(
        "Park: nobody dies, so nothing is parked for good",
        Bounds { crashes: 0, leaves: true, checkpoints: true, returns: true, calls: 1, ..RESTLESS },
        &[ParkedOnlyWithCulprit, EffectAtMostOnce],
        &[Reached::Release, Reached::OwnClaimFound],
    ),
    Run::holds(
        "Park: the unfinished outlives what is finished",
        Bounds { keep: 2, retention: 1, ticks: 3, ..PARK },
        &[EffectAtMostOnce, OneResult, SupersededRefused, LiveNotDisplaced],
        &[Reached::Parked, Reached::Replay, Reached::LateCompletion],
    ),
    Run::holds(
        "Park: another request comes under the same key",
        Bounds { stranger: true, returns: true, claims: 3, ..RESTLESS },
        &[KeyStaysBound, OneResult, LiveNotDisplaced],
        &[Reached::Mismatch, Reached::Release, Reached::ClaimOverMark],
    ),
    Run::holds(
        "Park: an operator settles what was left",
        Bounds { operator: true, late_copies: true, ..PARK },
        ONCE,
        &[Reached::Settled, Reached::Replay, Reached::Release, Reached::Takeover, Reached::Superseded],
    ),
];

/// The design, under Rerun.
pub(crate) const RERUNS: &[Run] = &[
    Run::holds(
        "Rerun: handlers save, are renewed, die, and others resume",
        Bounds { checkpoints: true, heartbeats: true, calls: 1, crashes: 0, ..RERUN },
        AGAIN,
        &[Reached::Takeover, Reached::SecondEffect, Reached::Superseded, Reached::Suspension],
    ),
    Run::holds(
        "Rerun: copies of requests never end",
        Bounds { policy: Policy::Rerun, ..RESTLESS },
        AGAIN,
        &[Reached::Takeover, Reached::SecondEffect, Reached::Superseded, Reached::OwnClaimFound],
    ),
    Run::holds(
        "Rerun: three callers",
        Bounds { engines: 3, calls: 1, crashes: 0, ..RERUN },
        AGAIN,
        &[Reached::Takeover, Reached::Superseded, Reached::Suspension, Reached::Replay],
    ),
    Run::holds(
        "Rerun: records come to their end",
        Bounds { policy: Policy::Rerun, ticks: 3, ..SHORT_LIVED },
        &[OneResult, CheckpointKept, NobodyStuck],
        &[Reached::Expiry, Reached::Takeover, Reached::Replay],
    ),
    Run::holds(
        "Rerun: handlers heed that a claim is lost",
        Bounds {
            heed_lost: true,
            lease: 2,
            heartbeats: true,
            calls: 1,
            ticks: 3,
            slow_answers: true,
            ..RERUN
        },
        &[EffectWithinLease, LiveNotDisplaced],
        &[Reached::Takeover, Reached::Superseded, Reached::Confirmation],
    ),
    Run::holds(
        "Rerun: effect and result are one transaction",
        Bounds { transaction: true, revisions: 3, crashes: 2, late_copies: true, ..RERUN },
        &[EffectAtMostOnce, OneResult, SupersededRefused, LiveNotDisplaced, RepeatRecognised, NobodyStuck],
        &[Reached::Takeover, Reached::Superseded, Reached::Replay],
    ),
];

/// The design, under Resolve.
pub(crate) const RESOLVED: &[Run] = &[
    Run::holds(
        "Resolve: handlers save and die, callers leave",
        Bounds { checkpoints: true, leaves: true, calls: 1, claims: 3, ..RESOLVE },
        ONCE,
        &[Reached::Question, Reached::Takeover, Reached::Replay, Reached::Suspension],
    ),
    Run::holds(
        "Resolve: copies of requests never end",
        Bounds { policy: Policy::Resolve, ..RESTLESS },
        ONCE,
        &[Reached::Question, Reached::Takeover, Reached::Replay, Reached::Confirmation],
    ),
    Run::holds(
        "Resolve: three callers",
        Bounds { engines: 3, calls: 1, crashes: 0, ..RESOLVE },
        ONCE,
        &[Reached::Question, Reached::Takeover, Reached::Replay],
    ),
];
