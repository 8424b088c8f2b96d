//! How a case ends.

use std::any::Any;
use std::fmt;
use std::panic::resume_unwind;

use crate::clause::Clause;

/// How a case is left early. It unwinds with this instead of a panic, so that nothing is printed before the report.
pub(crate) enum Left {
    /// The store breaks a clause; that of the case unless another one is named.
    Broken { message: String, clause: Option<Clause> },
    /// A call failed that had to be answered, or panicked.
    CallFailed(String),
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
            Err(payload) => Self::CallFailed(format!("a call panicked: {}", panic_text(&*payload))),
        }
    }
}

/// The message of a caught panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Ends the case: the store breaks the contract.
pub(crate) fn broken(message: impl Into<String>) -> ! {
    resume_unwind(Box::new(Left::Broken { message: message.into(), clause: None }))
}

/// Ends the case: the store breaks a clause that is not the case's own.
pub(crate) fn broken_clause(clause: Clause, message: impl Into<String>) -> ! {
    resume_unwind(Box::new(Left::Broken { message: message.into(), clause: Some(clause) }))
}

/// Ends the case: the store breaks the contract, by a call that failed where it had to be answered.
pub(crate) fn call_failed(message: impl Into<String>) -> ! {
    resume_unwind(Box::new(Left::CallFailed(message.into())))
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
