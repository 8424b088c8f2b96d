//! Which schedules of a race are tried.

use std::env::{self, VarError};
use std::iter;
use std::num::NonZeroUsize;

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, Runner, thread};

/// Runs the test in every schedule that there is: whatever holds is proved, for the calls that the test makes.
pub(crate) fn exhaustively(test: impl Fn() + Send + Sync + 'static) {
    let schedules = run(DfsScheduler::new(Some(SCHEDULES_MAX), false), test);
    assert!(schedules > 1, "no two calls of this test can meet");
    assert!(schedules < SCHEDULES_MAX, "there are more schedules than are tried: make fewer calls");
    println!("{schedules} schedules, all that there are");
}

/// Runs the test in schedules drawn at random: first in such as choose the next thread anew at each step, then in as
/// many with few switches, in which a thread may stand still until the others have come to their ends.
pub(crate) fn at_random(test: impl Fn() + Send + Sync + Clone + 'static) {
    let schedules = schedules();
    run(RandomScheduler::new(schedules), test.clone());
    let seed = getrandom::u64().expect("the operating system provides random bytes");
    println!("again with SHUTTLE_RANDOM_SEED={seed}");
    run(PctScheduler::new_from_seed(seed, DEPTH, schedules), test);
}

/// Lets the callers go, each on a thread of its own; their answers, in their order.
pub(crate) fn race<T: Send>(callers: impl IntoIterator<Item = impl FnOnce() -> T + Send>) -> Vec<T> {
    let (_, answers) = race_of_two(iter::empty::<fn()>(), callers);
    answers
}

/// Lets one caller and another one go; their answers.
pub(crate) fn meet<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut ones, mut others) = race_of_two([one], [other]);
    (ones.remove(0), others.remove(0))
}

/// Lets callers go that do two different things, each on a thread of its own; the answers of both.
///
/// All in one scope of threads: of two within one another, the outer one's last thread ends a wait of the inner one
/// that is not for it (shuttle-std 0.1.5).
pub(crate) fn race_of_two<A: Send, B: Send>(
    ones: impl IntoIterator<Item = impl FnOnce() -> A + Send>,
    others: impl IntoIterator<Item = impl FnOnce() -> B + Send>,
) -> (Vec<A>, Vec<B>) {
    let mut others: Vec<_> = others.into_iter().collect();
    let last = others.pop().expect("a race has callers");
    thread::scope(|scope| {
        let ones: Vec<_> = ones.into_iter().map(|caller| scope.spawn(caller)).collect();
        let others: Vec<_> = others.into_iter().map(|caller| scope.spawn(caller)).collect();
        // On this thread, which would only wait: one thread less makes for far fewer schedules.
        let last = last();
        let ones = ones.into_iter().map(|caller| caller.join().unwrap()).collect();
        let others = others.into_iter().map(|caller| caller.join().unwrap()).chain([last]).collect();
        (ones, others)
    })
}

fn run(scheduler: impl Scheduler + 'static, test: impl Fn() + Send + Sync + 'static) -> usize {
    let mut config = Config::new();
    // Of atomics that are not declared as sequentially consistent.
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(test)
}

fn schedules() -> usize {
    match env::var("ONCEONLY_SCHEDULES") {
        Ok(text) => {
            text.trim().parse::<NonZeroUsize>().expect("ONCEONLY_SCHEDULES is a number above 0").get()
        }
        Err(VarError::NotPresent) => 1_000,
        Err(error) => panic!("ONCEONLY_SCHEDULES: {error}"),
    }
}

/// The most schedules of an exhaustive search.
const SCHEDULES_MAX: usize = 3_000_000;

/// A bug that needs this many pairs of steps in a certain order is met by one of t × k² schedules at least, where t
/// threads make k steps (Burckhardt et al., *A randomized scheduler with probabilistic guarantees of finding bugs*,
/// 2010).
const DEPTH: usize = 3;
