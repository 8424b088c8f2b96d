//! A case that did not hold, and how its report reads.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::causes::usual_causes;
use crate::clause::Clause;
use crate::evidence::Evidence;
use crate::planted::Fault;
use crate::suite::CaseInfo;

/// Why a case did not hold. Its `Display` is the report of the failure: for whoever has never read the suite, what was
/// promised, what happened, what usually causes it, what users would suffer, and how to see it again.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Which case.
    pub case: &'static CaseInfo,
    /// The clause that is broken: that of the case, or *bounded* if it did not come to its end.
    pub clause: Clause,
    /// What kind of failure.
    pub kind: FailureKind,
    /// What the case was doing.
    pub step: &'static str,
    /// What was observed, and what was due.
    pub message: String,
    /// How much the case had looked at until then.
    pub evidence: Evidence,
    /// The seed of the run's random choices.
    pub seed: u64,
    /// The store that was tested.
    pub store: &'static str,
    pub(crate) symptom: Symptom,
    pub(crate) again: Arc<Again>,
}

/// What a failed case says of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a report must tell these apart")]
pub enum FailureKind {
    /// The store breaks the contract.
    Broken,
    /// The case could not be brought about: the machine was too slow, or the callers never met. Nothing is known.
    Inconclusive,
    /// The fixture failed. Nothing is known.
    SetUp,
}

/// What a broken store was caught at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Symptom {
    /// It does something else than is due.
    Behaviour,
    /// A call failed or panicked. Its message tells more than the clause does.
    Error,
}

/// Where to look further.
#[derive(Clone, Debug, Default)]
pub(crate) struct Again {
    /// The shell command that runs the suite, ready for more arguments.
    pub(crate) command: Option<String>,
    /// The file that the run's report is written to.
    pub(crate) report: Option<PathBuf>,
}

impl FailureKind {
    /// The word in capitals behind the case's sentence.
    pub(crate) const fn verdict(self) -> &'static str {
        match self {
            Self::Broken => "BROKEN",
            Self::Inconclusive => "INCONCLUSIVE",
            Self::SetUp => "SET-UP FAILED",
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.title(f)?;
        match self.kind {
            FailureKind::Broken => self.accusation(f)?,
            FailureKind::Inconclusive => {
                paragraph(
                    f,
                    "Nothing is known of the store: what the case is about could not be brought about.",
                )?;
                section(f, "Why", self.observed())?;
                section(f, "What to do", [REMEDY.to_owned()])?;
            }
            FailureKind::SetUp => {
                paragraph(f, "Nothing is known of the store: the fixture failed.")?;
                section(f, "Why", self.observed())?;
            }
        }
        self.way_back(f)
    }
}

impl Error for Failure {}

impl Failure {
    fn title(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CaseInfo { id, sentence, .. } = self.case;
        let Self { store, seed, .. } = self;
        write!(f, "{id}  {sentence}   {}   {store}, seed {seed}", self.kind.verdict())?;
        let Evidence { attempts, rounds, rounds_planned, .. } = self.evidence;
        match attempts {
            0 | 1 => {}
            times => write!(f, ", tried {times} times")?,
        }
        match rounds {
            0 => {}
            round if round <= rounds_planned => write!(f, ", round {round} of {rounds_planned}")?,
            round => write!(f, ", round {round}")?,
        }
        writeln!(f)
    }

    fn accusation(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clause = self.clause;
        paragraph(f, &format!("Promise, clause {:?}: {}.", clause.name(), clause.promise()))?;
        section(f, "What happened", self.observed())?;
        let causes = usual_causes(self.case, clause, self.symptom);
        section(f, "Usual causes", causes.iter().map(|cause| (*cause).to_owned()))?;
        section(f, "Planted faults with the same symptom", self.same_symptom())?;
        paragraph(f, &format!("Effect in production: {}.", clause.cost()))
    }

    /// The last step, the message, and how far a race had come.
    fn observed(&self) -> impl Iterator<Item = String> {
        let step = (!self.step.is_empty()).then(|| format!("step: {}", self.step));
        let Evidence { rounds, overlap, .. } = self.evidence;
        let race = (rounds > 0 && self.kind == FailureKind::Broken)
            .then(|| format!("at most {overlap} calls were under way at one instant"));
        let message = self.message.lines().map(str::to_owned);
        step.into_iter().chain(message).chain(race)
    }

    /// The faults of which the suite's own tests know that this case finds them, and that look like this.
    fn same_symptom(&self) -> impl Iterator<Item = String> {
        let faults = Fault::ALL.iter().map(|fault| fault.info());
        let same =
            faults.filter(|fault| fault.case == self.case.name && self.message.contains(fault.message));
        same.map(|fault| format!("{}  {}", fault.number, fault.sentence))
    }

    fn way_back(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, case, again, .. } = self;
        match &again.command {
            Some(command) => write!(f, "\n  again:   ONCEONLY_SEED={seed} {command} --exact {}", case.name)?,
            None => write!(f, "\n  again:   Suite::run({:?}) with ONCEONLY_SEED={seed}", case.name)?,
        }
        match &again.report {
            Some(file) => write!(f, "\n  report:  {}", file.display()),
            None => Ok(()),
        }
    }
}

fn paragraph(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    writeln!(f, "\n  {text}")
}

/// A heading and lines below it; nothing if there are none.
fn section(
    f: &mut fmt::Formatter<'_>,
    heading: &str,
    lines: impl IntoIterator<Item = String>,
) -> fmt::Result {
    for (place, line) in lines.into_iter().enumerate() {
        if place == 0 {
            writeln!(f, "\n  {heading}:")?;
        }
        writeln!(f, "     {line}")?;
    }
    Ok(())
}

/// What helps a case that could not be brought about. What helps besides that, its message says.
const REMEDY: &str = "run it again on a quieter machine, or alone";
