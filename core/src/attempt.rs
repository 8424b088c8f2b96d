//! What a handler knows of its claim.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::error::StoreError;
use crate::holder::{Held, Holder};
use crate::key::{IdempotencyKey, RecordKey};

/// One attempt at an operation: what the handler is given. Clones stand for the same attempt.
#[derive(Clone, Debug)]
pub struct Attempt {
    holder: Arc<Holder>,
}

impl Attempt {
    pub(crate) const fn new(holder: Arc<Holder>) -> Self {
        Self { holder }
    }

    pub(crate) const fn holder(&self) -> &Arc<Holder> {
        &self.holder
    }

    /// The record key.
    pub fn key(&self) -> &RecordKey {
        self.holder.key()
    }

    /// 1 for the first, one more for each takeover.
    pub fn number(&self) -> u32 {
        self.holder.attempt()
    }

    /// Whether an earlier attempt was abandoned. It may have had its effect, or part of it.
    pub fn recovered(&self) -> bool {
        self.number() > 1
    }

    /// What an earlier attempt saved, if anything.
    pub fn checkpoint(&self) -> Option<&Bytes> {
        self.holder.checkpoint()
    }

    /// Saves `checkpoint` in the claim, in place of an earlier one, for an attempt that takes over: a recovery point
    /// between two steps. It extends the lease too.
    ///
    /// Dropping the future leaves the old checkpoint or the new one, now or a moment later.
    ///
    /// # Errors
    /// See [`SaveError`]. After [`SaveError::Store`] the checkpoint may or may not be there; saving again puts things
    /// right.
    pub async fn save_checkpoint(&self, checkpoint: impl Into<Bytes> + Send) -> Result<(), SaveError> {
        let checkpoint = checkpoint.into();
        if checkpoint.len() > self.holder.rules().response_bytes_max {
            return Err(SaveError::TooLarge { bytes: checkpoint.len() });
        }
        match self.holder.save(checkpoint).await? {
            Held::Yes => Ok(()),
            Held::No => Err(SaveError::Lost),
        }
    }

    /// A key for a downstream call made on behalf of this operation: the same on every attempt. See
    /// [`RecordKey::derive_key`].
    pub fn derive_key(&self, label: &str) -> IdempotencyKey {
        self.key().derive_key(label)
    }

    /// How long nobody can take over, by this host's monotonic clock: what the store said, counted from before it was
    /// asked. Zero once that is over; the claim may then still be held.
    ///
    /// On Linux that clock stands still while the machine sleeps; after a suspended laptop or a restored snapshot it
    /// promises too much. The store's refusal of later writes is what can be relied on.
    pub fn lease_remaining(&self) -> Duration {
        self.holder.lease_remaining()
    }

    /// Whether the claim can no longer be relied on. See [`Attempt::lost`].
    pub fn is_lost(&self) -> bool {
        self.holder.is_lost()
    }

    /// Waits until the claim can no longer be relied on: somebody else may execute from here on, or does. A handler
    /// that has not had its effect yet should stop and conclude [`NoEffect`](crate::Answer::NoEffect). Under
    /// [`begin`](crate::Idempotency::begin) nobody watches the lease: it ends when a write of the claim is refused, and
    /// [`Attempt::is_lost`] tells when the lease is over.
    ///
    /// Under [`Rerun`](crate::Policy::Rerun) and [`Resolve`](crate::Policy::Resolve) it ends before the lease does when
    /// the store cannot be reached, and under every policy when the store refuses a renewal. Under
    /// [`Park`](crate::Policy::Park) an unreachable store does not end it: nobody may take over, and the result is
    /// accepted late. Dropping the future changes nothing.
    pub async fn lost(&self) {
        self.holder.lost().await;
    }
}

/// Why a checkpoint was not saved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// It is larger than [`Settings::response_bytes_max`](crate::Settings::response_bytes_max). Nothing was written.
    #[error("checkpoint is larger than allowed ({bytes} bytes)")]
    TooLarge {
        /// Its size.
        bytes: usize,
    },
    /// The claim is no longer held. Nothing was written.
    #[error("claim is no longer held")]
    Lost,
    /// The store failed.
    #[error("checkpoint not saved")]
    Store(#[from] StoreError),
}
