//! Two stores in one database.

use onceonly::{CompleteOutcome, Expected, RecordKey, ReleaseOutcome, RenewOutcome};

use super::complete::result_of;
use crate::case::{
    Case, checkpoint, completion, end_of_lease, extension, release, response, seconds, set_up,
};
use crate::compare::{check_same_record, check_same_result};
use crate::fixture::Fixture;
use crate::handle::Handle;
use crate::verdict::{check, check_eq};

pub(super) async fn one_key_in_two_stores_is_two_records(case: &Case) {
    let (here, there) = (case.store(), handle_of(&*case.neighbour().await).await);
    let (key, ours, theirs) = (case.key("same"), case.claim(), case.claim());
    here.claimed(&key, &ours).await;
    check_eq!(there.load(&key).await, None, "what a store finds of a key that was claimed in its neighbour");
    there.claimed(&key, &theirs).await;

    case.step("writes in one store, looks in the other");
    let due = there.record(&key).await;
    here.renewed(&key, ours.token, &checkpoint(2, seconds(600), "half-way")).await;
    check_same_record(&there.record(&key).await, &due, "a renewal has changed the neighbour's record");
    here.completed(&key, ours.token, &completion(3, response("ours"))).await;
    check_same_record(&there.record(&key).await, &due, "a completion has changed the neighbour's record");
    there.renewed(&key, theirs.token, &end_of_lease(2)).await;
    let taker = case.claim();
    there.claimed_over(&key, &taker, Expected::Exactly(there.record(&key).await.version)).await;
    there.released(&key, taker.token, &release(2)).await;
    let found = result_of(here.record(&key).await);
    check_same_result(
        &found,
        &response("ours"),
        "the result, after the neighbour's key was taken over and released",
    );
}

pub(super) async fn a_token_writes_in_its_own_store_only(case: &Case) {
    let (here, there) = (case.store(), handle_of(&*case.neighbour().await).await);
    let (key, ours, theirs) = (case.key("same"), case.claim(), case.claim());
    here.claimed(&key, &ours).await;
    there.claimed(&key, &theirs).await;
    let due = there.record(&key).await;

    let renewed = there.renew(&key, ours.token, &extension(2, seconds(600))).await;
    check_eq!(renewed, RenewOutcome::NotHeld, "renew under the token of a neighbour's claim");
    let completed = there.complete(&key, ours.token, &completion(2, response("ours"))).await;
    check_eq!(completed, CompleteOutcome::NotHeld, "complete under the token of a neighbour's claim");
    let released = there.release(&key, ours.token, &release(2)).await;
    check_eq!(released, ReleaseOutcome::NotHeld, "release under the token of a neighbour's claim");
    check_same_record(&there.record(&key).await, &due, "a neighbour's token has changed the record");
}

pub(super) async fn a_purge_stays_in_its_store(case: &Case) {
    let neighbour = case.neighbour().await;
    let (here, there) = (case.store(), handle_of(&*neighbour).await);
    let keys: Vec<RecordKey> = (0..10).map(|number| case.key(&format!("record {number}"))).collect();
    let mut last = case.now().await;
    for store in [here, &there] {
        for key in &keys {
            store.claimed(key, &case.brief_claim()).await;
            last = last.max(store.record(key).await.unresolved_until);
        }
    }
    case.reach(last).await;
    if let Some(clock) = neighbour.clock().control() {
        set_up(clock.set(last).await);
    }

    check_eq!(
        here.purge(1_000).await,
        10,
        "how many records a store purged, which has 10 and whose neighbour has 10"
    );

    check_left(&keys, &there, 10, "of a neighbour's 10 records, after a purge").await;
    check_left(&keys, here, 0, "of a store's own 10 records, after its purge").await;
    if let Some(raw) = neighbour.raw() {
        check!(10 <= set_up(raw.count().await), "a purge has taken records of its neighbour");
    }
    check_eq!(there.purge(1_000).await, 10, "how many records the neighbour purged then");
}

async fn check_left(keys: &[RecordKey], store: &Handle, due: usize, what: &str) {
    let mut left = 0;
    for key in keys {
        left += usize::from(store.load(key).await.is_some());
    }
    check_eq!(left, due, "how many are left {what}");
}

async fn handle_of(neighbour: &dyn Fixture) -> Handle {
    Handle::new(set_up(neighbour.handle().await))
}
