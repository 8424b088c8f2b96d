//! A trace as a maintainer reads it: who does what, what reaches the store, and what it answers.

use std::fmt::Write as _;

use onceonly::{ClaimOutcome, CompleteOutcome, Record, ReleaseOutcome, RenewOutcome, Snapshot, Status};

use super::acquire::Heard;
use super::bounds::Bounds;
use super::handler::Step;
use super::recover::Verdict;
use super::request::{Asks, Checkpoint, Claimant, Lease, Request, Seen, author, tick};
use super::store::Answer;
use super::world::{Action, Fate, World};

/// One line for each thing that happened.
pub(crate) fn told(bounds: &Bounds, path: Vec<(World, Option<Action>)>) -> String {
    let mut lines = String::new();
    for (world, action) in path {
        let Some(action) = action else { continue };
        let happened = happened(&world, action, bounds);
        writeln!(lines, "  {:>3}  {happened}", world.now).expect("a string takes everything");
    }
    lines
}

fn happened(world: &World, action: Action, bounds: &Bounds) -> String {
    match action {
        Action::Tick => "a tick passes".into(),
        Action::Purge => "what is past its time is purged".into(),
        Action::Call(engine) if world.asks(engine.into(), bounds) == Asks::ForSomethingElse => {
            format!("{} calls, and asks for something else", who(engine, bounds))
        }
        Action::Call(engine) => format!("{} calls, and claims", who(engine, bounds)),
        Action::Leave(engine) => format!("{}'s caller goes away", who(engine, bounds)),
        Action::Crash(engine) => format!("{} dies", who(engine, bounds)),
        Action::Handler(engine, step) => format!("{}'s {}", who(engine, bounds), step_words(step)),
        Action::Verdict(engine, verdict) => {
            format!(
                "{} asks what became of the attempt before: {}",
                who(engine, bounds),
                verdict_words(verdict)
            )
        }
        Action::ConfirmAgain(engine) => format!("{} renews again before it starts", who(engine, bounds)),
        Action::StartUnconfirmed(engine) => {
            format!("{} starts its handler all the same", who(engine, bounds))
        }
        Action::Resolve(verdict) => {
            format!("the operator finds out: {}; sees the key abandoned, and claims", verdict_words(verdict))
        }
        Action::Deliver(request, fate) => {
            let answer = world.clone().apply(request, bounds);
            let heard = match fate {
                Fate::Answered(Heard::InTime) => "",
                Fate::Answered(Heard::TooLate) => " (the answer is heard after the lease)",
                Fate::Unheard => " (nobody hears it)",
            };
            format!("{} → {}{heard}", request_words(request, bounds), answer_words(&answer, bounds))
        }
    }
}

const fn step_words(step: Step) -> &'static str {
    match step {
        Step::Effect => "handler has its effect",
        Step::Save => "handler saves a checkpoint",
        Step::Renew => "heartbeat renews",
        Step::GiveUp => "write in flight is given up",
        Step::SaveAgain => "handler saves again, under the old number",
        Step::Final => "handler answers Final: the result is sent",
        Step::FinalAgain => "result is sent again",
        Step::NoEffect => "handler answers NoEffect: the claim is given back",
        Step::Commit => "handler commits effect and result together",
    }
}

const fn verdict_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Completed => "it was executed",
        Verdict::NotExecuted => "it was not executed and cannot be any more",
        Verdict::Unknown => "nobody knows",
    }
}

fn request_words(request: Request, bounds: &Bounds) -> String {
    match request {
        Request::Claim { claimant, expected, attempt, .. } => {
            let expected = expected.map_or_else(|| "nothing".into(), |seen| version(seen, bounds));
            format!("claim {} as attempt {attempt}, expecting {expected}", name(claimant, bounds))
        }
        Request::Renew { claimant, revision, lease, checkpoint } => {
            let lease = match lease {
                Lease::Extend => "renew",
                Lease::End => "end the lease of",
            };
            let checkpoint = match checkpoint {
                Checkpoint::None => "",
                Checkpoint::Before => ", saving \"before\"",
                Checkpoint::After => ", saving \"after\"",
            };
            format!("{lease} {}{checkpoint}", version(Seen { claimant, revision }, bounds))
        }
        Request::Complete { claimant, revision } => {
            format!("complete {}", version(Seen { claimant, revision }, bounds))
        }
        Request::Commit { claimant, revision } => {
            format!("commit the effect with complete {}", version(Seen { claimant, revision }, bounds))
        }
        Request::Release { claimant, revision } => {
            format!("release {}", version(Seen { claimant, revision }, bounds))
        }
    }
}

fn answer_words(answer: &Answer, bounds: &Bounds) -> String {
    match answer {
        Answer::Claim(ClaimOutcome::Claimed(stamp)) => {
            format!("Claimed until {}", tick(stamp.lease_until))
        }
        Answer::Claim(ClaimOutcome::Occupied(seen)) => format!("Occupied by {}", record(seen, bounds)),
        Answer::Claim(ClaimOutcome::Vacant) => "Vacant".into(),
        Answer::Renew(RenewOutcome::Applied(stamp)) => {
            format!("Applied, lease until {}", tick(stamp.lease_until))
        }
        Answer::Complete(CompleteOutcome::Applied(stamp)) => {
            format!("Applied, kept until {}", tick(stamp.expires_at))
        }
        Answer::Complete(CompleteOutcome::AlreadyCompleted(_)) => "AlreadyCompleted".into(),
        Answer::Release(ReleaseOutcome::Applied) => "Applied".into(),
        Answer::Renew(RenewOutcome::NotHeld)
        | Answer::Complete(CompleteOutcome::NotHeld)
        | Answer::Release(ReleaseOutcome::NotHeld) => "NotHeld".into(),
    }
}

fn record(seen: &Snapshot, bounds: &Bounds) -> String {
    let Record { version: at, attempt, lease_until, status, .. } = &seen.record;
    let version = version(Seen::of(*at), bounds);
    match status {
        Status::InProgress { .. } => {
            format!("{version}, in progress, attempt {attempt}, lease until {}", tick(*lease_until))
        }
        Status::Completed(result) => {
            format!("{version}, completed with {}'s result", name(author(result), bounds))
        }
        Status::Released => format!("{version}, released"),
    }
}

/// A claim by who sent it and which of its claims it is: "A1".
fn name(claimant: Claimant, bounds: &Bounds) -> String {
    if claimant.engine == bounds.engines {
        return format!("operator{}", claimant.number);
    }
    format!("{}{}", who(claimant.engine, bounds), claimant.number)
}

fn version(seen: Seen, bounds: &Bounds) -> String {
    format!("{} revision {}", name(seen.claimant, bounds), seen.revision)
}

fn who(engine: u8, bounds: &Bounds) -> char {
    debug_assert!(engine < bounds.engines);
    char::from(b'A' + engine)
}
