//! The `main` of a backend's conformance test.

use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::declaration::{Declaration, Durability, Processes};
use crate::evidence::Outcome;
use crate::fixture::Fixture;
use crate::soak;
use crate::suite::Suite;

/// Makes a backend's conformance test out of its [`Fixture`]: one line in `tests/conformance.rs`.
///
/// `Cargo.toml` must say `harness = false` for that test:
///
/// ```toml
/// [[test]]
/// name = "conformance"
/// harness = false
/// ```
///
/// It then takes the arguments of every Rust test: a filter, `--exact`, `--list`, `--test-threads`.
#[macro_export]
macro_rules! main {
    ($fixture:ty) => {
        fn main() -> ::std::process::ExitCode {
            $crate::run_as_test::<$fixture>()
        }
    };
}

/// What [`main!`](crate::main) calls: runs the cases that the command line asks for, and reports.
///
/// Fails if a case fails, and also if the number of cases that ran is not the number that was asked for.
pub fn run_as_test<F: Fixture>() -> ExitCode {
    let suite = Suite::of::<F>();
    if let Some(log) = soak::asked_for() {
        return soak::run(&suite, &log);
    }
    let arguments = Arguments::from_args();
    let ran = Arc::new(Ran::default());
    let trials = Suite::cases().map(|case| trial(&suite, case.name, &ran)).collect::<Vec<_>>();
    let listed = trials.len();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if arguments.list {
        return ExitCode::SUCCESS;
    }
    let left_out = usize::try_from(conclusion.num_filtered_out).unwrap_or(usize::MAX);
    let count = Count { ran: ran.cases.load(Ordering::Relaxed), left_out, listed };
    println!("conformance of {:?}: {}", suite.declaration().name, count.summary());
    println!("declared and not tested: {}", untested(suite.declaration()));
    for (name, reason) in ran.not_claimed() {
        println!("not claimed: {name}: {reason}");
    }
    if !count.is_complete() {
        println!("the number of cases that ran is not the number that was asked for");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// What the report must not be read as having shown.
fn untested(declaration: &Declaration) -> String {
    let durability = match declaration.durability {
        Durability::Handle => "the drop of a handle",
        Durability::Process => "the end of its process",
        Durability::PowerLoss => "a loss of power",
        Durability::Failover => "the loss of its host",
    };
    let processes = match declaration.processes {
        Processes::One => "one process",
        Processes::Many => "any number of processes",
    };
    format!("a write survives {durability}; {processes} may share the records")
}

fn trial(suite: &Suite, name: &'static str, ran: &Arc<Ran>) -> Trial {
    let suite = suite.clone();
    let ran = Arc::clone(ran);
    Trial::test(name, move || {
        ran.cases.fetch_add(1, Ordering::Relaxed);
        match suite.run(name).map_err(Failed::from)? {
            Outcome::Held(_) => {}
            Outcome::NotClaimed(reason) => lock(&ran.not_claimed).push((name, reason)),
        }
        Ok(())
    })
}

/// What the run has come to so far.
#[derive(Default)]
struct Ran {
    cases: AtomicUsize,
    not_claimed: Mutex<Vec<(&'static str, String)>>,
}

impl Ran {
    /// The cases that say nothing of this store, and why, by name.
    fn not_claimed(&self) -> Vec<(&'static str, String)> {
        let mut cases = lock(&self.not_claimed).clone();
        cases.sort();
        cases
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many cases ran, were left out by the command line, and exist.
struct Count {
    ran: usize,
    left_out: usize,
    listed: usize,
}

impl Count {
    /// Whether every case either ran or was left out on request.
    const fn is_complete(&self) -> bool {
        self.ran + self.left_out == self.listed
    }

    fn summary(&self) -> String {
        format!("{} of {} cases ran, {} left out by the command line", self.ran, self.listed, self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_neither_ran_nor_was_left_out_is_missed() {
        assert!(Count { ran: 3, left_out: 2, listed: 5 }.is_complete());
        assert!(!Count { ran: 2, left_out: 2, listed: 5 }.is_complete());
        assert!(!Count { ran: 4, left_out: 2, listed: 5 }.is_complete());
    }
}
