//! Reports as Markdown, for people.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};

use super::{CaseReport, Report, Tally, Verdict};
use crate::clause::Clause;

/// How many cases of each clause hold on each store: what stays the same from run to run, as long as nothing breaks.
pub fn table(reports: &[Report]) -> String {
    let mut text = String::new();
    row(&mut text, once("clause").chain(reports.iter().map(|report| report.store.clone())));
    row(&mut text, once("---").chain(reports.iter().map(|_| "--:".to_owned())));
    for clause in Clause::ALL {
        let held = reports.iter().map(|report| cell(of_clause(report, clause)));
        row(&mut text, once(clause.name()).chain(held));
    }
    row(&mut text, once("all").chain(reports.iter().map(|report| cell(report.tally()))));
    row(
        &mut text,
        once("clock in the tests")
            .chain(reports.iter().map(|report| report.declared.clock.name().to_owned())),
    );
    let notes: Vec<String> = reports.iter().flat_map(notes).collect();
    if !notes.is_empty() {
        line(&mut text, format_args!("\n{}", notes.join("\n")));
    }
    text
}

/// What the numbers alone would not tell.
fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if report.is_partial() {
        let (ran, listed) = (report.cases.len(), report.cases_listed);
        notes.push(format!("* {}: only {ran} of {listed} cases ran", report.store));
    }
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, reason) in report.not_claimed() {
        *reasons.entry(reason).or_default() += 1;
    }
    let not_claimed = reasons.into_iter();
    notes.extend(
        not_claimed
            .map(|(reason, cases)| format!("* {}, {cases} not claimed: {}", report.store, one_line(reason))),
    );
    notes
}

/// All that the reports say: the table of clauses, and for each store what does not hold and why, what is declared, what
/// is not claimed, how much was looked at, with which versions, settings and seeds.
pub fn document(reports: &[Report]) -> String {
    let mut text = String::from("# Conformance\n\n");
    text.push_str(INTRODUCTION);
    text.push_str(&table(reports));
    for report in reports {
        store(&mut text, report);
    }
    text
}

fn store(text: &mut String, report: &Report) {
    line(text, format_args!("\n## {}\n", report.store));
    line(text, format_args!("{}\n", summary(report)));
    if let Some(claim) = report.declared.untested() {
        line(text, format_args!("Declared and not tested: {claim}.\n"));
    }
    by_reason(text, "Not claimed", report, |verdict| match verdict {
        Verdict::NotClaimed { reason } => Some(reason),
        _ => None,
    });
    by_reason(text, "Inconclusive", report, |verdict| match verdict {
        Verdict::Inconclusive { message, .. } => Some(message),
        _ => None,
    });
    by_reason(text, "Set-up failed", report, |verdict| match verdict {
        Verdict::SetUpFailed { message, .. } => Some(message),
        _ => None,
    });
    evidence(text, report);
    environment(text, report);
    broken(text, report);
}

fn summary(report: &Report) -> String {
    let Tally { cases, held, .. } = report.tally();
    let Report { cases_listed, started, duration_ms, .. } = report;
    let partial = if report.is_partial() { " (**partial**: the others were not asked for)" } else { "" };
    let (seconds, tenths) = (duration_ms / 1_000, duration_ms % 1_000 / 100);
    format!(
        "{cases} of {cases_listed} cases ran{partial}, {held} held. Begun {started}, {seconds}.{tenths} s."
    )
}

/// The cases with such a verdict below each reason that there is for it.
fn by_reason<'a>(
    text: &mut String,
    heading: &str,
    report: &'a Report,
    reason: impl Fn(&'a Verdict) -> Option<&'a String>,
) {
    let mut reasons: BTreeMap<&str, Vec<&CaseReport>> = BTreeMap::new();
    for case in &report.cases {
        if let Some(reason) = reason(&case.verdict) {
            reasons.entry(reason).or_default().push(case);
        }
    }
    if reasons.is_empty() {
        return;
    }
    line(text, format_args!("{heading}:\n"));
    for (reason, cases) in reasons {
        let names: Vec<String> = cases.iter().map(|case| format!("`{}` ({})", case.name, case.id)).collect();
        line(text, format_args!("* {}: {}", one_line(reason), names.join(", ")));
    }
    text.push('\n');
}

fn broken(text: &mut String, report: &Report) {
    for case in &report.cases {
        if let Verdict::Broken { text: told, .. } = &case.verdict {
            // A fence longer than any that the text could have in it.
            line(text, format_args!("\n### Broken: `{}`\n\n~~~~~~text\n{told}\n~~~~~~", case.name));
        }
    }
}

/// How much each clause was looked at.
fn evidence(text: &mut String, report: &Report) {
    row(text, once("clause").chain(COLUMNS.map(|column| column.name.to_owned())));
    row(text, once("---").chain(COLUMNS.map(|_| "--:".to_owned())));
    let clauses = Clause::ALL.map(|clause| (clause.name(), of_clause(report, clause)));
    for (name, tally) in clauses.into_iter().chain([("all", report.tally())]) {
        // A zero is left out, so that what is there can be seen.
        let numbers = COLUMNS.map(|column| (column.number)(&tally)).map(|number| match number {
            0 => String::new(),
            number => number.to_string(),
        });
        row(text, once(name).chain(numbers));
    }
    text.push('\n');
}

/// A number that is told of each clause.
struct Column {
    name: &'static str,
    number: fn(&Tally) -> usize,
}

const COLUMNS: [Column; 11] = [
    Column { name: "cases", number: |tally| tally.cases },
    Column { name: "held", number: |tally| tally.held },
    Column { name: "not claimed", number: |tally| tally.not_claimed },
    Column { name: "broken", number: |tally| tally.broken },
    Column { name: "inconclusive", number: |tally| tally.inconclusive },
    Column { name: "set-up failed", number: |tally| tally.set_up_failed },
    Column { name: "races", number: |tally| tally.races },
    Column { name: "rounds", number: |tally| tally.rounds },
    Column { name: "least overlap", number: |tally| tally.overlap_min },
    Column { name: "inputs", number: |tally| tally.trials },
    Column { name: "tried again", number: |tally| tally.tried_again },
];

fn environment(text: &mut String, report: &Report) {
    let declared = &report.declared;
    row(text, ["", ""]);
    row(text, ["---", "---"]);
    row(text, ["clock".to_owned(), format!("{}: {}", declared.clock.name(), declared.clock.precision())]);
    row(text, ["resolution".to_owned(), format!("{} µs", declared.resolution_us)]);
    row(text, ["largest response".to_owned(), format!("{} bytes", declared.response_bytes_max)]);
    for fact in &report.environment {
        row(text, [&fact.name, &fact.value]);
    }
    row(text, ["seed".to_owned(), seeds(report)]);
}

fn seeds(report: &Report) -> String {
    match report.seeds().as_slice() {
        [seed] => format!("{seed}: `ONCEONLY_SEED={seed}` makes the same random choices"),
        seeds => {
            format!("{} different ones, in the JSON: each case ran in a process of its own", seeds.len())
        }
    }
}

fn of_clause(report: &Report, clause: Clause) -> Tally {
    report.cases.iter().filter(|case| case.clause == clause).collect()
}

/// Held of those that ran, and whatever else there is.
fn cell(tally: Tally) -> String {
    let Tally { cases, held, not_claimed, broken, inconclusive, set_up_failed, .. } = tally;
    if cases == 0 {
        return "–".to_owned();
    }
    let mut text = format!("{held} of {cases}");
    let others = [
        (not_claimed, "not claimed"),
        (broken, "**broken**"),
        (inconclusive, "inconclusive"),
        (set_up_failed, "set-up failed"),
    ];
    for (count, what) in others {
        if count > 0 {
            let _ = write!(text, ", {count} {what}");
        }
    }
    text
}

fn row<S: Display>(text: &mut String, cells: impl IntoIterator<Item = S>) {
    for cell in cells {
        let _ = write!(text, "| {} ", one_line(&cell.to_string()));
    }
    text.push_str("|\n");
}

/// In a list or a table, what is in it must not end it.
fn one_line(text: &str) -> String {
    text.replace('|', "\\|").lines().collect::<Vec<_>>().join(" / ")
}

fn line(text: &mut String, line: impl Display) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}

fn once(cell: &str) -> impl Iterator<Item = String> {
    std::iter::once(cell.to_owned())
}

const INTRODUCTION: &str = "\
Cases of the conformance suite, by the clause of `KeyStore` that each is about and by store: how many held, of how many. \
A case that is *inconclusive*, or whose set-up failed, has shown nothing, and fails its run; one that is *not claimed* is \
about what the store does not declare.

";
