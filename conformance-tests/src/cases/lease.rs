//! Leases: when they end, who may then take over, and what a late holder may still do.

use std::time::Duration;

use onceonly::{Expected, KeyState, NewClaim, ReleaseOutcome, Span, observe};

use crate::case::{
    Case, checkpoint, completion, end_of_lease, extension, fingerprint, release, response, seconds, span,
};
use crate::compare::check_same_record;
use crate::handle::Handle;
use crate::verdict::{broken, check, check_eq};

pub(super) async fn a_lease_ends_at_its_deadline_and_not_before(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.brief_claim());
    let stamp = store.claimed(&key, &claim).await;
    check!(
        case.is_deadline(stamp.lease_until, stamp.now, claim.lease),
        "the lease ends at {:?}, due was {:?} after the claim at {:?}",
        stamp.lease_until,
        claim.lease,
        stamp.now
    );
    let law = async || {
        let found = store.found(&key).await;
        state(&found, "charge 1000 usd")
    };

    case.step("one tick before the lease ends");
    case.reach_just_before(stamp.lease_until).await;
    let seen = law().await;
    case.still_before(stamp.lease_until).await;
    check_eq!(seen, "in progress", "the key one tick before its lease ends");
    case.step("the lease ends");
    case.reach(stamp.lease_until).await;
    check_eq!(law().await, "abandoned", "the key when its lease ends");
    let version = store.record(&key).await.version;
    let mut taker = case.claim();
    taker.attempt = 2;
    store.claimed_over(&key, &taker, Expected::Exactly(version)).await;
}

pub(super) async fn a_late_holder_that_nobody_displaced_may_complete(case: &Case) {
    let store = case.store();
    case.step("at the end of the lease");
    let (key, claim) = (case.key("a"), case.brief_claim());
    store.claimed(&key, &claim).await;
    let record = store.record(&key).await;
    case.reach(record.lease_until).await;
    let outcome = store.complete(&key, claim.token, &completion(2, response("late"))).await;
    case.still_before(record.unresolved_until).await;
    check!(
        matches!(outcome, onceonly::CompleteOutcome::Applied(_)),
        "a completion at the end of the lease answered {outcome:?}, due was Applied: the effect has happened"
    );

    case.step("one tick before the record is past its time");
    let (key, claim) = (case.key("b"), case.brief_claim());
    store.claimed(&key, &claim).await;
    let deadline = store.record(&key).await.unresolved_until;
    case.reach_just_before(deadline).await;
    let outcome = store.complete(&key, claim.token, &completion(2, response("late"))).await;
    case.still_before(deadline).await;
    check!(
        matches!(outcome, onceonly::CompleteOutcome::Applied(_)),
        "a completion one tick before the deadline answered {outcome:?}, due was Applied"
    );
}

pub(super) async fn a_late_holder_that_nobody_displaced_may_renew(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.brief_claim());
    store.claimed(&key, &claim).await;
    let seen_by_taker = store.record(&key).await;
    case.reach(seen_by_taker.lease_until).await;

    case.step("the holder renews after its lease, unchallenged");
    let stamp = store.renewed(&key, claim.token, &extension(2, seconds(60))).await;
    check!(
        case.is_deadline(stamp.lease_until, stamp.now, seconds(60)),
        "the lease ends at {:?} after a renewal at {:?}",
        stamp.lease_until,
        stamp.now
    );

    case.step("a taker that had looked before comes too late");
    let expected = Expected::Exactly(seen_by_taker.version);
    case.another().await.occupied(&key, &case.claim(), expected).await;
    check_eq!(store.record(&key).await.version.token, claim.token, "who holds the key");
}

pub(super) async fn a_late_holder_that_nobody_displaced_may_release(case: &Case) {
    let store = case.store();
    for moment in ["at the end of the lease", "one tick before the record is past its time"] {
        case.step(moment);
        let (key, claim) = (case.key(moment), case.brief_claim());
        store.claimed(&key, &claim).await;
        let record = store.record(&key).await;
        match moment {
            "at the end of the lease" => case.reach(record.lease_until).await,
            _ => case.reach_just_before(record.unresolved_until).await,
        }
        let outcome = store.release(&key, claim.token, &release(2)).await;
        case.still_before(record.unresolved_until).await;
        check_eq!(outcome, ReleaseOutcome::Applied, "a release {moment}");
    }
}

pub(super) async fn a_late_renewal_after_a_takeover_is_refused(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.brief_claim());
    store.claimed(&key, &claim).await;
    let record = store.record(&key).await;
    case.reach(record.lease_until).await;
    store.claimed_over(&key, &case.claim(), Expected::Exactly(record.version)).await;
    let taken = store.record(&key).await;

    store.renew_refused(&key, claim.token, &checkpoint(2, seconds(600), "late")).await;

    check_same_record(&store.record(&key).await, &taken, "a late renewal has changed the taker's record");
}

pub(super) async fn an_abandoned_key_stays_bound_to_its_request(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.brief_claim());
    store.claimed(&key, &claim).await;
    let record = store.record(&key).await;
    let mut other = case.claim();
    other.fingerprint = fingerprint("another charge");

    case.step("a claim of another request is refused, before and after the lease");
    store.occupied(&key, &other, Expected::Absent).await;
    check_eq!(store.record(&key).await.fingerprint, claim.fingerprint, "what the key is bound to");
    for instant in [record.lease_until, record.expires_at] {
        case.reach(instant).await;
        let shown = store.occupied(&key, &other, Expected::Absent).await;
        case.still_before(record.unresolved_until).await;
        check_eq!(state(&shown, "another charge"), "mismatch", "the key to another request");
        check_eq!(state(&shown, "charge 1000 usd"), "abandoned", "the key to its own request");
    }
    case.step("the record is past its time");
    case.reach(record.unresolved_until).await;
    let shown = store.occupied(&key, &other, Expected::Absent).await;
    check_eq!(state(&shown, "another charge"), "expired", "the key to another request");
    store.claimed_over(&key, &other, Expected::Exactly(shown.record.version)).await;
}

pub(super) async fn attempts_count_the_takeovers(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    store.claimed(&key, &case.claim()).await;
    for attempt in 2..=6 {
        let held = store.record(&key).await;
        store.renewed(&key, held.version.token, &end_of_lease(2)).await;
        let mut taker = case.claim();
        taker.attempt = attempt;
        let version = store.record(&key).await.version;
        store.claimed_over(&key, &taker, Expected::Exactly(version)).await;
        check_eq!(store.record(&key).await.attempt, attempt, "the attempt's number after a takeover");
    }
    let mut fresh = case.claim();
    fresh.attempt = 1;
    let version = store.record(&key).await.version;
    store.claimed_over(&key, &fresh, Expected::Exactly(version)).await;
    check_eq!(store.record(&key).await.attempt, 1, "the attempt's number of a new period");
}

pub(super) async fn a_renewed_lease_is_never_seen_as_over(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let claim = NewClaim { keep_unresolved: seconds(7_200), ..case.brief_claim() };
    let mut lease_until = store.claimed(&key, &claim).await.lease_until;
    let other = case.another().await;
    for number in 2..=30 {
        case.reach_just_before(lease_until).await;
        let stamp = store.renewed(&key, claim.token, &extension(number, claim.lease)).await;
        if lease_until <= stamp.now {
            crate::verdict::inconclusive("a heartbeat came after the lease had ended");
        }
        check!(
            case.is_deadline(stamp.lease_until, stamp.now, claim.lease),
            "heartbeat {number} at {:?} keeps the lease until {:?}",
            stamp.now,
            stamp.lease_until
        );
        let found = other.found(&key).await;
        if found.now < stamp.lease_until {
            check_eq!(state(&found, "charge 1000 usd"), "in progress", "the key after heartbeat {number}");
        }
        lease_until = stamp.lease_until;
    }
    case.step("silence");
    case.reach(lease_until).await;
    check_eq!(
        state(&other.found(&key).await, "charge 1000 usd"),
        "abandoned",
        "the key after the last heartbeat"
    );
}

pub(super) async fn spans_from_a_microsecond_to_a_century_are_exact(case: &Case) {
    let store = case.store();
    let spans = [
        span(Duration::from_nanos(1)),
        span(Duration::from_micros(1)),
        span(Duration::from_micros(999_999)),
        span(Duration::from_micros(1_000_001)),
        seconds(86_400),
        seconds(400 * 86_400),
        Span::MAX,
    ];
    for (number, &span) in spans.iter().enumerate() {
        let key = case.key(&format!("span {number}"));
        let mut claim = case.claim();
        (claim.lease, claim.keep, claim.keep_unresolved) = (span, span, span);
        let stamp = store.claimed(&key, &claim).await;
        let found = store.record(&key).await;
        for deadline in [found.lease_until, found.expires_at, found.unresolved_until] {
            check!(
                case.is_deadline(deadline, stamp.now, span),
                "{span:?} from {:?} ends at {deadline:?}: it is cut, wrapped or rounded",
                stamp.now
            );
        }
    }
}

pub(super) async fn results_are_safe_when_the_clock_steps_back(case: &Case) {
    let (store, key, claim) = (case.store(), case.key("a"), case.claim());
    store.claimed(&key, &claim).await;
    if case.sets_clock() {
        let now = case.now().await;
        case.set_clock(onceonly::Timestamp::from_micros(now.as_micros() - 3_600_000_000)).await;
    }
    let before = store.record(&key).await;

    store.occupied(&key, &case.claim(), Expected::Absent).await;
    stranger_is_refused(case, store, &key).await;
    check_same_record(&store.record(&key).await, &before, "the record after a step back");
    let stamp = store.renewed(&key, claim.token, &extension(2, claim.lease)).await;
    check!(before.lease_until <= stamp.lease_until, "a renewal after a step back has shortened the lease");
    store.completed(&key, claim.token, &completion(3, response("done"))).await;
    check!(
        before.expires_at <= store.record(&key).await.expires_at,
        "a completion after a step back has shortened the retention"
    );
}

async fn stranger_is_refused(case: &Case, store: &Handle, key: &onceonly::RecordKey) {
    store.complete_refused(key, case.token(), &completion(2, response("a stranger's"))).await;
}

/// What the law says of a record, to a request that asks for `what`.
pub(super) fn state(found: &onceonly::Snapshot, what: &str) -> &'static str {
    match observe(Some(&found.record), &fingerprint(what).into(), found.now) {
        KeyState::Absent => broken("a record was read as absent"),
        KeyState::Expired { .. } => "expired",
        KeyState::HashMismatch => "mismatch",
        KeyState::Completed { .. } => "completed",
        KeyState::Abandoned { .. } => "abandoned",
        KeyState::InProgress { .. } => "in progress",
    }
}
