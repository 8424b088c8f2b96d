//! Trouble on purpose.
//!
//! A real payments server has none of this. It is here so that the cases that matter, which are rare, can be watched.

use std::process;
use std::time::Duration;

use serde::Deserialize;

/// What a charge is asked to go through on its first attempt.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Simulation {
    /// How long the handler waits before it charges.
    #[serde(default)]
    delay_ms: u32,
    /// What happens between the charge and the answer.
    #[serde(default)]
    then: Then,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Then {
    #[default]
    Ok,
    Error,
    Panic,
    Abort,
}

/// The handler is to answer with an error although the charge was made.
#[derive(Debug)]
pub(crate) struct SimulatedError;

impl Simulation {
    /// The trouble of attempt `number`: what was asked for on the first, none on later ones.
    pub(crate) fn on_attempt(self, number: u32) -> Self {
        if number == 1 { self } else { Self::default() }
    }

    /// Waits as long as was asked for.
    pub(crate) async fn delay(self) {
        tokio::time::sleep(Duration::from_millis(self.delay_ms.into())).await;
    }

    /// Comes between the charge and the answer.
    ///
    /// # Errors
    /// [`SimulatedError`] if the answer is to be an error.
    ///
    /// # Panics
    /// If that was asked for. On `abort` the process ends here and now, as in a crash: nothing is unwound, written or
    /// said.
    pub(crate) fn strike(self) -> Result<(), SimulatedError> {
        match self.then {
            Then::Ok => Ok(()),
            Then::Error => Err(SimulatedError),
            Then::Panic => panic!("the handler panics, as asked for by `simulate`"),
            Then::Abort => process::abort(),
        }
    }
}
