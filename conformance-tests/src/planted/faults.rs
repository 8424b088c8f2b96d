//! The catalogue of planted faults.

mod batches;
mod claims;
mod completions;
mod damage;
mod gaps;
mod handles;
mod holders;
mod keys;
mod payloads;
mod purges;
mod releases;
mod renewals;
mod times;
mod waits;

use crate::clause::Clause;
use batches::batches;
use claims::claims;
use completions::completions;
use damage::damage;
use gaps::gaps;
use handles::handles;
use holders::holders;
use keys::keys;
use payloads::payloads;
use purges::purges;
use releases::releases;
use renewals::renewals;
use times::times;
use waits::waits;

/// A way of being broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FaultInfo {
    /// Its stable number. Those from 201 on are not in the specification's own list.
    pub number: u16,
    /// The clause of the contract that it breaks, as the report says it.
    pub clause: Clause,
    /// What the store does wrong, in a sentence.
    pub sentence: &'static str,
    /// The case that must find it.
    pub case: &'static str,
    /// What the report must say, for its reader to see what is wrong.
    pub message: &'static str,
}

macro_rules! faults {
    ([] $($name:ident: $number:literal, $clause:ident, $sentence:literal, $case:literal, $message:literal;)+) => {
        /// What is wrong with a [`PlantedStore`](crate::PlantedStore).
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Fault {
            $(#[doc = $sentence] $name,)+
        }

        impl Fault {
            /// Every fault.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// What it is, and what must find it.
            pub const fn info(self) -> FaultInfo {
                match self {
                    $(Self::$name => FaultInfo {
                        number: $number,
                        clause: Clause::$clause,
                        sentence: $sentence,
                        case: $case,
                        message: $message,
                    },)+
                }
            }
        }
    };
}

impl Fault {
    /// Whether a case that meets it does not come to its end.
    pub(super) fn hangs(self) -> bool {
        let message = self.info().message;
        message == "waits without limit" || message == "has blocked its thread"
    }
}

// An enum is one list. So each part puts its rows behind those that it is given and hands them on to the next.
claims! {
    [renewals completions releases holders times payloads keys purges batches gaps handles waits damage faults]
}
