//! What a store keeps under a record key.

use std::fmt;

use bytes::Bytes;

use crate::digest::{Redacted, Short};
use crate::fingerprint::Fingerprint;
use crate::random;
use crate::response::StoredResult;
use crate::time::Timestamp;

/// Sixteen random bytes that prove who holds a claim.
///
/// A new one for every claim, never for an owner, a process or a host: an id that comes back would let a heartbeat of
/// an earlier claim extend a later one. Tokens have no order, so an outside system cannot tell an old one from a new
/// one by comparing them.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token([u8; 16]);

impl Token {
    /// For stores and their tests: a token that was written before.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// A new token, sixteen bytes from the operating system: for whoever writes a claim or a mark itself. The engine
    /// makes its own.
    pub fn random() -> Self {
        Self(random::token_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Token({:?}…)", Short(&self.0))
    }
}

/// The number of a claim's write: 1 for the claim, and one more for each later write of its holder.
///
/// The holder counts, not the store, so that a late copy of a renewal is recognised as overtaken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u32);

impl Revision {
    /// The claim itself.
    pub const FIRST: Self = Self(1);

    /// For stores and their tests: a revision that was written before.
    pub const fn from_number(number: u32) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// Token and revision: identifies one write of one claim, for ever.
///
/// A takeover expects both. The token alone would displace a claim that was renewed, or a result that was completed,
/// between look and takeover. The revision alone would displace a later claim that has come to the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// Whose claim.
    pub token: Token,
    /// Which of its writes.
    pub revision: Revision,
}

/// What is stored under a record key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Which write the record comes from.
    pub version: Version,
    /// What the key is bound to.
    pub fingerprint: Fingerprint,
    /// 1 for the first grant, one more for each takeover.
    pub attempt: u32,
    /// When the present claim was granted.
    pub created_at: Timestamp,
    /// How long the claim stands without renewal.
    pub lease_until: Timestamp,
    /// Until when a completed record is kept at least; for a released one, how long the mark stands.
    pub expires_at: Timestamp,
    /// Until when an unfinished record is remembered.
    pub unresolved_until: Timestamp,
    /// How far the operation has come.
    pub status: Status,
}

impl Record {
    /// From when on the record counts as gone.
    ///
    /// An unfinished record is remembered longer than a finished one: an abandoned charge must not be forgotten, and
    /// made again, just because a day has passed.
    pub const fn past_from(&self) -> Timestamp {
        match self.status {
            Status::InProgress { .. } => self.unresolved_until,
            Status::Completed(_) | Status::Released => self.expires_at,
        }
    }

    /// Whether the record is past its time at `now`. Deadlines are half-open: at the deadline it is past.
    pub fn is_past(&self, now: Timestamp) -> bool {
        self.past_from() <= now
    }

    /// Whether `token` holds the record at `now`: it is in progress under that token and not past its time. The lease
    /// does not matter: a holder that nobody displaced may still write.
    pub fn is_held_by(&self, token: Token, now: Timestamp) -> bool {
        matches!(self.status, Status::InProgress { .. }) && self.version.token == token && !self.is_past(now)
    }
}

/// How far the operation has come.
#[derive(Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store must keep every status")]
pub enum Status {
    /// Claimed, and not finished.
    InProgress {
        /// What the handler saved for a later attempt, if anything.
        checkpoint: Option<Bytes>,
    },
    /// Finished, with its result.
    Completed(StoredResult),
    /// Given back because nothing happened. The mark stays for a while, so that a late copy of the claim finds it and
    /// is refused.
    Released,
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InProgress { checkpoint: None } => f.write_str("InProgress"),
            Self::InProgress { checkpoint: Some(bytes) } => {
                f.debug_struct("InProgress").field("checkpoint", &Redacted(bytes)).finish()
            }
            Self::Completed(result) => f.debug_tuple("Completed").field(result).finish(),
            Self::Released => f.write_str("Released"),
        }
    }
}

/// A record as stored, past its time or not, and the store's time at which it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The record.
    pub record: Record,
    /// The store's clock when it was read. Only with this may the record's deadlines be compared.
    pub now: Timestamp,
}
