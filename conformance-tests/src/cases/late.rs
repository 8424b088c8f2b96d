//! Calls that come again: after each of the calls that followed them, and as often as you like.

use onceonly::{ClaimRequest, CompleteOutcome, Expected, ManualClock, RecordKey, Timestamp};

use super::caller::Caller;
use crate::call::{Answer, Request, Verb};
use crate::case::{Case, completion, end_of_lease, release, response, version};
use crate::compare::check_same_record;
use crate::fates::{Fate, Fates};
use crate::handle::failed;
use crate::reference::ReferenceStore;
use crate::told::told;
use crate::verdict::{broken, check_eq};

pub(super) async fn a_copy_of_any_call_changes_nothing_after_one_to_three_later_ones(case: &Case) {
    let other = case.another().await.plain();
    for (name, story) in STORIES {
        let calls = story(case, &case.key(name)).len();
        for late in 0..calls {
            for after in (late + 1..calls).take(3) {
                let key = case.key(&format!("{name} {late} {after}"));
                let calls = story(case, &key);
                for call in &calls[..=after] {
                    definite(call, call.deliver(&*case.plain_store()).await);
                }
                let due = case.store().record(&key).await;

                let answer = definite(&calls[late], calls[late].deliver(&*other).await);

                let found = case.store().record(&key).await;
                let what = format!(
                    "{name}: a late copy of call {late}, {:?}, after call {after}, {:?}, answered {:?} and has changed \
                     the record",
                    calls[late].verb(),
                    calls[after].verb(),
                    told(&answer)
                );
                check_same_record(&found, &due, &what);
            }
        }
    }
}

pub(super) async fn a_call_delivered_thrice_has_its_effect_once(case: &Case) {
    for (name, story) in STORIES {
        let key = case.key(name);
        // What one delivery of each leaves. Its clock does not matter: no times are compared.
        let due = ReferenceStore::new(ManualClock::starting_at(Timestamp::from_micros(0)));
        for (number, call) in story(case, &key).iter().enumerate() {
            for _ in 0..3 {
                definite(call, call.deliver(&*case.plain_store()).await);
            }
            call.deliver(&due).await;

            let load = Request::Load { key: key.clone() };
            let found = told(&load.deliver(&*case.plain_store()).await);
            let due = told(&load.deliver(&due).await);
            check_eq!(
                found,
                due,
                "{name}: the record after call {number}, {:?}, was delivered thrice",
                call.verb()
            );
        }
    }
}

pub(super) async fn a_late_release_after_a_takeover_is_refused(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    let fates = Fates::around(case.plain_store());
    store.claimed(&key, &claim).await;
    store.renewed(&key, claim.token, &end_of_lease(2)).await;
    fates.next(Verb::Release, Fate::Late);
    Request::Release { key: key.clone(), token: claim.token, release: release(3) }.deliver(&fates).await;
    case.step("somebody takes over before the release comes");
    store.claimed_over(&key, &case.claim(), Expected::Exactly(version(claim.token, 2))).await;
    let due = store.record(&key).await;

    let Some((call, answer)) = fates.deliver_kept().await else { panic!("the release was kept") };

    let answer = definite(&call, answer);
    check_same_record(&store.record(&key).await, &due, "a late release has changed the taker's record");
    check_eq!(told(&answer), "NotHeld", "what a late release of a displaced holder was told");
}

pub(super) async fn a_claim_that_comes_again_after_its_completion_is_shown_the_result(case: &Case) {
    for name in ["claimed alone", "claimed in a batch", "taken over"] {
        let (store, key, claim) = (case.store(), case.key(name), case.claim());
        let first = case.claim();
        let expected = if name == "taken over" {
            store.claimed(&key, &first).await;
            Expected::Exactly(version(first.token, 1))
        } else {
            Expected::Absent
        };
        let claiming = if name == "claimed in a batch" {
            Request::ClaimMany {
                claims: vec![ClaimRequest { key: key.clone(), claim: claim.clone(), expected }],
            }
        } else {
            Request::Claim { key: key.clone(), claim: claim.clone(), expected }
        };
        definite(&claiming, claiming.deliver(&*case.plain_store()).await);
        let done = completion(2, response("done"));
        store.completed(&key, claim.token, &done).await;
        let due = store.record(&key).await;

        let answer = definite(&claiming, claiming.deliver(&*case.another().await.plain()).await);

        check_same_record(
            &store.record(&key).await,
            &due,
            &format!("{name}: a late copy has replaced the result"),
        );
        let found = Answer::Load(Ok(store.load(&key).await));
        check_eq!(
            told(&answer),
            format!("occupied, {}", told(&found)),
            "{name}: what a late copy of a claim was told"
        );
        let again = store.complete(&key, claim.token, &done).await;
        let CompleteOutcome::AlreadyCompleted(_) = again else {
            broken(format!("{name}: the completion, repeated after the late copy, answered {again:?}"));
        };
    }
}

/// The calls on one key, in order.
type Story = fn(&Case, &RecordKey) -> Vec<Request>;

const STORIES: [(&str, Story); 4] = [
    ("a claim that is completed", completed),
    ("a claim that is released", released),
    ("a claim that is taken over", taken_over),
    ("claims that follow each other", one_after_the_other),
];

fn completed(case: &Case, key: &RecordKey) -> Vec<Request> {
    let claim = case.claim();
    let holder = Caller { key, claim: &claim };
    let item = ClaimRequest { key: key.clone(), claim: claim.clone(), expected: Expected::Absent };
    vec![
        Request::ClaimMany { claims: vec![item] },
        holder.saves(2, "one"),
        holder.saves(3, "two"),
        holder.completes(4),
    ]
}

fn released(case: &Case, key: &RecordKey) -> Vec<Request> {
    let claim = case.claim();
    let holder = Caller { key, claim: &claim };
    vec![holder.claims(Expected::Absent), holder.saves(2, "one"), holder.extends(3), holder.releases(4)]
}

fn taken_over(case: &Case, key: &RecordKey) -> Vec<Request> {
    let (first, second) = (case.claim(), case.claim());
    let (holder, taker) = (Caller { key, claim: &first }, Caller { key, claim: &second });
    vec![
        holder.claims(Expected::Absent),
        holder.saves(2, "one"),
        holder.ends_its_lease(3),
        taker.claims(holder.at(3)),
        taker.saves(2, "two"),
        taker.completes(3),
    ]
}

fn one_after_the_other(case: &Case, key: &RecordKey) -> Vec<Request> {
    let (first, second, third) = (case.claim(), case.claim(), case.claim());
    let holders = [&first, &second, &third].map(|claim| Caller { key, claim });
    vec![
        holders[0].claims(Expected::Absent),
        holders[0].releases(2),
        holders[1].claims(holders[0].at(2)),
        holders[1].saves(2, "one"),
        holders[1].releases(3),
        holders[2].claims(holders[1].at(3)),
    ]
}

fn definite(call: &Request, answer: Answer) -> Answer {
    if let Some(error) = answer.error() {
        failed(&format!("{:?}", call.verb()), error);
    }
    answer
}
