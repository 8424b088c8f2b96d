//! Reports as JUnit, for continuous integration.

use std::time::Duration;

use chrono::DateTime;
use quick_junit::{NonSuccessKind, Property, TestCase, TestCaseStatus, TestSuite};

use super::{CaseReport, Report, Verdict};

/// The reports as one JUnit document: a suite for each store.
///
/// What a store breaks is a failure, whose type is the clause. What could not be brought about, and a fixture that
/// failed, are errors: nothing is known of the store. What is not claimed is skipped, so that nobody takes it for passed.
pub fn junit(reports: &[Report]) -> String {
    let mut document = quick_junit::Report::new("conformance");
    document.add_test_suites(reports.iter().map(suite));
    document.to_string().expect("a document in memory can be written")
}

fn suite(report: &Report) -> TestSuite {
    let mut suite = TestSuite::new(report.store.as_str());
    suite.set_time(Duration::from_millis(report.duration_ms));
    if let Ok(started) = DateTime::parse_from_rfc3339(&report.started) {
        suite.set_timestamp(started);
    }
    suite.add_properties(properties(report));
    suite.add_test_cases(report.cases.iter().map(|case| test_case(&report.store, case)));
    suite
}

fn properties(report: &Report) -> Vec<Property> {
    let seeds: Vec<String> = report.seeds().iter().map(u64::to_string).collect();
    let mut properties = vec![
        Property::new("seed", seeds.join(" ")),
        Property::new("clock", report.declared.clock.name()),
        Property::new("cases", format!("{} of {}", report.cases.len(), report.cases_listed)),
    ];
    properties
        .extend(report.declared.untested().map(|claim| Property::new("declared and not tested", claim)));
    properties.extend(report.environment.iter().map(|fact| Property::new(&*fact.name, &*fact.value)));
    properties
}

fn test_case(store: &str, case: &CaseReport) -> TestCase {
    let mut test = TestCase::new(format!("{} {}", case.id, case.sentence), status(&case.verdict));
    test.set_classname(store);
    test.set_time(Duration::from_millis(case.duration_ms));
    test.add_property(("case", case.name.as_str()));
    if case.rounds > 0 {
        test.add_property(Property::new("rounds", case.rounds.to_string()));
        test.add_property(Property::new("overlap", case.overlap.to_string()));
    }
    if case.trials > 0 {
        test.add_property(Property::new("trials", case.trials.to_string()));
    }
    test
}

fn status(verdict: &Verdict) -> TestCaseStatus {
    match verdict {
        Verdict::Held => TestCaseStatus::success(),
        Verdict::NotClaimed { reason } => {
            let mut status = TestCaseStatus::skipped();
            status.set_type("not claimed").set_message(reason.as_str());
            status
        }
        Verdict::Broken { broken, message, text } => {
            non_success(NonSuccessKind::Failure, broken.name(), message, text)
        }
        Verdict::Inconclusive { message, text } => {
            non_success(NonSuccessKind::Error, "inconclusive", message, text)
        }
        Verdict::SetUpFailed { message, text } => {
            non_success(NonSuccessKind::Error, "set-up failed", message, text)
        }
    }
}

fn non_success(kind: NonSuccessKind, what: &str, message: &str, text: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    // Shown in one line; the text has all of it.
    status.set_type(what).set_message(message.lines().next().unwrap_or_default()).set_description(text);
    status
}
