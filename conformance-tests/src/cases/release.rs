//! `release`: giving a key back, and the mark that it leaves.

use onceonly::{Expected, KeyState, Release, ReleaseOutcome, Status, observe};

use crate::case::{Case, checkpoint, completion, extension, fingerprint, release, response, revision};
use crate::compare::{check_same_record, claimed_record};
use crate::verdict::{check, check_eq};

pub(super) async fn a_released_key_can_be_claimed_at_once(case: &Case) {
    let (store, key, first) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &first).await;

    store.released(&key, first.token, &release(2)).await;

    let found = case.another().await.found(&key).await;
    let state = observe(Some(&found.record), &fingerprint("something else").into(), found.now);
    let KeyState::Expired { version } = state else {
        crate::verdict::broken(format!("a released key reads as {state:?}, due was Expired"));
    };
    let second = case.claim();
    let stamp = store.claimed_over(&key, &second, Expected::Exactly(version)).await;
    let found = store.record(&key).await;
    check_same_record(
        &found,
        &claimed_record(&second, stamp, found.unresolved_until),
        "a field of the mark is left",
    );
}

pub(super) async fn a_release_leaves_a_mark_for_as_long_as_asked(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let claim = case.claim();
    store.claimed(&key, &claim).await;
    store.renewed(&key, claim.token, &checkpoint(2, claim.lease, "half-way")).await;
    let before = case.now().await;

    store.released(&key, claim.token, &release(3)).await;

    let found = store.found(&key).await;
    check_eq!(found.record.status, Status::Released, "what is left of a released claim");
    check_eq!(found.record.version.token, claim.token, "whose mark it is");
    check_eq!(found.record.version.revision, revision(3), "the revision of the mark");
    let (earliest, latest) = (before.plus(release(3).keep), found.now.plus(release(3).keep));
    check!(
        earliest <= found.record.expires_at
            && found.record.expires_at.as_micros() < latest.as_micros().saturating_add(case.tick()),
        "the mark stands until {:?}, due was between {earliest:?} and {latest:?}",
        found.record.expires_at
    );
}

pub(super) async fn releasing_again_is_applied_and_changes_nothing(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.released(&key, claim.token, &release(2)).await;
    let before = store.record(&key).await;
    case.reach(before.created_at.plus(case.brief(1))).await;

    case.another().await.released(&key, claim.token, &release(2)).await;

    check_same_record(&store.record(&key).await, &before, "a repeated release has changed the mark");
}

/// A release that is answered and not carried out leaves the key blocked for a lease. A store that tells from the revision
/// whether there is something to write does so for a release that repeats one.
pub(super) async fn a_release_is_carried_out_whatever_its_revision(case: &Case) {
    let store = case.store();
    for (name, number) in [("lower", 1), ("equal", 5)] {
        let (key, claim) = (case.key(name), case.claim());
        store.claimed(&key, &claim).await;
        store.renewed(&key, claim.token, &extension(5, claim.lease)).await;

        store.released(&key, claim.token, &release(number)).await;

        let left = case.another().await.record(&key).await.status;
        check_eq!(left, Status::Released, "what a release under a {name} revision leaves");
    }
}

pub(super) async fn a_release_after_completion_is_refused(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.completed(&key, claim.token, &completion(2, response("done"))).await;
    let before = store.record(&key).await;

    store.release_refused(&key, claim.token, &release(3)).await;

    check_same_record(&store.record(&key).await, &before, "a refused release has changed the result");
}

pub(super) async fn a_released_token_writes_no_more(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.released(&key, claim.token, &release(2)).await;
    let before = store.record(&key).await;

    store.renew_refused(&key, claim.token, &extension(3, claim.lease)).await;
    store.complete_refused(&key, claim.token, &completion(3, response("done"))).await;

    check_same_record(&store.record(&key).await, &before, "a refused write has changed the mark");
}

pub(super) async fn a_late_copy_of_a_released_claim_meets_the_mark(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.released(&key, claim.token, &release(2)).await;

    let shown = case.another().await.occupied(&key, &claim, Expected::Absent).await;

    check_eq!(shown.record.status, Status::Released, "what the late copy of the claim was shown");
}

/// A store that still knows the mark would say that the release stands; one that has purged it could not. The answer must
/// not depend on when somebody swept.
pub(super) async fn a_mark_past_its_time_is_no_longer_the_holders(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    let release = Release { keep: case.brief(1), ..release(2) };
    store.released(&key, claim.token, &release).await;
    let mark = store.record(&key).await;
    case.step("one tick before the mark is past its time");
    case.reach_just_before(mark.expires_at).await;
    let answer = store.release(&key, claim.token, &release).await;
    case.still_before(mark.expires_at).await;
    check_eq!(answer, ReleaseOutcome::Applied, "a release repeated while its mark stands");

    case.step("the mark is past its time, and not purged");
    case.reach(mark.expires_at).await;
    store.release_refused(&key, claim.token, &release).await;

    if let Some(found) = store.load(&key).await {
        check_same_record(&found.record, &mark, "a refused release has changed the mark");
    }
}

pub(super) async fn a_release_of_nothing_creates_nothing(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let before = case.count().await;

    store.release_refused(&key, case.token(), &release(2)).await;

    check_eq!(store.load(&key).await, None, "what a refused release leaves");
    check_eq!(case.count().await, before, "the number of records");
}
