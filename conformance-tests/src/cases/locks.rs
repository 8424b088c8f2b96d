//! A lock that somebody outside holds for long.

use std::time::Duration;

use onceonly::{ClaimOutcome, Expected, RecordKey, Status, StoreError, StoreErrorKind};

use super::dropped::usable;
use super::verbs::{every_verb, writes_of_the_holder};
use crate::call::{Answer, Request};
use crate::case::{Case, checkpoint, completion, response, revision, version};
use crate::compare::check_same_record;
use crate::handle::failed;
use crate::told::told;
use crate::verdict::{broken, check, check_eq, set_up_failed};

/// A call that never ends is found out by the bound that every case has.
pub(super) async fn a_lock_that_stays_makes_every_write_unavailable(case: &Case) {
    let (impatient, key, claim) = (case.impatient().await, case.key("held"), case.claim());
    case.store().claimed(&key, &claim).await;
    let before = case.store().record(&key).await;
    let lock = case.raw_lock(&key).await;
    case.step("calls on a record that is locked");
    let mut answers = Vec::new();
    for call in every_verb(case, &key, before.version) {
        let answer = call.deliver(&*impatient.plain()).await;
        answers.push((call, answer));
    }
    drop(lock);
    let unchanged = case.store().record(&key).await == before;
    for (call, answer) in &answers {
        check_locked_out(call, answer, unchanged);
    }

    case.step("a claim of a key that somebody else is about to write");
    let key = case.key("free");
    let lock = case.raw_lock(&key).await;
    let claiming = Request::Claim { key: key.clone(), claim: case.claim(), expected: Expected::Absent };
    let answer = claiming.deliver(&*impatient.plain()).await;
    drop(lock);
    check_locked_out(&claiming, &answer, case.store().load(&key).await.is_none());
}

/// That it ends at all is what counts. Whether a purge passes by what is locked is the store's choice.
pub(super) async fn a_purge_beside_a_lock_ends(case: &Case) {
    let (impatient, key) = (case.impatient().await, case.key("past its time"));
    case.store().claimed(&key, &case.brief_claim()).await;
    case.reach(case.store().record(&key).await.unresolved_until).await;
    let lock = case.raw_lock(&key).await;
    let purge = Request::PurgeExpired { limit: 1_000 };

    let answer = purge.deliver(&*impatient.plain()).await;

    drop(lock);
    if let Some(error) = answer.error() {
        check_unavailable(&purge, error);
    }
    impatient.purge_all().await;
    check_eq!(
        case.store().load(&key).await,
        None,
        "a record past its time, purged after its lock was given back"
    );
}

pub(super) async fn a_write_that_was_locked_out_can_be_repeated(case: &Case) {
    let impatient = case.impatient().await;
    let effects = [
        Status::InProgress { checkpoint: Some("saved".into()) },
        Status::Completed(response("done")),
        Status::Released,
    ];
    for (number, due) in effects.into_iter().enumerate() {
        let (key, claim) = (case.key(&format!("held {number}")), case.claim());
        case.store().claimed(&key, &claim).await;
        let call = writes_of_the_holder(&key, version(claim.token, 1)).swap_remove(number);
        let lock = case.raw_lock(&key).await;
        call.deliver(&*impatient.plain()).await;
        drop(lock);

        let answer = call.deliver(&*impatient.plain()).await;

        if let Some(error) = answer.error() {
            failed("a call whose lock was given back", error);
        }
        let found = case.store().record(&key).await;
        check_eq!(found.version.revision, revision(2), "the revision after a call that was locked out first");
        check_eq!(found.status, due, "the effect of a call that was locked out first");
    }
    usable(case, &impatient, "after the locks").await;
}

pub(super) async fn a_locked_record_does_not_hold_up_looks_at_others(case: &Case) {
    let impatient = case.impatient().await;
    let keys: Vec<RecordKey> = (0..100).map(|number| case.key(&format!("other {number}"))).collect();
    let mut due = Vec::new();
    for key in &keys {
        case.store().claimed(key, &case.claim()).await;
        due.push(case.store().record(key).await);
    }
    let locked = case.key("locked");
    case.store().claimed(&locked, &case.claim()).await;
    let lock = case.raw_lock(&locked).await;

    for (key, due) in keys.iter().zip(&due) {
        match impatient.plain().load(key).await {
            Ok(Some(found)) => check_same_record(&found.record, due, "a record beside a locked one"),
            answer => broken(format!(
                "load of a record beside a locked one answered {answer:?}, due was the record"
            )),
        }
    }
    drop(lock);
}

/// Where all records share one lock, as in a database that lets one writer in at a time, others wait as well: but not
/// for as long as it takes.
pub(super) async fn a_locked_record_holds_up_writes_of_others_within_bounds(case: &Case) {
    let (impatient, locked) = (case.impatient().await, case.key("locked"));
    case.store().claimed(&locked, &case.claim()).await;
    let lock = case.raw_lock(&locked).await;
    let mut calls = Vec::new();
    for number in 0..50 {
        let key = case.key(&format!("other {number}"));
        let claiming = Request::Claim { key, claim: case.claim(), expected: Expected::Absent };
        let answer = claiming.deliver(&*impatient.plain()).await;
        let refused = answer.error().is_some();
        if let Some(error) = answer.error() {
            check_unavailable(&claiming, error);
        }
        calls.push(claiming);
        if refused && number > 2 {
            // One lock for all: the others would only wait as well.
            break;
        }
    }
    drop(lock);

    for call in &calls {
        if let Some(error) = call.deliver(&*impatient.plain()).await.error() {
            failed("a claim, repeated when the lock was given back", error);
        }
        let Some(key) = call.key() else { continue };
        let holder = Some(case.store().record(key).await.version.token);
        check_eq!(holder, call.token(), "who holds a key that was claimed beside a locked one");
    }
}

/// The calls are dropped while they wait. None of them may keep what it waited with, such as a place in a pool.
pub(super) async fn calls_given_up_at_a_lock_keep_nothing(case: &Case) {
    let (handle, key, claim) = (case.another().await, case.key("locked"), case.claim());
    case.store().claimed(&key, &claim).await;
    let lock = case.raw_lock(&key).await;
    let store = handle.plain();
    for number in 2..=GIVEN_UP {
        let renewal = checkpoint(number, claim.lease, number.to_string());
        let call = store.renew(&key, claim.token, &renewal);
        // Shorter than any wait for this lock.
        if let Ok(Ok(_)) = tokio::time::timeout(Duration::from_millis(1), call).await {
            set_up_failed("a renewal went on although its lock was held");
        }
    }
    drop(lock);

    case.step("the lock was given back, on the handle that had been given up on");
    usable(case, &handle, "after calls were given up at a lock").await;
    let found = case.store().record(&key).await;
    let number = found.version.revision.number();
    let checkpoint = (number > 1).then(|| number.to_string().into());
    check_eq!(found.status, Status::InProgress { checkpoint }, "the checkpoint beside revision {number}");
    handle.completed(&key, claim.token, &completion(GIVEN_UP + 1, response("done"))).await;
}

/// `unchanged` says whether the record was as before when the lock was given back. If not, it was the fixture's lock
/// that did not hold.
fn check_locked_out(call: &Request, answer: &Answer, unchanged: bool) {
    let written = match answer {
        Answer::Load(Ok(found)) => {
            check!(found.is_some(), "load of a locked record found nothing");
            return;
        }
        Answer::Claim(answer) => locked_out_claim(call, answer),
        Answer::ClaimMany(answers) => answers.iter().any(|answer| locked_out_claim(call, answer)),
        answer => match answer.error() {
            Some(error) => {
                check_unavailable(call, error);
                false
            }
            None => true,
        },
    };
    if written && !unchanged {
        set_up_failed("a write went on although its lock was held");
    }
    check!(!written, "{:?} on a locked record answered {:?}, due was an error", call.verb(), told(answer));
}

/// Whether a claim of a locked record says that it was granted. It may say who holds the record, or that there is
/// nothing to show.
fn locked_out_claim(call: &Request, answer: &Result<ClaimOutcome, StoreError>) -> bool {
    match answer {
        Ok(ClaimOutcome::Claimed(_)) => true,
        Ok(ClaimOutcome::Occupied(_) | ClaimOutcome::Vacant) => false,
        Err(error) => {
            check_unavailable(call, error);
            false
        }
    }
}

fn check_unavailable(call: &Request, error: &StoreError) {
    check_eq!(
        error.kind(),
        StoreErrorKind::Unavailable,
        "{:?} beside a lock that stays: {error}",
        call.verb()
    );
}

const GIVEN_UP: u32 = 200;
