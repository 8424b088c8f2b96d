//! What clients and workers say to each other, one JSON text a line.

use serde::{Deserialize, Serialize};

/// A request, as it arrives at a worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Call {
    /// Which reply belongs to it.
    pub(crate) number: u64,
    /// The idempotency key. The worker without Onceonly has no use for it.
    pub(crate) key: String,
    pub(crate) customer: String,
    pub(crate) amount: i64,
    pub(crate) trouble: Trouble,
}

/// What befalls the worker while it handles a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Trouble {
    None,
    /// It takes several leases to make the charge.
    Slow,
    /// It is killed when it is about to charge.
    KilledBeforeCharge,
    /// It is killed when it has charged and told nobody.
    KilledAfterCharge,
}

/// What a worker says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// The answer to the call of this number.
    Reply { number: u64, reply: Reply },
    /// The handler of this call stands where it is to be killed, and will not go on.
    AtTheKnife { number: u64 },
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The customer was charged.
    Charged { id: String },
    /// Nothing can be said yet.
    ComeBack { after_ms: u64 },
}
