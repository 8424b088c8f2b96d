//! `complete`.

use onceonly::{Record, ResponseHead, Status, StoredResponse, StoredResult};

use crate::case::{Case, checkpoint, completion, end_of_lease, extension, response, revision, seconds};
use crate::compare::{check_same_record, check_same_result};
use crate::verdict::{broken, check, check_eq};

pub(super) async fn a_result_comes_back_as_it_was_given(case: &Case) {
    let (store, key, mut claim) = (case.store(), case.key("a"), case.claim());
    claim.attempt = 3;
    store.claimed(&key, &claim).await;
    let before = store.record(&key).await;
    let given = response("done");
    case.reach(before.created_at.plus(case.brief(1))).await;

    let stamp = store.completed(&key, claim.token, &completion(2, given.clone())).await;

    let mut due = Record { expires_at: stamp.expires_at, status: Status::Completed(given), ..before };
    due.version.revision = revision(2);
    let found = case.another().await.record(&key).await;
    check_same_record(&found, &due, "a completion changes the result, the revision and the retention only");
}

pub(super) async fn a_result_that_is_not_retained_is_no_empty_body(case: &Case) {
    let store = case.store();
    let head = StoredResponse::new(200, "").with_header("location", "/charges/1").into_head();
    let results = [
        ("not retained", StoredResult::NotRetained(head)),
        (
            "not retained, without headers",
            StoredResult::NotRetained(ResponseHead { code: 204, headers: vec![] }),
        ),
        ("an empty body", StoredResult::Retained(StoredResponse::new(204, ""))),
    ];
    for (name, given) in results {
        let (key, claim) = (case.key(name), case.claim());
        store.claimed(&key, &claim).await;
        store.completed(&key, claim.token, &completion(2, given.clone())).await;
        check_same_result(&result_of(store.record(&key).await), &given, name);
    }
}

pub(super) async fn completing_again_is_told_so_and_shown_the_record(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let done = completion(2, response("done"));
    store.completed(&key, claim.token, &done).await;
    let before = store.record(&key).await;

    let shown = case.another().await.already_completed(&key, claim.token, &done).await;

    check_same_record(&shown.record, &before, "a repeated completion was shown another record");
    check_same_record(&store.record(&key).await, &before, "a repeated completion has changed the record");
}

pub(super) async fn the_first_result_stands(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.completed(&key, claim.token, &completion(2, response("done"))).await;
    let before = store.record(&key).await;

    let other_code = StoredResponse::new(500, "done").with_header("content-type", "text/plain");
    let other_header = StoredResponse::new(201, "done").with_header("content-type", "text/html");
    for (what, other) in [
        ("another body", response("done otherwise")),
        ("another code", StoredResult::Retained(other_code.clone())),
        ("another header", StoredResult::Retained(other_header)),
        ("no body", StoredResult::NotRetained(other_code.into_head())),
    ] {
        let shown = store.already_completed(&key, claim.token, &completion(3, other)).await;
        check_same_record(
            &shown.record,
            &before,
            &format!("{what}: the caller cannot tell which result stands"),
        );
        check_same_record(
            &store.record(&key).await,
            &before,
            &format!("{what} has displaced the first result"),
        );
    }
}

/// A completion that is answered and not stored is a charge that is made again.
pub(super) async fn a_completion_is_stored_whatever_its_revision(case: &Case) {
    let store = case.store();
    for (name, number) in [("lower", 1), ("equal", 5)] {
        let (key, claim) = (case.key(name), case.claim());
        store.claimed(&key, &claim).await;
        store.renewed(&key, claim.token, &extension(5, claim.lease)).await;

        store.completed(&key, claim.token, &completion(number, response("done"))).await;

        let left = case.another().await.record(&key).await.status;
        check_eq!(
            left,
            Status::Completed(response("done")),
            "what a completion under a {name} revision leaves"
        );
    }
}

pub(super) async fn a_completed_token_renews_no_more(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.completed(&key, claim.token, &completion(2, response("done"))).await;
    let before = store.record(&key).await;

    for renewal in [extension(3, seconds(600)), checkpoint(4, seconds(600), "late"), end_of_lease(5)] {
        store.renew_refused(&key, claim.token, &renewal).await;
    }

    check_same_record(&store.record(&key).await, &before, "a refused renewal has changed the result");
}

pub(super) async fn a_completion_of_nothing_creates_nothing(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let before = case.count().await;

    store.complete_refused(&key, case.token(), &completion(2, response("done"))).await;

    check_eq!(store.load(&key).await, None, "what a refused completion leaves");
    check_eq!(case.count().await, before, "the number of records");
}

pub(super) async fn a_result_is_kept_for_its_retention_at_least(case: &Case) {
    let store = case.store();
    for (name, retention) in [("shorter than the claim's", 60), ("longer than the claim's", 100_000)] {
        let (key, claim) = (case.key(name), case.claim());
        let claimed = store.claimed(&key, &claim).await;
        let mut done = completion(2, response("done"));
        done.retention = seconds(retention);

        let stamp = store.completed(&key, claim.token, &done).await;

        check_eq!(store.record(&key).await.expires_at, stamp.expires_at, "the stored retention");
        check!(
            claimed.expires_at <= stamp.expires_at,
            "a retention {name} has moved the deadline back from {:?} to {:?}",
            claimed.expires_at,
            stamp.expires_at
        );
        let due = stamp.now.plus(done.retention);
        check!(due <= stamp.expires_at, "a retention {name} ends at {:?}, due was {due:?}", stamp.expires_at);
    }
}

pub(super) fn result_of(record: Record) -> StoredResult {
    match record.status {
        Status::Completed(result) => result,
        other => broken(format!("the record is {other:?}, due was a result")),
    }
}
