//! One call of a store's verb as a value: to be recorded, kept back, delivered late or delivered again.

use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, RecordKey,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Revision, Snapshot, StoreError, Token,
};

/// A verb of [`KeyStore`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new verb must be a compile error in every script that names them"
)]
pub enum Verb {
    /// [`KeyStore::claim`].
    Claim,
    /// [`KeyStore::load`].
    Load,
    /// [`KeyStore::renew`].
    Renew,
    /// [`KeyStore::complete`].
    Complete,
    /// [`KeyStore::release`].
    Release,
    /// [`KeyStore::purge_expired`].
    PurgeExpired,
    /// [`KeyStore::claim_many`].
    ClaimMany,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 7] = [
        Self::Claim,
        Self::Load,
        Self::Renew,
        Self::Complete,
        Self::Release,
        Self::PurgeExpired,
        Self::ClaimMany,
    ];
}

/// A call with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new verb must be a compile error where calls are read")]
pub enum Request {
    /// [`KeyStore::claim`].
    Claim {
        /// Which record.
        key: RecordKey,
        /// What to write.
        claim: NewClaim,
        /// What to find.
        expected: Expected,
    },
    /// [`KeyStore::load`].
    Load {
        /// Which record.
        key: RecordKey,
    },
    /// [`KeyStore::renew`].
    Renew {
        /// Which record.
        key: RecordKey,
        /// Who writes.
        token: Token,
        /// What to write.
        renewal: Renewal,
    },
    /// [`KeyStore::complete`].
    Complete {
        /// Which record.
        key: RecordKey,
        /// Who writes.
        token: Token,
        /// What to write.
        completion: Completion,
    },
    /// [`KeyStore::release`].
    Release {
        /// Which record.
        key: RecordKey,
        /// Who writes.
        token: Token,
        /// What to write.
        release: Release,
    },
    /// [`KeyStore::purge_expired`].
    PurgeExpired {
        /// How many at most.
        limit: u32,
    },
    /// [`KeyStore::claim_many`].
    ClaimMany {
        /// The items.
        claims: Vec<ClaimRequest>,
    },
}

impl Request {
    /// Which verb is called.
    pub const fn verb(&self) -> Verb {
        match self {
            Self::Claim { .. } => Verb::Claim,
            Self::Load { .. } => Verb::Load,
            Self::Renew { .. } => Verb::Renew,
            Self::Complete { .. } => Verb::Complete,
            Self::Release { .. } => Verb::Release,
            Self::PurgeExpired { .. } => Verb::PurgeExpired,
            Self::ClaimMany { .. } => Verb::ClaimMany,
        }
    }

    /// The record key, unless the call concerns several records.
    pub const fn key(&self) -> Option<&RecordKey> {
        match self {
            Self::Claim { key, .. }
            | Self::Load { key }
            | Self::Renew { key, .. }
            | Self::Complete { key, .. }
            | Self::Release { key, .. } => Some(key),
            Self::PurgeExpired { .. } | Self::ClaimMany { .. } => None,
        }
    }

    /// The token that writes, if one does.
    pub const fn token(&self) -> Option<Token> {
        match self {
            Self::Claim { claim, .. } => Some(claim.token),
            Self::Renew { token, .. } | Self::Complete { token, .. } | Self::Release { token, .. } => {
                Some(*token)
            }
            Self::Load { .. } | Self::PurgeExpired { .. } | Self::ClaimMany { .. } => None,
        }
    }

    /// The number of the write, if it is a holder's. A claim is write number one.
    pub const fn revision(&self) -> Option<Revision> {
        match self {
            Self::Claim { .. } => Some(Revision::FIRST),
            Self::Renew { renewal, .. } => Some(renewal.revision),
            Self::Complete { completion, .. } => Some(completion.revision),
            Self::Release { release, .. } => Some(release.revision),
            Self::Load { .. } | Self::PurgeExpired { .. } | Self::ClaimMany { .. } => None,
        }
    }

    /// Makes the call on `store`. Any number of times: each is a delivery of the same request.
    pub async fn deliver(&self, store: &dyn KeyStore) -> Answer {
        match self {
            Self::Claim { key, claim, expected } => Answer::Claim(store.claim(key, claim, *expected).await),
            Self::Load { key } => Answer::Load(store.load(key).await),
            Self::Renew { key, token, renewal } => Answer::Renew(store.renew(key, *token, renewal).await),
            Self::Complete { key, token, completion } => {
                Answer::Complete(store.complete(key, *token, completion).await)
            }
            Self::Release { key, token, release } => {
                Answer::Release(store.release(key, *token, release).await)
            }
            Self::PurgeExpired { limit } => Answer::PurgeExpired(store.purge_expired(*limit).await),
            Self::ClaimMany { claims } => Answer::ClaimMany(store.claim_many(claims).await),
        }
    }

    /// The answer of a call that failed with `error`, in the shape of this verb.
    pub(crate) fn failed(&self, error: impl Fn() -> StoreError) -> Answer {
        match self {
            Self::Claim { .. } => Answer::Claim(Err(error())),
            Self::Load { .. } => Answer::Load(Err(error())),
            Self::Renew { .. } => Answer::Renew(Err(error())),
            Self::Complete { .. } => Answer::Complete(Err(error())),
            Self::Release { .. } => Answer::Release(Err(error())),
            Self::PurgeExpired { .. } => Answer::PurgeExpired(Err(error())),
            Self::ClaimMany { claims } => Answer::ClaimMany(claims.iter().map(|_| Err(error())).collect()),
        }
    }
}

/// What a call was answered with, one variant per verb.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a new verb must be a compile error where answers are read")]
pub enum Answer {
    /// Of [`KeyStore::claim`].
    Claim(Result<ClaimOutcome, StoreError>),
    /// Of [`KeyStore::load`].
    Load(Result<Option<Snapshot>, StoreError>),
    /// Of [`KeyStore::renew`].
    Renew(Result<RenewOutcome, StoreError>),
    /// Of [`KeyStore::complete`].
    Complete(Result<CompleteOutcome, StoreError>),
    /// Of [`KeyStore::release`].
    Release(Result<ReleaseOutcome, StoreError>),
    /// Of [`KeyStore::purge_expired`].
    PurgeExpired(Result<u64, StoreError>),
    /// Of [`KeyStore::claim_many`].
    ClaimMany(Vec<Result<ClaimOutcome, StoreError>>),
}

impl Answer {
    /// Which verb is answered.
    pub const fn verb(&self) -> Verb {
        match self {
            Self::Claim(_) => Verb::Claim,
            Self::Load(_) => Verb::Load,
            Self::Renew(_) => Verb::Renew,
            Self::Complete(_) => Verb::Complete,
            Self::Release(_) => Verb::Release,
            Self::PurgeExpired(_) => Verb::PurgeExpired,
            Self::ClaimMany(_) => Verb::ClaimMany,
        }
    }

    /// The error, if the call failed; of a batch, the first one.
    pub fn error(&self) -> Option<&StoreError> {
        match self {
            Self::Claim(answer) => answer.as_ref().err(),
            Self::Load(answer) => answer.as_ref().err(),
            Self::Renew(answer) => answer.as_ref().err(),
            Self::Complete(answer) => answer.as_ref().err(),
            Self::Release(answer) => answer.as_ref().err(),
            Self::PurgeExpired(answer) => answer.as_ref().err(),
            Self::ClaimMany(answers) => answers.iter().find_map(|answer| answer.as_ref().err()),
        }
    }
}

/// Makes a [`KeyStore`] of a type whose `call` takes a [`Request`] and gives the [`Answer`] of the same verb.
macro_rules! key_store_by_call {
    ($store:ty, $name:literal) => {
        #[async_trait::async_trait]
        impl onceonly::KeyStore for $store {
            fn name(&self) -> &'static str {
                $name
            }

            async fn claim(
                &self,
                key: &onceonly::RecordKey,
                claim: &onceonly::NewClaim,
                expected: onceonly::Expected,
            ) -> Result<onceonly::ClaimOutcome, onceonly::StoreError> {
                let (key, claim) = (key.clone(), claim.clone());
                match self.call($crate::call::Request::Claim { key, claim, expected }).await {
                    $crate::call::Answer::Claim(answer) => answer,
                    other => unreachable!("a claim was answered with {other:?}"),
                }
            }

            async fn load(
                &self,
                key: &onceonly::RecordKey,
            ) -> Result<Option<onceonly::Snapshot>, onceonly::StoreError> {
                match self.call($crate::call::Request::Load { key: key.clone() }).await {
                    $crate::call::Answer::Load(answer) => answer,
                    other => unreachable!("a load was answered with {other:?}"),
                }
            }

            async fn renew(
                &self,
                key: &onceonly::RecordKey,
                token: onceonly::Token,
                renewal: &onceonly::Renewal,
            ) -> Result<onceonly::RenewOutcome, onceonly::StoreError> {
                let (key, renewal) = (key.clone(), renewal.clone());
                match self.call($crate::call::Request::Renew { key, token, renewal }).await {
                    $crate::call::Answer::Renew(answer) => answer,
                    other => unreachable!("a renewal was answered with {other:?}"),
                }
            }

            async fn complete(
                &self,
                key: &onceonly::RecordKey,
                token: onceonly::Token,
                completion: &onceonly::Completion,
            ) -> Result<onceonly::CompleteOutcome, onceonly::StoreError> {
                let (key, completion) = (key.clone(), completion.clone());
                match self.call($crate::call::Request::Complete { key, token, completion }).await {
                    $crate::call::Answer::Complete(answer) => answer,
                    other => unreachable!("a completion was answered with {other:?}"),
                }
            }

            async fn release(
                &self,
                key: &onceonly::RecordKey,
                token: onceonly::Token,
                release: &onceonly::Release,
            ) -> Result<onceonly::ReleaseOutcome, onceonly::StoreError> {
                let (key, release) = (key.clone(), *release);
                match self.call($crate::call::Request::Release { key, token, release }).await {
                    $crate::call::Answer::Release(answer) => answer,
                    other => unreachable!("a release was answered with {other:?}"),
                }
            }

            async fn purge_expired(&self, limit: u32) -> Result<u64, onceonly::StoreError> {
                match self.call($crate::call::Request::PurgeExpired { limit }).await {
                    $crate::call::Answer::PurgeExpired(answer) => answer,
                    other => unreachable!("a purge was answered with {other:?}"),
                }
            }

            async fn claim_many(
                &self,
                claims: &[onceonly::ClaimRequest],
            ) -> Vec<Result<onceonly::ClaimOutcome, onceonly::StoreError>> {
                match self.call($crate::call::Request::ClaimMany { claims: claims.to_vec() }).await {
                    $crate::call::Answer::ClaimMany(answers) => answers,
                    other => unreachable!("a batch was answered with {other:?}"),
                }
            }
        }
    };
}

pub(crate) use key_store_by_call;
