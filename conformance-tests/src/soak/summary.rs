//! The log in a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::log::{Line, Verdict, read};

/// What the log of many runs comes to, as Markdown: a row for each label, store and kind of run.
///
/// # Errors
/// The number of the first line that is none, and what is wrong with it.
pub fn summary(log: &str) -> Result<String, String> {
    let mut rows: BTreeMap<(String, String, String), Row> = BTreeMap::new();
    for line in read(log)? {
        let kind = (line.label.clone(), line.store.clone(), line.cases.clone());
        rows.entry(kind).or_default().add(&line);
    }
    let mut table = String::from(HEAD);
    for ((label, store, cases), row) in rows {
        let Row { runs, held, not_claimed, tried_again, broken, inconclusive, set_up_failed, seconds } = row;
        // Writing to a string does not fail.
        let _ = writeln!(
            table,
            "| {label} | {store} | {cases} | {runs} | {held} | {broken} | {inconclusive} | {set_up_failed} | \
             {not_claimed} | {tried_again} | {minutes:.1} |",
            minutes = seconds / 60.0,
        );
    }
    Ok(table)
}

#[derive(Default)]
struct Row {
    runs: u64,
    held: u64,
    not_claimed: u64,
    tried_again: u64,
    broken: u64,
    inconclusive: u64,
    set_up_failed: u64,
    seconds: f64,
}

impl Row {
    fn add(&mut self, line: &Line) {
        self.runs += 1;
        self.held += line.held;
        self.not_claimed += line.not_claimed;
        self.tried_again += line.tried_again;
        self.seconds += line.seconds;
        for accusation in &line.accusations {
            match accusation.verdict {
                Verdict::Broken => self.broken += 1,
                Verdict::Inconclusive => self.inconclusive += 1,
                Verdict::SetUpFailed => self.set_up_failed += 1,
            }
        }
    }
}

const HEAD: &str = "\
| commit | store | cases | runs | held | broken | inconclusive | set-up failed | not claimed | tried again | minutes |
|---|---|---|---|---|---|---|---|---|---|---|
";

#[cfg(test)]
mod tests {
    use super::super::log::Accusation;
    use super::*;

    #[test]
    fn runs_of_one_kind_are_added_up() {
        let accusation = Accusation {
            case: "claim::exclusive_across_handles".to_owned(),
            verdict: Verdict::Inconclusive,
            seed: 1,
            report: String::new(),
        };
        let quiet = Line { held: 100, seconds: 30.0, ..Line::empty("abc", "mine", "all", 1) };
        let busy = Line {
            held: 99,
            tried_again: 2,
            accusations: vec![accusation],
            ..Line { run: 2, ..quiet.clone() }
        };
        let lines: Vec<String> =
            [quiet, busy].iter().map(|line| serde_json::to_string(line).unwrap()).collect();

        let table = summary(&lines.join("\n")).unwrap();

        let row = table.lines().last().unwrap();
        assert_eq!(row, "| abc | mine | all | 2 | 199 | 0 | 1 | 0 | 0 | 2 | 1.0 |");
    }
}
