//! What engines send, in values that are small, ordered and hashed.

use bytes::Bytes;
use onceonly::{Fingerprint, Revision, StoredResponse, StoredResult, Timestamp, Token, Version};

/// Whose claim, and which of its claims: a token that is small and has a name. See [`Claimant::token`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Claimant {
    pub(crate) engine: u8,
    /// 1 for the engine's first token.
    pub(crate) number: u8,
}

impl Claimant {
    pub(crate) const fn token(self) -> Token {
        let mut bytes = [0; 16];
        bytes[0] = self.engine;
        bytes[1] = self.number;
        Token::from_bytes(bytes)
    }

    pub(crate) const fn of(token: Token) -> Self {
        let [engine, number, ..] = *token.as_bytes();
        Self { engine, number }
    }

    /// A place in a set of claimants.
    pub(crate) const fn bit(self) -> u64 {
        1 << (self.engine * 8 + self.number)
    }

    /// The result that this claim's holder stores.
    pub(crate) fn result(self) -> StoredResult {
        StoredResult::Retained(StoredResponse::new(u16::from_be_bytes([self.engine, self.number]), ""))
    }
}

/// A version, as small as it can be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Seen {
    pub(crate) claimant: Claimant,
    pub(crate) revision: u8,
}

impl Seen {
    pub(crate) fn of(version: Version) -> Self {
        let revision = u8::try_from(version.revision.number()).expect("a run has few writes");
        Self { claimant: Claimant::of(version.token), revision }
    }

    pub(crate) fn version(self) -> Version {
        Version { token: self.claimant.token(), revision: Revision::from_number(self.revision.into()) }
    }
}

/// What a handler has saved: nothing, that it is about to have its effect, or that it had it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub(crate) enum Checkpoint {
    #[default]
    None,
    Before,
    After,
}

impl Checkpoint {
    pub(crate) fn bytes(self) -> Option<Bytes> {
        match self {
            Self::None => None,
            Self::Before => Some(Bytes::from_static(b"before")),
            Self::After => Some(Bytes::from_static(b"after")),
        }
    }

    pub(crate) fn of(bytes: Option<&Bytes>) -> Self {
        match bytes.map(Bytes::as_ref) {
            None => Self::None,
            Some(b"before") => Self::Before,
            Some(_) => Self::After,
        }
    }
}

/// A request on the network. It may be delivered at any time, any number of times, or never.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Request {
    Claim {
        claimant: Claimant,
        asks: Asks,
        /// None where absence is expected.
        expected: Option<Seen>,
        attempt: u8,
        checkpoint: Checkpoint,
    },
    Renew {
        claimant: Claimant,
        revision: u8,
        lease: Lease,
        checkpoint: Checkpoint,
    },
    Complete {
        claimant: Claimant,
        revision: u8,
    },
    /// The effect and `complete` in one transaction: what is delivered is its commit.
    Commit {
        claimant: Claimant,
        revision: u8,
    },
    Release {
        claimant: Claimant,
        revision: u8,
    },
}

/// What a caller asks for under the key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Asks {
    ForThis,
    ForSomethingElse,
}

impl Asks {
    pub(crate) fn fingerprint(self) -> Fingerprint {
        let digest = [self as u8; Fingerprint::BYTES];
        Fingerprint::from_bytes(&digest).expect("a fingerprint has that many bytes")
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Lease {
    Extend,
    End,
}

/// Who stored the result.
pub(crate) fn author(result: &StoredResult) -> Claimant {
    let [engine, number] = code(result).to_be_bytes();
    Claimant { engine, number }
}

pub(crate) fn code(result: &StoredResult) -> u16 {
    match result {
        StoredResult::Retained(response) => response.code,
        StoredResult::NotRetained(head) => head.code,
    }
}

/// The store's instant, one tick a microsecond.
pub(crate) const fn at(tick: u8) -> Timestamp {
    Timestamp::from_micros(tick as i64)
}

pub(crate) fn tick(at: Timestamp) -> u8 {
    u8::try_from(at.as_micros()).expect("a run has few ticks")
}
