//! The suite against stores that are broken on purpose: each fault must be found, by the case that is made for it, with
//! a report that says what is wrong; and a store without a fault must pass everything.

use std::collections::{BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::{env, fs, thread};

use onceonly_conformance::{
    CaseInfo, Clause, ClockKind, Declaration, Durability, Failure, FailureKind, Fault, Flake, Outcome,
    PlantedPlace, Processes, StoreClock, Suite,
};

#[test]
fn a_store_without_a_fault_shows_what_every_case_asks_for() {
    let suite = PlantedPlace::suite(None);
    let (failures, not_claimed) = outcomes(&suite, cases_of_one_process());

    assert!(failures.is_empty(), "the healthy store is accused:\n{}", failures.join("\n\n"));
    assert_eq!(not_claimed, NOT_CLAIMED, "what the fixture gives no means to show");
}

/// The cases that need what only a fixture like this one gives: locks, damage, a second store.
#[test]
fn a_store_without_a_fault_on_a_clock_that_runs_shows_as_much() {
    let declaration = Declaration::new("planted", ClockKind::System, Durability::Handle, Processes::One);
    let suite = Suite::new(declaration, || async { Ok(PlantedPlace::on(StoreClock::System, None)) });
    let files = ["instants::", "locks::", "failures::", "neighbours::", "sweeping::"];
    let cases = Suite::cases().map(|case| case.name);
    let cases = cases.filter(|name| files.iter().any(|file| name.starts_with(file)));
    let (failures, not_claimed) = outcomes(&suite, cases);

    assert!(failures.is_empty(), "the healthy store is accused:\n{}", failures.join("\n\n"));
    assert_eq!(not_claimed, NOT_CLAIMED, "what the fixture gives no means to show");
}

#[test]
fn every_fault_is_found_by_the_case_made_for_it_and_the_table_says_so() {
    let hunts = hunt(runs());
    let survivors: Vec<&str> = hunts.iter().filter_map(|hunt| hunt.problem.as_deref()).collect();
    assert!(survivors.is_empty(), "{} of {}\n{}", survivors.len(), hunts.len(), survivors.join("\n"));

    let table = table(&hunts);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/FAULTS.md");
    if env::var_os(RUNS).is_some() {
        fs::write(path, &table).unwrap();
    }
    let committed = fs::read_to_string(path).unwrap_or_default();
    let (committed, table) = (without_counts(&committed), without_counts(&table));
    let stale = table.iter().zip(&committed).find(|(due, found)| due != found);
    assert!(
        committed.len() == table.len() && stale.is_none(),
        "FAULTS.md is out of date: write it anew with {RUNS}=10; the first difference is {stale:?}"
    );
}

#[test]
fn every_fault_has_a_number_of_its_own_and_a_case_that_exists() {
    let numbers: BTreeSet<u16> = Fault::ALL.iter().map(|fault| fault.info().number).collect();
    assert_eq!(numbers.len(), Fault::ALL.len());
    for fault in Fault::ALL {
        assert!(case_of(*fault).is_some(), "{fault:?} names {:?}", fault.info().case);
    }
}

#[test]
fn every_clause_is_broken_by_a_fault() {
    let broken = |clause: &Clause| Fault::ALL.iter().any(|fault| fault.info().clause == *clause);
    let whole: Vec<Clause> = Clause::ALL.into_iter().filter(|clause| !broken(clause)).collect();

    assert_eq!(whole, [], "clauses that no planted store breaks");
}

/// A case that finds no fault of its own may as well not be there.
#[test]
fn every_case_is_the_one_that_must_find_a_fault() {
    let named: BTreeSet<&str> = Fault::ALL.iter().map(|fault| fault.info().case).collect();
    let needless: Vec<&str> = cases_of_one_process().filter(|case| !named.contains(case)).collect();

    let excused: Vec<&str> = WITHOUT_A_FAULT.iter().map(|(case, _)| *case).collect();
    assert_eq!(needless, excused, "cases that no planted fault is made for");
}

/// All but those with other processes, which have a store and faults of their own: `tests/processes`.
fn cases_of_one_process() -> impl Iterator<Item = &'static str> {
    let files = ["processes::", "pauses::", "kills::"];
    let cases = Suite::cases().map(|case| case.name);
    cases.filter(move |name| !files.iter().any(|file| name.starts_with(file)))
}

/// Cases that no store can fail alone, and what they are kept for.
const WITHOUT_A_FAULT: &[(&str, &str)] = &[
    (
        "payload::no_debug_output_shows_a_body",
        "what is printed are core's types: a store that keeps to them cannot print anything else",
    ),
    (
        "repeat::a_call_repeated_after_a_lost_request_has_its_effect",
        "a request that is lost ahead of the store never reaches it: what fails here fails in the cases of lost replies \
         and of double delivery too",
    ),
];

/// What failed, and the cases that show nothing of this store.
fn outcomes(suite: &Suite, cases: impl Iterator<Item = &'static str>) -> (Vec<String>, Vec<&'static str>) {
    let (mut failures, mut not_claimed) = (Vec::new(), Vec::new());
    for case in cases {
        match suite.run(case) {
            Ok(Outcome::Held(_)) => {}
            Ok(Outcome::NotClaimed(_)) => not_claimed.push(case),
            Err(failure) => failures.push(failure.to_string()),
        }
    }
    (failures, not_claimed)
}

/// The cases that a store of one process cannot show.
const NOT_CLAIMED: &[&str] = &[];

/// How one fault fared.
struct Hunt {
    fault: Fault,
    /// In how many of how many runs its case found it.
    found: u32,
    of: u32,
    /// What is wrong with how it was found, if anything.
    problem: Option<String>,
}

/// Sets every fault before its case. One that races may miss a fault, though it never accuses falsely: it gets so many
/// runs, where every other needs one.
fn hunt(runs: Runs) -> Vec<Hunt> {
    let waiting = Mutex::new(Fault::ALL.iter().copied().collect::<VecDeque<_>>());
    let hunts = Mutex::new(Vec::new());
    thread::scope(|scope| {
        // More than can run at once: most of them wait, for a lock or for a call that does not come to its end.
        for _ in 0..2 * thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some(fault) = waiting.lock().unwrap().pop_front() else { return };
                    let hunted = hunted(fault, runs);
                    hunts.lock().unwrap().push(hunted);
                }
            });
        }
    });
    let mut hunts = hunts.into_inner().unwrap();
    hunts.sort_by_key(|hunt| hunt.fault.info().number);
    hunts
}

fn hunted(fault: Fault, runs: Runs) -> Hunt {
    let info = fault.info();
    let races = case_of(fault).is_some_and(|case| case.flake == Flake::Race);
    let suite = PlantedPlace::suite(Some(fault));
    let run = || suite.run(info.case).err();
    let (failures, of, due): (Vec<Failure>, u32, u32) = match runs {
        _ if !races => (run().into_iter().collect(), 1, 1),
        Runs::UntilFound(most) => ((0..most).find_map(|_| run()).into_iter().collect(), most, 1),
        Runs::Exactly(runs) => ((0..runs).filter_map(|_| run()).collect(), runs, runs * 9 / 10),
    };
    let found = failures.len() as u32;
    let problem = if found < due {
        Some(format!("{} {fault:?} survives {}, found in {found} of {of} runs", info.number, info.case))
    } else {
        failures.iter().find_map(|failure| unclear(fault, failure))
    };
    Hunt { fault, found, of, problem }
}

fn unclear(fault: Fault, failure: &Failure) -> Option<String> {
    let info = fault.info();
    let why = if failure.kind != FailureKind::Broken {
        format!("the verdict is {:?}", failure.kind)
    } else if failure.clause != info.clause {
        format!("the report accuses of {:?}, due was {:?}", failure.clause, info.clause)
    } else if !failure.message.contains(info.message) {
        format!("the report does not say {:?}", info.message)
    } else {
        return None;
    };
    Some(format!("{} {fault:?}: {why}\n{failure}", info.number))
}

fn case_of(fault: Fault) -> Option<CaseInfo> {
    Suite::cases().find(|case| case.name == fault.info().case)
}

/// `FAULTS.md`.
fn table(hunts: &[Hunt]) -> String {
    let mut table = String::from(HEAD);
    for Hunt { fault, found, of, .. } in hunts {
        let info = fault.info();
        let id = case_of(*fault).map_or("", |case| case.id);
        writeln!(
            table,
            "| {} | {} | {} | `{}` ({id}) | yes | {found} of {of} |",
            info.number,
            info.sentence,
            info.clause.name(),
            info.case
        )
        .unwrap();
    }
    table
}

/// The table without what differs from run to run.
fn without_counts(table: &str) -> Vec<&str> {
    table
        .lines()
        .map(|line| match line.strip_suffix(" |").and_then(|line| line.rsplit_once("| ")) {
            Some((rest, last)) if last.contains(" of ") => rest,
            _ => line,
        })
        .collect()
}

/// How often a case that races meets its fault.
#[derive(Clone, Copy)]
enum Runs {
    /// Until it finds it, at most so many times.
    UntilFound(u32),
    /// So many times, and it has to find it in nine of ten.
    Exactly(u32),
}

fn runs() -> Runs {
    match env::var(RUNS) {
        Ok(runs) => Runs::Exactly(runs.parse().expect("a number")),
        Err(_) => Runs::UntilFound(3),
    }
}

/// How many runs a case that races gets. If it is set, the table is written.
const RUNS: &str = "ONCEONLY_FAULT_RUNS";

const HEAD: &str = "\
# Planted faults

Stores that are right but for one switch, and the case of the suite that must find each. A fault counts as found if that
case fails, accuses the store of breaking that clause, and says what is wrong in words that are fixed with the fault. A
case that races may miss a fault; it has to find it in at least nine of ten runs. Any other finds it every time.

The tests of this crate hunt every fault and compare what they find with this page. To write it anew:
`ONCEONLY_FAULT_RUNS=10 cargo test -p onceonly-conformance --test main planted`.

The numbers below 200 are those of a list of faults seen in other libraries. What is missing from it is core's to get
wrong, since a store compares no fingerprints (37, 38), or takes more than one process to show: a write that is
acknowledged before it is durable (77), scripts and plans that a server has forgotten (97, 107), a transaction that locks
too late (103), and two versions at work on one database (106). Those come with the stores that they can happen to.

| number | what the store does wrong | clause | found by | as named | in runs |
|---|---|---|---|---|---|
";
