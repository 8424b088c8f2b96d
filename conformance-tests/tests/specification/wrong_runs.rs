//! What is searched although it is wrong, each with the promise that must be found broken.

use super::bounds::{Bounds, Policy, Weakness};
use super::properties::Promise::{
    CheckpointKept, DerivedEffectOnce, EffectAtMostOnce, EffectWithinLease, KeyStaysBound, LiveNotDisplaced,
    OneResult, ParkedOnlyWithCulprit, ReleaseForgetsNothing, RepeatRecognised, StartsWithinLease,
    SupersededRefused, SuspendedIsFree, TokenGrantedOnce,
};
use super::runs::{PARK, RERUN, RESOLVE, Run, SHORT_LIVED};

/// Stores that are wrong. Conformance cases look for the same faults in real ones.
pub(crate) const WRONG_STORES: &[Run] = &[
    Run::breaks("token-only guard: results", RERUN, Weakness::TokenOnlyGuard, &[OneResult]),
    Run::breaks(
        "token-only guard: leases",
        Bounds { heartbeats: true, ..RERUN },
        Weakness::TokenOnlyGuard,
        &[LiveNotDisplaced],
    ),
    Run::breaks(
        "counter per record without token: leases",
        RERUN,
        Weakness::RevisionOnlyGuard,
        &[LiveNotDisplaced],
    ),
    Run::breaks(
        "counter per record without token: results",
        Bounds { heartbeats: true, late_copies: true, ..RERUN },
        Weakness::RevisionOnlyGuard,
        &[OneResult],
    ),
    Run::breaks(
        "renewals without revisions",
        Bounds { checkpoints: true, revisions: 3, ..RERUN },
        Weakness::RenewalsWithoutRevisions,
        &[CheckpointKept],
    ),
    Run::breaks("completing keeps the revision", RERUN, Weakness::CompleteKeepsRevision, &[OneResult]),
    Run::breaks("a result from any token", RERUN, Weakness::CompleteByAnyToken, &[SupersededRefused]),
    Run::breaks("a repeated result is refused", PARK, Weakness::RepeatedResultRefused, &[RepeatRecognised]),
    Run::breaks("an ended lease goes on", RERUN, Weakness::EndIsIgnored, &[SuspendedIsFree]),
    Run::breaks(
        "release deletes: a key is parked, and nobody to blame",
        Bounds { crashes: 0, late_copies: true, ..PARK },
        Weakness::ReleaseDeletes,
        &[ParkedOnlyWithCulprit],
    ),
    Run::breaks(
        "release deletes: a token is granted again",
        Bounds { late_copies: true, ..RERUN },
        Weakness::ReleaseDeletes,
        &[TokenGrantedOnce],
    ),
    Run::breaks(
        "release deletes: a live claim is displaced",
        Bounds { crashes: 0, late_copies: true, returns: true, ..PARK },
        Weakness::ReleaseDeletes,
        &[LiveNotDisplaced],
    ),
    Run::breaks(
        "release deletes: after an operator, the effect again",
        Bounds { operator: true, late_copies: true, calls: 1, ..PARK },
        Weakness::ReleaseDeletes,
        &[EffectAtMostOnce],
    ),
    Run::breaks(
        "the unfinished is forgotten like the finished",
        Bounds { keep: 2, ticks: 3, ..PARK },
        Weakness::UnfinishedForgottenLikeFinished,
        &[EffectAtMostOnce],
    ),
    Run::breaks("purge takes what is abandoned", PARK, Weakness::PurgeTakesAbandoned, &[EffectAtMostOnce]),
];

/// Engines and embedders that are wrong.
pub(crate) const WRONG_ENGINES: &[Run] = &[
    Run::breaks(
        "release on attempt 2: an effect forgotten",
        RERUN,
        Weakness::ReleaseOnAnyAttempt,
        &[ReleaseForgetsNothing],
    ),
    Run::breaks(
        "release on attempt 2: a checkpoint forgotten",
        Bounds { checkpoints: true, ..RERUN },
        Weakness::ReleaseOnAnyAttempt,
        &[CheckpointKept],
    ),
    Run::breaks(
        "an unawaited grant always released: an effect",
        Bounds { leaves: true, ..RERUN },
        Weakness::UnawaitedAlwaysReleased,
        &[ReleaseForgetsNothing],
    ),
    Run::breaks(
        "an unawaited grant always released: a checkpoint",
        Bounds { leaves: true, checkpoints: true, ..RERUN },
        Weakness::UnawaitedAlwaysReleased,
        &[CheckpointKept],
    ),
    Run::breaks(
        "own lapsed claim, without asking the store",
        RERUN,
        Weakness::OwnLapsedClaimTrusted,
        &[StartsWithinLease],
    ),
    Run::breaks(
        "own lapsed claim, without asking: the effect",
        Bounds { heed_lost: true, ..RERUN },
        Weakness::OwnLapsedClaimTrusted,
        &[EffectWithinLease],
    ),
    Run::breaks(
        "own lapsed claim, without asking the world",
        Bounds { claims: 3, ..RESOLVE },
        Weakness::OwnLapsedClaimSkipsQuestion,
        &[EffectAtMostOnce],
    ),
    Run::breaks(
        "own lapsed claim, counted as an attempt",
        Bounds { crashes: 0, calls: 1, ..PARK },
        Weakness::OwnLapsedClaimCounts,
        &[ParkedOnlyWithCulprit],
    ),
    Run::breaks(
        "work starts though the answer came too late",
        Bounds { slow_answers: true, ..RERUN },
        Weakness::StartsWithoutConfirming,
        &[StartsWithinLease],
    ),
    Run::breaks(
        "an unanswered claim is forgotten",
        Bounds { leaves: true, crashes: 0, ..PARK },
        Weakness::UnansweredClaimForgotten,
        &[ParkedOnlyWithCulprit],
    ),
    Run::breaks(
        "a checkpoint forbids release under Park",
        Bounds { checkpoints: true, crashes: 0, calls: 1, ..PARK },
        Weakness::CheckpointForbidsRelease,
        &[ParkedOnlyWithCulprit],
    ),
    Run::breaks(
        "a save repeated under an overtaken number",
        Bounds { checkpoints: true, revisions: 4, heartbeats: true, ..RERUN },
        Weakness::SaveRepeatedUnderOldNumber,
        &[CheckpointKept],
    ),
    Run::breaks(
        "`lost()` counted from a whole lease",
        Bounds { heed_lost: true, lease: 2, ticks: 3, ..RERUN },
        Weakness::WholeLeaseRelied,
        &[EffectWithinLease],
    ),
    Run::breaks(
        "another request let through",
        Bounds { stranger: true, ..RERUN },
        Weakness::FingerprintIgnored,
        &[KeyStaysBound],
    ),
    Run::breaks("derived keys from the token", RERUN, Weakness::DerivedFromToken, &[DerivedEffectOnce]),
    Run::breaks(
        "a transaction commits though it was completed",
        Bounds { transaction: true, revisions: 3, ..RERUN },
        Weakness::CommitsDespiteCompleted,
        &[EffectAtMostOnce],
    ),
];

/// Requests that are later than the one assumption allows: what the marks and the retentions are there for.
pub(crate) const BROKEN_ASSUMPTIONS: &[Run] = &[
    Run::breaks_without_weakness(
        "copies later than the mark of a release",
        Bounds { crashes: 0, late_copies: true, keep_released: 1, ..PARK },
        &[ParkedOnlyWithCulprit],
    ),
    Run::breaks_without_weakness(
        "copies later than the retention: a superseded result",
        Bounds { late_copies: true, ticks: 3, policy: Policy::Rerun, ..SHORT_LIVED },
        &[SupersededRefused],
    ),
    Run::breaks_without_weakness(
        "copies later than the retention: two results",
        Bounds { late_copies: true, ticks: 3, policy: Policy::Rerun, ..SHORT_LIVED },
        &[OneResult],
    ),
];
