//! Futures dropped at each of their polls, and tasks aborted at random.

use onceonly::{ClaimRequest, Expected, NewClaim, Record, RecordKey, Status};

use crate::call::{Request, Verb};
use crate::case::{Case, checkpoint, completion, release, response, revision};
use crate::drops::{drop_at, sweep};
use crate::handle::Handle;
use crate::verdict::{broken, check, check_eq};

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

fn is_a_state_of_the_task(record: &Record, claim: &NewClaim) -> bool {
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
        let call = DroppedCall::prepared(case, verb, number).await;
        let store = handle.plain();

        let polled = drop_at(call.request.deliver(&*store), point).await;

        call.check_whole(&other).await;
        let answer = call.request.deliver(&*store).await;
        if let Some(error) = answer.error() {
            broken(format!(
                "dropped at {point:?}, then repeated on the same handle, {verb:?} failed: {error}"
            ));
        }
        call.check_done(&other).await;
        usable(case, &handle, &format!("{verb:?} {number}")).await;
        polled
    })
    .await;
}

/// A call to be dropped, and the record as it was before it.
struct DroppedCall {
    request: Request,
    key: RecordKey,
    claim: NewClaim,
    before: Option<Record>,
}

impl DroppedCall {
    async fn prepared(case: &Case, verb: Verb, number: usize) -> Self {
        let key = case.key(&format!("dropped {verb:?} {number}"));
        let claim = if verb == Verb::PurgeExpired { case.brief_claim() } else { case.claim() };
        let token = claim.token;
        let expected = Expected::Absent;
        let request = match verb {
            Verb::Claim => Request::Claim { key: key.clone(), claim: claim.clone(), expected },
            Verb::Load => Request::Load { key: key.clone() },
            Verb::Renew => {
                let renewal = checkpoint(2, claim.lease, "half-way");
                Request::Renew { key: key.clone(), token, renewal }
            }
            Verb::Complete => {
                Request::Complete { key: key.clone(), token, completion: completion(2, response("done")) }
            }
            Verb::Release => Request::Release { key: key.clone(), token, release: release(2) },
            Verb::PurgeExpired => Request::PurgeExpired { limit: 1_000 },
            Verb::ClaimMany => {
                let item = |key, claim| ClaimRequest { key, claim, expected };
                let second = case.key(&format!("dropped {verb:?} {number}, second item"));
                Request::ClaimMany {
                    claims: vec![item(second, case.claim()), item(key.clone(), claim.clone())],
                }
            }
        };
        if !matches!(verb, Verb::Claim | Verb::ClaimMany) {
            case.store().claimed(&key, &claim).await;
        }
        let before = case.store().load(&key).await.map(|found| found.record);
        if let (Verb::PurgeExpired, Some(record)) = (verb, &before) {
            case.reach(record.unresolved_until).await;
        }
        Self { request, key, claim, before }
    }

    /// The record is as before the call, or as after it.
    async fn check_whole(&self, other: &Handle) {
        let found = other.load(&self.key).await.map(|found| found.record);
        let whole = found == self.before || self.is_done(found.as_ref());
        check!(whole, "a dropped {:?} left half of its effect: {found:?}", self.request.verb());
    }

    async fn check_done(&self, other: &Handle) {
        let found = other.load(&self.key).await.map(|found| found.record);
        check!(
            self.is_done(found.as_ref()),
            "{:?}, repeated after it had been dropped, did not have its effect: {found:?}",
            self.request.verb()
        );
    }

    fn is_done(&self, found: Option<&Record>) -> bool {
        let is = |number, status| {
            found.is_some_and(|record| {
                record.version.token == self.claim.token
                    && record.version.revision == revision(number)
                    && record.status == status
            })
        };
        match self.request.verb() {
            Verb::Claim | Verb::ClaimMany | Verb::Load => is(1, Status::InProgress { checkpoint: None }),
            Verb::Renew => is(2, Status::InProgress { checkpoint: Some("half-way".into()) }),
            Verb::Complete => is(2, Status::Completed(response("done"))),
            Verb::Release => is(2, Status::Released),
            Verb::PurgeExpired => found.is_none(),
        }
    }
}

/// The handle does everything that a handle does.
async fn usable(case: &Case, handle: &Handle, name: &str) {
    let (key, claim) = (case.key(&format!("usable {name}")), case.claim());
    handle.claimed(&key, &claim).await;
    handle.renewed(&key, claim.token, &checkpoint(2, claim.lease, "half-way")).await;
    handle.completed(&key, claim.token, &completion(3, response("done"))).await;
    check_eq!(handle.record(&key).await.version.revision, revision(3), "the revision after three writes");
    handle.purge(0).await;
}
