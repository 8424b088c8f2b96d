//! One line of JSON for each run that came to its end.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::failure::{Failure, FailureKind};

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Line {
    /// What was tested, such as a commit.
    pub(super) label: String,
    pub(super) store: String,
    /// `all` cases, or the `marked` ones.
    pub(super) cases: String,
    /// Counts from 1 within label, store and cases.
    pub(super) run: u32,
    pub(super) held: u64,
    pub(super) not_claimed: u64,
    /// How often a case was tried again because its circumstances had not come about.
    pub(super) tried_again: u64,
    pub(super) accusations: Vec<Accusation>,
    pub(super) seconds: f64,
}

/// A case that did not hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Accusation {
    pub(super) case: String,
    pub(super) verdict: Verdict,
    pub(super) seed: u64,
    pub(super) report: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    Broken,
    Inconclusive,
    SetUpFailed,
}

impl Line {
    pub(super) fn empty(label: &str, store: &str, cases: &str, run: u32) -> Self {
        Self {
            label: label.to_owned(),
            store: store.to_owned(),
            cases: cases.to_owned(),
            run,
            held: 0,
            not_claimed: 0,
            tried_again: 0,
            accusations: Vec::new(),
            seconds: 0.0,
        }
    }

    /// The run in a few words.
    pub(super) fn words(&self) -> String {
        let Self { held, accusations, seconds, .. } = self;
        let named: Vec<&str> = accusations.iter().map(|accusation| &*accusation.case).collect();
        let rest = if named.is_empty() { String::new() } else { format!(", not held: {}", named.join(", ")) };
        format!("{held} held in {seconds:.1} s{rest}")
    }
}

impl Accusation {
    pub(super) fn of(failure: &Failure) -> Self {
        let verdict = match failure.kind {
            FailureKind::Broken => Verdict::Broken,
            FailureKind::Inconclusive => Verdict::Inconclusive,
            FailureKind::SetUp => Verdict::SetUpFailed,
        };
        let case = failure.case.name.to_owned();
        Self { case, verdict, seed: failure.seed, report: failure.to_string() }
    }
}

/// The file with the runs so far. It is only ever appended to.
pub(super) struct Log {
    file: File,
    lines: Vec<Line>,
}

impl Log {
    /// Opens the file, or begins it. A last line without its end is a run that was interrupted while it was written, and
    /// is cut off; any other line that cannot be read is an error.
    pub(super) fn open(path: &Path) -> Result<Self, String> {
        let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(wrong)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(wrong)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        if whole < text.len() {
            file.set_len(whole as u64).map_err(wrong)?;
            file.seek(SeekFrom::End(0)).map_err(wrong)?;
        }
        let lines = read(&text[..whole]).map_err(|problem| format!("{}: {problem}", path.display()))?;
        Ok(Self { file, lines })
    }

    /// How many runs there are of this kind.
    pub(super) fn runs_of(&self, label: &str, store: &str, cases: &str) -> u32 {
        let of_this = self.about(label, store).filter(|line| line.cases == cases);
        of_this.map(|line| line.run).max().unwrap_or(0)
    }

    /// How many cases did not hold.
    pub(super) fn accusations(&self, label: &str, store: &str) -> usize {
        self.about(label, store).map(|line| line.accusations.len()).sum()
    }

    pub(super) fn append(&mut self, line: Line) -> Result<(), String> {
        let mut text = serde_json::to_string(&line).map_err(|error| error.to_string())?;
        text.push('\n');
        // One write, so that lines of two stores that share the log do not mix.
        self.file
            .write_all(text.as_bytes())
            .map_err(|error| format!("the log cannot be written: {error}"))?;
        self.lines.push(line);
        Ok(())
    }

    fn about(&self, label: &str, store: &str) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.label == label && line.store == store)
    }
}

/// The lines of a log.
pub(super) fn read(text: &str) -> Result<Vec<Line>, String> {
    let numbered = text.lines().enumerate();
    numbered
        .map(|(place, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", place + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_log_goes_on_behind_the_last_whole_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("soak.log");
        let mut log = Log::open(&path).unwrap();
        for run in 1..=3 {
            log.append(Line::empty("abc", "mine", "all", run)).unwrap();
        }
        log.append(Line::empty("abc", "other", "all", 1)).unwrap();
        drop(log);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 9]).unwrap();

        let mut log = Log::open(&path).unwrap();
        assert_eq!(log.runs_of("abc", "mine", "all"), 3);
        assert_eq!(log.runs_of("abc", "mine", "marked"), 0);
        assert_eq!(log.runs_of("def", "mine", "all"), 0, "another label's runs do not count");
        assert_eq!(log.runs_of("abc", "other", "all"), 0, "half a line is no run");
        log.append(Line::empty("abc", "mine", "all", 4)).unwrap();

        assert_eq!(read(&fs::read_to_string(&path).unwrap()).unwrap().len(), 4);
    }

    #[test]
    fn a_line_that_cannot_be_read_is_named() {
        let problem = read("{}\n").unwrap_err();

        assert!(problem.starts_with("line 1: "), "{problem}");
    }
}
