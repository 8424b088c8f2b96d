//! Errors, for somebody at a terminal.

use std::error::Error;
use std::iter;

/// An error and all that caused it, on one line.
pub fn chain(error: &dyn Error) -> String {
    let causes = iter::successors(error.source(), |&cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
