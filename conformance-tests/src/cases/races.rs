//! Callers that meet at one record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use onceonly::{
    ClaimOutcome, CompleteOutcome, Expected, NewClaim, RecordKey, ReleaseOutcome, Status, StoredResponse,
    StoredResult, Token, Version,
};
use tokio::task::JoinHandle;

pub(super) use super::churn::versions_never_repeat_under_churn;
use super::complete::result_of;
use crate::case::{Case, completion, extension, release, response, seconds};
use crate::handle::Handle;
use crate::race::{Contender, joined};
use crate::verdict::{broken, check, check_eq};

pub(super) async fn of_many_deliveries_of_a_completion_one_is_first(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds());
    while let Some(round) = race.next_round() {
        let (key, claim) = (case.key(&format!("round {round}")), case.claim());
        case.store().claimed(&key, &claim).await;
        let contenders = handles.iter().enumerate().map(|(place, handle)| {
            let (handle, key, token) = (handle.clone(), key.clone(), claim.token);
            let given = completion(2, delivery(place));
            let contender: Contender<_> = Box::pin(async move { handle.complete(&key, token, &given).await });
            contender
        });
        let answers = race.round(contenders.collect()).await;

        let stored = result_of(case.store().record(&key).await);
        check_one_is_first(round, &answers, &stored);
    }
    race.check_overlap();
}

/// Ends the case unless one delivery of a completion was applied, and all others were told so and shown what stands.
/// Each brought a result of its own, see [`delivery`].
pub(super) fn check_one_is_first(round: usize, answers: &[CompleteOutcome], stored: &StoredResult) {
    let applied = answers.iter().filter(|answer| matches!(answer, CompleteOutcome::Applied(_))).count();
    check_eq!(applied, 1, "round {round}: how many deliveries of one completion were applied");
    for (place, answer) in answers.iter().enumerate() {
        match answer {
            CompleteOutcome::Applied(_) => {
                check_eq!(*stored, delivery(place), "round {round}: the result that stands");
            }
            CompleteOutcome::AlreadyCompleted(shown) => {
                let shown = result_of(shown.record.clone());
                check_eq!(shown, *stored, "round {round}: what a repetition was shown");
            }
            CompleteOutcome::NotHeld => broken(format!("round {round}: a repetition answered NotHeld")),
        }
    }
}

/// The result that the delivery in this place brings.
pub(super) fn delivery(place: usize) -> StoredResult {
    response(&format!("delivery {place}"))
}

pub(super) async fn of_a_completion_and_a_release_one_is_applied(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds());
    while let Some(round) = race.next_round() {
        let (key, claim) = (case.key(&format!("round {round}")), case.claim());
        case.store().claimed(&key, &claim).await;
        let contenders = handles.iter().enumerate().map(|(place, handle)| {
            let (handle, key, token) = (handle.clone(), key.clone(), claim.token);
            let contender: Contender<_> = Box::pin(async move {
                if place % 2 == 0 {
                    let outcome = handle.complete(&key, token, &completion(2, response("done"))).await;
                    ("complete", outcome != CompleteOutcome::NotHeld)
                } else {
                    ("release", handle.release(&key, token, &release(2)).await == ReleaseOutcome::Applied)
                }
            });
            contender
        });
        let answers = race.round(contenders.collect()).await;

        let said_yes = |verb| answers.iter().filter(|(of, yes)| *of == verb && *yes).count();
        let (completed, released) = (said_yes("complete"), said_yes("release"));
        check!(
            (completed == 4) != (released == 4) && completed + released == 4,
            "round {round}: {completed} of 4 completions and {released} of 4 releases were applied; due was all of one"
        );
        let mark = case.store().record(&key).await.status == Status::Released;
        check_eq!(mark, released == 4, "round {round}: whether the record is a released mark");
    }
    race.check_overlap();
}

pub(super) async fn a_purge_never_takes_a_new_claim(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds_with_waits());
    while let Some(round) = race.next_round() {
        let expired = expired(case, round, 8).await;
        let contenders = handles.iter().enumerate().map(|(place, handle)| -> Contender<_> {
            let handle = handle.clone();
            if place % 2 == 0 {
                return Box::pin(async move {
                    for _ in 0..4 {
                        handle.purge(3).await;
                    }
                    Vec::new()
                });
            }
            let claims = expired.iter().map(|(key, seen)| (key.clone(), *seen, case.claim())).collect();
            Box::pin(claim_each(handle, claims))
        });
        let contenders = contenders.collect();
        let granted: Vec<(RecordKey, Token)> = race.round(contenders).await.into_iter().flatten().collect();

        for (key, _) in &expired {
            let winners: Vec<Token> =
                granted.iter().filter(|(of, _)| of == key).map(|(_, token)| *token).collect();
            let [winner] = winners[..] else {
                broken(format!("round {round}: {} claims of one expired key were granted", winners.len()));
            };
            match case.store().load(key).await {
                Some(found) => {
                    check_eq!(found.record.version.token, winner, "round {round}: who holds the key");
                }
                None => {
                    broken(format!("round {round}: a purge has deleted the new claim of one expired key"))
                }
            }
        }
    }
    race.check_overlap();
}

pub(super) async fn purges_at_the_same_time_count_each_record_once(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds_with_waits());
    while let Some(round) = race.next_round() {
        expired(case, round, 20).await;
        let contenders = handles.iter().map(|handle| -> Contender<_> {
            let handle = handle.clone();
            Box::pin(async move { handle.purge(7).await + handle.purge(7).await })
        });
        let purged: u64 = race.round(contenders.collect()).await.into_iter().sum();
        check_eq!(purged, 20, "round {round}: the sum of what sixteen purges of 20 records say they deleted");
        check_eq!(case.store().purge(100).await, 0, "round {round}: what is left to purge");
    }
    race.check_overlap();
}

/// Keys whose unfinished records are past their time, and what a claim of each must expect.
async fn expired(case: &Case, round: usize, count: usize) -> Vec<(RecordKey, Version)> {
    let mut keys = Vec::new();
    let mut last = case.now().await;
    for number in 0..count {
        let (key, claim) = (case.key(&format!("round {round}, number {number}")), case.brief_claim());
        case.store().claimed(&key, &claim).await;
        let record = case.store().record(&key).await;
        last = last.max(record.unresolved_until);
        keys.push((key, record.version));
    }
    case.reach(last).await;
    keys
}

/// Claims each key, expecting what was seen or, where a purge was first, nothing; the keys that were granted.
async fn claim_each(handle: Handle, claims: Vec<(RecordKey, Version, NewClaim)>) -> Vec<(RecordKey, Token)> {
    let mut granted = Vec::new();
    for (key, seen, claim) in claims {
        let mut outcome = handle.claim(&key, &claim, Expected::Exactly(seen)).await;
        if outcome == ClaimOutcome::Vacant {
            outcome = handle.claim(&key, &claim, Expected::Absent).await;
        }
        if let ClaimOutcome::Claimed(_) = outcome {
            granted.push((key, claim.token));
        }
    }
    granted
}

pub(super) async fn readers_never_see_half_a_write(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds());
    while let Some(round) = race.next_round() {
        let (key, claim) = (case.key(&format!("round {round}")), case.claim());
        case.store().claimed(&key, &claim).await;
        let before = case.store().record(&key).await;
        let contenders = handles.iter().enumerate().map(|(place, handle)| {
            let (handle, key, token) = (handle.clone(), key.clone(), claim.token);
            let contender: Contender<_> = Box::pin(async move {
                if place == 0 {
                    handle.completed(&key, token, &completion(2, large())).await;
                    return Vec::new();
                }
                let mut seen = Vec::new();
                for _ in 0..4 {
                    seen.push(handle.record(&key).await);
                }
                seen
            });
            contender
        });
        let seen: Vec<_> = race.round(contenders.collect()).await.into_iter().flatten().collect();

        let after = case.store().record(&key).await;
        check_eq!(result_of(after.clone()), large(), "round {round}: the result");
        for record in &seen {
            check!(
                record == &before || record == &after,
                "round {round}: a reader saw a record that is neither the one before the completion nor the one \
                 after it: {record:?}"
            );
        }
    }
    race.check_overlap();
}

pub(super) async fn a_loser_that_looks_again_sees_the_winner(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds());
    while let Some(round) = race.next_round() {
        let key = case.key(&format!("round {round}"));
        let contenders = handles.iter().enumerate().map(|(place, handle)| {
            // The look goes through another handle than the claim.
            let (handle, other) = (handle.clone(), handles[(place + 1) % handles.len()].clone());
            let (key, claim) = (key.clone(), case.claim());
            let contender: Contender<_> = Box::pin(async move {
                handle.claim(&key, &claim, Expected::Absent).await;
                other.load(&key).await.map(|found| found.record.version.token)
            });
            contender
        });
        let seen = race.round(contenders.collect()).await;

        let holder = case.store().record(&key).await.version.token;
        for token in seen {
            check_eq!(token, Some(holder), "round {round}: whom a caller sees right after its claim");
        }
    }
    race.check_overlap();
}

pub(super) async fn a_busy_key_does_not_hold_up_others(case: &Case) {
    let handles = case.handles(8).await;
    let busy = case.key("busy");
    let claim = case.claim();
    case.store().claimed(&busy, &claim).await;
    let (others_are_done, renewals) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let churn: Vec<_> = handles[1..]
        .iter()
        .map(|handle| {
            let (handle, busy, token) = (handle.clone(), busy.clone(), claim.token);
            let (others_are_done, renewals) = (Arc::clone(&others_are_done), Arc::clone(&renewals));
            tokio::spawn(async move {
                let mut number = 2;
                while !others_are_done.load(Ordering::Relaxed) {
                    handle.renewed(&busy, token, &extension(number, seconds(60))).await;
                    renewals.fetch_add(1, Ordering::Relaxed);
                    number += 1;
                }
            })
        })
        .collect();
    for number in 0..30 {
        // Not before the busy key has been renewed again; or a renewal has failed, and says why below.
        let seen = renewals.load(Ordering::Relaxed);
        while renewals.load(Ordering::Relaxed) == seen && !churn.iter().any(JoinHandle::is_finished) {
            tokio::task::yield_now().await;
        }
        let (key, claim) = (case.key(&format!("other {number}")), case.claim());
        handles[0].claimed(&key, &claim).await;
        handles[0].completed(&key, claim.token, &completion(2, response("done"))).await;
    }
    others_are_done.store(true, Ordering::Relaxed);
    for task in churn {
        joined(task).await;
    }
}

fn large() -> StoredResult {
    StoredResult::Retained(StoredResponse::new(200, vec![b'x'; 65_536]).with_header("x-letter", "x"))
}
