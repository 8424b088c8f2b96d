//! A call that stands still at each of its awaits, while others come in.
//!
//! Whatever was answered, and whatever is left, must be what some order of the same calls gives, each in one step.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use onceonly::{Expected, ManualClock, NewClaim, RecordKey, Span, Timestamp};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::caller::Caller;
use crate::call::{Answer, Request};
use crate::case::{Case, seconds};
use crate::drops::{DropPoint, Polled, drop_at, sweep};
use crate::handle::{Handle, failed};
use crate::race::joined;
use crate::reference::ReferenceStore;
use crate::told::told;
use crate::verdict::broken;

pub(super) async fn a_claim_that_stands_still_is_one_step(case: &Case) {
    everywhere(case, |[first, second, _]| Scene {
        before: vec![],
        call: first.claims(Expected::Absent),
        rivals: vec![
            vec![second.looks()],
            vec![second.claims(Expected::Absent)],
            vec![second.claims(Expected::Absent), second.completes(2)],
            vec![second.claims(Expected::Absent), second.releases(2)],
        ],
    })
    .await;
}

pub(super) async fn a_takeover_that_stands_still_is_one_step(case: &Case) {
    everywhere(case, |[first, second, third]| Scene {
        before: vec![first.claims(Expected::Absent), first.ends_its_lease(2)],
        call: second.claims(first.at(2)),
        rivals: vec![
            vec![first.saves(3, "late")],
            vec![first.completes(3)],
            vec![first.releases(3)],
            vec![third.claims(first.at(2)), third.completes(2)],
        ],
    })
    .await;
}

pub(super) async fn a_renewal_that_stands_still_is_one_step(case: &Case) {
    everywhere(case, |[first, second, _]| Scene {
        before: vec![first.claims(Expected::Absent)],
        call: first.saves(2, "one"),
        rivals: vec![
            vec![first.saves(3, "two"), first.looks()],
            vec![first.completes(3)],
            vec![first.releases(3)],
            vec![first.ends_its_lease(3), second.claims(first.at(3))],
        ],
    })
    .await;
}

pub(super) async fn a_completion_that_stands_still_is_one_step(case: &Case) {
    everywhere(case, |[first, second, _]| Scene {
        before: vec![first.claims(Expected::Absent)],
        call: first.completes(3),
        rivals: vec![
            vec![first.saves(2, "one"), first.looks()],
            vec![first.completes(4)],
            vec![first.releases(4)],
            vec![first.ends_its_lease(2), second.claims(first.at(2)), second.completes(2)],
        ],
    })
    .await;
}

pub(super) async fn a_release_that_stands_still_is_one_step(case: &Case) {
    everywhere(case, |[first, second, _]| Scene {
        before: vec![first.claims(Expected::Absent), first.saves(2, "one")],
        call: first.releases(4),
        rivals: vec![
            vec![first.saves(3, "two"), first.looks()],
            vec![first.completes(5)],
            vec![first.ends_its_lease(3), second.claims(first.at(3)), second.completes(2)],
        ],
    })
    .await;
}

pub(super) async fn a_purge_that_stands_still_is_one_step(case: &Case) {
    everywhere(case, |[first, second, _]| Scene {
        before: vec![brief_claim(case, first)],
        call: Request::PurgeExpired { limit: 1_000 },
        rivals: vec![
            vec![second.claims(first.at(1))],
            vec![second.claims(first.at(1)), second.completes(2)],
            vec![Request::PurgeExpired { limit: 1_000 }, second.claims(Expected::Absent)],
        ],
    })
    .await;
}

/// What happens to one key.
struct Scene {
    before: Vec<Request>,
    /// The call that stands still. A purge meets a record that is past its time.
    call: Request,
    /// Who comes in meanwhile: one after the other, and each row in a play of its own.
    rivals: Vec<Vec<Request>>,
}

/// Plays the scene with each row of rivals, at each poll of the call.
async fn everywhere(case: &Case, scene: impl Fn([Caller<'_>; 3]) -> Scene) {
    let (handle, other) = (case.another().await, case.another().await);
    let (mut number, mut row, mut rows) = (0, 0, 1);
    while row < rows {
        sweep(async |point| {
            number += 1;
            // However many scenes there are, only what is claimed briefly is past its time in one of them.
            let claim = || NewClaim { keep: Span::MAX, keep_unresolved: Span::MAX, ..case.claim() };
            let (key, claims) = (case.key(&format!("scene {number}")), [claim(), claim(), claim()]);
            let Scene { before, call, mut rivals } =
                scene(claims.each_ref().map(|claim| Caller { key: &key, claim }));
            rows = rivals.len();
            let play = Play { case, key: &key, before, call, rivals: rivals.swap_remove(row) };
            play.at(point, &handle, &other).await
        })
        .await;
        row += 1;
    }
}

/// A claim that is past its time as soon as can be waited for.
fn brief_claim(case: &Case, caller: Caller<'_>) -> Request {
    let brief = case.brief(1);
    let claim = NewClaim { lease: brief, keep: brief, keep_unresolved: brief, ..caller.claim.clone() };
    Request::Claim { key: caller.key.clone(), claim, expected: Expected::Absent }
}

/// A scene with one row of rivals.
struct Play<'a> {
    case: &'a Case,
    key: &'a RecordKey,
    before: Vec<Request>,
    call: Request,
    rivals: Vec<Request>,
}

impl Play<'_> {
    /// Lets the call stand still at `point` while its rivals run to their end, lets it go on, and looks for an order
    /// that explains it all.
    async fn at(&self, point: DropPoint, handle: &Handle, other: &Handle) -> Polled<()> {
        self.set_the_scene().await;
        let store = handle.plain();
        let mut call = Box::pin(self.call.deliver(&*store));
        // Only what is lent of it is dropped here: the call itself stands still.
        let early = drop_at(&mut call, point).await;

        let (rivals, alone) = self.let_rivals_in(other).await;
        let (polled, answer) = match early {
            Polled::Ready(answer) => (Polled::Ready(()), answer),
            Polled::Dropped => (Polled::Dropped, call.await),
        };
        let rivals = joined(rivals).await;
        let left = self.look().deliver(&*self.case.plain_store()).await;

        for answer in rivals.iter().chain([&answer, &left]) {
            if let Some(error) = answer.error() {
                failed(&format!("a call beside {:?} that stood still", self.call.verb()), error);
            }
        }
        let last = self.rivals.len();
        let places = match polled {
            Polled::Ready(()) => 0..=0,
            Polled::Dropped if point.polls == 0 && alone => last..=last,
            Polled::Dropped => 0..=last,
        };
        self.explain(&Story::of(&answer, &rivals, &left), point, places).await;
        polled
    }

    async fn set_the_scene(&self) {
        for call in &self.before {
            if let Some(error) = call.deliver(&*self.case.plain_store()).await.error() {
                failed("a call before the scene", error);
            }
        }
        if self.is_past_its_time() {
            self.case.reach(self.case.store().record(self.key).await.past_from()).await;
        }
    }

    /// Whether the rivals have come to their end by themselves. A store may let them wait for a call that it has begun:
    /// then they run beside it, from here on.
    async fn let_rivals_in(&self, other: &Handle) -> (JoinHandle<Vec<Answer>>, bool) {
        let (over, all_are_over) = oneshot::channel();
        let (rivals, store) = (self.rivals.clone(), other.plain());
        let running = tokio::spawn(async move {
            let mut answers = Vec::new();
            for rival in &rivals {
                answers.push(rival.deliver(&*store).await);
            }
            // Nobody may be waiting for it any more.
            let _ = over.send(());
            answers
        });
        let alone = tokio::time::timeout(STANDSTILL, all_are_over).await.is_ok();
        (running, alone)
    }

    /// Ends the case unless the calls, each in one step and in some order, give what was seen.
    async fn explain(&self, seen: &Story, point: DropPoint, places: RangeInclusive<usize>) {
        let mut due = Vec::new();
        for place in places {
            let story = self.replayed(place).await;
            if story == *seen {
                return;
            }
            due.push(format!("behind {place} of them: {story}"));
        }
        broken(format!(
            "no order explains what came of {:?}, which stood still after {} polls, and of others meanwhile\nfound: \
             {seen}\n{}",
            self.call.verb(),
            point.polls,
            due.join("\n")
        ));
    }

    /// What the same calls give where each is one step, if the one that stood still comes behind `place` others.
    async fn replayed(&self, place: usize) -> Story {
        let clock = ManualClock::starting_at(Timestamp::from_micros(0));
        let model = ReferenceStore::new(clock.clone());
        for call in &self.before {
            call.deliver(&model).await;
        }
        if self.is_past_its_time() {
            clock.advance(seconds(86_400).as_duration());
        }
        let mut rivals = Vec::new();
        for rival in &self.rivals[..place] {
            rivals.push(rival.deliver(&model).await);
        }
        let answer = self.call.deliver(&model).await;
        for rival in &self.rivals[place..] {
            rivals.push(rival.deliver(&model).await);
        }
        Story::of(&answer, &rivals, &self.look().deliver(&model).await)
    }

    fn look(&self) -> Request {
        Request::Load { key: self.key.clone() }
    }

    fn is_past_its_time(&self) -> bool {
        matches!(self.call, Request::PurgeExpired { .. })
    }
}

/// What came of the calls: the answers, and what is stored then.
#[derive(PartialEq, Eq)]
struct Story {
    answer: String,
    rivals: Vec<String>,
    left: String,
}

impl Story {
    fn of(answer: &Answer, rivals: &[Answer], left: &Answer) -> Self {
        Self { answer: told(answer), rivals: rivals.iter().map(told).collect(), left: told(left) }
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { answer, rivals, left } = self;
        write!(f, "it was told {answer:?}, the others {rivals:?}, and stored is {left:?}")
    }
}

/// How long rivals get to come to their end while the call stands still.
const STANDSTILL: Duration = Duration::from_millis(500);
