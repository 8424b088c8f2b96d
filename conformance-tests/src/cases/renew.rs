//! `renew`: leases, checkpoints, and renewals that come too late.

use onceonly::{Record, RenewOutcome, Status};

use crate::case::{Case, checkpoint, end_of_lease, extension, revision, seconds};
use crate::compare::check_same_record;
use crate::verdict::{check, check_eq};

pub(super) async fn an_extension_moves_the_lease_forward_and_nothing_else(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let mut claim = case.claim();
    claim.checkpoint = Some("half-way".into());
    store.claimed(&key, &claim).await;
    let before = store.record(&key).await;
    case.reach(before.created_at.plus(case.brief(1))).await;

    let longer = seconds(90);
    let stamp = store.renewed(&key, claim.token, &extension(2, longer)).await;

    check!(
        case.is_deadline(stamp.lease_until, stamp.now, longer),
        "the lease ends at {:?}, due was {longer:?} after the renewal at {:?}",
        stamp.lease_until,
        stamp.now
    );
    let mut due = Record { lease_until: stamp.lease_until, ..before };
    due.version.revision = revision(2);
    check_same_record(&store.record(&key).await, &due, "a renewal changes the lease and the revision only");
}

pub(super) async fn an_extension_never_shortens_the_lease(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let before = store.record(&key).await;

    let stamp = store.renewed(&key, claim.token, &extension(2, seconds(1))).await;

    check_eq!(stamp.lease_until, before.lease_until, "the lease after an extension by less than remained");
    check_eq!(store.record(&key).await.lease_until, before.lease_until, "the stored lease");
}

pub(super) async fn ending_the_lease_ends_it_now_and_nothing_else(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let mut claim = case.claim();
    claim.checkpoint = Some("half-way".into());
    store.claimed(&key, &claim).await;
    let before = store.record(&key).await;

    let stamp = store.renewed(&key, claim.token, &end_of_lease(2)).await;

    check!(
        stamp.lease_until.since(stamp.now) <= case.declaration().resolution,
        "the lease stands until {:?} although it was ended at {:?}",
        stamp.lease_until,
        stamp.now
    );
    let mut due = Record { lease_until: stamp.lease_until, ..before };
    due.version.revision = revision(2);
    check_same_record(
        &store.record(&key).await,
        &due,
        "ending a lease changes the lease and the revision only",
    );
    case.step("the holder goes on after all, for a while");
    let stamp = store.renewed(&key, claim.token, &extension(3, seconds(1))).await;
    check!(
        case.is_deadline(stamp.lease_until, stamp.now, seconds(1)),
        "a lease that was ended, and extended by a second at {:?}, stands until {:?}",
        stamp.now,
        stamp.lease_until
    );
}

pub(super) async fn an_overtaken_renewal_changes_nothing_and_is_applied(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.renewed(&key, claim.token, &checkpoint(2, claim.lease, "second")).await;
    store.renewed(&key, claim.token, &checkpoint(4, claim.lease, "fourth")).await;
    store.renewed(&key, claim.token, &end_of_lease(5)).await;
    let before = store.record(&key).await;

    for (number, what) in [(2, "an earlier"), (4, "an earlier"), (5, "an equal")] {
        let late = checkpoint(number, seconds(600), "late");
        store.renewed(&key, claim.token, &late).await;
        let found = store.record(&key).await;
        check_same_record(&found, &before, &format!("{what} revision ({number} after 5) was written"));
    }
}

pub(super) async fn a_checkpoint_comes_back_and_stays_until_the_next(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let saved = async || match case.store().record(&key).await.status {
        Status::InProgress { checkpoint } => checkpoint,
        _ => None,
    };
    check_eq!(saved().await, None, "the checkpoint of a fresh claim");

    store.renewed(&key, claim.token, &checkpoint(2, claim.lease, "first")).await;
    check_eq!(saved().await.as_deref(), Some(&b"first"[..]), "the checkpoint that was saved");
    store.renewed(&key, claim.token, &extension(3, claim.lease)).await;
    check_eq!(saved().await.as_deref(), Some(&b"first"[..]), "the checkpoint after a renewal without one");
    store.renewed(&key, claim.token, &end_of_lease(4)).await;
    check_eq!(saved().await.as_deref(), Some(&b"first"[..]), "the checkpoint after the end of the lease");
    store.renewed(&key, claim.token, &checkpoint(5, claim.lease, "")).await;
    check_eq!(saved().await.as_deref(), Some(&b""[..]), "an empty checkpoint, which is not an absent one");
}

pub(super) async fn a_checkpoint_is_written_by_the_holder_only(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.renewed(&key, claim.token, &checkpoint(2, claim.lease, "the holder's")).await;
    let before = store.record(&key).await;

    store.renew_refused(&key, case.token(), &checkpoint(3, claim.lease, "a stranger's")).await;

    check_same_record(&store.record(&key).await, &before, "a refused renewal has changed the record");
}

pub(super) async fn a_lease_longer_than_the_memory_carries_the_memory_along(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let long = seconds(10 * 7_200);

    let stamp = store.renewed(&key, claim.token, &extension(2, long)).await;

    check!(
        case.is_deadline(stamp.lease_until, stamp.now, long),
        "the lease is cut: it stands until {:?}, due was {long:?} after the renewal at {:?}",
        stamp.lease_until,
        stamp.now
    );
    let found = store.record(&key).await;
    check!(
        stamp.lease_until <= found.unresolved_until,
        "the lease stands until {:?}, but the record is remembered only until {:?}",
        stamp.lease_until,
        found.unresolved_until
    );
    check_eq!(found.unresolved_until, found.lease_until, "how long the record is remembered");
}

pub(super) async fn a_renewal_of_nothing_creates_nothing(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let before = case.count().await;

    let outcome = store.renew(&key, case.token(), &checkpoint(2, seconds(60), "x")).await;

    check_eq!(outcome, RenewOutcome::NotHeld, "a renewal of an absent record");
    check_eq!(store.load(&key).await, None, "what a refused renewal leaves");
    check_eq!(case.count().await, before, "the number of records");
}
