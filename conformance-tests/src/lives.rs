//! Callers that make one call after the other on keys of their own, until they are cut off.

use std::time::{Duration, Instant};

use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Expected, NewClaim, Record, RecordKey, ReleaseOutcome,
    RenewOutcome, Timestamp,
};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinHandle;

use crate::call::{Answer, Request};
use crate::case::{Case, checkpoint, completion, end_of_lease, release, response, seconds, version};
use crate::effect::Effect;
use crate::handle::{Handle, failed};
use crate::race::joined;
use crate::random::Random;
use crate::verdict::broken;

/// Callers at work, each with one call under way at a time.
pub(crate) struct Callers {
    tasks: Vec<JoinHandle<LastCalls>>,
    answers: UnboundedReceiver<()>,
}

/// How many callers, and how many lives each goes through.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) callers: usize,
    pub(crate) lives: usize,
}

/// The last call on each record, after which nothing more was asked of it.
#[derive(Default)]
pub(crate) struct LastCalls {
    /// Its answer came.
    pub(crate) answered: Vec<Effect>,
    /// No answer came, or none that says what happened. The calls before it were answered.
    pub(crate) cut_off: Vec<Effect>,
}

/// What happens to one key, or with one batch.
struct Life {
    keys: Vec<RecordKey>,
    calls: Vec<Request>,
}

impl Callers {
    /// Sends callers to work on `handle`. No two loads of one case have the same `name`.
    pub(crate) async fn start(
        case: &Case,
        handle: &Handle,
        random: &mut Random,
        name: &str,
        load: Load,
    ) -> Self {
        let earliest = case.now().await;
        let resolution = case.declaration().resolution;
        let (sender, answers) = mpsc::unbounded_channel();
        let mut tasks = Vec::with_capacity(load.callers);
        for caller in 0..load.callers {
            let lives = (0..load.lives)
                .map(|number| Life::chosen(case, random, &format!("{name}, {caller}, {number}")))
                .collect();
            let caller = Caller { handle: handle.clone(), earliest, resolution, answers: sender.clone() };
            tasks.push(tokio::spawn(caller.work(lives)));
        }
        Self { tasks, answers }
    }

    /// Waits for an instant at which each caller has had four answers at most, and the calls under way are at any point
    /// of theirs.
    pub(crate) async fn random_instant(&mut self, random: &mut Random) {
        let began = Instant::now();
        let callers = self.tasks.len();
        let answers = random.below(4 * callers);
        for _ in 0..answers {
            if self.answers.recv().await.is_none() {
                // No caller is left.
                return;
            }
        }
        let calls_each = (answers / callers + 1) as f64;
        random_part_of(began.elapsed().div_f64(calls_each), random).await;
    }

    /// Waits until all callers are through or cut off.
    pub(crate) async fn over(self) -> LastCalls {
        let mut all = LastCalls::default();
        for task in self.tasks {
            let LastCalls { answered, cut_off } = joined(task).await;
            all.answered.extend(answered);
            all.cut_off.extend(cut_off);
        }
        all
    }
}

/// Waits for a part of `one_call`, the time that a call takes. Whoever acts when an answer has come acts when the next
/// call has hardly begun; this meets it at any point.
pub(crate) async fn random_part_of(one_call: Duration, random: &mut Random) {
    let part = one_call.mul_f64(random.below(1_000) as f64 / 1_000.0);
    let since = Instant::now();
    while since.elapsed() < part {
        tokio::task::yield_now().await;
    }
}

impl Life {
    /// One of the ways that a key can go, with every verb that writes in one of them.
    fn chosen(case: &Case, random: &mut Random, name: &str) -> Self {
        let (key, claim) = (case.key(name), claim(case));
        let token = claim.token;
        let fresh = Request::Claim { key: key.clone(), claim, expected: Expected::Absent };
        let renew = |renewal| Request::Renew { key: key.clone(), token, renewal };
        let saved = renew(checkpoint(2, seconds(600), "half-way"));
        let complete = |token, number| {
            let completion = completion(number, response(&format!("the result of {name}")));
            Request::Complete { key: key.clone(), token, completion }
        };
        let calls = match random.below(5) {
            0 => vec![fresh, complete(token, 2)],
            1 => vec![fresh, saved, complete(token, 3)],
            2 => vec![fresh, saved, Request::Release { key: key.clone(), token, release: release(3) }],
            3 => {
                let taker = NewClaim { attempt: 2, ..self::claim(case) };
                let expected = Expected::Exactly(version(token, 2));
                let done = complete(taker.token, 2);
                let taken = Request::Claim { key: key.clone(), claim: taker, expected };
                vec![fresh, renew(end_of_lease(2)), taken, done]
            }
            _ => return Self::batch(case, name),
        };
        Self { keys: vec![key], calls }
    }

    fn batch(case: &Case, name: &str) -> Self {
        let keys: Vec<RecordKey> = (0..3).map(|item| case.key(&format!("{name}, item {item}"))).collect();
        let item = |key: &RecordKey| ClaimRequest {
            key: key.clone(),
            claim: claim(case),
            expected: Expected::Absent,
        };
        let calls = vec![Request::ClaimMany { claims: keys.iter().map(item).collect() }];
        Self { keys, calls }
    }
}

/// A claim with something that half a write could lose.
fn claim(case: &Case) -> NewClaim {
    NewClaim { checkpoint: Some("inherited".into()), ..case.claim() }
}

struct Caller {
    handle: Handle,
    earliest: Timestamp,
    resolution: Duration,
    answers: UnboundedSender<()>,
}

impl Caller {
    async fn work(self, lives: Vec<Life>) -> LastCalls {
        let mut last = LastCalls::default();
        for life in lives {
            let Life { keys, calls } = life;
            let mut record = None;
            let mut effects = Vec::new();
            for call in calls {
                effects = keys.iter().map(|key| self.effect(&call, key, record.clone())).collect();
                let Some(instant) = acknowledged(&call, call.deliver(&*self.handle.plain()).await) else {
                    last.cut_off.extend(effects);
                    return last;
                };
                // Who counts the answers may have counted enough.
                let _ = self.answers.send(());
                if let (Some(instant), [effect]) = (instant, effects.as_slice()) {
                    record = effect.at(instant).await;
                }
            }
            last.answered.extend(effects);
        }
        last
    }

    fn effect(&self, request: &Request, key: &RecordKey, before: Option<Record>) -> Effect {
        let (earliest, resolution) = (self.earliest, self.resolution);
        Effect { request: request.clone(), key: key.clone(), before, earliest, resolution }
    }
}

/// When the call ran, if its answer tells, or none if there is no telling whether it ran. Nobody else is after the keys
/// of a life, so every other answer is wrong.
fn acknowledged(request: &Request, answer: Answer) -> Option<Option<Timestamp>> {
    if let Some(error) = answer.error() {
        if error.outcome_is_unknown() {
            return None;
        }
        failed(&format!("{:?}", request.verb()), error);
    }
    match answer {
        Answer::Claim(Ok(ClaimOutcome::Claimed(stamp)))
        | Answer::Renew(Ok(RenewOutcome::Applied(stamp)))
        | Answer::Complete(Ok(CompleteOutcome::Applied(stamp))) => Some(Some(stamp.now)),
        Answer::Release(Ok(ReleaseOutcome::Applied)) => Some(None),
        Answer::ClaimMany(answers)
            if answers.iter().all(|answer| matches!(answer, Ok(ClaimOutcome::Claimed(_)))) =>
        {
            Some(None)
        }
        other => broken(format!("{:?}, which nobody was in the way of, answered {other:?}", request.verb())),
    }
}
