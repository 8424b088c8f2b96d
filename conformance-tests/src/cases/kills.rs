//! Processes that end in the middle of their calls: killed, or in good order.

use std::time::Instant;

use onceonly::{ClaimOutcome, ClaimRequest, Expected, NewClaim, RecordKey, Snapshot, Status, Version};

use super::complete::result_of;
use super::held::all_writes_refused;
use super::lease::state;
use crate::call::{Answer, Request};
use crate::case::{Case, checkpoint, completion, response, version};
use crate::compare::check_same_record;
use crate::effect::Effect;
use crate::handle::{Handle, failed, until_certain};
use crate::lives::{Callers, LastCalls, Load, random_part_of};
use crate::process::Process;
use crate::race::joined;
use crate::random::Random;
use crate::verdict::{broken, check, check_eq};

pub(super) async fn every_acknowledged_write_survives_a_kill(case: &Case) {
    let mut random = case.random();
    for round in 0..rounds(case) {
        let LastCalls { answered, cut_off } = killed(case, &mut random, round).await;
        check_all_there(case, &answered).await;
        for call in &cut_off {
            let found = case.store().load(&call.key).await;
            check!(
                is_not_earlier(found.as_ref(), call).await,
                "what was answered before its process was killed in the middle of a {:?} is not to be seen: found \
                 {found:?}, due was {:?} or later",
                call.request.verb(),
                call.before
            );
        }
    }
}

pub(super) async fn a_write_cut_off_by_a_kill_happened_whole_or_not_at_all(case: &Case) {
    let mut random = case.random();
    for round in 0..rounds(case) {
        for call in &killed(case, &mut random, round).await.cut_off {
            call.check_whole(case.store()).await;
        }
    }
}

pub(super) async fn a_write_cut_off_by_a_kill_can_be_repeated_to_its_end(case: &Case) {
    let mut random = case.random();
    for round in 0..rounds(case) {
        let calls = killed(case, &mut random, round).await.cut_off;
        let heir = case.another().await;
        let again = calls.iter().map(|call| (call.request.clone(), heir.clone()));
        let again: Vec<_> = again
            .map(|(request, heir)| tokio::spawn(async move { until_certain(&request, &heir).await }))
            .collect();
        for call in again {
            joined(call).await;
        }
        for call in &calls {
            call.check_done(case.store()).await;
        }
    }
}

pub(super) async fn calls_under_way_when_their_process_ends_happened_whole_or_not_at_all(case: &Case) {
    let mut random = case.random();
    for round in 0..rounds(case) {
        let (process, callers) = at_work(case, &mut random, round).await;
        case.step("the process ends in good order, with calls under way");
        process.end().await;
        let LastCalls { answered, cut_off } = callers.over().await;
        check_all_there(case, &answered).await;
        for call in &cut_off {
            call.check_whole(case.store()).await;
        }
    }
}

/// Ends the case unless each of the calls, which were answered, is to be seen in its record.
async fn check_all_there(case: &Case, answered: &[Effect]) {
    for call in answered {
        let found = case.store().load(&call.key).await;
        check!(
            call.is_seen_in(found.as_ref()).await,
            "a {:?} that was answered before its process ended is not to be seen: found {found:?}",
            call.request.verb()
        );
    }
}

/// Whether what was found is a record that the call was to find, or one that it writes.
async fn is_not_earlier(found: Option<&Snapshot>, call: &Effect) -> bool {
    let Some(before) = &call.before else { return true };
    let after = call.at(call.earliest).await;
    found.is_some_and(|found| {
        let version = found.record.version;
        version == before.version || after.is_some_and(|after| version == after.version)
    })
}

/// Kills a process in the middle of its calls.
async fn killed(case: &Case, random: &mut Random, round: usize) -> LastCalls {
    let (process, callers) = at_work(case, random, round).await;
    case.step("the process is killed in the middle of its calls");
    process.kill();
    callers.over().await
}

/// A process of which many calls are under way, and some have been answered.
async fn at_work(case: &Case, random: &mut Random, round: usize) -> (Process, Callers) {
    case.requires_that_writes_outlive_their_process();
    let process = case.process().await;
    let load = Load { callers: 24, lives: 6 };
    let mut callers = Callers::start(case, &process.handle(), random, &format!("round {round}"), load).await;
    callers.random_instant(random).await;
    (process, callers)
}

fn rounds(case: &Case) -> usize {
    case.rounds() / 8
}

pub(super) async fn a_purge_cut_off_by_a_kill_takes_nothing_that_lives(case: &Case) {
    case.requires_that_writes_outlive_their_process();
    let mut random = case.random();
    let expired = claimed_together(case, "expired", &case.brief_claim()).await;
    let live = claimed_together(case, "live", &case.claim()).await;
    let mut due = Vec::new();
    for key in &live {
        due.push(case.store().record(key).await);
    }
    for key in &expired {
        case.reach(case.store().record(key).await.unresolved_until).await;
    }

    case.step("processes are killed in the middle of purges");
    let mut purged = 0;
    for _ in 0..rounds(case) {
        let process = case.process().await;
        let mut purges: Vec<_> = (0..8).map(|_| process.send(Request::PurgeExpired { limit: 1 })).collect();
        let (answered, began) = (random.below(8), Instant::now());
        let cut_off = purges.split_off(answered);
        for purge in purges {
            purged += deleted(purge.answer().await);
        }
        random_part_of(began.elapsed().div_f64(answered as f64 + 1.0), &mut random).await;
        process.kill();
        for purge in cut_off {
            purged += deleted(purge.answer().await);
        }
    }
    case.step("purges afterwards");
    purged += case.store().purge_all().await;
    check!(
        purged <= expired.len() as u64,
        "{purged} records were purged, of {} past their time",
        expired.len()
    );
    for key in &expired {
        check_eq!(case.store().load(key).await, None, "a record past its time, after all purges");
    }
    for (key, due) in live.iter().zip(&due) {
        check_same_record(
            &case.store().record(key).await,
            due,
            "a purge that was cut off has changed a live record",
        );
    }
}

/// How many records a purge says it has deleted. If its process was killed, it says nothing.
fn deleted(purge: Answer) -> u64 {
    match purge {
        Answer::PurgeExpired(Ok(deleted)) => deleted,
        Answer::PurgeExpired(Err(error)) if error.outcome_is_unknown() => 0,
        answer => broken(format!("a purge answered {answer:?}")),
    }
}

/// Keys that are claimed like `claim`, in one batch.
async fn claimed_together(case: &Case, name: &str, claim: &NewClaim) -> Vec<RecordKey> {
    let keys: Vec<_> = (0..64).map(|number| case.key(&format!("{name} {number}"))).collect();
    let item = |key: &RecordKey| ClaimRequest {
        key: key.clone(),
        claim: NewClaim { token: case.token(), ..claim.clone() },
        expected: Expected::Absent,
    };
    for outcome in case.store().claim_many(&keys.iter().map(item).collect::<Vec<_>>()).await {
        check!(matches!(outcome, ClaimOutcome::Claimed(_)), "a fresh key answered {outcome:?}");
    }
    keys
}

pub(super) async fn a_key_whose_holder_was_killed_goes_on_after_the_lease(case: &Case) {
    case.requires_that_writes_outlive_their_process();
    let survivor = case.process().await;
    let heir = survivor.handle();
    for phase in [Phase::Claimed, Phase::Renewed, Phase::Completing] {
        let (key, dead) = (case.key(&format!("{phase:?}")), claim_with_checkpoint(case));
        let holder = case.process().await;
        let left = written_by(&holder, phase, &key, &dead).await;
        holder.kill();
        case.step(phase.step());
        let lease_until = heir.record(&key).await.lease_until;
        if phase != Phase::Completing {
            check_blocked_for_the_lease(case, &heir, &key, &left).await;
        }

        case.reach(lease_until).await;
        let taker = NewClaim { attempt: 2, ..claim_with_checkpoint(case) };
        match heir.claim(&key, &taker, Expected::Exactly(left.version)).await {
            ClaimOutcome::Claimed(_) => {
                let what = "the token of a holder whose process was killed";
                all_writes_refused(case.store(), &key, dead.token, what).await;
                heir.completed(&key, taker.token, &completion(2, response("the heir's"))).await;
                check_eq!(
                    result_of(heir.record(&key).await),
                    response("the heir's"),
                    "the result that stands"
                );
            }
            // What was under way has been carried out, as it may be.
            ClaimOutcome::Occupied(found) if phase == Phase::Completing => {
                check_eq!(
                    result_of(found.record),
                    response("the dead one's"),
                    "the result of the dead holder"
                );
            }
            other => broken(format!("a takeover from a dead holder answered {other:?}, due was Claimed")),
        }
    }
}

/// The record is as its dead holder left it: held until the end of the lease, and then abandoned.
async fn check_blocked_for_the_lease(case: &Case, heir: &Handle, key: &RecordKey, left: &Left) {
    let found = heir.record(key).await;
    check_eq!(
        found.version,
        left.version,
        "the version that a holder was answered before its process was killed"
    );
    let checkpoint = Some(left.checkpoint.into());
    check_eq!(found.status, Status::InProgress { checkpoint }, "how far it had come");
    case.reach_just_before(found.lease_until).await;
    let seen = heir.found(key).await;
    case.still_before(found.lease_until).await;
    check_eq!(state(&seen, REQUEST), "in progress", "the key one tick before its dead holder's lease ends");
    case.reach(found.lease_until).await;
    let seen = heir.found(key).await;
    check_eq!(state(&seen, REQUEST), "abandoned", "the key when its dead holder's lease ends");
}

/// Where a holder is when its process is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Claimed,
    Renewed,
    Completing,
}

impl Phase {
    const fn step(self) -> &'static str {
        match self {
            Self::Claimed => "the holder's process is killed after its claim",
            Self::Renewed => "the holder's process is killed after a renewal",
            Self::Completing => "the holder's process is killed while it completes",
        }
    }
}

/// The last write that a holder was answered.
struct Left {
    version: Version,
    checkpoint: &'static str,
}

/// Brings a holder to the phase in which its process is to be killed.
async fn written_by(holder: &Process, phase: Phase, key: &RecordKey, claim: &NewClaim) -> Left {
    let token = claim.token;
    holder.handle().claimed(key, claim).await;
    let claimed = Left { version: version(token, 1), checkpoint: "inherited" };
    match phase {
        Phase::Claimed => claimed,
        Phase::Renewed => {
            holder.handle().renewed(key, token, &checkpoint(2, claim.lease, "half-way")).await;
            Left { version: version(token, 2), checkpoint: "half-way" }
        }
        Phase::Completing => {
            let completion = completion(2, response("the dead one's"));
            holder.send(Request::Complete { key: key.clone(), token, completion }).begun().await;
            claimed
        }
    }
}

/// A claim whose lease can be waited for, and whose record is remembered long after.
fn claim_with_checkpoint(case: &Case) -> NewClaim {
    NewClaim { checkpoint: Some("inherited".into()), lease: case.brief(1), ..case.claim() }
}

pub(super) async fn a_claim_that_waits_when_its_process_dies_does_not_win_the_key(case: &Case) {
    let process = case.process().await;
    let (key, dead) = (case.key("a"), case.claim());
    case.step("a claim waits for a lock, and its process is killed");
    let lock = case.raw_lock(&key).await;
    let mut call =
        process.send(Request::Claim { key: key.clone(), claim: dead.clone(), expected: Expected::Absent });
    call.begun().await;
    process.kill();
    match call.answer().await {
        // It did not wait; then there is nothing that could come late.
        Answer::Claim(Ok(ClaimOutcome::Vacant)) => return,
        Answer::Claim(Err(error)) if error.outcome_is_unknown() => {}
        Answer::Claim(Err(error)) => failed("a claim that meets a lock", &error),
        answer => broken(format!("a claim of a locked key answered {answer:?}")),
    }

    case.step("the lock is given back");
    drop(lock);
    let claim = case.claim();
    let outcome = case.another().await.claim(&key, &claim, Expected::Absent).await;
    check!(
        matches!(outcome, ClaimOutcome::Claimed(_)),
        "a claim right after the lock was given back answered {outcome:?}, due was Claimed: whoever waited for it is dead"
    );
    let holder = case.store().record(&key).await.version.token;
    check_eq!(holder, claim.token, "who holds the key");
}

/// What the claims of the suite ask for.
const REQUEST: &str = "charge 1000 usd";
