//! Processes that stand still, and go on as if no time had passed.

use onceonly::{
    ClaimOutcome, CompleteOutcome, Expected, NewClaim, RecordKey, ReleaseOutcome, RenewOutcome, Token,
};

use super::dropped::prepared;
use super::held::all_writes_refused;
use crate::call::{Answer, Request, Verb};
use crate::case::{Case, checkpoint, completion, extension, release, response, seconds};
use crate::compare::check_same_record;
use crate::handle::{Handle, failed, until_certain};
use crate::lives::{Callers, Load};
use crate::race::joined;
use crate::verdict::broken;

pub(super) async fn a_holder_paused_past_its_lease_writes_nothing(case: &Case) {
    let holder = case.process().await;
    for verb in [Verb::Renew, Verb::Complete, Verb::Release] {
        let (key, claim) = (case.key(&format!("{verb:?}")), lapsing(case));
        let stamp = holder.handle().claimed(&key, &claim).await;
        holder.pause();
        case.step("the holder's process stands still for two leases, and somebody else takes over");
        case.reach(stamp.lease_until.plus(claim.lease)).await;
        let seen = case.store().record(&key).await.version;
        let taker = NewClaim { attempt: 2, ..case.claim() };
        case.store().claimed_over(&key, &taker, Expected::Exactly(seen)).await;
        let due = case.store().record(&key).await;

        case.step("the holder's process goes on, with its write on the way");
        let late = holder.send(late_write(verb, &key, claim.token));
        holder.resume();
        check_refused(&late.answer().await);

        let what = format!("a {verb:?} of a holder that had been paused has changed the taker's record");
        check_same_record(&case.store().record(&key).await, &due, &what);
        all_writes_refused(&holder.handle(), &key, claim.token, "the token of a holder that had been paused")
            .await;
    }
}

fn late_write(verb: Verb, key: &RecordKey, token: Token) -> Request {
    let key = key.clone();
    match verb {
        Verb::Renew => Request::Renew { key, token, renewal: checkpoint(2, seconds(600), "late") },
        Verb::Release => Request::Release { key, token, release: release(2) },
        _ => Request::Complete { key, token, completion: completion(2, response("late")) },
    }
}

fn check_refused(answer: &Answer) {
    match answer {
        Answer::Renew(Ok(RenewOutcome::NotHeld))
        | Answer::Complete(Ok(CompleteOutcome::NotHeld))
        | Answer::Release(Ok(ReleaseOutcome::NotHeld)) => {}
        other => match other.error() {
            Some(error) => failed("a late write", error),
            None => broken(format!(
                "a write by a holder that had been paused answered {other:?}, due was NotHeld"
            )),
        },
    }
}

pub(super) async fn a_taker_paused_after_its_look_is_refused(case: &Case) {
    let taker = case.process().await;
    for meanwhile in [Meanwhile::HolderRenews, Meanwhile::AnotherTakesOver] {
        let (key, claim) = (case.key(&format!("{meanwhile:?}")), lapsing(case));
        let stamp = case.store().claimed(&key, &claim).await;
        case.step("the lease is over; a taker looks at the record, and its process stands still");
        case.reach(stamp.lease_until).await;
        let seen = taker.handle().record(&key).await.version;
        taker.pause();
        case.step("two leases pass, in which the record moves on");
        let stamp = match meanwhile {
            Meanwhile::HolderRenews => {
                case.store().renewed(&key, claim.token, &extension(2, claim.lease)).await
            }
            Meanwhile::AnotherTakesOver => {
                let other = NewClaim { attempt: 2, ..lapsing(case) };
                case.store().claimed_over(&key, &other, Expected::Exactly(seen)).await
            }
        };
        // Over once more: all that keeps the taker out is the version.
        case.reach(stamp.lease_until.plus(claim.lease)).await;
        let due = case.store().record(&key).await;

        case.step("the taker's process goes on, with its claim on the way");
        let late = NewClaim { attempt: 2, ..case.claim() };
        let late =
            taker.send(Request::Claim { key: key.clone(), claim: late, expected: Expected::Exactly(seen) });
        taker.resume();
        match late.answer().await {
            Answer::Claim(Ok(ClaimOutcome::Occupied(_))) => {}
            Answer::Claim(Err(error)) => failed("a late claim", &error),
            other => broken(format!(
                "a claim that expects a version long gone answered {other:?}, due was Occupied"
            )),
        }
        let what = "a taker that had been paused has displaced a claim that it never saw";
        check_same_record(&case.store().record(&key).await, &due, what);
    }
}

/// What happens while a taker's process stands still.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    HolderRenews,
    AnotherTakesOver,
}

pub(super) async fn a_paused_process_does_not_hold_up_others(case: &Case) {
    let mut random = case.random();
    let process = case.process().await;
    let mut others = Vec::new();
    for _ in Verb::ALL {
        others.push(case.impatient().await);
    }
    for round in 0..ROUNDS {
        let mut calls = Vec::new();
        for verb in Verb::ALL {
            calls.push(prepared(case, verb, &format!("round {round}")).await);
        }
        let load = Load { callers: 6, lives: 2 };
        let mut callers =
            Callers::start(case, &process.handle(), &mut random, &format!("round {round}"), load).await;
        callers.random_instant(&mut random).await;
        case.step("a process stands still in the middle of its calls");
        process.pause();
        let waiting: Vec<_> = calls
            .iter()
            .zip(&others)
            .map(|(call, other)| tokio::spawn(ends(call.request.clone(), other.clone())))
            .collect();
        for call in waiting {
            joined(call).await;
        }
        process.resume();

        case.step("the process goes on");
        callers.over().await;
        for call in &calls {
            call.check_whole(case.store()).await;
            until_certain(&call.request, case.store()).await;
            call.check_done(case.store()).await;
        }
    }
}

/// Makes the call, which must come to an end: with an answer, or with an error that leaves its outcome open.
async fn ends(request: Request, handle: Handle) {
    let answer = request.deliver(&*handle.plain()).await;
    if let Some(error) = answer.error().filter(|error| !error.outcome_is_unknown()) {
        failed(&format!("{:?}, while another process stands still,", request.verb()), error);
    }
}

/// A claim whose lease can be waited for twice, and whose record is remembered long after.
fn lapsing(case: &Case) -> NewClaim {
    NewClaim { lease: case.brief(1), ..case.claim() }
}

/// How often a process is paused in the middle of its calls.
const ROUNDS: usize = 4;
