//! The clauses of the store contract.

use serde::{Deserialize, Serialize};

/// A clause of [`KeyStore`](onceonly::KeyStore): each is a heading in its documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "a report must have a row for each clause")]
pub enum Clause {
    /// One winner over every handle and process.
    Exclusive,
    /// Only the present holder writes; once superseded, always superseded.
    Held,
    /// After `Ok`, every later call on any handle sees the write.
    Durable,
    /// A dropped or failed call happened entirely or not at all.
    Whole,
    /// Every byte comes back, and every number with its value.
    Verbatim,
    /// Deadlines are computed and compared with the store's clock.
    OneClock,
    /// Two record keys never meet, nor wait for each other.
    Isolated,
    /// No answer comes from a replica.
    Primary,
    /// No verb waits without limit.
    Bounded,
    /// A call that is repeated, late or delivered twice leaves what one call leaves.
    Repeating,
    /// A record past its time counts as gone, and one that is not is never purged.
    PastItsTime,
}

impl Clause {
    /// Every clause.
    pub const ALL: [Self; 11] = [
        Self::Exclusive,
        Self::Held,
        Self::Durable,
        Self::Whole,
        Self::Verbatim,
        Self::OneClock,
        Self::Isolated,
        Self::Primary,
        Self::Bounded,
        Self::Repeating,
        Self::PastItsTime,
    ];

    /// Its name in the contract.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exclusive => "exclusive",
            Self::Held => "held",
            Self::Durable => "durable",
            Self::Whole => "whole",
            Self::Verbatim => "verbatim",
            Self::OneClock => "one clock",
            Self::Isolated => "isolated",
            Self::Primary => "primary",
            Self::Bounded => "bounded",
            Self::Repeating => "repeating",
            Self::PastItsTime => "past its time",
        }
    }

    /// What it promises.
    pub const fn promise(self) -> &'static str {
        match self {
            Self::Exclusive => "of any number of claims with the same expectation, one is granted",
            Self::Held => "only the present holder's token writes; once superseded, always superseded",
            Self::Durable => "after Ok, every later call on any handle sees the write",
            Self::Whole => "a call that failed or was dropped happened entirely or not at all",
            Self::Verbatim => "every byte comes back, and every number with its value",
            Self::OneClock => "deadlines are the store's time plus the span asked for, exactly",
            Self::Isolated => "two record keys never meet, whatever their bytes",
            Self::Primary => "no answer comes from a replica or a stale copy",
            Self::Bounded => "no verb waits without limit",
            Self::Repeating => "a call repeated, late or delivered twice leaves what one call leaves",
            Self::PastItsTime => "a record counts as gone from its deadline on, and not a moment earlier",
        }
    }

    /// What users of a store suffer that breaks it.
    pub const fn cost(self) -> &'static str {
        match self {
            Self::Exclusive => "two callers execute, and the customer is charged twice",
            Self::Held => "a holder that everybody gave up on overwrites what callers were already told",
            Self::Durable => "an acknowledged claim vanishes, and the next caller executes again",
            Self::Whole => "half a record is replayed, or blocks its key for good",
            Self::Verbatim => "a retry is answered with something else than the first call was",
            Self::OneClock => {
                "a live claim is taken over while its holder runs, or a dead one blocks its key"
            }
            Self::Isolated => "one customer is given another one's response, or is refused because of it",
            Self::Primary => "a finished key looks free, and the operation runs again",
            Self::Bounded => "one stuck call takes every worker of the application with it",
            Self::Repeating => "a retry after a lost reply executes again, or is refused its own result",
            Self::PastItsTime => "a live claim is forgotten and granted again, or a stale answer is replayed",
        }
    }
}
