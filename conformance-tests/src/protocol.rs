//! What the suite and a process that it has started say to each other: one line of JSON each.

use onceonly::Timestamp;
use serde::{Deserialize, Serialize};

use crate::call::{Answer, Request};
use crate::wire::optional_timestamp;

/// What the process is told, on its standard input. When that is closed, it ends.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Order {
    /// The time that the store's clock is set to, if it is one that the suite sets.
    #[serde(rename = "now_us", with = "optional_timestamp")]
    pub(crate) now: Option<Timestamp>,
    pub(crate) what: What,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum What {
    /// To open its handle.
    Begin,
    /// To make a call, beside those that are under way.
    Call(Call),
    /// To keep calls until they are all to be made at once.
    Hold { calls: Vec<Call> },
    /// To make the calls that it keeps.
    Go,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) id: u64,
    pub(crate) request: Request,
}

/// What the process says, on its standard output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Word {
    /// It has begun, or keeps the calls.
    Ready,
    /// The call has begun and waits for something.
    Waits { id: u64 },
    /// The call has its answer.
    Answered { id: u64, answer: Answer, interval: Interval },
    /// The call has panicked.
    Panicked { id: u64, text: String },
}

/// When a call was under way, in microseconds of the host's clock, which all its processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Interval {
    pub(crate) began_us: u64,
    pub(crate) ended_us: u64,
}

/// The variable whose value makes a program a process of the suite: the address of the place that it joins.
pub(crate) const ADDRESS: &str = "ONCEONLY_CONFORMANCE_ADDRESS";
