//! Calls that wait for their turn.

use futures_channel::oneshot;
use onceonly::{
    ClaimOutcome, CompleteOutcome, Completion, Expected, NewClaim, RecordKey, Release, ReleaseOutcome,
    RenewOutcome, Renewal, Snapshot, StoreError, Token,
};

/// Where the outcome of a call goes.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, StoreError>>;

/// One call of a verb, and where its outcome goes.
#[derive(Debug)]
pub(crate) struct Queued<V, T> {
    pub(crate) call: V,
    pub(crate) answer: Answer<T>,
}

/// A call about one record.
#[derive(Debug)]
pub(crate) enum Job {
    Load(Queued<Load, Option<Snapshot>>),
    Claim(Queued<Claim, ClaimOutcome>),
    Takeover(Queued<Takeover, ClaimOutcome>),
    Renew(Queued<Renew, RenewOutcome>),
    Complete(Queued<Complete, CompleteOutcome>),
    Release(Queued<ReleaseCall, ReleaseOutcome>),
}

#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) key: RecordKey,
}

/// A claim that expects absence.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) key: RecordKey,
    pub(crate) claim: NewClaim,
}

/// A claim that expects a version.
#[derive(Clone, Debug)]
pub(crate) struct Takeover {
    pub(crate) key: RecordKey,
    pub(crate) claim: NewClaim,
    pub(crate) expected: onceonly::Version,
}

#[derive(Clone, Debug)]
pub(crate) struct Renew {
    pub(crate) key: RecordKey,
    pub(crate) token: Token,
    pub(crate) renewal: Renewal,
}

#[derive(Clone, Debug)]
pub(crate) struct Complete {
    pub(crate) key: RecordKey,
    pub(crate) token: Token,
    pub(crate) completion: Completion,
}

#[derive(Clone, Debug)]
pub(crate) struct ReleaseCall {
    pub(crate) key: RecordKey,
    pub(crate) token: Token,
    pub(crate) release: Release,
}

impl Job {
    pub(crate) fn claim(
        key: RecordKey,
        claim: NewClaim,
        expected: Expected,
        answer: Answer<ClaimOutcome>,
    ) -> Self {
        match expected {
            Expected::Absent => Self::Claim(Queued { call: Claim { key, claim }, answer }),
            Expected::Exactly(expected) => {
                Self::Takeover(Queued { call: Takeover { key, claim, expected }, answer })
            }
        }
    }

    pub(crate) fn key(&self) -> &RecordKey {
        match self {
            Self::Load(Queued { call, .. }) => &call.key,
            Self::Claim(Queued { call, .. }) => &call.key,
            Self::Takeover(Queued { call, .. }) => &call.key,
            Self::Renew(Queued { call, .. }) => &call.key,
            Self::Complete(Queued { call, .. }) => &call.key,
            Self::Release(Queued { call, .. }) => &call.key,
        }
    }

    /// Whether nobody waits for the outcome and it is better not brought about: a look, or a claim that nobody would
    /// use. What belongs to an operation that may have happened is carried out all the same.
    pub(crate) fn is_pointless(&self) -> bool {
        match self {
            Self::Load(Queued { answer, .. }) => answer.is_canceled(),
            Self::Claim(Queued { answer, .. }) | Self::Takeover(Queued { answer, .. }) => {
                answer.is_canceled()
            }
            Self::Renew(_) | Self::Complete(_) | Self::Release(_) => false,
        }
    }
}
