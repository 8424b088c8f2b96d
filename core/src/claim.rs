//! The low-level door: a claim that the caller works with itself.

#[cfg(feature = "tokio")]
use std::sync::Arc;

use crate::acquire::REPEATS;
use crate::attempt::Attempt;
#[cfg(feature = "tokio")]
use crate::caller::runtime_with_timers;
use crate::conclude::{Concluded, Superseded};
use crate::error::StoreError;
use crate::holder::Held;
use crate::outcome::{Abandoned, InProgress, RecordSummary, Refusal};
#[cfg(feature = "tokio")]
use crate::persist;
use crate::response::{ResponseHead, StoredResponse, StoredResult};
#[cfg(feature = "tokio")]
use crate::running::Running;

/// What [`Idempotency::begin`](crate::Idempotency::begin) came to.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a new decision must be a compile error where it is acted on")]
#[must_use = "a claim that is dropped is left to its lease"]
pub enum Decision {
    /// Execute, then conclude the claim.
    Execute(Claim),
    /// It was done before; this is the stored response.
    Replay(StoredResponse),
    /// It was done before; its body was not kept.
    NotRetained(ResponseHead),
    /// It is being done. Come back later with the same key.
    InProgress(InProgress),
    /// The key belongs to another request. Coming back does not help.
    HashMismatch(RecordSummary),
    /// It was begun and never finished; whether its effect happened is not known here.
    Abandoned(Abandoned),
}

impl From<Refusal> for Decision {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Replay(response) => Self::Replay(response),
            Refusal::NotRetained(head) => Self::NotRetained(head),
            Refusal::InProgress(in_progress) => Self::InProgress(in_progress),
            Refusal::HashMismatch(summary) => Self::HashMismatch(summary),
            Refusal::Abandoned(abandoned) => Self::Abandoned(abandoned),
        }
    }
}

/// The right to execute, held by the caller of [`Idempotency::begin`](crate::Idempotency::begin).
///
/// Nobody renews it: call [`Claim::renew`] at a third of the lease while the work goes on, or
/// [`Attempt::save_checkpoint`]. Conclude it with [`Claim::complete`], [`Claim::complete_not_retained`],
/// [`Claim::give_back`] or [`Claim::suspend`].
///
/// **Dropped**, it stays in the store until its lease is over, and is then abandoned: under
/// [`Policy::Park`](crate::Policy::Park) nobody executes the operation any more until somebody resolves it.
#[derive(Debug)]
#[must_use = "a claim that is dropped is left to its lease"]
pub struct Claim {
    attempt: Attempt,
    /// Where a result that is stored in the background is counted.
    #[cfg(feature = "tokio")]
    running: Running,
}

impl Claim {
    #[cfg(feature = "tokio")]
    pub(crate) const fn new(attempt: Attempt, running: Running) -> Self {
        Self { attempt, running }
    }

    #[cfg(not(feature = "tokio"))]
    pub(crate) const fn new(attempt: Attempt) -> Self {
        Self { attempt }
    }

    /// What is known of this attempt, and its checkpoint.
    pub const fn attempt(&self) -> &Attempt {
        &self.attempt
    }

    /// Extends the lease. Dropping the future leaves it extended or not.
    ///
    /// # Errors
    /// If the store failed; the lease may or may not have been extended.
    pub async fn renew(&mut self) -> Result<Held, StoreError> {
        self.attempt.holder().extend(None).await
    }

    /// Stores `response` as the result of the operation, as [`Answer::Final`](crate::Answer::Final) does: whole, or not
    /// retained if it is larger than [`Settings::response_bytes_max`](crate::Settings::response_bytes_max).
    ///
    /// With feature `tokio`, inside a runtime, the write is repeated in a task of its own for up to 15 minutes; after
    /// two seconds the answer is [`Completed::Pending`] and the task goes on, as it does when this future is dropped.
    /// [`Idempotency::drain`](crate::Idempotency) waits for it.
    /// Without, the write is sent up to three times, `Pending` means that it was not acknowledged, and the caller calls
    /// again; a dropped future leaves it written or not.
    pub async fn complete(&mut self, response: StoredResponse) -> Completed {
        let result = self.attempt.holder().rules().result_to_store(response);
        self.store(result).await
    }

    /// Stores that the operation is done, without the response's body, as
    /// [`Answer::NotRetained`](crate::Answer::NotRetained) does. Otherwise as [`Claim::complete`].
    pub async fn complete_not_retained(&mut self, response: StoredResponse) -> Completed {
        let result = self.attempt.holder().rules().head_to_store(response);
        self.store(result).await
    }

    /// Gives the claim back: *this attempt* had no effect, as [`Answer::NoEffect`](crate::Answer::NoEffect) says. A
    /// first attempt is released; a later one ends its lease. Dropping the future leaves it given back or not.
    ///
    /// # Errors
    /// If the store failed; the claim may or may not have been given back. Call again, or leave it to its lease.
    pub async fn give_back(&mut self) -> Result<Held, StoreError> {
        self.attempt.holder().give_back().await
    }

    /// Ends the lease now, for a later attempt to take over under the policy: this one cannot finish, and what it knows
    /// of its effect is not enough to give the claim back. Fingerprint, attempt and checkpoint stay. Dropping the future
    /// leaves the lease ended or not.
    ///
    /// # Errors
    /// If the store failed; the lease may or may not have ended. Call again, or leave it to run out.
    pub async fn suspend(&mut self) -> Result<Held, StoreError> {
        self.attempt.holder().end_lease().await
    }

    async fn store(&self, result: StoredResult) -> Completed {
        let holder = self.attempt.holder();
        #[cfg(feature = "tokio")]
        if let Some(runtime) = runtime_with_timers() {
            let place = self.running.enter_late();
            return match persist::store_in_background(&runtime, Arc::clone(holder), result, place).await {
                Some(Ok(concluded)) => concluded.into(),
                Some(Err(error)) => Completed::Pending(Some(error)),
                None => Completed::Pending(None),
            };
        }
        let mut repeats = 0;
        loop {
            match holder.store_result(&result).await {
                Ok(concluded) => return concluded.into(),
                Err(error) if repeats < REPEATS && error.outcome_is_unknown() => repeats += 1,
                Err(error) => return Completed::Pending(Some(error)),
            }
        }
    }
}

/// What became of a result.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "a new end must be a compile error where it is acted on")]
#[must_use = "a result that was not stored is not what callers are told"]
pub enum Completed {
    /// It is stored, and replayed from now on.
    Stored,
    /// It is not stored: somebody took over, or this claim completed with another result before. **The operation may
    /// have been executed twice.** Carries the claim's own earlier result, if that is what stands; otherwise
    /// [`begin`](crate::Idempotency::begin) says what the record holds.
    Superseded(Option<StoredResult>),
    /// The store has not acknowledged it yet; see [`Claim::complete`]. Carries the store's last error, if it gave one.
    Pending(Option<StoreError>),
}

impl From<Concluded> for Completed {
    fn from(concluded: Concluded) -> Self {
        match concluded {
            Concluded::Stored => Self::Stored,
            Concluded::Superseded(Superseded::By(stored)) => Self::Superseded(Some(stored)),
            Concluded::Superseded(Superseded::NotHeld) => Self::Superseded(None),
        }
    }
}
