//! What runs leave in a folder, and what is made of it. The runs are those of `onceonly-conformance try`: real ones, each in
//! a process of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use onceonly_conformance::Suite;
use onceonly_conformance::report::{self, Report, Verdict};
use quick_junit::{NonSuccessKind, TestCaseStatus};
use tempfile::TempDir;

#[test]
fn a_run_leaves_a_report_of_every_case() {
    let place = Place::new();

    let ran = place.ran(&["try", "none"]);

    assert_eq!(ran.status.code(), Some(0), "{}", output(&ran));
    let report = place.only_report();
    let names: Vec<&str> = report.cases.iter().map(|case| &*case.name).collect();
    assert_eq!(names, Suite::cases().map(|case| case.name).collect::<Vec<_>>());
    assert_eq!((report.store.as_str(), report.is_all_held()), ("planted", true));
    let fact = |name: &str| report.environment.iter().any(|fact| fact.name == name && !fact.value.is_empty());
    for name in ["onceonly-conformance", "rustc", "target", "store"] {
        assert!(fact(name), "{name} is not among {:?}", report.environment);
    }
    let race = report.cases.iter().find(|case| case.name == "claim::exclusive_across_handles").unwrap();
    assert!(race.rounds >= 64 && race.overlap >= 2 && race.attempts >= 1, "{race:?}");
    let words = report.cases.iter().find(|case| case.id == "B20").unwrap();
    assert!(words.trials >= 81, "{words:?}");
    assert!(output(&ran).contains(&format!("seed {}", race.seed)), "{}", output(&ran));

    let shown = place.ran(&["report", place.folder()]);
    assert_eq!(shown.status.code(), Some(0), "{}", output(&shown));
    assert_eq!(output(&shown), report::document(&[report]));
}

#[test]
fn a_broken_case_is_told_as_the_run_told_it() {
    let place = Place::new();

    let ran = place.ran(&["try", "16", "held"]);

    assert_eq!(ran.status.code(), Some(101), "{}", output(&ran));
    let report = place.only_report();
    let case = report.cases.iter().find(|case| case.name == BROKEN).unwrap();
    let Verdict::Broken { broken, message, text } = &case.verdict else { panic!("{case:?}") };
    assert_eq!(broken.name(), "held");
    assert!(text.contains(message) && output(&ran).contains(text), "{text}");
    let file = place.path().join("planted.json");
    assert!(text.ends_with(&format!("\n  report:  {}", file.display())), "{text}");
    let seed = format!("seed {}", case.seed);
    assert!(text.lines().next().unwrap().contains(&seed), "{text}\nwas not run with {seed}");

    let shown = place.ran(&["report", place.folder()]);
    assert_eq!(shown.status.code(), Some(1), "{}", output(&shown));
    for piece in [text.as_str(), "**partial**", "* planted: only "] {
        assert!(output(&shown).contains(piece), "{piece:?} is not in\n{}", output(&shown));
    }
}

#[test]
fn the_command_in_a_failure_shows_it_again() {
    let place = Place::new();
    let ran = place.ran(&["try", "16", "--exact", BROKEN]);
    let told = output(&ran);
    let command = told.lines().find_map(|line| line.strip_prefix("  again:   ")).expect("a command");

    let again = clean(Command::new("sh").args(["-c", command])).output().unwrap();

    assert_eq!(again.status.code(), Some(101), "{command}\n{}", output(&again));
    assert!(output(&again).contains(command), "{command} has shown something else\n{}", output(&again));
}

#[test]
fn junit_tells_a_broken_case_from_one_of_which_nothing_is_known() {
    let report = Report::from_json(&every_verdict()).unwrap();

    let document = quick_junit::Report::deserialize_from_str(&report::junit(&[report])).unwrap();

    let suite = &document.test_suites[0];
    assert_eq!(suite.name.as_str(), "every-verdict");
    let counts = (suite.tests, suite.failures, suite.errors, suite.skipped);
    assert_eq!(counts, (5, 1, 2, 1), "tests, failures, errors, skipped");
    let property = |name: &str| {
        let found = suite.properties.iter().find(|property| property.name.as_str() == name);
        found.unwrap_or_else(|| panic!("no property {name}")).value.as_str()
    };
    assert_eq!((property("seed"), property("clock"), property("SQLite")), ("7341", "system", "3.51.3"));
    assert_eq!(property("cases"), "5 of 5");

    let told: Vec<_> = suite.test_cases.iter().map(|case| told(&case.status)).collect();
    assert_eq!(
        told,
        [
            "held",
            "skipped: not claimed: it declares less",
            "failure: bounded: what was seen: L2  the text\nof it",
            "error: inconclusive: too slow: L3  the text",
            "error: set-up failed: no server: L4  the text",
        ]
    );
    let case = &suite.test_cases[2];
    assert_eq!(case.classname.as_ref().map(|name| name.as_str()), Some("every-verdict"));
    assert_eq!(case.name.as_str(), "L2 a sentence");
}

#[test]
fn markdown_tells_every_verdict_apart() {
    let report = Report::from_json(&every_verdict()).unwrap();
    assert!(!report.is_all_held());

    let text = report::document(&[report]);

    for piece in [
        "| held | 1 of 5, 1 not claimed, 1 **broken**, 1 inconclusive, 1 set-up failed |",
        "* every-verdict, 1 not claimed: it declares less\n",
        "Not claimed:\n\n* it declares less: `held::b` (L1)",
        "Inconclusive:\n\n* too slow: `held::d` (L3)",
        "Set-up failed:\n\n* no server: `held::e` (L4)",
        "~~~~~~text\nL2  the text\nof it\n~~~~~~",
        "Declared and not tested: a write survives a loss of power, and the loss of its host.",
        "| SQLite | 3.51.3 |",
        "| options | a\\|b / c |",
        "| all | 5 | 1 | 1 | 1 | 1 | 1 | 2 | 96 | 3 |  |",
        "| clock | system: ",
        "`ONCEONLY_SEED=7341`",
    ] {
        assert!(text.contains(piece), "{piece:?} is not in\n{text}");
    }
}

#[test]
fn what_is_not_claimed_is_no_failure_and_what_was_left_out_is() {
    let held_or_not_claimed = |listed: usize| {
        let mut report: serde_json::Value = serde_json::from_str(&every_verdict()).unwrap();
        report["cases"].as_array_mut().unwrap().truncate(2);
        report["cases_listed"] = listed.into();
        Report::from_json(&report.to_string()).unwrap()
    };

    assert!(held_or_not_claimed(2).is_all_held());
    assert!(!held_or_not_claimed(3).is_all_held());
}

#[test]
fn a_case_of_which_nothing_is_known_is_not_held() {
    for (place, verdict) in [(2, "broken"), (3, "inconclusive"), (4, "set_up_failed")] {
        let mut report: serde_json::Value = serde_json::from_str(&every_verdict()).unwrap();
        let case = report["cases"][place].take();
        assert_eq!(case["verdict"], verdict);
        report["cases"] = vec![case].into();
        report["cases_listed"] = 1.into();

        assert!(!Report::from_json(&report.to_string()).unwrap().is_all_held(), "{verdict}");
    }
}

#[test]
fn cases_are_read_in_the_order_of_the_catalogue() {
    let place = Place::new();
    place.ran(&["try", "none", "claim::"]);
    let in_order = place.only_report();
    let file = place.path().join("planted.json");
    let mut report: serde_json::Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    report["cases"].as_array_mut().unwrap().reverse();
    fs::write(file, report.to_string()).unwrap();

    assert!(in_order.cases.len() > 5);
    assert_eq!(place.only_report(), in_order);
}

#[test]
fn cases_in_processes_of_their_own_are_put_together() {
    let place = Place::new();
    place.ran(&["try", "none", "--exact", "claim::a_fresh_key_is_granted"]);
    let cases = ["load::an_unknown_key_is_none_and_stays_unknown", "claim::a_fresh_key_is_granted"];
    let in_run = |run: &str, case: &str| {
        let ran = place.command(&["try", "none", "--exact", case]).env("NEXTEST_RUN_ID", run).output();
        assert_eq!(ran.unwrap().status.code(), Some(0));
    };
    in_run("first", "claim::exclusive_across_handles");
    for case in cases {
        in_run("second", case);
    }

    let report = place.only_report();

    assert_eq!(report.run, "second", "the run that began last counts");
    let names: Vec<&str> = report.cases.iter().map(|case| &*case.name).collect();
    assert_eq!(names, [cases[1], cases[0]], "in the order of the catalogue");
    let junit = place.ran(&["junit", place.folder()]);
    let document = quick_junit::Report::deserialize_from_str(&output(&junit)).unwrap();
    assert_eq!(document.tests, 2);
}

#[test]
fn the_run_that_began_last_counts() {
    let place = Place::new();
    place.ran(&["try", "none", "--exact", "claim::a_fresh_key_is_granted"]);
    let mut earlier: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(place.path().join("planted.json")).unwrap()).unwrap();
    earlier["started"] = "2001-01-01T00:00:00.000Z".into();
    earlier["run"] = "earlier".into();
    for name in ["a.json", "z.json"] {
        fs::write(place.path().join(name), earlier.to_string()).unwrap();
    }

    assert_ne!(place.only_report().run, "earlier");
}

#[test]
fn without_the_variable_nothing_is_written() {
    let place = Place::new();

    let ran =
        place.command(&["try", "16", "--exact", BROKEN]).env_remove("ONCEONLY_REPORT").output().unwrap();

    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
    assert!(!output(&ran).contains("report:"), "{}", output(&ran));
}

#[test]
fn a_report_that_cannot_be_written_fails_the_run() {
    let place = Place::new();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();

    let mut command = place.command(&["try", "none", "--exact", "claim::a_fresh_key_is_granted"]);
    let ran = command.env("ONCEONLY_REPORT", &file).output().unwrap();

    assert_eq!(ran.status.code(), Some(1), "{}", output(&ran));
    assert!(output(&ran).contains("cannot be written"), "{}", output(&ran));
}

#[test]
fn what_is_no_report_is_refused_with_its_name() {
    let place = Place::new();
    let refused = |complaint: &str| {
        let ran = place.ran(&["report", place.folder()]);
        assert_eq!(ran.status.code(), Some(2));
        let said = String::from_utf8(ran.stderr).unwrap();
        assert!(said.contains(complaint), "{complaint:?} is not in {said:?}");
    };

    refused("no reports here");
    fs::write(place.path().join("newer.json"), r#"{"format":2,"stores":[]}"#).unwrap();
    refused("newer.json: format 2 is newer than what this release reads, which is 1");
    fs::write(place.path().join("newer.json"), r#"{"format":1,"store":"x"}"#).unwrap();
    refused("newer.json: not a conformance report: missing field `run`");
    fs::remove_dir_all(place.path()).unwrap();
    refused("No such file or directory");
}

#[test]
fn a_table_in_a_file_is_held_to_the_runs() {
    let place = Place::new();
    let page = place.path().join("page.md");
    let text = "# Ours\n<!-- conformance: begin -->\nold\n<!-- conformance: end -->\nrest\n";
    fs::write(&page, text).unwrap();
    fs::write(place.path().join("every.json"), every_verdict()).unwrap();
    place.ran(&["try", "none", "--exact", "claim::a_fresh_key_is_granted"]);
    let (folder, page) = (place.folder(), page.to_str().unwrap());
    let check = |store: &str| place.ran(&["table", folder, "--store", store, "--check", page]);

    let before = check("every-verdict");
    assert_eq!(before.status.code(), Some(1));
    assert!(output(&before).contains("| held | 1 of 5, "), "{}", output(&before));

    let written = place.ran(&["table", folder, "--store", "every-verdict", "--write", page]);
    assert_eq!(written.status.code(), Some(0));
    assert_eq!(check("every-verdict").status.code(), Some(0));
    assert_eq!(check("planted").status.code(), Some(1), "another store's table");
    assert_eq!(check("nobody").status.code(), Some(2));
    let text = fs::read_to_string(page).unwrap();
    assert!(text.starts_with("# Ours\n") && text.ends_with("\nrest\n") && !text.contains("old"), "{text}");
}

/// A folder for reports, and the program beside it.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn folder(&self) -> &str {
        self.path().to_str().unwrap()
    }

    /// The program with these arguments, whose runs leave their reports here.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(PathBuf::from(env!("CARGO_BIN_EXE_onceonly-conformance")));
        clean(command.args(arguments)).env("ONCEONLY_REPORT", self.path());
        command
    }

    fn ran(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn only_report(&self) -> Report {
        let mut reports = report::read_folder(self.path()).unwrap();
        assert_eq!(reports.len(), 1, "reports of one store");
        reports.remove(0)
    }
}

/// Without what the run of these tests themselves is told.
fn clean(command: &mut Command) -> &mut Command {
    for variable in ["ONCEONLY_REPORT", "ONCEONLY_SEED", "ONCEONLY_SOAK", "NEXTEST_RUN_ID"] {
        command.env_remove(variable);
    }
    command
}

fn output(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A status in one line.
fn told(status: &TestCaseStatus) -> String {
    let words = |parts: [&Option<quick_junit::XmlString>; 3]| {
        let parts = parts.into_iter().flatten().map(|part| part.as_str());
        parts.collect::<Vec<_>>().join(": ")
    };
    match status {
        TestCaseStatus::Success { .. } => "held".to_owned(),
        TestCaseStatus::Skipped { message, ty, description } => {
            format!("skipped: {}", words([ty, message, description]))
        }
        TestCaseStatus::NonSuccess { kind, message, ty, description, .. } => {
            let kind = match kind {
                NonSuccessKind::Failure => "failure",
                NonSuccessKind::Error => "error",
            };
            format!("{kind}: {}", words([ty, message, description]))
        }
    }
}

/// A report with a case of each verdict.
fn every_verdict() -> String {
    let case = |letter: &str, id: &str, verdict: serde_json::Value| {
        let mut case = serde_json::json!({
            "name": format!("held::{letter}"), "id": id, "clause": "held", "flake": "never",
            "sentence": "a sentence", "seed": 7341, "attempts": 1, "rounds": 0, "overlap": 0, "duration_ms": 1,
        });
        case.as_object_mut().unwrap().extend(verdict.as_object().unwrap().clone());
        case
    };
    let report = serde_json::json!({
        "format": 1, "store": "every-verdict", "run": "one", "started": "2027-01-15T08:00:00.000Z",
        "duration_ms": 5,
        "declared": {
            "clock": "system", "resolution_us": 1, "durability": "failover", "processes": "many",
            "response_bytes_max": 1_048_576,
        },
        "environment": [
            { "name": "SQLite", "value": "3.51.3" },
            { "name": "options", "value": "a|b\nc" },
        ],
        "cases_listed": 5,
        "cases": [
            case("a", "L0", serde_json::json!({ "verdict": "held", "rounds": 64, "overlap": 3 })),
            case("b", "L1", serde_json::json!({ "verdict": "not_claimed", "reason": "it declares less" })),
            case("c", "L2", serde_json::json!({
                "verdict": "broken", "rounds": 32, "overlap": 8, "broken": "bounded", "message": "what was seen\nand more",
                "text": "L2  the text\nof it",
            })),
            case("d", "L3", serde_json::json!({
                "verdict": "inconclusive", "message": "too slow", "text": "L3  the text",
            })),
            case("e", "L4", serde_json::json!({
                "verdict": "set_up_failed", "message": "no server", "text": "L4  the text",
            })),
        ],
    });
    report.to_string()
}

/// What fault 16 breaks.
const BROKEN: &str = "held::a_superseded_holder_writes_nothing";
