//! Callers in several processes.

use onceonly::{ClaimOutcome, Expected, RecordKey, Token};

use super::complete::result_of;
use super::held::all_writes_refused;
use super::races::{check_one_is_first, delivery};
use super::takeover::abandoned;
use crate::call::{Answer, Request};
use crate::case::{Case, checkpoint, completion, extension, release, response};
use crate::compare::check_same_record;
use crate::handle::{Handle, definite};
use crate::process::Process;
use crate::protocol::Interval;
use crate::race::Race;
use crate::verdict::{check, check_eq};

pub(super) async fn of_two_hundred_claims_in_four_processes_one_is_granted(case: &Case) {
    let mut processes = case.processes(4).await;
    let mut race = case.race(case.rounds() / 8);
    while let Some(round) = race.next_round() {
        let key = case.key(&format!("round {round}"));
        let claim = |_| claim(case, &key, Expected::Absent);
        let answers = in_each(&mut race, &mut processes, 50, claim).await;

        let (winners, shown) = claims(answers);
        check!(
            winners.len() == 1,
            "round {round}: {} of 200 claims in four processes were granted, due was one",
            winners.len()
        );
        for token in shown {
            check_eq!(token, winners[0], "round {round}: whom a refused claim was shown");
        }
        for process in &processes {
            let holder = process.handle().record(&key).await.version.token;
            check_eq!(holder, winners[0], "round {round}: whom each process sees holding the key");
        }
    }
    race.check_overlap();
}

pub(super) async fn of_takers_in_four_processes_one_is_granted(case: &Case) {
    let mut processes = case.processes(4).await;
    let mut race = case.race(case.rounds() / 4);
    while let Some(round) = race.next_round() {
        let (key, seen) = abandoned(case, &format!("round {round}")).await;
        let take = |_| claim(case, &key, Expected::Exactly(seen));
        let answers = in_each(&mut race, &mut processes, 4, take).await;

        let (winners, _) = claims(answers);
        check!(
            winners.len() == 1,
            "round {round}: {} of 16 takeovers in four processes were granted, due was one",
            winners.len()
        );
        let holder = case.store().record(&key).await.version.token;
        check_eq!(holder, winners[0], "round {round}: who holds the record after one takeover");
    }
    race.check_overlap();
}

pub(super) async fn of_completions_in_four_processes_one_is_first(case: &Case) {
    let mut processes = case.processes(4).await;
    let mut race = case.race(case.rounds() / 4);
    while let Some(round) = race.next_round() {
        let (key, claim) = (case.key(&format!("round {round}")), case.claim());
        case.store().claimed(&key, &claim).await;
        let deliver = |place| {
            let (key, token) = (key.clone(), claim.token);
            Request::Complete { key, token, completion: completion(2, delivery(place)) }
        };
        let answers = in_each(&mut race, &mut processes, 4, deliver).await;
        let answers: Vec<_> = answers
            .into_iter()
            .map(|(_, answer)| match answer {
                Answer::Complete(answer) => definite("complete", answer),
                other => unreachable!("a completion was answered with {other:?}"),
            })
            .collect();

        let stored = result_of(case.store().record(&key).await);
        check_one_is_first(round, &answers, &stored);
    }
    race.check_overlap();
}

pub(super) async fn the_token_decides_who_writes_and_not_the_process(case: &Case) {
    let processes = case.processes(2).await;
    let (claimer, other) = (processes[0].handle(), processes[1].handle());
    let (key, claim) = (case.key("a"), case.claim());
    claimer.claimed(&key, &claim).await;
    for (place, handle) in [&claimer, &other].into_iter().enumerate() {
        let what = format!("a stranger's token, in process {place} of two");
        all_writes_refused(handle, &key, case.token(), &what).await;
    }

    case.step("another process than the one that claimed has the token");
    other.renewed(&key, claim.token, &extension(2, claim.lease)).await;
    other.completed(&key, claim.token, &completion(3, response("done"))).await;
    claimer.already_completed(&key, claim.token, &completion(4, response("done"))).await;
}

pub(super) async fn a_write_in_one_process_is_seen_by_all_others(case: &Case) {
    let processes = case.processes(3).await;
    let handles: Vec<Handle> = processes.iter().map(Process::handle).collect();
    for (place, writer) in handles.iter().enumerate() {
        let (key, claim) = (case.key(&format!("written in {place}")), case.claim());
        // A process that keeps what it once saw has something to keep.
        for reader in &handles {
            check_eq!(reader.load(&key).await, None, "a key before anybody claims it");
        }
        writer.claimed(&key, &claim).await;
        check_all_see(&handles, writer, &key, 1).await;
        writer.renewed(&key, claim.token, &checkpoint(2, claim.lease, "half-way")).await;
        check_all_see(&handles, writer, &key, 2).await;
        if place == 0 {
            writer.released(&key, claim.token, &release(3)).await;
        } else {
            writer.completed(&key, claim.token, &completion(3, response("done"))).await;
        }
        check_all_see(&handles, writer, &key, 3).await;
    }
}

async fn check_all_see(handles: &[Handle], writer: &Handle, key: &RecordKey, revision: u32) {
    let written = writer.record(key).await;
    check_eq!(written.version.revision.number(), revision, "the revision of what was just written");
    for reader in handles {
        let what = format!("a process does not see write {revision}, which another one was answered");
        check_same_record(&reader.record(key).await, &written, &what);
    }
}

/// Makes calls in every process, so many in each, all at the same instant. They are numbered as they are told off, and
/// come back so. The overlap of the race is that of processes.
async fn in_each(
    race: &mut Race,
    processes: &mut [Process],
    calls_each: usize,
    call: impl Fn(usize) -> Request,
) -> Vec<(Request, Answer)> {
    let mut under_way = Vec::new();
    for (place, process) in processes.iter_mut().enumerate() {
        let requests: Vec<_> = (0..calls_each).map(|number| call(place * calls_each + number)).collect();
        under_way.extend(requests.clone().into_iter().zip(process.hold(requests)));
    }
    for process in processes.iter_mut() {
        process.ready().await;
    }
    processes.iter().for_each(Process::go);
    let mut answers = Vec::with_capacity(under_way.len());
    for (request, call) in under_way {
        answers.push((request, call.answer().await));
    }
    race.saw_overlap(overlap(&processes.iter().map(Process::take_intervals).collect::<Vec<_>>()));
    answers
}

fn claim(case: &Case, key: &RecordKey, expected: Expected) -> Request {
    Request::Claim { key: key.clone(), claim: case.claim(), expected }
}

/// Whose claims were granted, and whom those that were not were shown.
fn claims(answers: Vec<(Request, Answer)>) -> (Vec<Token>, Vec<Token>) {
    let (mut granted, mut shown) = (Vec::new(), Vec::new());
    for (request, answer) in answers {
        let (Request::Claim { claim, .. }, Answer::Claim(answer)) = (request, answer) else {
            unreachable!("a claim was answered with something else");
        };
        match definite("claim", answer) {
            ClaimOutcome::Claimed(_) => granted.push(claim.token),
            ClaimOutcome::Occupied(found) => shown.push(found.record.version.token),
            ClaimOutcome::Vacant => {}
        }
    }
    (granted, shown)
}

/// How many processes had calls under way at one instant, at most.
fn overlap(processes: &[Vec<Interval>]) -> usize {
    let under_way = |at: u64| {
        let covers = |interval: &Interval| interval.began_us <= at && at < interval.ended_us;
        processes.iter().filter(|intervals| intervals.iter().any(covers)).count()
    };
    processes.iter().flatten().map(|interval| under_way(interval.began_us)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_counts_processes_and_not_their_calls() {
        let at = |began_us, ended_us| Interval { began_us, ended_us };

        assert_eq!(overlap(&[vec![at(0, 9), at(1, 8), at(2, 7)], vec![]]), 1);
        assert_eq!(overlap(&[vec![at(0, 5)], vec![at(5, 9)]]), 1, "one call ends as the other begins");
        assert_eq!(overlap(&[vec![at(0, 2), at(4, 6)], vec![at(5, 9)], vec![at(7, 8)]]), 2);
    }
}
