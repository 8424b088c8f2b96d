//! What must hold of every input, tried on generated ones; an input of which it does not hold is made as small as it
//! can be before it is reported.

mod row;

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use onceonly::{RecordKey, Scope};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

pub(crate) use self::row::{RowTree, row};
use crate::case::Case;
use crate::random;
use crate::verdict::Left;

/// How many inputs are tried.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// So many, if there is time.
    pub(crate) trials: usize,
    /// So many, however long they take.
    pub(crate) trials_min: usize,
    /// The others for this part of the time that the case may take; 6 is a sixth. So a slow store is never said to be
    /// stuck, and whoever lets cases take longer has more tried. How many it came to is noted as evidence.
    pub(crate) part: u32,
}

/// Inputs drawn from a strategy, the same for the same seed.
pub(crate) fn drawn<S: Strategy>(case: &Case, strategy: S) -> impl FnMut() -> S::Tree {
    // Every choice among alternatives seeds generators of its own, which takes ChaCha ten times as long.
    let rng = TestRng::from_seed(RngAlgorithm::XorShift, &case.random().sixteen());
    // Only its random numbers are used: trials are awaited here, and nothing is kept in files.
    let mut runner = TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng);
    move || match strategy.new_tree(&mut runner) {
        Ok(tree) => tree,
        Err(reason) => panic!("a strategy of the suite gives no input: {reason}"),
    }
}

/// Runs `trial` on one input after the other. It ends as a case does, and is given a number that no other trial of the
/// case has, for names of its own. If the store breaks a clause, the case ends with what the trial says of the smallest
/// input that shows it.
pub(crate) async fn for_all<T>(
    case: &Case,
    plan: Plan,
    mut inputs: impl FnMut() -> T,
    trial: impl AsyncFn(usize, &T::Value),
) where
    T: ValueTree,
    T::Value: PartialEq,
{
    let began = Instant::now();
    let time = case.bound() / plan.part;
    // Whoever names a seed wants to see again what it showed, also on a machine that is slower by now.
    let time = if random::seed_is_given() { time * 3 } else { time };
    let mut tried = 0;
    while tried < plan.trials_min || (tried < plan.trials && began.elapsed() < time) {
        case.note_trial();
        let mut input = inputs();
        let value = input.current();
        if let Err(left) = caught(trial(tried, &value)).await {
            if !shows_fault(&left) {
                resume_unwind(Box::new(left));
            }
            let found = Smallest { value, left, trials: tried, time: case.bound() / 4 };
            resume_unwind(Box::new(found.simplified(&mut input, trial).await));
        }
        tried += 1;
    }
}

/// The smallest input so far that shows a fault.
struct Smallest<V> {
    value: V,
    left: Left,
    /// How many trials there have been.
    trials: usize,
    /// For how long simpler inputs are tried.
    time: Duration,
}

impl<V: PartialEq> Smallest<V> {
    /// Tries simpler inputs as long as there are any, and gives what the smallest of them shows.
    async fn simplified<T>(mut self, input: &mut T, trial: impl AsyncFn(usize, &V)) -> Left
    where
        T: ValueTree<Value = V>,
    {
        let (began, last) = (Instant::now(), self.trials + SIMPLER_INPUTS);
        let mut is_other = input.simplify();
        while is_other {
            let value = input.current();
            if value == self.value {
                // The step before was undone.
                is_other = input.simplify();
                continue;
            }
            if self.trials == last || began.elapsed() > self.time {
                return self.cut_short();
            }
            self.trials += 1;
            is_other = match caught(trial(self.trials, &value)).await {
                Err(left) if shows_fault(&left) => {
                    (self.value, self.left) = (value, left);
                    input.simplify()
                }
                _ => input.complicate(),
            };
        }
        self.left
    }

    fn cut_short(mut self) -> Left {
        if let Left::Broken { message, .. } | Left::CallFailed(message) = &mut self.left {
            message.push_str("\n(there was no time to look for a smaller input)");
        }
        self.left
    }
}

/// Whether the store is at fault. An input on which nothing was learned shows nothing.
const fn shows_fault(left: &Left) -> bool {
    match left {
        Left::Broken { .. } | Left::CallFailed(_) => true,
        Left::Inconclusive(_) | Left::SetUp(_) | Left::NotClaimed(_) => false,
    }
}

/// What the trial gives, or how it was left.
async fn caught<T>(trial: impl Future<Output = T>) -> Result<T, Left> {
    let mut trial = pin!(trial);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| trial.as_mut().poll(context))) {
        Ok(progress) => progress.map(Ok),
        Err(panic) => Poll::Ready(Err(Left::from_panic(panic))),
    })
    .await
}

/// A scope of one trial, so that its keys can have the very names that they are tested with.
pub(crate) fn scope_of(case: &Case, trial: usize, suffix: &str) -> Scope {
    case.scope(&format!("#{trial}.{suffix}"))
}

/// A key in such a scope, also the letters in it that cannot be seen, and the suffix.
pub(crate) fn shown_key(key: &RecordKey) -> String {
    let name = format!("\"{}\"", key.key().as_str().escape_default());
    let scope = key.scope().name().and_then(|scope| scope.split_once('#')?.1.split_once('.'));
    match scope {
        None | Some((_, "")) => name,
        Some((_, suffix)) => format!("{name} in scope \"..{}\"", suffix.escape_default()),
    }
}

/// How many simpler inputs are tried.
const SIMPLER_INPUTS: usize = 2_000;
