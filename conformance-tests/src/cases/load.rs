//! `load`.

use onceonly::Expected;

use crate::case::{Case, completion, extension, response, seconds, version};
use crate::compare::check_same_record;
use crate::verdict::{check, check_eq};

pub(super) async fn an_unknown_key_is_none_and_stays_unknown(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let before = case.count().await;

    for _ in 0..3 {
        check_eq!(store.load(&key).await, None, "load of a key that nobody claimed");
    }

    check_eq!(case.count().await, before, "the number of records after loads");
    store.claim(&key, &case.claim(), Expected::Absent).await;
    check!(store.load(&key).await.is_some(), "a key that had been loaded before could not be claimed");
}

pub(super) async fn a_write_is_seen_by_every_other_handle(case: &Case) {
    let (key, claim) = (case.key("a"), case.claim());
    let handles = case.handles(4).await;
    let seen_by_all = async |number, what| {
        // A handle that has seen nothing yet tells what is stored.
        let due = case.another().await.record(&key).await;
        check_eq!(due.version, version(claim.token, number), "the version of the record");
        for handle in &handles {
            check_same_record(&handle.record(&key).await, &due, what);
        }
    };

    case.store().claimed(&key, &claim).await;
    seen_by_all(1, "another handle does not see the claim").await;
    handles[0].renewed(&key, claim.token, &extension(2, claim.lease)).await;
    seen_by_all(2, "another handle does not see the renewal").await;
    handles[1].completed(&key, claim.token, &completion(3, response("done"))).await;
    seen_by_all(3, "another handle does not see the completion").await;
}

pub(super) async fn a_write_outlives_the_handle_that_made_it(case: &Case) {
    let (done, running) = (case.key("done"), case.key("running"));
    let (first, second) = (case.claim(), case.claim());
    let writer = case.another().await;
    writer.claimed(&done, &first).await;
    writer.completed(&done, first.token, &completion(2, response("done"))).await;
    writer.claimed(&running, &second).await;
    let due = [writer.record(&done).await, writer.record(&running).await];

    drop(writer);

    let other = case.another().await;
    for (key, due) in [done, running].iter().zip(&due) {
        let found = other.record(key).await;
        check_same_record(&found, due, "what a dropped handle had written is not what is found");
    }
}

pub(super) async fn every_answer_carries_the_stores_time(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    let mut last = case.now().await;
    let mut after = |what, now| {
        check!(last <= now, "{what} carries {now:?}, which lies before {last:?} of an earlier answer");
        last = now;
    };

    after("claim", store.claimed(&key, &claim).await.now);
    after("a refused claim", store.occupied(&key, &case.claim(), Expected::Absent).await.now);
    after("load", store.found(&key).await.now);
    after("renew", store.renewed(&key, claim.token, &extension(2, claim.lease)).await.now);
    let done = completion(3, response("done"));
    after("complete", store.completed(&key, claim.token, &done).await.now);
    after("a repeated complete", store.already_completed(&key, claim.token, &done).await.now);

    if case.sets_clock() {
        case.step("the clock moves on by an hour");
        let now = case.now().await.plus(seconds(3_600));
        case.set_clock(now).await;
        check_eq!(store.found(&key).await.now, now, "the time of an answer on a clock that stands still");
    }
}

pub(super) async fn reading_moves_no_deadline(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let due = store.record(&key).await;
    case.reach(due.created_at.plus(case.brief(1))).await;

    for _ in 0..20 {
        store.found(&key).await;
        store.occupied(&key, &case.claim(), Expected::Absent).await;
    }

    check_same_record(&store.record(&key).await, &due, "reading has changed the record");
}
