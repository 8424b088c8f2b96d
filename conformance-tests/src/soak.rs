//! Many runs on a busy machine: whether the suite ever accuses a store that is right.

mod load;
mod log;
mod summary;

use std::collections::VecDeque;
use std::env;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use self::load::Load;
use self::log::{Accusation, Line, Log};
pub use self::summary::summary;
use crate::evidence::Outcome;
use crate::suite::{CaseInfo, Flake, Suite};

/// Where the log is, if the environment asks for many runs instead of one.
pub(crate) fn asked_for() -> Option<PathBuf> {
    env::var_os(LOG).map(PathBuf::from)
}

/// Makes the runs that the log does not have yet, and appends each as it ends. Whoever is interrupted goes on where the
/// last whole run ended.
pub(crate) fn run(suite: &Suite, path: &Path) -> ExitCode {
    match continued(suite, path) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(accusations) => {
            eprintln!("{accusations} cases did not hold, see {}", path.display());
            ExitCode::FAILURE
        }
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::FAILURE
        }
    }
}

/// How many cases of the runs did not hold, those of earlier runs in the log included.
fn continued(suite: &Suite, path: &Path) -> Result<usize, String> {
    let plan = Plan::from_environment()?;
    let label = env::var(LABEL).unwrap_or_else(|_| env!("CARGO_PKG_VERSION").to_owned());
    let mut log = Log::open(path)?;
    let store = suite.declaration().name;
    let _load = Load::of_every_processor();
    for (cases, planned) in [(Cases::All, plan.all), (Cases::Marked, plan.marked)] {
        for number in log.runs_of(&label, store, cases.name()) + 1..=planned {
            let line = one_run(suite, cases, &label, number);
            eprintln!("{store}, {} cases, run {number} of {planned}: {}", cases.name(), line.words());
            log.append(line)?;
        }
    }
    Ok(log.accusations(&label, store))
}

/// Which cases a run consists of.
#[derive(Clone, Copy)]
enum Cases {
    /// Every case.
    All,
    /// Those whose verdict may depend on the machine.
    Marked,
}

impl Cases {
    const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Marked => "marked",
        }
    }

    fn list(self) -> VecDeque<CaseInfo> {
        let all = Suite::cases();
        match self {
            Self::All => all.collect(),
            Self::Marked => all.filter(|case| case.flake != Flake::Never).collect(),
        }
    }
}

/// How many runs of each kind.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    all: u32,
    marked: u32,
}

impl Plan {
    fn from_environment() -> Result<Self, String> {
        match env::var(RUNS) {
            Ok(text) => Self::parse(&text),
            Err(_) => Ok(Self { all: 10, marked: 200 }),
        }
    }

    /// Reads `all=10,marked=200`; what is not named is not run.
    fn parse(text: &str) -> Result<Self, String> {
        let mut plan = Self { all: 0, marked: 0 };
        for part in text.split(',') {
            let unknown = || format!("{RUNS}: {part:?} is neither all=NUMBER nor marked=NUMBER");
            let (kind, count) = part.trim().split_once('=').ok_or_else(unknown)?;
            let count = count.parse().map_err(|_| unknown())?;
            match kind {
                "all" => plan.all = count,
                "marked" => plan.marked = count,
                _ => return Err(unknown()),
            }
        }
        Ok(plan)
    }
}

/// Runs the cases once, as many at a time as a test runner would.
fn one_run(suite: &Suite, cases: Cases, label: &str, number: u32) -> Line {
    let began = Instant::now();
    let waiting = Mutex::new(cases.list());
    let line = Mutex::new(Line::empty(label, suite.declaration().name, cases.name(), number));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(case) = next(&waiting) {
                    let outcome = suite.run(case.name);
                    let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
                    match outcome {
                        Ok(Outcome::Held(evidence)) => {
                            line.held += 1;
                            line.tried_again += u64::from(evidence.attempts - 1);
                        }
                        Ok(Outcome::NotClaimed(_)) => line.not_claimed += 1,
                        Err(failure) => line.accusations.push(Accusation::of(&failure)),
                    }
                }
            });
        }
    });
    let mut line = line.into_inner().unwrap_or_else(PoisonError::into_inner);
    line.seconds = began.elapsed().as_secs_f64();
    line
}

fn next(waiting: &Mutex<VecDeque<CaseInfo>>) -> Option<CaseInfo> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
}

/// The path of the log. If it is set, the conformance test makes many runs instead of one.
const LOG: &str = "ONCEONLY_SOAK";
/// How many runs, such as `all=10,marked=200`, which is what is done if it is not set.
const RUNS: &str = "ONCEONLY_SOAK_RUNS";
/// What is tested, such as a commit. Runs of another label are left alone, and do not count.
const LABEL: &str = "ONCEONLY_SOAK_LABEL";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_names_how_many_runs_of_which_cases() {
        assert_eq!(Plan::parse("all=3,marked=20"), Ok(Plan { all: 3, marked: 20 }));
        assert_eq!(Plan::parse("all=200"), Ok(Plan { all: 200, marked: 0 }));
        for wrong in ["", "all", "all=-1", "most=3", "all=3;marked=2"] {
            assert!(Plan::parse(wrong).is_err(), "{wrong:?} was taken");
        }
    }

    #[test]
    fn the_marked_cases_are_some_of_all() {
        assert!(!Cases::Marked.list().is_empty());
        assert!(Cases::Marked.list().len() < Cases::All.list().len());
    }
}
