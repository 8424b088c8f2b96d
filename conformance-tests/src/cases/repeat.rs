//! Calls that get lost, come twice, or come late.

use onceonly::{Expected, NewClaim, RecordKey, Status};

use crate::call::{Answer, Request, Verb};
use crate::case::{Case, checkpoint, completion, end_of_lease, release, response, revision};
use crate::compare::check_same_record;
use crate::fates::{Fate, Fates};
use crate::verdict::{broken, check, check_eq};

pub(super) async fn a_call_repeated_after_a_lost_request_has_its_effect(case: &Case) {
    each_call_meets(case, &Fate::LoseRequest).await;
}

pub(super) async fn a_call_repeated_after_a_lost_reply_has_its_effect_once(case: &Case) {
    each_call_meets(case, &Fate::LoseReply).await;
}

pub(super) async fn a_call_delivered_twice_has_its_effect_once(case: &Case) {
    each_call_meets(case, &Fate::Twice).await;
}

pub(super) async fn a_late_copy_of_any_call_changes_nothing(case: &Case) {
    for ending in [Ending::Complete, Ending::Release] {
        let (key, claim) = (case.key(&format!("{ending:?}")), case.claim());
        let calls = story(&key, &claim, ending);
        for call in &calls {
            definite(call.deliver(&*case.plain_store()).await);
        }
        let due = case.store().record(&key).await;
        for call in &calls {
            definite(call.deliver(&*case.another().await.plain()).await);
            let found = case.store().record(&key).await;
            let what = format!("a late copy of {:?}, after {ending:?}, has changed the record", call.verb());
            check_same_record(&found, &due, &what);
        }
    }
}

pub(super) async fn a_late_copy_of_any_call_leaves_a_taker_alone(case: &Case) {
    for ending in [Ending::Complete, Ending::Release] {
        let (key, claim) = (case.key(&format!("{ending:?}")), case.claim());
        let calls = story(&key, &claim, ending);
        definite(calls[0].deliver(&*case.plain_store()).await);
        case.store().renewed(&key, claim.token, &end_of_lease(4)).await;
        let seen = case.store().record(&key).await.version;
        case.store().claimed_over(&key, &case.claim(), Expected::Exactly(seen)).await;
        let due = case.store().record(&key).await;
        for call in &calls {
            definite(call.deliver(&*case.another().await.plain()).await);
            let what = format!("a late {:?} of the displaced holder has changed the record", call.verb());
            check_same_record(&case.store().record(&key).await, &due, &what);
        }
    }
}

pub(super) async fn a_late_renewal_does_not_bring_back_an_old_checkpoint(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    let fates = Fates::around(case.plain_store());
    store.claimed(&key, &claim).await;
    fates.next(Verb::Renew, Fate::Late);
    let late = Request::Renew {
        key: key.clone(),
        token: claim.token,
        renewal: checkpoint(2, claim.lease, "charged: no"),
    };
    check!(late.deliver(&fates).await.error().is_some(), "a call that was kept back has been answered");
    store.renewed(&key, claim.token, &checkpoint(3, claim.lease, "charged: yes")).await;
    store.renewed(&key, claim.token, &end_of_lease(4)).await;
    let due = store.record(&key).await;

    let Some((_, answer)) = fates.deliver_kept().await else { panic!("the renewal was kept") };

    definite(answer);
    check_same_record(&store.record(&key).await, &due, "a late renewal was written over a later one");
}

/// Runs each story with the fate at each of its calls, repeating what was not answered, and compares the end with that
/// of an undisturbed run.
async fn each_call_meets(case: &Case, fate: &Fate) {
    for ending in [Ending::Complete, Ending::Release] {
        for verb in [Verb::Claim, Verb::Renew, ending.verb()] {
            let (key, claim) = (case.key(&format!("{ending:?} {verb:?}")), case.claim());
            let fates = Fates::around(case.plain_store());
            fates.next(verb, fate.clone());
            for call in story(&key, &claim, ending) {
                let answer = call.deliver(&fates).await;
                if answer.error().is_some() {
                    definite(call.deliver(&fates).await);
                }
            }

            let found = case.store().record(&key).await;
            let what = format!("{verb:?} met {fate:?}, then {ending:?}");
            check_eq!(found.version.token, claim.token, "{what}: whose record it is");
            check_eq!(found.version.revision, revision(3), "{what}: the revision");
            check_eq!(found.attempt, 1, "{what}: the attempt");
            check_eq!(found.status, ending.status(), "{what}: the end");
        }
    }
}

/// A claim, a saved checkpoint, and an end.
fn story(key: &RecordKey, claim: &NewClaim, ending: Ending) -> Vec<Request> {
    let (key, token) = (key.clone(), claim.token);
    vec![
        Request::Claim { key: key.clone(), claim: claim.clone(), expected: Expected::Absent },
        Request::Renew { key: key.clone(), token, renewal: checkpoint(2, claim.lease, "half-way") },
        match ending {
            Ending::Complete => Request::Complete { key, token, completion: completion(3, response("done")) },
            Ending::Release => Request::Release { key, token, release: release(3) },
        },
    ]
}

#[derive(Clone, Copy, Debug)]
enum Ending {
    Complete,
    Release,
}

impl Ending {
    const fn verb(self) -> Verb {
        match self {
            Self::Complete => Verb::Complete,
            Self::Release => Verb::Release,
        }
    }

    fn status(self) -> Status {
        match self {
            Self::Complete => Status::Completed(response("done")),
            Self::Release => Status::Released,
        }
    }
}

fn definite(answer: Answer) {
    if let Some(error) = answer.error() {
        broken(format!("a call failed on a store that is well: {error}"));
    }
}
