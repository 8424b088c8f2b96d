//! The instant of a write: within its call, and after any wait for a lock.

use onceonly::{
    ClaimOutcome, CompleteOutcome, Expected, RecordKey, RenewOutcome, Stamp, StoreErrorKind, Timestamp,
};

use crate::call::{Answer, Request};
use crate::case::{Case, completion, end_of_lease, extension, release, response, seconds, version};
use crate::handle::failed;
use crate::race::joined;
use crate::verdict::{check, set_up_failed};

pub(super) async fn a_lease_starts_when_it_is_granted(case: &Case) {
    let (key, claim) = (case.key("fresh"), case.claim());
    let expected = Expected::Absent;
    let claiming = Request::Claim { key: key.clone(), claim: claim.clone(), expected };
    check_claimed_since(case, &key, &claim, held_up(case, &key, claiming).await).await;

    let (key, first, taker) = (case.key("abandoned"), case.claim(), case.claim());
    case.store().claimed(&key, &first).await;
    case.store().renewed(&key, first.token, &end_of_lease(2)).await;
    let expected = Expected::Exactly(version(first.token, 2));
    let taking = Request::Claim { key: key.clone(), claim: taker.clone(), expected };
    check_claimed_since(case, &key, &taker, held_up(case, &key, taking).await).await;
}

pub(super) async fn a_renewed_lease_starts_when_the_renewal_is_written(case: &Case) {
    let (key, claim) = (case.key("a"), case.claim());
    case.store().claimed(&key, &claim).await;
    let renewal = extension(2, seconds(600));
    let renewing = Request::Renew { key: key.clone(), token: claim.token, renewal };

    let given_back = held_up(case, &key, renewing).await;

    let lease_until = case.store().record(&key).await.lease_until;
    check!(
        given_back.plus(seconds(600)) <= lease_until,
        "a lease that was renewed after {given_back:?} ends at {lease_until:?}: it counts from before the wait for the \
         lock"
    );
}

pub(super) async fn a_retention_starts_when_the_result_is_written(case: &Case) {
    let (key, claim) = (case.key("a"), case.claim());
    case.store().claimed(&key, &claim).await;
    let completion = completion(2, response("done"));
    let due = completion.retention;
    let completing = Request::Complete { key: key.clone(), token: claim.token, completion };

    let given_back = held_up(case, &key, completing).await;

    let expires_at = case.store().record(&key).await.expires_at;
    check!(
        given_back.plus(due) <= expires_at,
        "a result that was stored after {given_back:?} is kept until {expires_at:?}: the retention counts from before \
         the wait for the lock"
    );
}

pub(super) async fn a_mark_stands_from_when_the_release_is_written(case: &Case) {
    let (key, claim) = (case.key("a"), case.claim());
    case.store().claimed(&key, &claim).await;
    let release = release(2);
    let releasing = Request::Release { key: key.clone(), token: claim.token, release };

    let given_back = held_up(case, &key, releasing).await;

    let expires_at = case.store().record(&key).await.expires_at;
    check!(
        given_back.plus(release.keep) <= expires_at,
        "a mark that was made after {given_back:?} stands until {expires_at:?}: its time counts from before the wait \
         for the lock"
    );
}

/// A handle that has been idle must not take the time of its last call, nor that of a transaction begun then, for now.
pub(super) async fn a_write_on_an_idle_handle_is_stamped_with_the_present(case: &Case) {
    let (idle, key, claim) = (case.another().await, case.key("a"), case.claim());
    idle.claimed(&case.key("before"), &case.claim()).await;
    let mut earliest = case.let_pass(case.now().await).await;
    let stamp = idle.claimed(&key, &claim).await;
    check_stamped_since(earliest, stamp, "claim");

    idle.load(&key).await;
    earliest = case.let_pass(case.now().await).await;
    let stamp = idle.renewed(&key, claim.token, &extension(2, seconds(600))).await;
    check_stamped_since(earliest, stamp, "renew");

    idle.load(&key).await;
    earliest = case.let_pass(case.now().await).await;
    let stamp = idle.completed(&key, claim.token, &completion(3, response("done"))).await;
    check_stamped_since(earliest, stamp, "complete");

    earliest = case.let_pass(case.now().await).await;
    let found = idle.found(&key).await;
    check!(earliest <= found.now, "load after {earliest:?} tells the time as {:?}", found.now);
}

fn check_stamped_since(earliest: Timestamp, stamp: Stamp, verb: &str) {
    check!(earliest <= stamp.now, "{verb} was called after {earliest:?} and is stamped {:?}", stamp.now);
}

/// Makes the call while its lock is held, lets time pass, and gives the lock back. An instant that had come by then.
async fn held_up(case: &Case, key: &RecordKey, request: Request) -> Timestamp {
    let impatient = case.impatient().await;
    let store = case.another().await.plain();
    let from = case.now().await;
    let lock = case.raw_lock(key).await;
    let (copy, call) = (request.clone(), tokio::spawn(async move { request.deliver(&*store).await }));

    case.step("the same call on a handle that soon gives up: by then the first one has met the lock too");
    let answer = copy.deliver(&*impatient.plain()).await;
    if !is_locked_out(&answer) || call.is_finished() {
        set_up_failed("a write went on although its lock was held");
    }
    case.step("the lock is given back");
    let given_back = case.let_pass(from).await;
    drop(lock);

    let answer = joined(call).await;
    if let Some(error) = answer.error() {
        failed("a call that has waited for a lock", error);
    }
    if let Some(stamp) = stamp_of(&answer) {
        check!(
            given_back <= stamp.now,
            "a call that waited for a lock until {given_back:?} is stamped {:?}: the time was read before the wait",
            stamp.now
        );
    }
    given_back
}

/// Whether a caller who was shut out by a lock was told so. A store may also see that the place is being written, and
/// say that there is nothing to show.
fn is_locked_out(answer: &Answer) -> bool {
    match answer.error() {
        Some(error) => error.kind() == StoreErrorKind::Unavailable,
        None => matches!(answer, Answer::Claim(Ok(ClaimOutcome::Vacant))),
    }
}

fn stamp_of(answer: &Answer) -> Option<Stamp> {
    match answer {
        Answer::Claim(Ok(ClaimOutcome::Claimed(stamp)))
        | Answer::Renew(Ok(RenewOutcome::Applied(stamp)))
        | Answer::Complete(Ok(CompleteOutcome::Applied(stamp))) => Some(*stamp),
        _ => None,
    }
}

async fn check_claimed_since(
    case: &Case,
    key: &RecordKey,
    claim: &onceonly::NewClaim,
    given_back: Timestamp,
) {
    let found = case.store().record(key).await;
    check!(
        found.version.token == claim.token,
        "a claim that waited for a lock was answered, and is not there"
    );
    check!(
        given_back <= found.created_at && given_back.plus(claim.lease) <= found.lease_until,
        "a claim that was granted after {given_back:?} is dated {:?} and ends at {:?}: its lease counts from before the \
         wait for the lock",
        found.created_at,
        found.lease_until
    );
}
