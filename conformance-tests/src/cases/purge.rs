//! `purge_expired`.

use onceonly::{ClaimRequest, Expected, RecordKey};

use crate::case::{Case, completion, release, response, seconds};
use crate::compare::check_same_record;
use crate::verdict::{check, check_eq};

pub(super) async fn nothing_that_is_not_past_its_time_is_deleted(case: &Case) {
    let store = case.store();
    let (running, done, marked) = (case.key("running"), case.key("done"), case.key("marked"));
    let mut deadlines = Vec::new();
    for key in [&running, &done, &marked] {
        let mut claim = case.brief_claim();
        // The running one's retention would be over long before it is forgotten: it is unfinished, so that is no deadline.
        claim.keep = if key == &running { case.brief(3) } else { case.brief(6) };
        store.claimed(key, &claim).await;
        if key == &done {
            let mut completion = completion(2, response("done"));
            completion.retention = case.brief(6);
            store.completed(key, claim.token, &completion).await;
        }
        if key == &marked {
            let mut release = release(2);
            release.keep = case.brief(6);
            store.released(key, claim.token, &release).await;
        }
        deadlines.push(store.record(key).await);
    }
    let first = deadlines.iter().map(onceonly::Record::past_from).min().unwrap_or(deadlines[0].lease_until);

    case.step("the claim is live");
    check_eq!(store.purge(1_000).await, 0, "how many live records were purged");
    case.step("the claim is abandoned, and remembered");
    case.reach(deadlines[0].lease_until).await;
    let purged = store.purge(1_000).await;
    case.still_before(first).await;
    check_eq!(purged, 0, "how many records were purged that are remembered");
    case.step("one tick before the first is past its time");
    case.reach_just_before(first).await;
    let purged = store.purge(1_000).await;
    case.still_before(first).await;
    check_eq!(purged, 0, "how many records were purged one tick early");
    for (key, due) in [&running, &done, &marked].into_iter().zip(&deadlines) {
        check_same_record(&store.record(key).await, due, "a purge has changed a record");
    }
}

pub(super) async fn everything_past_its_time_goes_in_batches(case: &Case) {
    let store = case.store();
    let keys = records(case, 200).await;
    let kept = case.key("kept");
    store.claimed(&kept, &case.claim()).await;
    let mut last = case.now().await;
    for key in &keys {
        last = last.max(store.record(key).await.past_from());
    }
    case.reach(last).await;

    check_eq!(store.purge(1).await, 1, "how many records a purge of at most one deleted");
    check_eq!(store.purge(7).await, 7, "how many records a purge of at most seven deleted");
    let left = left_of(case, &keys).await;
    check_eq!(left, 192, "how many of 200 records are left after 8 were purged");
    check_eq!(store.purge(1_000).await, 192, "how many records a purge of at most a thousand deleted");
    check_eq!(store.purge(1_000).await, 0, "how many records there were left to purge");
    check_eq!(left_of(case, &keys).await, 0, "how many records past their time are left");
    check!(store.load(&kept).await.is_some(), "a purge has deleted a live claim");
}

/// A purge that looks at a limited number of records, or begins at the same one each time, never comes to those behind.
pub(super) async fn what_is_past_its_time_is_found_behind_thousands_of_live_records(case: &Case) {
    let store = case.store();
    for thousand in 0..4 {
        let item = |number| {
            let key = case.key(&format!("a live one {thousand} {number}"));
            ClaimRequest { key, claim: case.claim(), expected: Expected::Absent }
        };
        store.claim_many(&(0..1_000).map(item).collect::<Vec<_>>()).await;
    }
    let mut last = case.now().await;
    for name in ["0", "b", "z"] {
        let key = case.key(name);
        store.claimed(&key, &case.brief_claim()).await;
        last = last.max(store.record(&key).await.past_from());
    }
    case.reach(last).await;

    check_eq!(store.purge(1).await, 1, "how many records a purge of at most one deleted, three being due");
    check_eq!(store.purge(10).await, 2, "how many records a purge of at most ten deleted, two being due");
    for name in ["0", "b", "z"] {
        check_eq!(store.load(&case.key(name)).await, None, "a record past its time among live ones");
    }
}

/// A purge that has looked at an unfinished record and put it off must find it again when it is finished late, with a
/// deadline that comes sooner than the one it was put off to.
pub(super) async fn a_late_end_after_a_purge_goes_at_its_time(case: &Case) {
    let store = case.store();
    for name in ["completed", "released"] {
        let (key, mut claim) = (case.key(name), case.brief_claim());
        claim.keep_unresolved = seconds(86_400);
        store.claimed(&key, &claim).await;
        case.reach(store.record(&key).await.expires_at).await;
        check_eq!(
            store.purge(1_000).await,
            0,
            "how many unfinished records were purged at the end of their retention"
        );

        if name == "completed" {
            let mut completion = completion(2, response("late"));
            completion.retention = case.brief(1);
            store.completed(&key, claim.token, &completion).await;
        } else {
            let mut release = release(2);
            release.keep = case.brief(1);
            store.released(&key, claim.token, &release).await;
        }
        case.reach(store.record(&key).await.past_from()).await;
        check_eq!(store.purge(1_000).await, 1, "how many late ends of a claim were purged at their time");
    }
}

pub(super) async fn a_purge_of_nothing_deletes_nothing(case: &Case) {
    let store = case.store();
    check_eq!(store.purge(1_000).await, 0, "how many records of an empty store were purged");
    let key = case.key("a");
    store.claimed(&key, &case.brief_claim()).await;
    case.reach(store.record(&key).await.unresolved_until).await;
    check_eq!(store.purge(0).await, 0, "how many records a purge of at most none deleted");
    check!(store.load(&key).await.is_some(), "a purge of at most none has deleted a record");
    check_eq!(store.purge(u32::MAX).await, 1, "how many records a purge without a limit deleted");
}

pub(super) async fn a_purge_in_one_handle_is_seen_by_all(case: &Case) {
    let keys = records(case, 20).await;
    let mut last = case.now().await;
    for key in &keys {
        last = last.max(case.store().record(key).await.past_from());
    }
    case.reach(last).await;

    case.another().await.purge_all().await;

    for key in &keys {
        check_eq!(case.store().load(key).await, None, "a purged record on another handle");
    }
    check_eq!(case.another().await.purge(1_000).await, 0, "what another handle still purges");
}

pub(super) async fn a_record_renewed_in_time_survives(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.brief_claim());
    store.claimed(&key, &claim).await;
    let first = store.record(&key).await.unresolved_until;
    case.reach(store.record(&key).await.lease_until).await;
    store.renewed(&key, claim.token, &crate::case::extension(2, case.brief(9))).await;
    let due = store.record(&key).await;
    case.still_before(first).await;

    case.step("its first deadline has come, its present one has not");
    case.reach(first).await;
    let purged = store.purge(1_000).await;
    let found = store.load(&key).await.map(|found| found.record);
    case.still_before(due.unresolved_until).await;
    check_eq!(purged, 0, "how many renewed records were purged");
    check_eq!(found, Some(due.clone()), "a renewed record after a purge");

    case.step("its present deadline has come");
    case.reach(due.unresolved_until).await;
    check_eq!(store.purge(1_000).await, 1, "how many renewed records were purged at their present deadline");
}

/// So many records that are past their time soon: abandoned, completed and released ones by turns.
async fn records(case: &Case, count: usize) -> Vec<RecordKey> {
    let store = case.store();
    let mut keys = Vec::new();
    for number in 0..count {
        let key = case.key(&format!("record {number}"));
        let mut claim = case.brief_claim();
        claim.keep = case.brief(2);
        claim.keep_unresolved = case.brief(2);
        store.claimed(&key, &claim).await;
        if number % 3 == 1 {
            let mut completion = completion(2, response("done"));
            completion.retention = case.brief(1);
            store.completed(&key, claim.token, &completion).await;
        }
        if number % 3 == 2 {
            let mut release = release(2);
            release.keep = case.brief(1);
            store.released(&key, claim.token, &release).await;
        }
        keys.push(key);
    }
    keys
}

async fn left_of(case: &Case, keys: &[RecordKey]) -> usize {
    let mut left = 0;
    for key in keys {
        left += usize::from(case.store().load(key).await.is_some());
    }
    left
}
