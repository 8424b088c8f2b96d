//! Results and marks inside the caller's own transaction.

use std::sync::Arc;

use crate::attempt::Attempt;
use crate::claim::Claim;
use crate::holder::Holder;
use crate::key::RecordKey;
use crate::record::{Record, Revision, Status, Token};
use crate::response::StoredResponse;
use crate::store::Completion;
use crate::time::Timestamp;

/// A claim whose result can be written in a transaction of the caller's: what a store's `complete_in` takes.
///
/// Implemented by [`Attempt`] (under [`Idempotency::run`](crate::Idempotency::run)) and by [`Claim`].
pub trait Holding {
    /// Takes the claim's next revision for a write in a transaction, and pauses its heartbeat: a renewal beside an
    /// open transaction could wait for the very row, or the very database, that the transaction holds. A transaction that
    /// was open before this was called was not known of: keep short what comes before it.
    fn transaction_write(&self) -> TransactionWrite;
}

impl Holding for Attempt {
    fn transaction_write(&self) -> TransactionWrite {
        TransactionWrite::begin(self.holder())
    }
}

impl Holding for Claim {
    fn transaction_write(&self) -> TransactionWrite {
        self.attempt().transaction_write()
    }
}

/// One write of a claim that commits together with the caller's own effect.
///
/// While it lives, the claim is not renewed. Its lease may run out meanwhile: the effect is then still not doubled,
/// since the write is refused, and the transaction rolled back with the effect, if somebody took over.
#[derive(Debug)]
#[must_use = "the claim is not renewed until it is told whether the transaction was committed"]
pub struct TransactionWrite {
    holder: Arc<Holder>,
    revision: Revision,
    committed: bool,
}

impl TransactionWrite {
    fn begin(holder: &Arc<Holder>) -> Self {
        holder.pause_heartbeat();
        Self { holder: Arc::clone(holder), revision: holder.next_revision(), committed: false }
    }

    /// Which record is written.
    pub fn key(&self) -> &RecordKey {
        self.holder.key()
    }

    /// Who holds it.
    pub fn token(&self) -> Token {
        self.holder.token()
    }

    /// The completion that stores `response`, within the limits that the claim was made under: one that is larger
    /// than allowed is stored as not retained.
    pub fn completion(&self, response: StoredResponse) -> Completion {
        let rules = self.holder.rules();
        Completion {
            revision: self.revision,
            result: rules.result_to_store(response),
            retention: rules.retention,
        }
    }

    /// The transaction was committed: effect and result are there. The claim is finished; under `run`, the handler
    /// goes on to return the same response as [`Final`](crate::Answer::Final).
    pub fn committed(mut self) {
        self.committed = true;
    }

    /// The transaction was rolled back, or nobody knows how it ended: the heartbeat goes on. Dropping says the same.
    ///
    /// Where the outcome is unknown, repeat the write in a new transaction: it answers that the result is there
    /// already if the first one was committed after all.
    pub fn rolled_back(self) {
        drop(self);
    }
}

impl Drop for TransactionWrite {
    fn drop(&mut self) {
        if !self.committed {
            self.holder.resume_heartbeat();
        }
    }
}

/// The answer to a store's `complete_in`: the result of a claim, stored in the caller's own transaction.
#[derive(Debug)]
#[must_use = "two of the three mean: roll back"]
#[expect(clippy::exhaustive_enums, reason = "each asks for another end of the caller's transaction")]
pub enum CompleteIn {
    /// The result is in the transaction. Commit, and say so with [`TransactionWrite::committed`].
    Stored(TransactionWrite),
    /// An earlier transaction of this same claim has committed effect and result. Roll back: this one's effect would
    /// be the second.
    AlreadyCompleted,
    /// Somebody else took over, or the record is past its time. Roll back: the effect is not this claim's to make.
    NotHeld,
}

/// The answer to a store's `mark_in`: a key marked as done in the caller's own transaction, for consumers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "only the first may take effect"]
#[expect(clippy::exhaustive_enums, reason = "each asks the consumer for another answer to the broker")]
pub enum Mark {
    /// The key was free, and the mark is in the transaction. Write the effect, commit, acknowledge.
    First,
    /// The key was marked or completed before. Write nothing, and acknowledge.
    Duplicate,
    /// Somebody else is at it: a lock did not come free in bounded time, or the key is claimed. Write nothing, do not
    /// acknowledge. The transaction is still usable.
    Busy,
}

impl Mark {
    /// What `mark_in` answers to a key whose record is `stored`; `None` if the record is past its time or released, so
    /// that a mark may take its place.
    pub fn met(stored: &Record, now: Timestamp) -> Option<Self> {
        match stored.status {
            _ if stored.is_past(now) => None,
            Status::Completed(_) => Some(Self::Duplicate),
            Status::InProgress { .. } => Some(Self::Busy),
            Status::Released => None,
        }
    }
}
