//! Futures dropped at each of their polls, and tasks aborted at random.

use onceonly::{ClaimRequest, Expected, NewClaim, Record, Status};

use crate::call::{Request, Verb};
use crate::case::{Case, checkpoint, completion, release, response, revision, seconds};
use crate::drops::{drop_at, sweep};
use crate::effect::Effect;
use crate::handle::{Handle, failed};
use crate::verdict::{check, check_eq};

pub(super) async fn a_dropped_claim_happened_whole_or_not_at_all(case: &Case) {
    drop_everywhere(case, Verb::Claim).await;
}

pub(super) async fn a_dropped_load_leaves_the_handle_usable(case: &Case) {
    drop_everywhere(case, Verb::Load).await;
}

pub(super) async fn a_dropped_renewal_happened_whole_or_not_at_all(case: &Case) {
    drop_everywhere(case, Verb::Renew).await;
}

pub(super) async fn a_dropped_completion_happened_whole_or_not_at_all(case: &Case) {
    drop_everywhere(case, Verb::Complete).await;
}

pub(super) async fn a_dropped_release_happened_whole_or_not_at_all(case: &Case) {
    drop_everywhere(case, Verb::Release).await;
}

pub(super) async fn a_dropped_purge_leaves_the_handle_usable(case: &Case) {
    drop_everywhere(case, Verb::PurgeExpired).await;
}

pub(super) async fn a_dropped_batch_happened_item_by_item(case: &Case) {
    drop_everywhere(case, Verb::ClaimMany).await;
}

pub(super) async fn aborted_tasks_leave_every_record_legal_and_every_handle_usable(case: &Case) {
    let handles = case.handles(8).await;
    let mut random = case.random();
    let mut tasks = Vec::new();
    for number in 0..1_000 {
        let handle = handles[number % handles.len()].clone();
        let (key, claim) = (case.key(&format!("task {number}")), case.claim());
        let (its_key, its_claim) = (key.clone(), claim.clone());
        let task = tokio::spawn(async move {
            let (key, claim) = (its_key, its_claim);
            handle.claimed(&key, &claim).await;
            handle.renewed(&key, claim.token, &checkpoint(2, claim.lease, "half-way")).await;
            handle.completed(&key, claim.token, &completion(3, response("done"))).await;
        });
        for _ in 0..random.below(4) {
            tokio::task::yield_now().await;
        }
        if random.percent(80) {
            task.abort();
        }
        tasks.push((key, claim, task));
    }
    for (key, claim, task) in tasks {
        let done = match task.await {
            Ok(()) => true,
            Err(error) if error.is_cancelled() => false,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        match case.store().load(&key).await {
            Some(found) => check!(
                is_a_state_of_the_task(&found.record, &claim)
                    && (!done || found.record.version.revision == revision(3)),
                "a task that was {} left a record that none of its calls writes: {:?}",
                if done { "run to its end" } else { "aborted" },
                found.record
            ),
            None => check!(!done, "a task that ran to its end left no record"),
        }
    }
    for (number, handle) in handles.iter().enumerate() {
        usable(case, handle, &format!("after the aborts {number}")).await;
    }
}

pub(super) fn is_a_state_of_the_task(record: &Record, claim: &NewClaim) -> bool {
    let status = match record.version.revision.number() {
        1 => Status::InProgress { checkpoint: None },
        2 => Status::InProgress { checkpoint: Some("half-way".into()) },
        3 => Status::Completed(response("done")),
        _ => return false,
    };
    record.version.token == claim.token && record.status == status
}

/// Drops `verb` after each number of polls. Each time the record must be as before or as after the call, and the call,
/// repeated on the same handle, must bring about what it was made for.
async fn drop_everywhere(case: &Case, verb: Verb) {
    let (handle, other) = (case.another().await, case.another().await);
    let mut number = 0;
    sweep(async |point| {
        number += 1;
        let call = prepared(case, verb, &format!("dropped {number}")).await;
        let store = handle.plain();

        let polled = drop_at(call.request.deliver(&*store), point).await;

        call.check_whole(&other).await;
        let answer = call.request.deliver(&*store).await;
        if let Some(error) = answer.error() {
            failed(&format!("{verb:?}, repeated on a handle on which it was dropped at {point:?},"), error);
        }
        call.check_done(&other).await;
        usable(case, &handle, &format!("{verb:?} {number}")).await;
        polled
    })
    .await;
}

/// A call of `verb` that is to be cut off, on a record of its own: no two have the same `name`.
pub(super) async fn prepared(case: &Case, verb: Verb, name: &str) -> Effect {
    let key = case.key(&format!("{name} {verb:?}"));
    let mut claim = if verb == Verb::PurgeExpired { case.brief_claim() } else { case.claim() };
    // Something that half a write could lose.
    claim.checkpoint = Some("inherited".into());
    let token = claim.token;
    let expected = Expected::Absent;
    let request = match verb {
        Verb::Claim => Request::Claim { key: key.clone(), claim: claim.clone(), expected },
        Verb::Load => Request::Load { key: key.clone() },
        Verb::Renew => {
            let renewal = checkpoint(2, seconds(600), "half-way");
            Request::Renew { key: key.clone(), token, renewal }
        }
        Verb::Complete => {
            Request::Complete { key: key.clone(), token, completion: completion(2, response("done")) }
        }
        Verb::Release => Request::Release { key: key.clone(), token, release: release(2) },
        Verb::PurgeExpired => Request::PurgeExpired { limit: 1_000 },
        Verb::ClaimMany => {
            let item = |key, claim| ClaimRequest { key, claim, expected };
            let second = case.key(&format!("{name} {verb:?}, second item"));
            Request::ClaimMany { claims: vec![item(second, case.claim()), item(key.clone(), claim.clone())] }
        }
    };
    if !matches!(verb, Verb::Claim | Verb::ClaimMany) {
        case.store().claimed(&key, &claim).await;
    }
    let before = case.store().load(&key).await.map(|found| found.record);
    if let (Verb::PurgeExpired, Some(record)) = (verb, &before) {
        case.reach(record.unresolved_until).await;
    }
    let earliest = case.now().await;
    let resolution = case.declaration().resolution;
    Effect { request, key, before, earliest, resolution }
}

/// The handle does everything that a handle does.
pub(super) async fn usable(case: &Case, handle: &Handle, name: &str) {
    let (key, claim) = (case.key(&format!("usable {name}")), case.claim());
    handle.claimed(&key, &claim).await;
    handle.renewed(&key, claim.token, &checkpoint(2, claim.lease, "half-way")).await;
    handle.completed(&key, claim.token, &completion(3, response("done"))).await;
    check_eq!(handle.record(&key).await.version.revision, revision(3), "the revision after three writes");
    handle.purge(0).await;
}
