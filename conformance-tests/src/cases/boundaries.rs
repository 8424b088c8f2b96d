//! Deadlines of every length and at every date, and what holds at each of them while nobody purges.

use std::time::Duration;

use onceonly::{
    CompleteOutcome, Completion, Expected, KeyState, NewClaim, Record, RecordKey, Release, ReleaseOutcome,
    RenewOutcome, Snapshot, Span, Timestamp, observe,
};

use crate::case::{Case, completion, extension, fingerprint, release, response, seconds, span};
use crate::verdict::{check, check_eq};

/// On a clock that runs only the first of them can be waited for; the others must be stored exactly all the same.
pub(super) async fn retentions_from_a_second_to_a_century_end_exactly(case: &Case) {
    let store = case.store();
    for retention in [seconds(1), days(1), days(7), days(400), Span::MAX] {
        let (key, tick) = (case.key(&format!("{retention:?}")), span(Duration::from_micros(1)));
        let claim = NewClaim { keep: tick, ..case.claim() };
        store.claimed(&key, &claim).await;
        let done = Completion { retention, ..completion(2, response("done")) };

        let stamp = store.completed(&key, claim.token, &done).await;

        check!(
            case.is_deadline(stamp.expires_at, stamp.now, retention),
            "a result kept for {retention:?} from {:?} is kept until {:?}",
            stamp.now,
            stamp.expires_at
        );
        check_eq!(
            store.record(&key).await.expires_at,
            stamp.expires_at,
            "the stored deadline after {retention:?}"
        );
        if case.sets_clock() {
            check_end(case, &key, stamp.expires_at, &format!("a result kept for {retention:?}")).await;
        }
    }
}

/// Leap days, the hours at which clocks on walls are set, and the seconds at which counters of 32 bits are full: to a
/// deadline they are days, hours and seconds like any other. On a clock that runs, deadlines lie beyond these dates.
pub(super) async fn no_date_moves_a_deadline(case: &Case) {
    for (name, at) in DATES {
        let date = Timestamp::from_micros(at * 1_000_000);
        let shortly_before = Timestamp::from_micros(date.as_micros() - 30_000_000);
        if !case.sets_clock() {
            deadline_beyond(case, name, date).await;
        } else if case.now().await < shortly_before {
            case.set_clock(shortly_before).await;
            spans_across(case, name).await;
        }
    }
}

/// Spans of a minute, a day and more, all of which the date falls into.
async fn spans_across(case: &Case, name: &str) {
    let (store, key) = (case.store(), case.key(&format!("running while {name}")));
    let claim =
        NewClaim { lease: seconds(60), keep: seconds(90), keep_unresolved: days(400), ..case.claim() };
    let stamp = store.claimed(&key, &claim).await;
    let found = store.record(&key).await;
    for (what, deadline, span) in [
        ("lease", found.lease_until, claim.lease),
        ("retention", found.expires_at, claim.keep),
        ("memory", found.unresolved_until, claim.keep_unresolved),
    ] {
        check!(
            case.is_deadline(deadline, stamp.now, span),
            "{name}: a {what} of {span:?} from {:?} ends at {deadline:?}",
            stamp.now
        );
    }

    let key = case.key(&format!("done while {name}"));
    store.claimed(&key, &claim).await;
    let done = Completion { retention: days(1), ..completion(2, response("done")) };
    let stamp = store.completed(&key, claim.token, &done).await;
    check!(
        case.is_deadline(stamp.expires_at, stamp.now, days(1)),
        "{name}: a result kept for a day from {:?} is kept until {:?}",
        stamp.now,
        stamp.expires_at
    );
    check_end(case, &key, stamp.expires_at, name).await;
}

async fn deadline_beyond(case: &Case, name: &str, date: Timestamp) {
    let (key, remaining) = (case.key(name), date.since(case.now().await));
    let Ok(beyond) = Span::new(remaining + Duration::from_secs(30)) else { return };
    let claim = NewClaim { keep_unresolved: beyond, ..case.claim() };
    let stamp = case.store().claimed(&key, &claim).await;
    let deadline = case.store().record(&key).await.unresolved_until;
    check!(
        case.is_deadline(deadline, stamp.now, beyond),
        "{name}: a memory of {beyond:?} from {:?} ends at {deadline:?}",
        stamp.now
    );
}

/// One key through nine periods, each of which ends in another way than the last one and begins when that is over.
pub(super) async fn every_deadline_holds_without_a_purge(case: &Case) {
    let (store, key, mut expected) = (case.store(), case.key("a"), Expected::Absent);
    for number in 0..9 {
        let ending = [Ending::None, Ending::Completion, Ending::Release][number % 3];
        let what = format!("period {number}, which ended with {ending:?}");
        let claim = NewClaim { keep: case.brief(1), keep_unresolved: case.brief(3), ..case.brief_claim() };
        store.claimed_over(&key, &claim, expected).await;
        let record = ended(case, &key, &claim, ending).await;
        match ending {
            Ending::Release => case.reach(record.past_from()).await,
            _ => check_end(case, &key, record.past_from(), &what).await,
        }

        let renewed = store.renew(&key, claim.token, &extension(3, seconds(60))).await;
        check_eq!(renewed, RenewOutcome::NotHeld, "{what}: renew, past its time");
        let completed = store.complete(&key, claim.token, &completion(3, response("late"))).await;
        check_eq!(completed, CompleteOutcome::NotHeld, "{what}: complete, past its time");
        let released = store.release(&key, claim.token, &release(3)).await;
        check_eq!(released, ReleaseOutcome::NotHeld, "{what}: release, past its time");
        expected = Expected::Exactly(record.version);
    }
}

/// Ends the claim, and gives the record that is left.
async fn ended(case: &Case, key: &RecordKey, claim: &NewClaim, ending: Ending) -> Record {
    let store = case.store();
    let deadline = store.record(key).await.unresolved_until;
    let applied = match ending {
        Ending::None => true,
        Ending::Completion => {
            let done = Completion { retention: case.brief(1), ..completion(2, response("done")) };
            store.complete(key, claim.token, &done).await != CompleteOutcome::NotHeld
        }
        Ending::Release => {
            let release = Release { keep: case.brief(1), ..release(2) };
            store.release(key, claim.token, &release).await == ReleaseOutcome::Applied
        }
    };
    case.still_before(deadline).await;
    check!(applied, "{ending:?} by the holder answered NotHeld, due was Applied");
    store.record(key).await
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    None,
    Completion,
    Release,
}

/// The record counts until one tick before the deadline, and not at it.
async fn check_end(case: &Case, key: &RecordKey, deadline: Timestamp, what: &str) {
    let store = case.store();
    case.reach_just_before(deadline).await;
    let seen = is_expired(&store.found(key).await);
    case.still_before(deadline).await;
    check!(!seen, "{what}: past its time one tick before {deadline:?}");
    case.reach(deadline).await;
    check!(is_expired(&store.found(key).await), "{what}: not past its time at {deadline:?}");
}

fn is_expired(found: &Snapshot) -> bool {
    let asked = fingerprint("charge 1000 usd").into();
    matches!(observe(Some(&found.record), &asked, found.now), KeyState::Expired { .. })
}

fn days(days: u64) -> Span {
    seconds(days * 86_400)
}

/// Seconds since the epoch, in order.
const DATES: [(&str, i64); 7] = [
    ("the leap day of 2028 begins", 1_835_395_200),
    ("clocks go forward in California in 2029", 1_867_917_600),
    ("clocks go forward in Europe in 2029", 1_869_094_800),
    ("clocks go back in Europe in 2029", 1_887_843_600),
    ("signed seconds of 32 bits are full in 2038", 2_147_483_648),
    ("March begins in 2100, which is no leap year", 4_107_542_400),
    ("unsigned seconds of 32 bits are full in 2106", 4_294_967_296),
];
