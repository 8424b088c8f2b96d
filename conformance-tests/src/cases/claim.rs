//! `claim`, one at a time and many at once.

use onceonly::{ClaimOutcome, Expected};

use crate::case::{Case, checkpoint, completion, fingerprint, response, seconds, version};
use crate::compare::{check_same_record, claimed_record};
use crate::race::Contender;
use crate::verdict::{broken, check, check_eq};

pub(super) async fn a_fresh_key_is_granted(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());

    let stamp = store.claimed(&key, &claim).await;

    let found = store.record(&key).await;
    check_same_record(
        &found,
        &claimed_record(&claim, stamp, found.unresolved_until),
        "the record is not the one that was claimed",
    );
}

pub(super) async fn its_deadlines_are_the_spans_asked_for(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());

    let stamp = store.claimed(&key, &claim).await;

    let found = store.record(&key).await;
    for (what, deadline, span) in [
        ("lease_until", found.lease_until, claim.lease),
        ("expires_at", found.expires_at, claim.keep),
        ("unresolved_until", found.unresolved_until, claim.keep_unresolved),
    ] {
        check!(
            case.is_deadline(deadline, stamp.now, span),
            "{what} is {deadline:?}, due was {span:?} after the claim at {:?}",
            stamp.now
        );
    }
}

pub(super) async fn a_second_claim_is_refused_and_shown_the_whole_record(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let mut first = case.claim();
    first.checkpoint = Some("half-way".into());
    first.attempt = 7;
    store.claimed(&key, &first).await;
    let before = store.record(&key).await;

    let mut second = case.claim();
    second.fingerprint = fingerprint("another charge");
    let shown = case.another().await.occupied(&key, &second, Expected::Absent).await;

    check_same_record(&shown.record, &before, "the loser was shown another record than the winner's");
    check_same_record(&store.record(&key).await, &before, "a refused claim has changed the record");
}

pub(super) async fn a_claim_repeated_by_its_own_token_changes_nothing(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.renewed(&key, claim.token, &checkpoint(2, claim.lease, "half-way")).await;
    let before = store.record(&key).await;
    case.reach(before.created_at.plus(case.brief(1))).await;

    let shown = store.occupied(&key, &claim, Expected::Absent).await;

    check_same_record(&shown.record, &before, "the repeated claim was shown another record than its own");
    check_same_record(&store.record(&key).await, &before, "a repeated claim has changed its own record");
}

pub(super) async fn a_claim_expecting_another_version_is_refused(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    store.renewed(&key, claim.token, &checkpoint(2, claim.lease, "half-way")).await;
    let before = store.record(&key).await;
    let other = case.token();

    for (what, expected) in [
        ("an older revision", version(claim.token, 1)),
        ("a newer revision", version(claim.token, 3)),
        ("another token", version(other, 2)),
        ("another token and revision", version(other, 1)),
    ] {
        let outcome = store.claim(&key, &case.claim(), Expected::Exactly(expected)).await;
        let ClaimOutcome::Occupied(shown) = outcome else {
            broken(format!("a claim expecting {what} answered {outcome:?}, due was Occupied"));
        };
        check_same_record(&shown.record, &before, what);
    }
    check_same_record(&store.record(&key).await, &before, "a refused claim has changed the record");
}

pub(super) async fn a_claim_expecting_a_version_of_nothing_is_vacant(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));

    let outcome = store.claim(&key, &case.claim(), Expected::Exactly(version(case.token(), 1))).await;

    check_eq!(outcome, ClaimOutcome::Vacant, "a claim expecting a version of an absent record");
    check_eq!(store.load(&key).await, None, "what a refused claim leaves");
}

pub(super) async fn a_claim_expecting_the_stored_version_replaces_every_field(case: &Case) {
    let (store, key, mut first) = (case.store(), case.key("a"), case.brief_claim());
    // Longer than the taker's: deadlines that are only ever moved forward would keep it.
    first.keep = seconds(86_400);
    store.claimed(&key, &first).await;
    store.renewed(&key, first.token, &checkpoint(2, first.lease, "half-way")).await;
    case.reach(store.record(&key).await.lease_until).await;

    let mut taker = case.claim();
    taker.attempt = 2;
    taker.fingerprint = fingerprint("another charge");
    taker.checkpoint = Some("half-way, as it was found".into());
    let expected = Expected::Exactly(version(first.token, 2));
    let stamp = case.another().await.claimed_over(&key, &taker, expected).await;

    let found = store.record(&key).await;
    check_same_record(
        &found,
        &claimed_record(&taker, stamp, found.unresolved_until),
        "a field of the displaced record is left",
    );
    check!(
        case.is_deadline(stamp.lease_until, stamp.now, taker.lease)
            && case.is_deadline(stamp.expires_at, stamp.now, taker.keep)
            && case.is_deadline(found.unresolved_until, stamp.now, taker.keep_unresolved),
        "the taker's deadlines are {found:?}, due were the spans that it asked for"
    );
}

/// Who may replace a result is for the caller to decide; the store compares the version and nothing else.
pub(super) async fn a_live_result_gives_way_to_a_claim_that_expects_it(case: &Case) {
    let (store, key, first) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &first).await;
    store.completed(&key, first.token, &completion(2, response("done"))).await;

    let second = case.claim();
    let expected = Expected::Exactly(version(first.token, 2));
    let stamp = case.another().await.claimed_over(&key, &second, expected).await;

    let found = store.record(&key).await;
    check_same_record(
        &found,
        &claimed_record(&second, stamp, found.unresolved_until),
        "a field of the replaced result is left",
    );
}

pub(super) async fn a_record_past_its_time_is_not_overwritten_by_a_claim_expecting_absence(case: &Case) {
    let (store, key, first) = (case.store(), case.key("a"), case.brief_claim());
    store.claimed(&key, &first).await;
    let before = store.record(&key).await;
    case.reach(before.unresolved_until).await;

    let shown = store.occupied(&key, &case.claim(), Expected::Absent).await;

    check_same_record(&shown.record, &before, "the record past its time was shown differently");
    check!(
        before.unresolved_until <= shown.now,
        "a record past its time was shown with a time before its deadline: {:?}",
        shown.now
    );
    check_same_record(
        &store.record(&key).await,
        &before,
        "a claim expecting absence has overwritten a record",
    );
}

pub(super) async fn exclusive_across_handles(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds());
    while let Some(round) = race.next_round() {
        let key = case.key(&format!("round {round}"));
        let contenders = handles.iter().map(|handle| {
            let (handle, key, claim) = (handle.clone(), key.clone(), case.claim());
            let contender: Contender<_> =
                Box::pin(async move { (claim.token, handle.claim(&key, &claim, Expected::Absent).await) });
            contender
        });
        let answers = race.round(contenders.collect()).await;

        let granted: Vec<_> = answers
            .iter()
            .filter(|(_, outcome)| matches!(outcome, ClaimOutcome::Claimed(_)))
            .map(|(token, _)| *token)
            .collect();
        check!(granted.len() == 1, "round {round}: {} of 8 claims of one key were granted, due was one", {
            granted.len()
        });
        let stored = case.store().record(&key).await.version.token;
        check_eq!(stored, granted[0], "round {round}: the token of the record after one grant");
        for (_, outcome) in &answers {
            if let ClaimOutcome::Occupied(shown) = outcome {
                check_eq!(shown.record.version.token, granted[0], "round {round}: whom a loser was shown");
            }
        }
    }
    race.check_overlap();
}
