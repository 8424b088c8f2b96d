//! How a case ends, and how its failure reads.

use std::any::Any;
use std::fmt;
use std::panic::resume_unwind;

use crate::clause::Clause;
use crate::suite::CaseInfo;

/// Why a case did not hold. Its `Display` is the report of the failure.
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
    /// The seed of the case's random choices.
    pub seed: u64,
    /// The store that was tested.
    pub store: &'static str,
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

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CaseInfo { name, id, sentence, .. } = self.case;
        let clause = self.clause;
        let verdict = match self.kind {
            FailureKind::Broken => "BROKEN",
            FailureKind::Inconclusive => "INCONCLUSIVE",
            FailureKind::SetUp => "SET-UP FAILED",
        };
        writeln!(
            f,
            "{id}  {sentence}   {verdict}   {store}, seed {seed}",
            store = self.store,
            seed = self.seed
        )?;
        writeln!(f)?;
        writeln!(f, "  clause     {}: {}", clause.name(), clause.promise())?;
        if !self.step.is_empty() {
            writeln!(f, "  step       {}", self.step)?;
        }
        let mut lines = self.message.lines();
        writeln!(f, "  what       {}", lines.next().unwrap_or_default())?;
        for line in lines {
            writeln!(f, "             {line}")?;
        }
        if self.kind == FailureKind::Broken {
            writeln!(f, "  users see  {}", clause.cost())?;
        }
        write!(f, "  again      ONCEONLY_SEED={} cargo test --test conformance -- --exact {name}", self.seed)
    }
}

impl std::error::Error for Failure {}

/// How a case is left early. It unwinds with this instead of a panic, so that nothing is printed before the report.
pub(crate) enum Left {
    /// The store breaks a clause; that of the case unless another one is named.
    Broken { message: String, clause: Option<Clause> },
    /// Nothing could be learned.
    Inconclusive(String),
    /// The fixture failed.
    SetUp(String),
    /// The store declares nothing that could be tested, or the fixture has no means to bring it about.
    NotClaimed(String),
}

impl Left {
    /// What a caught panic says.
    pub(crate) fn from_panic(payload: Box<dyn Any + Send>) -> Self {
        match payload.downcast::<Self>() {
            Ok(left) => *left,
            Err(payload) => {
                let text = payload.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
                Self::Broken { message: format!("a call panicked: {text}"), clause: None }
            }
        }
    }
}

/// Ends the case: the store breaks the contract.
pub(crate) fn broken(message: impl Into<String>) -> ! {
    resume_unwind(Box::new(Left::Broken { message: message.into(), clause: None }))
}

/// Ends the case: the store breaks a clause that is not the case's own.
pub(crate) fn broken_clause(clause: Clause, message: impl Into<String>) -> ! {
    resume_unwind(Box::new(Left::Broken { message: message.into(), clause: Some(clause) }))
}

/// Ends this attempt at the case: nothing could be learned. It is tried again with longer spans and more rounds.
pub(crate) fn inconclusive(message: impl Into<String>) -> ! {
    resume_unwind(Box::new(Left::Inconclusive(message.into())))
}

/// Ends the case: it is about durability, processes or a server's control, which the store does not declare or the
/// fixture cannot bring about. The run says so.
pub(crate) fn not_claimed(reason: impl Into<String>) -> ! {
    resume_unwind(Box::new(Left::NotClaimed(reason.into())))
}

/// Ends the case: the fixture failed.
pub(crate) fn set_up_failed(error: impl fmt::Display) -> ! {
    resume_unwind(Box::new(Left::SetUp(error.to_string())))
}

/// Ends the case unless the condition holds; the message says what was observed and what was due.
macro_rules! check {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            $crate::verdict::broken(format!($($message)+));
        }
    };
}

/// Ends the case unless both are equal.
macro_rules! check_eq {
    ($found:expr, $due:expr, $($what:tt)+) => {
        // A match, so that temporaries in both live until they have been compared.
        match (&$found, &$due) {
            (found, due) if found != due => {
                $crate::verdict::broken(format!("{}: found {found:?}, due {due:?}", format_args!($($what)+)));
            }
            _ => {}
        }
    };
}

pub(crate) use {check, check_eq};
