//! What a run of the suite has come to, as data: the file that it leaves, and what is made of it.
//!
//! A run of a backend's conformance test leaves its report in the folder that the environment variable
//! `ONCEONLY_REPORT` names: `<store>.json`, and beside it `<store>.xml` for whatever reads JUnit. Without the variable
//! nothing is written. In the names of files, what is no ASCII letter or digit, `-` or `_` becomes `-`.
//!
//! `cargo nextest` runs each case in a process of its own, none of which knows of the others. There each case leaves a
//! report of itself alone, `<store>/<case>.json`, under the id of nextest's run; [`read_folder`] puts those of one run
//! together. Of several runs of one store the one that began last counts. JUnit is then made of the whole:
//! `onceonly-conformance junit FOLDER`.
//!
//! # The file
//!
//! ```
//! # let text = r#"
//! {
//!   "format": 1,
//!   "store": "sqlite",
//!   "run": "0d9cf5a8-0e60-4d10-a7bc-0b8f9a1c5c55",
//!   "started": "2027-01-15T08:00:00.000Z",
//!   "duration_ms": 5120,
//!   "declared": {
//!     "clock": "manual",
//!     "resolution_us": 1,
//!     "durability": "power_loss",
//!     "processes": "many",
//!     "response_bytes_max": 1048576
//!   },
//!   "environment": [
//!     { "name": "onceonly-conformance", "value": "0.1.0" },
//!     { "name": "journal_mode", "value": "wal" }
//!   ],
//!   "cases_listed": 122,
//!   "cases": [
//!     {
//!       "name": "takeover::one_taker_of_an_abandoned_record_is_granted",
//!       "id": "R2",
//!       "clause": "exclusive",
//!       "flake": "race",
//!       "sentence": "of eight takers of one abandoned record, one is granted",
//!       "seed": 7341,
//!       "attempts": 1,
//!       "rounds": 64,
//!       "overlap": 8,
//!       "trials": 0,
//!       "duration_ms": 310,
//!       "verdict": "held"
//!     }
//!   ]
//! }
//! # "#;
//! # let report = onceonly_conformance::report::Report::from_json(text).unwrap();
//! # assert_eq!(report.cases[0].rounds, 64);
//! ```
//!
//! `verdict` is `held`; `not_claimed`, with a `reason`; or `broken`, `inconclusive` or `set_up_failed`, with the `message`
//! that says what was observed and the whole `text` of the failure, and if it is broken with `broken`, the clause.
//! `started` is in UTC. A run that was asked for some cases only has fewer `cases` than `cases_listed`. Nothing in the
//! file is secret: keys and bodies are the suite's own.
//!
//! Readers pass over fields that they do not know. A change after which an old reader would misunderstand a file raises
//! `format`, and a reader refuses a format that is newer than its own.

mod files;
mod junit;
mod markdown;
mod tally;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::clause::Clause;
use crate::declaration::{ClockKind, Declaration, Durability, Processes};
use crate::evidence::{Evidence, Outcome};
use crate::failure::{Failure, FailureKind};
use crate::suite::{CaseInfo, Flake};

pub(crate) use self::files::Destination;
pub use self::files::{ReadError, read_folder};
pub use self::junit::junit;
pub use self::markdown::{document, table};
pub use self::tally::Tally;

/// One run of the suite against one store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Report {
    /// [`FORMAT`] of the release that wrote it.
    pub format: u32,
    /// What the store is called.
    pub store: String,
    /// An id of the run. Reports of one store with the same id are parts of one.
    pub run: String,
    /// When it began, in UTC, as RFC 3339 with milliseconds. Such texts are ordered as the instants are.
    pub started: String,
    /// How long it took. Of several parts, the sum.
    pub duration_ms: u64,
    /// What the store says of itself.
    pub declared: Declared,
    /// Versions, and the settings that matter.
    pub environment: Vec<Fact>,
    /// How many cases the suite has.
    pub cases_listed: usize,
    /// The cases that ran, in the order of the catalogue.
    pub cases: Vec<CaseReport>,
}

/// The [`Declaration`] of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Declared {
    /// Whose time the store takes.
    pub clock: ClockKind,
    /// The shortest difference between two of its deadlines, in microseconds.
    pub resolution_us: u64,
    /// What an acknowledged write survives.
    pub durability: Durability,
    /// Who can share the records.
    pub processes: Processes,
    /// The largest response that it must take.
    pub response_bytes_max: usize,
}

/// A version, or a setting that matters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "a name and a value")]
pub struct Fact {
    /// Such as `SQLite` or `journal_mode`.
    pub name: String,
    /// Such as `3.51.3` or `wal`.
    pub value: String,
}

/// What has come of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CaseReport {
    /// File and function.
    pub name: String,
    /// The id in the catalogue.
    pub id: String,
    /// The clause that it is about.
    pub clause: Clause,
    /// How its verdict may depend on the machine.
    pub flake: Flake,
    /// The behaviour in a sentence.
    pub sentence: String,
    /// The seed of the run that it was part of.
    pub seed: u64,
    /// How often it was tried until its circumstances came about, the last time included. 0 if it is not claimed.
    pub attempts: u32,
    /// How many rounds callers raced in, if they did.
    pub rounds: usize,
    /// The most calls that were under way at one instant, if callers raced.
    pub overlap: usize,
    /// How many inputs were tried, if they were generated.
    #[serde(default)]
    pub trials: u32,
    /// How long all attempts took.
    pub duration_ms: u64,
    /// What it says of the store.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What a case says of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "whoever shows a report must tell these apart")]
pub enum Verdict {
    /// The store behaves as the contract says.
    Held,
    /// The case is about something that the store does not declare, or the fixture cannot bring about.
    NotClaimed {
        /// Why.
        reason: String,
    },
    /// The store breaks the contract.
    Broken {
        /// The clause that is broken: that of the case, or *bounded* if it did not come to its end.
        broken: Clause,
        /// What was observed, and what was due.
        message: String,
        /// The report of the failure, for people.
        text: String,
    },
    /// The case could not be brought about. Nothing is known.
    Inconclusive {
        /// Why.
        message: String,
        /// The report of the failure, for people.
        text: String,
    },
    /// The fixture failed. Nothing is known.
    SetUpFailed {
        /// Its message.
        message: String,
        /// The report of the failure, for people.
        text: String,
    },
}

impl Report {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// What is wrong with it. A newer format is told from a file that is none.
    pub fn from_json(text: &str) -> Result<Self, InvalidReport> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        // Of a newer format no more may be understood than its number.
        let Head { format } = serde_json::from_str(text)?;
        if format > FORMAT {
            return Err(InvalidReport::Newer { format });
        }
        Ok(serde_json::from_str(text)?)
    }

    /// The text of its file.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a report has string keys only");
        text + "\n"
    }

    /// Whether every case of the suite ran, and each either held or is not claimed.
    pub fn is_all_held(&self) -> bool {
        !self.is_partial() && self.tally().failed() == 0
    }

    /// Whether cases were left out.
    pub const fn is_partial(&self) -> bool {
        self.cases.len() < self.cases_listed
    }

    /// The names of the cases that say nothing of this store, and why.
    pub fn not_claimed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.cases.iter().filter_map(|case| match &case.verdict {
            Verdict::NotClaimed { reason } => Some((&*case.name, &**reason)),
            _ => None,
        })
    }

    /// The seeds of its cases: one, unless each ran in a process of its own.
    pub fn seeds(&self) -> Vec<u64> {
        let seeds: BTreeSet<u64> = self.cases.iter().map(|case| case.seed).collect();
        seeds.into_iter().collect()
    }

    /// Its cases, counted.
    pub fn tally(&self) -> Tally {
        self.cases.iter().collect()
    }
}

/// Why a text is no report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidReport {
    /// It was written by a later release.
    #[error(
        "format {format} is newer than what this release reads, which is {FORMAT}: take the release that wrote it"
    )]
    Newer {
        /// Its format.
        format: u32,
    },
    /// It is no JSON, or none of a report.
    #[error("not a conformance report: {0}")]
    Malformed(#[from] serde_json::Error),
}

impl Declared {
    /// What is declared and must not be read as having been tested.
    pub const fn untested(&self) -> Option<&'static str> {
        match self.durability {
            Durability::Handle | Durability::Process => None,
            Durability::PowerLoss => Some("a write survives a loss of power"),
            Durability::Failover => Some("a write survives a loss of power, and the loss of its host"),
        }
    }
}

impl From<&Declaration> for Declared {
    fn from(declaration: &Declaration) -> Self {
        Self {
            clock: declaration.clock,
            resolution_us: u64::try_from(declaration.resolution.as_micros()).unwrap_or(u64::MAX),
            durability: declaration.durability,
            processes: declaration.processes,
            response_bytes_max: declaration.response_bytes_max,
        }
    }
}

impl CaseReport {
    pub(crate) fn of(case: &CaseInfo, seed: u64, duration_ms: u64, ended: &Result<Outcome, Failure>) -> Self {
        let evidence = match ended {
            Ok(Outcome::Held(evidence)) => *evidence,
            Ok(Outcome::NotClaimed(_)) => Evidence::default(),
            Err(failure) => failure.evidence,
        };
        let Evidence { attempts, rounds, overlap, trials, .. } = evidence;
        Self {
            name: case.name.to_owned(),
            id: case.id.to_owned(),
            clause: case.clause,
            flake: case.flake,
            sentence: case.sentence.to_owned(),
            seed,
            attempts,
            rounds,
            overlap,
            trials,
            duration_ms,
            verdict: Verdict::of(ended),
        }
    }
}

impl Verdict {
    fn of(ended: &Result<Outcome, Failure>) -> Self {
        let failure = match ended {
            Ok(Outcome::Held(_)) => return Self::Held,
            Ok(Outcome::NotClaimed(reason)) => return Self::NotClaimed { reason: reason.clone() },
            Err(failure) => failure,
        };
        let (message, text) = (failure.message.clone(), failure.to_string());
        match failure.kind {
            FailureKind::Broken => Self::Broken { broken: failure.clause, message, text },
            FailureKind::Inconclusive => Self::Inconclusive { message, text },
            FailureKind::SetUp => Self::SetUpFailed { message, text },
        }
    }
}

/// The format that this release writes.
pub const FORMAT: u32 = 1;
