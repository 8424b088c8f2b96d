//! What is promised, and what a run must have reached for its silence to mean anything.

use onceonly::{ClaimOutcome, Status};
use stateright::Property;

use super::acquire::{Next, Plan, judge};
use super::bounds::Policy;
use super::engine::{Ended, Phase};
use super::ghost::Fault;
use super::request::{Asks, Claimant, Request, Seen, at, tick};
use super::runs::Run;
use super::store::Answer;
use super::world::World;

/// What holds in every state that can be reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Promise {
    EffectAtMostOnce,
    OneResult,
    SupersededRefused,
    LiveNotDisplaced,
    TokenGrantedOnce,
    DerivedEffectOnce,
    CheckpointKept,
    ReleaseForgetsNothing,
    StartsWithinLease,
    EffectWithinLease,
    KeyStaysBound,
    RepeatRecognised,
    SuspendedIsFree,
    NobodyStuck,
    ParkedOnlyWithCulprit,
}

impl Promise {
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::EffectAtMostOnce => "the effect happens at most once",
            Self::OneResult => "one result is accepted, and it is the one replayed (I7, I11, I12)",
            Self::SupersededRefused => "once superseded, a holder's result is refused for ever (I6)",
            Self::LiveNotDisplaced => "no live claim and no standing result is displaced (I2)",
            Self::TokenGrantedOnce => "a token is granted once (I3)",
            Self::DerivedEffectOnce => "attempts pass one derived key downstream",
            Self::CheckpointKept => "an acknowledged checkpoint reaches the next attempt (I14)",
            Self::ReleaseForgetsNothing => "no release forgets an effect",
            Self::StartsWithinLease => "a handler starts under a live lease of its own",
            Self::EffectWithinLease => "a handler that heeds `lost()` acts within its lease",
            Self::KeyStaysBound => "a bound key stays bound, and its result goes to nobody else (I13)",
            Self::RepeatRecognised => "a holder whose result stands is not told that it was refused (I28)",
            Self::SuspendedIsFree => "a lease that its holder ended is over",
            Self::NobodyStuck => "a patient caller gets an answer in the end (I33)",
            Self::ParkedOnlyWithCulprit => "a key is parked only if somebody left it unfinished",
        }
    }

    pub(crate) fn property(self) -> Property<Run> {
        let holds: fn(&Run, &World) -> bool = match self {
            Self::EffectAtMostOnce => |_, world| world.ghost.effects <= 1,
            Self::OneResult => |_, world| {
                never(world, Fault::SecondResultAccepted) && never(world, Fault::ReplayedWhatDoesNotStand)
            },
            Self::SupersededRefused => |_, world| never(world, Fault::SupersededAccepted),
            Self::LiveNotDisplaced => |_, world| never(world, Fault::LiveDisplaced),
            Self::TokenGrantedOnce => |_, world| never(world, Fault::TokenGrantedAgain),
            Self::DerivedEffectOnce => |_, world| world.ghost.derived.count_ones() <= 1,
            Self::CheckpointKept => {
                |_, world| never(world, Fault::CheckpointWentBack) && never(world, Fault::CheckpointLost)
            }
            Self::ReleaseForgetsNothing => |_, world| never(world, Fault::ReleaseForgotEffect),
            Self::StartsWithinLease => |_, world| never(world, Fault::StartedPastLease),
            Self::EffectWithinLease => |_, world| never(world, Fault::EffectPastLease),
            Self::KeyStaysBound => {
                |_, world| never(world, Fault::KeyReboundWhileBound) && never(world, Fault::ReplayedToAnother)
            }
            Self::RepeatRecognised => |_, world| never(world, Fault::OwnResultRefused),
            Self::SuspendedIsFree => |_, world| never(world, Fault::EndedLeaseGoesOn),
            Self::NobodyStuck => nobody_is_stuck,
            Self::ParkedOnlyWithCulprit => parked_only_with_culprit,
        };
        Property::always(self.words(), holds)
    }
}

/// What a run must come across.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reached {
    Takeover,
    Replay,
    Release,
    Suspension,
    Superseded,
    Parked,
    LateCompletion,
    SecondEffect,
    ClaimOverMark,
    Expiry,
    Mismatch,
    Question,
    Settled,
    OwnClaimFound,
    Confirmation,
}

impl Reached {
    pub(crate) fn property(self) -> Property<Run> {
        let holds: fn(&Run, &World) -> bool = match self {
            Self::Takeover => |_, world| attempt(world) > 1,
            Self::Replay => |_, world| ended(world, Ended::Replayed),
            Self::Release => {
                |_, world| world.store.record.as_ref().is_some_and(|record| record.status == Status::Released)
            }
            Self::Suspension => |_, world| ended(world, Ended::Suspended),
            Self::Superseded => |_, world| ended(world, Ended::Superseded),
            Self::Parked => |_, world| ended(world, Ended::Abandoned),
            Self::LateCompletion => |_, world| {
                world.store.record.as_ref().is_some_and(|record| {
                    matches!(record.status, Status::Completed(_)) && record.lease_until < world.instant()
                }) && ended(world, Ended::Stored)
            },
            Self::SecondEffect => |_, world| world.ghost.effects > 1,
            Self::ClaimOverMark => |_, world| {
                world.store.record.as_ref().is_some_and(|record| {
                    let mark = Some(Seen::of(record.version));
                    record.status == Status::Released
                        && world.network.iter().any(
                            |request| matches!(request, Request::Claim { expected, .. } if *expected == mark),
                        )
                })
            },
            Self::Expiry => |_, world| {
                world.store.record.as_ref().is_some_and(|record| {
                    record.status != Status::Released && record.is_past(world.instant())
                })
            },
            Self::Mismatch => |_, world| ended(world, Ended::Mismatch),
            Self::Question => |_, world| phase(world, |phase| matches!(phase, Phase::Asking(_))),
            Self::Settled => |_, world| matches!(world.operator, super::operator::Operator::Ended(_)),
            Self::OwnClaimFound => |_, world| {
                phase(world, |phase| {
                    matches!(phase, Phase::Claiming(claiming, _)
                        if claiming.earlier.len() > 1 && claiming.earlier.iter().any(|own| world.ghost.was_granted(own.claimant)))
                })
            },
            Self::Confirmation => |_, world| phase(world, |phase| matches!(phase, Phase::Confirming(..))),
        };
        Property::sometimes(self.words(), holds)
    }

    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Takeover => "reaches a takeover",
            Self::Replay => "reaches a replay",
            Self::Release => "reaches a release",
            Self::Suspension => "reaches a suspension",
            Self::Superseded => "reaches a superseded holder",
            Self::Parked => "reaches a parked key",
            Self::LateCompletion => "reaches a late completion",
            Self::SecondEffect => "reaches a second effect",
            Self::ClaimOverMark => "reaches a claim of a released key",
            Self::Expiry => "reaches the end of a record's time",
            Self::Mismatch => "reaches a mismatch",
            Self::Question => "reaches a question about an abandoned attempt",
            Self::Settled => "reaches a verdict of the operator's",
            Self::OwnClaimFound => "reaches an own claim that had lapsed",
            Self::Confirmation => "reaches an answer that came too late",
        }
    }
}

/// Never found, so that a search goes on to its end.
pub(crate) fn to_the_end() -> Property<Run> {
    Property::always("is searched to its end", |_, _| true)
}

fn never(world: &World, fault: Fault) -> bool {
    !world.ghost.faults.has(fault)
}

fn ended(world: &World, ended: Ended) -> bool {
    world.engines.iter().any(|engine| engine.ended(ended))
}

fn phase(world: &World, is: impl Fn(&Phase) -> bool) -> bool {
    world.engines.iter().any(|engine| is(&engine.phase))
}

fn attempt(world: &World) -> u32 {
    world.store.record.as_ref().map_or(0, |record| record.attempt)
}

/// When everybody has come to an end without dying, nothing unfinished is left. Only for worlds without crashes.
fn parked_only_with_culprit(_: &Run, world: &World) -> bool {
    let all_ended = world
        .engines
        .iter()
        .all(|engine| matches!(engine.phase, Phase::Ended(ended) if ended != Ended::OutOfClaims));
    let unfinished = |record: &onceonly::Record| matches!(record.status, Status::InProgress { .. });
    !all_ended || !world.store.record.as_ref().is_some_and(unfinished)
}

/// One more caller comes, and everybody else stands still: it is granted the key, or answered for good.
fn nobody_is_stuck(run: &Run, world: &World) -> bool {
    let bounds = &run.bounds;
    let (mut store, mut now) = (world.store.clone(), world.now);
    let mut plan = Plan::fresh(None);
    for number in 1..=PATIENCE {
        let claimant = Claimant { engine: bounds.engines + 1, number };
        let claim = plan.request(claimant, Asks::ForThis);
        let Answer::Claim(outcome) = store.apply(claim, at(now), bounds) else { return false };
        plan = match outcome {
            ClaimOutcome::Claimed(_) => return true,
            ClaimOutcome::Vacant => Plan::fresh(None),
            ClaimOutcome::Occupied(seen) => match judge(&seen, Asks::ForThis, bounds) {
                Next::Claim(plan) => plan,
                Next::Stop(Ended::InProgress) => {
                    now = tick(seen.record.lease_until);
                    Plan::fresh(None)
                }
                Next::Stop(Ended::Replayed) => return true,
                Next::Stop(Ended::Abandoned) => return bounds.policy == Policy::Park,
                Next::Stop(_) => return false,
            },
        };
    }
    false
}

const PATIENCE: u8 = 5;
