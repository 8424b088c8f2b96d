//! Records that cannot be read: an error, never an absence, never run, never overwritten.

use onceonly::{
    ClaimOutcome, ClaimRequest, Completion, Expected, NewClaim, RecordKey, Release, Span, StoreErrorKind,
    StoredResponse, StoredResult, Version,
};

use super::dropped::usable;
use super::verbs::every_verb;
use crate::call::Request;
use crate::case::{Case, checkpoint, completion, release, response, seconds, set_up, version};
use crate::handle::Handle;
use crate::told::told;
use crate::verdict::{broken, check, check_eq, not_claimed};

pub(super) async fn an_unreadable_record_is_never_absent_claimed_or_a_replay(case: &Case) {
    in_every_way(case, async |damaged| {
        for call in every_verb(case, &damaged.key, damaged.version) {
            let answer = call.deliver(&*case.plain_store()).await;
            check!(
                answer.error().is_some(),
                "{}: {:?} answered {:?}, due was an error",
                damaged.done,
                call.verb(),
                told(&answer)
            );
        }
    })
    .await;
}

pub(super) async fn an_unreadable_record_is_corrupt_to_every_verb(case: &Case) {
    let other = case.another().await.plain();
    in_every_way(case, async |damaged| {
        for call in every_verb(case, &damaged.key, damaged.version) {
            let answer = call.deliver(&*other).await;
            let kind = answer.error().map(onceonly::StoreError::kind);
            check_eq!(
                kind,
                Some(StoreErrorKind::Corrupt),
                "{}: the error of {:?}",
                damaged.done,
                call.verb()
            );
        }
    })
    .await;
}

/// The record as it is stored, byte for byte. What can still be read of it must be there for whoever mends it.
pub(super) async fn an_error_that_is_definite_has_changed_nothing(case: &Case) {
    let raw = case.raw();
    in_every_way(case, async |damaged| {
        let before = set_up(raw.stored(&damaged.key).await);
        let mut calls = every_verb(case, &damaged.key, damaged.version);
        calls.push(Request::PurgeExpired { limit: 1_000 });
        for call in calls {
            let answer = call.deliver(&*case.plain_store()).await;
            let after = set_up(raw.stored(&damaged.key).await);
            check!(
                after == before,
                "{}: {:?} answered {:?} and has changed the record",
                damaged.done,
                call.verb(),
                told(&answer)
            );
        }
    })
    .await;

    case.step("a result that is larger than the store takes");
    let (key, claim) = (case.key("too large"), case.claim());
    case.store().claimed(&key, &claim).await;
    let before = set_up(raw.stored(&key).await);
    let body = vec![b'x'; case.declaration().response_bytes_max + 1];
    let large = completion(2, StoredResult::Retained(StoredResponse::new(200, body)));
    if case
        .plain_store()
        .complete(&key, claim.token, &large)
        .await
        .is_err_and(|error| !error.outcome_is_unknown())
    {
        check!(set_up(raw.stored(&key).await) == before, "a refused completion has changed the record");
    }
}

pub(super) async fn an_unreadable_record_spoils_no_other(case: &Case) {
    let store = case.store();
    in_every_way(case, async |damaged| {
        let item = |name: &str| {
            let key = case.key(&format!("{name} {}", damaged.number));
            let brief = case.brief(1);
            let claim = NewClaim { lease: brief, keep: brief, keep_unresolved: brief, ..case.claim() };
            ClaimRequest { key, claim, expected: Expected::Absent }
        };
        let bad = ClaimRequest { key: damaged.key.clone(), ..item("bad") };
        let batch = [item("before"), bad, item("after")];

        case.step("a batch with an item that cannot be read");
        let answers = case.plain_store().claim_many(&batch).await;
        check_eq!(answers.len(), 3, "{}: how many answers a batch of three got", damaged.done);
        for (place, answer) in answers.iter().enumerate() {
            let as_due = match answer {
                Ok(ClaimOutcome::Claimed(_)) => place != 1,
                Ok(_) => false,
                Err(error) => place == 1 && error.kind() == StoreErrorKind::Corrupt,
            };
            check!(
                as_due,
                "{}: item {place} of a batch, of which item 1 cannot be read, answered {answer:?}",
                damaged.done
            );
        }

        case.step("a purge beside a record that cannot be read");
        case.reach(store.record(&batch[2].key).await.unresolved_until).await;
        match case.plain_store().purge_expired(1_000).await {
            Ok(purged) => {
                check_eq!(purged, 2, "{}: how many of two records beside it were purged", damaged.done);
            }
            Err(error) => broken(format!("{}: a purge beside it failed: {error}", damaged.done)),
        }
    })
    .await;
}

/// Whether the purge deletes that record or leaves it is the store's to say; that it comes to the others is not.
pub(super) async fn a_purge_goes_past_an_unreadable_record(case: &Case) {
    let (store, brief) = (case.store(), case.brief(6));
    in_ways(case, usize::MAX, brief, async |damaged| {
        let others = ["one", "other"].map(|name| case.key(&format!("{name} beside {}", damaged.number)));
        for key in &others {
            let claim = NewClaim { lease: brief, keep: brief, keep_unresolved: brief, ..case.claim() };
            store.claimed(key, &claim).await;
        }
        case.reach(store.record(&others[1]).await.unresolved_until).await;
        // One at a time: a purge that chooses first, and then leaves what it cannot read, chooses the same again.
        for _ in 0..PURGES {
            if let Err(error) = case.plain_store().purge_expired(1).await {
                broken(format!("{}, and past its time: a purge failed: {error}", damaged.done));
            }
        }
        for key in &others {
            check!(
                store.load(key).await.is_none(),
                "{}, and past its time: {PURGES} purges have not come to a record beside it",
                damaged.done
            );
        }
    })
    .await;
}

/// Each failure at a time, on one handle; then the handle does all that a handle does.
pub(super) async fn a_handle_that_has_met_every_failure_is_well_afterwards(case: &Case) {
    let (handle, fresh) = (case.impatient().await, case.another().await);
    let mut met = 0;
    in_ways(case, 1, Span::MAX, async |damaged| {
        for call in every_verb(case, &damaged.key, damaged.version) {
            met += usize::from(call.deliver(&*handle.plain()).await.error().is_some());
        }
    })
    .await;
    let (key, claim) = (case.key("locked"), case.claim());
    case.store().claimed(&key, &claim).await;
    let lock = case.raw_lock(&key).await;
    for call in every_verb(case, &key, case.store().record(&key).await.version) {
        met += usize::from(call.deliver(&*handle.plain()).await.error().is_some());
    }
    drop(lock);

    check!(met > 0, "no call failed, of which the suite takes care");
    case.step("a hundred calls on a handle of which many have failed");
    recovers(case, &handle, &fresh, &format!("{met} calls on it have failed")).await;
    for number in 0..20 {
        usable(case, &handle, &format!("after the failures {number}")).await;
    }
}

/// Waits until the handle answers, as a fresh one does. One that refuses again and again while the other answers will
/// not come back.
pub(super) async fn recovers(case: &Case, handle: &Handle, fresh: &Handle, since: &str) {
    for number in 0..REFUSALS_MAX {
        let (key, claim) = (case.key(&format!("{since}, {number}")), case.claim());
        let Err(error) = handle.plain().claim(&key, &claim, Expected::Absent).await else { return };
        check!(error.outcome_is_unknown(), "a handle answers that {error}, since {since}");
        fresh.claim(&key, &claim, Expected::Absent).await;
    }
    broken(format!(
        "a handle refuses {REFUSALS_MAX} calls in a row, beside a fresh one that answers each, since {since}"
    ));
}

/// A record that cannot be read any more.
struct Damaged {
    number: usize,
    key: RecordKey,
    /// What it was before.
    version: Version,
    /// What was done to it.
    done: String,
}

/// How far the operation had come whose record is damaged.
#[derive(Clone, Copy, Debug)]
enum Stage {
    InProgress,
    Completed,
    Released,
}

/// Looks at a record of each stage, damaged in each of the ways that the fixture knows, and not past its time in any case.
async fn in_every_way(case: &Case, look: impl AsyncFnMut(&Damaged)) {
    in_ways(case, usize::MAX, Span::MAX, look).await;
}

/// The same in the first so many ways, of records that last so long.
async fn in_ways(case: &Case, ways: usize, lasting: Span, mut look: impl AsyncFnMut(&Damaged)) {
    let (raw, mut number) = (case.raw(), 0);
    for stage in [Stage::InProgress, Stage::Completed, Stage::Released] {
        for way in 0..ways {
            let (key, version) = staged(case, stage, way, lasting).await;
            let Some(done) = set_up(raw.damage(&key, way).await) else { break };
            number += 1;
            let done = format!("a record {stage:?}, {done}");
            look(&Damaged { number, key, version, done }).await;
        }
    }
    if number == 0 {
        not_claimed("the fixture cannot damage a record");
    }
}

/// A record of that stage that lasts so long.
async fn staged(case: &Case, stage: Stage, way: usize, lasting: Span) -> (RecordKey, Version) {
    let (store, key) = (case.store(), case.key(&format!("{stage:?} {way}")));
    let lease = lasting.min(seconds(60));
    let claim = NewClaim { lease, keep: lasting, keep_unresolved: lasting, ..case.claim() };
    store.claimed(&key, &claim).await;
    match stage {
        Stage::InProgress => {
            store.renewed(&key, claim.token, &checkpoint(2, lease, "half-way")).await;
        }
        Stage::Completed => {
            let done = Completion { retention: lasting, ..completion(2, response("done")) };
            store.completed(&key, claim.token, &done).await;
        }
        Stage::Released => {
            store.released(&key, claim.token, &Release { keep: lasting, ..release(2) }).await;
        }
    }
    (key, version(claim.token, 2))
}

const REFUSALS_MAX: usize = 20;

/// More than there are records that cannot be read, and two beside each.
const PURGES: usize = 40;
