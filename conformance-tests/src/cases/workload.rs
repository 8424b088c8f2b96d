//! A workload that can be run again, with what each call was answered in words.

use onceonly::{
    ClaimOutcome, Completion, Expected, KeyState, NewClaim, Record, RecordKey, Release, Timestamp, observe,
};

use super::caller::Caller;
use crate::call::Request;
use crate::case::{Case, completion, fingerprint, release, response};
use crate::handle::failed;
use crate::told::told;

/// Claims some keys, saves a checkpoint in each, lets them be abandoned and taken over, completes and releases them, and
/// claims them once more when all that is past. The answers, in order. Before each call it waits for `turn`.
pub(super) async fn run(case: &Case, name: &str, turn: impl AsyncFn()) -> Vec<String> {
    let mut answers = Vec::new();
    let mut lanes = Vec::new();
    // Where deadlines pass by themselves, few enough that all come in time.
    for number in 0..if case.sets_clock() { 8 } else { 2 } {
        let (holder, taker) = (case.brief_claim(), NewClaim { keep: case.brief(1), ..case.claim() });
        let lane =
            Lane { case, turn: &turn, key: case.key(&format!("{name} {number}")), holder, taker, number };
        lane.claim_and_save(&mut answers).await;
        lanes.push(lane);
    }
    let (mut leases, mut ends) = (Vec::new(), Vec::new());
    for lane in &lanes {
        let Some(record) = lane.stored(&mut answers).await else { continue };
        leases.push(record.lease_until);
        ends.push(record.unresolved_until);
    }
    reach_the_last(case, &leases).await;
    for lane in &lanes {
        lane.take_over(&mut answers).await;
    }
    still_before_any(case, &ends).await;
    let mut ends = Vec::new();
    for lane in &lanes {
        lane.end(&mut answers).await;
        ends.extend(lane.stored(&mut answers).await.map(|record| record.past_from()));
    }
    still_before_any(case, &ends).await;
    reach_the_last(case, &ends).await;
    for lane in &lanes {
        lane.begin_again(&mut answers).await;
    }
    answers
}

/// What happens to one key.
struct Lane<'a, T> {
    case: &'a Case,
    turn: &'a T,
    key: RecordKey,
    holder: NewClaim,
    taker: NewClaim,
    number: usize,
}

impl<T: AsyncFn()> Lane<'_, T> {
    async fn claim_and_save(&self, answers: &mut Vec<String>) {
        let (holder, stranger) = (self.caller(&self.holder), self.case.claim());
        let stranger = self.caller(&stranger);
        for call in [
            holder.looks(),
            holder.claims(Expected::Absent),
            stranger.claims(Expected::Absent),
            holder.saves(2, "half-way"),
            stranger.saves(2, "a stranger's"),
            holder.looks(),
        ] {
            answers.push(self.told(&call).await);
        }
    }

    async fn take_over(&self, answers: &mut Vec<String>) {
        let (holder, taker) = (self.caller(&self.holder), self.caller(&self.taker));
        for call in
            [taker.claims(holder.at(2)), holder.completes(3), holder.releases(3), taker.saves(2, "taken")]
        {
            answers.push(self.told(&call).await);
        }
    }

    async fn end(&self, answers: &mut Vec<String>) {
        let (key, token, keep) = (self.key.clone(), self.taker.token, self.case.brief(4));
        let ending = if self.number.is_multiple_of(2) {
            let completion = Completion { retention: keep, ..completion(3, response("done")) };
            Request::Complete { key, token, completion }
        } else {
            Request::Release { key, token, release: Release { keep, ..release(3) } }
        };
        let stranger = self.case.claim();
        for call in [ending.clone(), ending, self.caller(&stranger).claims(Expected::Absent)] {
            answers.push(self.told(&call).await);
        }
    }

    /// The record, which should be there.
    async fn stored(&self, answers: &mut Vec<String>) -> Option<Record> {
        let found = self.case.store().load(&self.key).await;
        answers.push(format!("a record is there: {}", found.is_some()));
        found.map(|found| found.record)
    }

    /// A caller that looks, and claims what it has found to be free; again if it was purged in between.
    async fn begin_again(&self, answers: &mut Vec<String>) {
        let (store, claim) = (self.case.store(), self.case.claim());
        for _ in 0..LOOKS_MAX {
            (self.turn)().await;
            let found = store.load(&self.key).await;
            let asked = fingerprint("charge 1000 usd").into();
            let state = match &found {
                Some(found) => observe(Some(&found.record), &asked, found.now),
                None => KeyState::Absent,
            };
            let expected = match state {
                KeyState::Absent => Expected::Absent,
                KeyState::Expired { version, .. } => Expected::Exactly(version),
                other => return answers.push(format!("the key, past its time: {other:?}")),
            };
            if let ClaimOutcome::Claimed(_) = store.claim(&self.key, &claim, expected).await {
                return answers.push(self.told(&self.caller(&claim).completes(2)).await);
            }
        }
        answers.push(format!("none of {LOOKS_MAX} claims of what was seen was granted"));
    }

    fn caller<'a>(&'a self, claim: &'a NewClaim) -> Caller<'a> {
        Caller { key: &self.key, claim }
    }

    /// What the call was answered. Tokens are other ones in each run, so they are called by who holds them.
    async fn told(&self, call: &Request) -> String {
        (self.turn)().await;
        let answer = call.deliver(&*self.case.plain_store()).await;
        if let Some(error) = answer.error() {
            failed(&format!("{:?}", call.verb()), error);
        }
        let told = format!("{:?}: {}", call.verb(), told(&answer));
        let named = told.replace(&format!("{:?}", self.holder.token), "the holder's");
        named.replace(&format!("{:?}", self.taker.token), "the taker's")
    }
}

async fn reach_the_last(case: &Case, instants: &[Timestamp]) {
    if let Some(last) = instants.iter().max() {
        case.reach(*last).await;
    }
}

async fn still_before_any(case: &Case, deadlines: &[Timestamp]) {
    if let Some(first) = deadlines.iter().min() {
        case.still_before(*first).await;
    }
}

const LOOKS_MAX: usize = 100;
