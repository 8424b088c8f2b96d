//! The `main` of a backend's conformance test.

use std::ffi::OsString;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::{env, io};

use libtest_mimic::{Arguments, Failed, Trial};

use crate::fixture::Fixture;
use crate::report::Fact;
use crate::run::Run;
use crate::soak;
use crate::suite::{CaseInfo, Suite};
use crate::worker::serve_as_process;

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
            $crate::run_as_test::<$fixture>($crate::TestTarget {
                package: ::core::env!("CARGO_PKG_NAME"),
                version: ::core::env!("CARGO_PKG_VERSION"),
                name: ::core::env!("CARGO_CRATE_NAME"),
            })
        }
    };
}

/// The test of a package that runs the suite, as cargo knows it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by a macro in the crate of its user")]
pub struct TestTarget {
    /// The package, which is named in the report's versions.
    pub package: &'static str,
    /// Its version.
    pub version: &'static str,
    /// The test as a crate.
    pub name: &'static str,
}

impl TestTarget {
    /// The shell command that runs the test, ready for its arguments.
    fn command(&self) -> String {
        let Self { package, name, .. } = self;
        // The name of a crate has `_` also where its target has `-`. Cargo takes patterns.
        if name.contains('_') {
            return format!("cargo test -p {package} --test '{}' --", name.replace('_', "?"));
        }
        format!("cargo test -p {package} --test {name} --")
    }
}

/// What [`main!`](crate::main) calls: runs the cases that the command line asks for, and reports.
///
/// Fails if a case fails, and also if the number of cases that ran is not the number that was asked for, or the report
/// that the environment asks for (see [`report`](crate::report)) cannot be written.
pub fn run_as_test<F: Fixture>(target: TestTarget) -> ExitCode {
    if let Some(ended) = serve_as_process::<F>() {
        return ended;
    }
    let suite = Suite::of::<F>()
        .with_command(&target.command())
        .with_processes(|| Ok(Command::new(env::current_exe()?)));
    if let Some(log) = soak::asked_for() {
        return soak::run(&suite, &log);
    }
    let tested = Fact { name: target.package.to_owned(), value: target.version.to_owned() };
    run(suite, vec![tested], &Arguments::from_args())
}

/// Runs a suite as [`main!`](crate::main) does, with the arguments of a test behind the program's name: for one that is
/// not made from a [`Fixture`] alone.
pub fn run_suite(suite: Suite, arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let name = OsString::from("conformance");
    run(suite, Vec::new(), &Arguments::from_iter(std::iter::once(name).chain(arguments)))
}

fn run(suite: Suite, versions: Vec<Fact>, arguments: &Arguments) -> ExitCode {
    let run = match Run::begin(suite, versions) {
        Ok(run) => Arc::new(run),
        Err(error) => return refused(&error),
    };
    let trials = Suite::cases().map(|case| trial(&run, case)).collect::<Vec<_>>();
    let conclusion = libtest_mimic::run(arguments, trials);
    if arguments.list {
        return ExitCode::SUCCESS;
    }
    let report = run.report();
    let left_out = usize::try_from(conclusion.num_filtered_out).unwrap_or(usize::MAX);
    let count = Count { ran: report.cases.len(), left_out, listed: report.cases_listed };
    println!("conformance of {:?}, seed {}: {}", report.store, run.seed(), count.summary());
    if let Some(claim) = report.declared.untested() {
        println!("declared and not tested: {claim}");
    }
    for (name, reason) in report.not_claimed() {
        println!("not claimed: {name}: {reason}");
    }
    match run.leave(report) {
        Ok(Some(place)) => println!("report: {}", place.display()),
        Ok(None) => {}
        Err(error) => return refused(&error),
    }
    if !count.is_complete() {
        println!("the number of cases that ran is not the number that was asked for");
        return ExitCode::FAILURE;
    }
    conclusion.exit_code()
}

/// Says that the report that was asked for cannot be had.
fn refused(error: &io::Error) -> ExitCode {
    println!("the report that ONCEONLY_REPORT asks for cannot be written: {error}");
    ExitCode::FAILURE
}

fn trial(run: &Arc<Run>, case: CaseInfo) -> Trial {
    let run = Arc::clone(run);
    Trial::test(case.name, move || run.case(&case).map_err(Failed::from))
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
    fn the_command_finds_a_test_whose_name_has_hyphens() {
        let target = |name| TestTarget { package: "mine", version: "0.1.0", name };

        assert_eq!(target("conformance").command(), "cargo test -p mine --test conformance --");
        assert_eq!(target("on_redb").command(), "cargo test -p mine --test 'on?redb' --");
    }

    #[test]
    fn a_case_that_neither_ran_nor_was_left_out_is_missed() {
        assert!(Count { ran: 3, left_out: 2, listed: 5 }.is_complete());
        assert!(!Count { ran: 2, left_out: 2, listed: 5 }.is_complete());
        assert!(!Count { ran: 4, left_out: 2, listed: 5 }.is_complete());
    }
}
