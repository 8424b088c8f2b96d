//! The cases of several processes, over a store on files: a store that is right passes them all, and each way of being
//! broken is found by the case that is made for it. This binary starts itself again as those processes.

mod broken;
mod faults;
mod files;
mod place;
mod store;

use std::env;
use std::process::{Command, ExitCode};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};
use onceonly_conformance::{
    CaseInfo, ClockKind, Declaration, Durability, Fixture, Outcome, Processes, Suite, serve_as_process,
};

use crate::faults::Fault;
use crate::place::{Place, Variant};

fn main() -> ExitCode {
    if let Some(ended) = serve_as_process::<Place>() {
        return ended;
    }
    let arguments = Arguments::from_args();
    let right = cases().map(|case| {
        Trial::test(format!("right::{}", case.name), move || holds(case, ClockKind::Manual, Variant::Right))
    });
    let running = cases().map(|case| {
        let name = format!("on_a_clock_that_runs::{}", case.name);
        Trial::test(name, move || holds(case, ClockKind::System, Variant::ClockRuns))
    });
    let found = Fault::ALL.iter().map(|&fault| {
        Trial::test(format!("broken::{}", fault.name()), move || found(fault).map_err(Failed::from))
    });
    let others = OTHERS.iter().map(|&(name, test)| Trial::test(name, move || test().map_err(Failed::from)));
    libtest_mimic::run(&arguments, right.chain(running).chain(found).chain(others).collect()).exit_code()
}

type Test = fn() -> Result<(), String>;

const OTHERS: &[(&str, Test)] = &[
    ("a_store_of_one_process_is_not_claimed", a_store_of_one_process_is_not_claimed),
    ("a_suite_that_cannot_start_processes_says_so", a_suite_that_cannot_start_processes_says_so),
    (
        "a_store_whose_writes_die_with_a_handle_is_not_killed",
        a_store_whose_writes_die_with_a_handle_is_not_killed,
    ),
];

fn cases() -> impl Iterator<Item = CaseInfo> {
    let of_processes = |case: &CaseInfo| {
        ["processes::", "pauses::", "kills::"].iter().any(|file| case.name.starts_with(file))
    };
    Suite::cases().filter(of_processes)
}

fn holds(case: CaseInfo, clock: ClockKind, variant: Variant) -> Result<(), Failed> {
    let mut declaration = Place::declare();
    declaration.clock = clock;
    match suite(declaration, variant).run(case.name)? {
        Outcome::Held(_) => Ok(()),
        Outcome::NotClaimed(reason) => Err(reason.into()),
    }
}

/// That the fault is found as it is to be found.
///
/// A case that kills at random may miss a fault, though it never accuses falsely; three runs in a row do not.
fn found(fault: Fault) -> Result<(), String> {
    let mut suite = suite(Place::declare(), Variant::Broken(fault));
    if fault == Fault::WaitsForEver {
        suite = suite.with_bound(Duration::from_secs(3));
    }
    for _ in 0..3 {
        match suite.run(fault.case()) {
            Ok(Outcome::Held(_)) => {}
            Ok(Outcome::NotClaimed(reason)) => return Err(format!("not claimed: {reason}")),
            Err(failure) if failure.message.contains(fault.piece()) && failure.kind == fault.kind() => {
                return Ok(());
            }
            Err(failure) => return Err(format!("found, but not with {:?}:\n{failure}", fault.piece())),
        }
    }
    Err(format!("{} holds", fault.case()))
}

fn a_store_of_one_process_is_not_claimed() -> Result<(), String> {
    let mut declaration = Place::declare();
    declaration.processes = Processes::One;
    all_not_claimed(&suite(declaration, Variant::Right), "declares one process")
}

fn a_suite_that_cannot_start_processes_says_so() -> Result<(), String> {
    all_not_claimed(&Suite::of::<Place>(), "Suite::with_processes")
}

fn all_not_claimed(suite: &Suite, piece: &str) -> Result<(), String> {
    for case in cases() {
        match suite.run(case.name) {
            Ok(Outcome::NotClaimed(reason)) if reason.contains(piece) => {}
            other => return Err(format!("{}: {other:?}", case.name)),
        }
    }
    Ok(())
}

fn a_store_whose_writes_die_with_a_handle_is_not_killed() -> Result<(), String> {
    let mut declaration = Place::declare();
    declaration.durability = Durability::Handle;
    match suite(declaration, Variant::Right).run("kills::every_acknowledged_write_survives_a_kill") {
        Ok(Outcome::NotClaimed(reason)) if reason.contains("survives no more than its handle") => Ok(()),
        other => Err(format!("{other:?}")),
    }
}

/// The suite over a store that is broken in one way, or right.
fn suite(declaration: Declaration, variant: Variant) -> Suite {
    Suite::new(declaration, move || async move { Place::with(variant) })
        .with_processes(|| Ok(Command::new(env::current_exe()?)))
}
