//! Purges beside everything else: beside claims and renewals of what they choose, beside readers, beside a workload.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use onceonly::{ClaimOutcome, Expected, NewClaim, RecordKey, RenewOutcome, Timestamp, Version};
use tokio::sync::watch;

use super::workload;
use crate::case::{Case, extension, seconds, set_up};
use crate::fixture::StoreClock;
use crate::race::{Contender, joined};
use crate::verdict::{check, check_eq};

/// A purge that chooses by a look, waits for the lock, and then deletes what it has chosen, deletes what was claimed
/// while it waited.
pub(super) async fn a_claim_that_waits_beside_a_purge_survives_it(case: &Case) {
    let (impatient, taker, purger) = (case.impatient().await, case.another().await, case.another().await);
    for round in 0..6 {
        let (key, seen, deadline) = soon_past(case, round).await;
        case.reach(deadline).await;
        let (claim, expected) = (case.claim(), Expected::Exactly(seen));
        let lock = case.raw_lock(&key).await;
        let purger = purger.clone();
        let purge = tokio::spawn(async move { purger.purge(1_000).await });
        let (taker, its_key, its_claim) = (taker.clone(), key.clone(), claim.clone());
        let taking = tokio::spawn(async move { taker.claim(&its_key, &its_claim, expected).await });
        case.step("the same claim on a handle that soon gives up: by then both have met the lock");
        // Its outcome is open. Whatever becomes of it, it is the same claim.
        let _ = impatient.plain().claim(&key, &claim, expected).await;
        drop(lock);

        let (purged, outcome) = (joined(purge).await, joined(taking).await);

        let granted = match &outcome {
            ClaimOutcome::Claimed(_) => true,
            ClaimOutcome::Occupied(found) => found.record.version.token == claim.token,
            ClaimOutcome::Vacant => false,
        };
        let left = case.store().load(&key).await.map(|found| found.record.version.token);
        if granted {
            check_eq!(
                left,
                Some(claim.token),
                "round {round}: who holds a key that was claimed beside a purge"
            );
        }
        let gone = u64::from(left.is_none());
        check_eq!(
            purged,
            gone,
            "round {round}: how many records a purge beside a claim of one says it deleted"
        );
        // Where neither came about, so that nothing is left to the purge of the next round.
        case.store().purge_all().await;
    }
}

/// A purge that reads the records first and the clock later judges the record as it was before its renewal, at a time
/// that has come since.
pub(super) async fn a_renewal_at_the_last_moment_survives_a_purge(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds_with_waits());
    while let Some(round) = race.next_round() {
        let (key, seen, deadline) = soon_past(case, round).await;
        let ahead = if case.sets_clock() { case.tick() } else { MOMENT };
        case.reach(Timestamp::from_micros(deadline.as_micros() - ahead)).await;
        let contenders = handles.iter().enumerate().map(|(place, handle)| -> Contender<Seen> {
            let (handle, key, clock) = (handle.clone(), key.clone(), case.clock().clone());
            match place {
                // In one half of the rounds the time comes when a renewal was written, in the other it may come first.
                0 | 1 => Box::pin(async move {
                    let renewed = handle.renew(&key, seen.token, &extension(2, seconds(86_400))).await;
                    if round % 2 == 0 {
                        come(&clock, deadline).await;
                    }
                    Seen::Renewed(matches!(renewed, RenewOutcome::Applied(_)))
                }),
                2 if round % 2 == 1 => Box::pin(async move {
                    come(&clock, deadline).await;
                    Seen::Purged(0)
                }),
                _ => Box::pin(async move {
                    let mut purged = 0;
                    for _ in 0..3 {
                        purged += handle.purge(1_000).await;
                    }
                    Seen::Purged(purged)
                }),
            }
        });
        let seen = race.round(contenders.collect()).await;
        // So that nothing is left to the purges of the next round.
        case.reach(deadline).await;
        case.store().purge_all().await;

        let renewed = seen.iter().filter(|seen| **seen == Seen::Renewed(true)).count();
        let purged: u64 =
            seen.iter().map(|seen| if let Seen::Purged(count) = seen { *count } else { 0 }).sum();
        if renewed > 0 {
            check_eq!(purged, 0, "round {round}: how many renewed records were purged");
            check!(
                case.store().load(&key).await.is_some(),
                "round {round}: a purge has taken a renewed record"
            );
            check_eq!(renewed, 2, "round {round}: how many of two deliveries of one renewal were applied");
        }
        check!(purged <= 1, "round {round}: purges deleted {purged} records, of which there was one");
    }
    race.check_overlap();
}

/// Lets the instant come, where the clock does not run by itself.
async fn come(clock: &StoreClock, instant: Timestamp) {
    if let Some(clock) = clock.control() {
        set_up(clock.set(instant).await);
    }
}

/// What a contender has seen.
#[derive(PartialEq, Eq)]
enum Seen {
    Renewed(bool),
    Purged(u64),
}

pub(super) async fn a_purge_beside_a_long_reader_judges_by_the_present(case: &Case) {
    let store = case.store();
    let (gone, renewed, young) = (case.key("gone"), case.key("renewed"), case.key("young"));
    let claim = case.brief_claim();
    store.claimed(&gone, &case.brief_claim()).await;
    store.claimed(&renewed, &claim).await;
    let deadline = store.record(&renewed).await.unresolved_until;
    let snapshot = case.raw_snapshot().await;
    case.step("a record is renewed and one is claimed, behind the back of a reader that holds on to an earlier state");
    let outcome = store.renew(&renewed, claim.token, &extension(2, seconds(3_600))).await;
    case.still_before(deadline).await;
    check!(outcome != RenewOutcome::NotHeld, "a renewal beside a reader answered NotHeld");
    store.claimed(&young, &case.claim()).await;
    case.reach(deadline).await;

    check_eq!(
        store.purge(1_000).await,
        1,
        "how many records a purge beside a long reader deleted, one being due"
    );

    for (key, due) in [(&gone, false), (&renewed, true), (&young, true)] {
        check_eq!(
            store.load(key).await.is_some(),
            due,
            "whether a record is there after a purge beside a long reader"
        );
    }
    drop(snapshot);
    check_eq!(
        store.purge(1_000).await,
        0,
        "how many records there were left to purge when the reader had ended"
    );
}

pub(super) async fn purges_beside_a_workload_change_no_answer(case: &Case) {
    case.step("the workload by itself");
    let due = workload::run(case, "quiet", async || {}).await;
    case.step("the same workload beside purges that have something to do");
    for number in 0..100 {
        soon_past(case, number).await;
    }
    let (purges, counted) = watch::channel(0);
    let (purges, stop) = (Arc::new(purges), Arc::new(AtomicBool::new(false)));
    let purging = case.handles(4).await.into_iter().map(|handle| {
        let (purges, stop) = (Arc::clone(&purges), Arc::clone(&stop));
        tokio::spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                handle.purge(3).await;
                purges.send_modify(|count| *count += 1);
                tokio::task::yield_now().await;
            }
        })
    });
    let purging: Vec<_> = purging.collect();
    drop(purges);
    // No call before one of the purges has ended since the last one: the others are in the midst of theirs.
    let turn = async || {
        let mut counted = counted.clone();
        counted.mark_unchanged();
        // If it fails, all purges have ended early, and say why below.
        let _ = counted.changed().await;
    };
    let found = workload::run(case, "beside purges", turn).await;
    stop.store(true, Ordering::Relaxed);
    for purger in purging {
        joined(purger).await;
    }

    for (step, (found, due)) in found.iter().zip(&due).enumerate() {
        check_eq!(found, due, "step {step} of a workload beside purges, and without them");
    }
    check_eq!(found.len(), due.len(), "how many steps a workload beside purges came to");
}

/// An unfinished record that is past its time as soon as can be waited for: its version, and the instant.
async fn soon_past(case: &Case, number: usize) -> (RecordKey, Version, Timestamp) {
    let (key, brief) = (case.key(&format!("soon past {number}")), case.brief(1));
    let claim = NewClaim { lease: brief, keep: brief, keep_unresolved: brief, ..case.claim() };
    case.store().claimed(&key, &claim).await;
    let record = case.store().record(&key).await;
    (key, record.version, record.unresolved_until)
}

/// How long before the deadline the race begins where the clock runs, in microseconds.
const MOMENT: i64 = 10_000;
