//! How long records count, finished and unfinished, swept or not.

use onceonly::{
    CompleteOutcome, Expected, KeyState, NewClaim, RecordKey, ReleaseOutcome, RenewOutcome, Status,
    StoredResponse, StoredResult, observe,
};

use super::complete::result_of;
use crate::case::{Case, checkpoint, completion, extension, fingerprint, release, response, seconds};
use crate::compare::{check_same_record, check_same_result};
use crate::verdict::{check, check_eq};

pub(super) async fn a_result_is_replayed_until_its_deadline_and_not_after(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), outlived_by_its_result(case));
    store.claimed(&key, &claim).await;
    let done = onceonly::Completion { retention: case.brief(2), ..completion(2, response("done")) };

    let stamp = store.completed(&key, claim.token, &done).await;

    check!(
        case.is_deadline(stamp.expires_at, stamp.now, done.retention),
        "the result is kept until {:?}, due was {:?} after the completion at {:?}",
        stamp.expires_at,
        done.retention,
        stamp.now
    );
    case.step("one tick before the retention ends");
    case.reach_just_before(stamp.expires_at).await;
    let outcome = store.complete(&key, claim.token, &done).await;
    let found = store.found(&key).await;
    case.still_before(stamp.expires_at).await;
    check_same_result(
        &result_of(found.record.clone()),
        &done.result,
        "the result one tick before its deadline",
    );
    check!(
        matches!(outcome, CompleteOutcome::AlreadyCompleted(_)),
        "a repeated completion one tick before the deadline answered {outcome:?}"
    );
    case.step("the retention ends");
    case.reach(stamp.expires_at).await;
    let found = store.found(&key).await;
    check!(
        stamp.expires_at <= found.now,
        "at its deadline the record is shown with a time before it: {:?}",
        found.now
    );
    let state = observe(Some(&found.record), &claim.fingerprint.into(), found.now);
    check!(matches!(state, KeyState::Expired { .. }), "at its deadline the record reads as {state:?}");
}

pub(super) async fn retention_counts_from_completion(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let mut claim = outlived_by_its_result(case);
    claim.keep_unresolved = seconds(7_200);
    let claimed = store.claimed(&key, &claim).await;
    case.step("the handler runs longer than its lease and the retention that its claim reserved");
    case.reach(claimed.expires_at.max(claimed.lease_until).plus(case.brief(1))).await;

    let done = completion(2, response("done"));
    let stamp = store.completed(&key, claim.token, &done).await;

    check!(
        case.is_deadline(stamp.expires_at, stamp.now, done.retention),
        "the result is kept until {:?}, due was {:?} after the completion at {:?}",
        stamp.expires_at,
        done.retention,
        stamp.now
    );
    check_eq!(store.record(&key).await.expires_at, stamp.expires_at, "the stored retention");
}

pub(super) async fn replays_do_not_extend_it(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let done = completion(2, response("done"));
    store.completed(&key, claim.token, &done).await;
    let due = store.record(&key).await;
    case.reach(due.created_at.plus(case.brief(1))).await;

    for _ in 0..100 {
        store.occupied(&key, &case.claim(), Expected::Absent).await;
        store.already_completed(&key, claim.token, &done).await;
    }

    check_same_record(&store.record(&key).await, &due, "a hundred replays have changed the record");
}

pub(super) async fn past_its_time_every_verb_takes_the_record_for_gone(case: &Case) {
    for sweeping in [Sweeping::No, Sweeping::Yes] {
        let store = case.store();
        let (running, done) =
            (case.key(&format!("running {sweeping:?}")), case.key(&format!("done {sweeping:?}")));
        let claim = case.brief_claim();
        store.claimed(&running, &claim).await;
        let finished = outlived_by_its_result(case);
        store.claimed(&done, &finished).await;
        let completion = onceonly::Completion { retention: case.brief(2), ..completion(2, response("done")) };
        store.completed(&done, finished.token, &completion).await;
        let last = store.record(&running).await.past_from().max(store.record(&done).await.past_from());
        case.reach(last).await;
        if sweeping == Sweeping::Yes {
            store.purge_all().await;
        }

        for (key, token) in [(&running, claim.token), (&done, finished.token)] {
            let renewed = store.renew(key, token, &extension(3, seconds(60))).await;
            check_eq!(renewed, RenewOutcome::NotHeld, "renew past the record's time, swept: {sweeping:?}");
            let completed = store.complete(key, token, &completion).await;
            check_eq!(
                completed,
                CompleteOutcome::NotHeld,
                "complete past the record's time, swept: {sweeping:?}"
            );
            let released = store.release(key, token, &release(3)).await;
            check_eq!(
                released,
                ReleaseOutcome::NotHeld,
                "release past the record's time, swept: {sweeping:?}"
            );
            let found = store.load(key).await;
            if let Some(found) = &found {
                let state = observe(Some(&found.record), &claim.fingerprint.into(), found.now);
                check!(
                    matches!(state, KeyState::Expired { .. }),
                    "load past the record's time reads as {state:?}"
                );
            }
            let expected = found.map_or(Expected::Absent, |found| Expected::Exactly(found.record.version));
            store.claimed_over(key, &case.claim(), expected).await;
        }
    }
}

pub(super) async fn nothing_of_an_earlier_period_is_left(case: &Case) {
    for (name, ending) in [("a", response("of the second period")), ("b", not_retained())] {
        nothing_is_left_under(case, &case.key(name), ending).await;
    }
}

async fn nothing_is_left_under(case: &Case, key: &RecordKey, ending: StoredResult) {
    let store = case.store();
    let mut first = case.brief_claim();
    first.attempt = 4;
    store.claimed(key, &first).await;
    store.renewed(key, first.token, &checkpoint(2, first.lease, "of the first period")).await;
    store.completed(key, first.token, &completion(3, response("of the first period"))).await;
    let old = store.record(key).await;
    case.step("the first period ends");
    if case.sets_clock() {
        case.reach(old.expires_at).await;
    }

    let second = case.claim();
    store.claimed_over(key, &second, Expected::Exactly(old.version)).await;

    let found = store.record(key).await;
    check_eq!(found.attempt, 1, "the attempt's number in a new period");
    check_eq!(found.status, Status::InProgress { checkpoint: None }, "what the new claim starts with");
    store.complete_refused(key, first.token, &completion(4, response("late"))).await;
    store.completed(key, second.token, &completion(2, ending.clone())).await;
    let result = result_of(store.record(key).await);
    check_same_result(&result, &ending, "the result of the second period");
}

/// A result that leaves no body to write.
fn not_retained() -> StoredResult {
    StoredResult::NotRetained(StoredResponse::new(204, "").into_head())
}

pub(super) async fn an_unfinished_key_is_remembered_past_the_retention(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.brief_claim());
    store.claimed(&key, &claim).await;
    let record = store.record(&key).await;
    check!(record.expires_at < record.unresolved_until, "the claim's deadlines came back in another order");
    case.reach(record.expires_at).await;

    let purged = store.purge(1_000).await;
    let found = store.load(&key).await;
    case.still_before(record.unresolved_until).await;

    check_eq!(purged, 0, "how many unfinished records were purged at the end of the retention");
    check!(found.is_some(), "an unfinished key was forgotten at the end of the retention");
    case.step("it is past its time");
    case.reach(record.unresolved_until).await;
    check_eq!(store.purge(1_000).await, 1, "how many records past their time were purged");
    check_eq!(store.load(&key).await, None, "a purged record");
}

pub(super) async fn many_retentions_end_each_at_its_time(case: &Case) {
    let store = case.store();
    let parts: Vec<u32> = (1..=10).collect();
    let mut ends = Vec::new();
    for &part in &parts {
        let mut end = None;
        for number in 0..10 {
            let key = case.key(&format!("retention {part}, number {number}"));
            let mut claim = outlived_by_its_result(case);
            claim.keep_unresolved = seconds(7_200);
            store.claimed(&key, &claim).await;
            let retention = case.brief(part + 1);
            let done = onceonly::Completion { retention, ..completion(2, response("done")) };
            end = end.max(Some(store.completed(&key, claim.token, &done).await.expires_at));
        }
        ends.extend(end);
    }
    let mut purged = 0;
    for (part, &end) in parts.iter().zip(&ends) {
        case.reach(end).await;
        purged += store.purge_all().await;
        if case.sets_clock() {
            check_eq!(
                purged,
                u64::from(*part) * 10,
                "how many records were purged by the end of retention {part}"
            );
        }
    }
    check_eq!(purged, 100, "how many records were purged in all");
}

/// A claim whose own deadlines do not hide the retention of its result.
fn outlived_by_its_result(case: &Case) -> NewClaim {
    NewClaim { keep: case.brief(1), fingerprint: fingerprint("charge 1000 usd"), ..case.brief_claim() }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sweeping {
    No,
    Yes,
}
