//! What a caller is told.

use std::time::Duration;

use bytes::Bytes;

use crate::fingerprint::Fingerprint;
use crate::key::RecordKey;
use crate::record::{Record, Snapshot, Status};
use crate::response::{ResponseHead, StoredResponse, StoredResult};
use crate::time::Timestamp;

/// What a handler concludes. Nothing else decides what is stored: not the response's code, not how the caller fares.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a handler concludes in one of these ways")]
pub enum Answer<R = StoredResponse> {
    /// The operation is over, and this is its response for good, also if it is an error: every retry gets the same.
    Final(R),
    /// As `Final`, but the body must not or cannot be kept: a secret, a stream. Retries are told that the operation is
    /// done and its response not available.
    NotRetained(R),
    /// *This attempt* had no effect, and a retry may run. Say so only if it is certain: a provider that did not answer
    /// may have charged.
    ///
    /// On attempt 1 the key is released. On a later attempt the lease ends and fingerprint, attempt and checkpoint
    /// stay, since the statement covers no earlier attempt.
    NoEffect(R),
}

/// What [`Idempotency::run`](crate::Idempotency::run) came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new outcome must be a compile error where it is answered")]
pub enum Outcome<R = StoredResponse> {
    /// The handler ran, and this is its response.
    Executed(R),
    /// It was done before; this is the stored response.
    Replayed(R),
    /// It was done before; its body was not kept.
    NotRetained(ResponseHead),
    /// It is being done. Come back later with the same key.
    InProgress(InProgress),
    /// The key belongs to another request. Coming back does not help.
    HashMismatch(RecordSummary),
    /// It was begun and never finished; whether its effect happened is not known here.
    Abandoned(Abandoned),
}

/// An operation that somebody else works on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InProgress {
    /// When to come back: at least a second, otherwise never above the lease that remains. It grows with the time that
    /// the operation has been running.
    pub retry_after: Duration,
    /// The record that was seen, if there was one to see.
    pub record: Option<RecordSummary>,
}

impl InProgress {
    pub(crate) fn seen(snapshot: &Snapshot) -> Self {
        let Snapshot { record, now } = snapshot;
        let remaining = record.lease_until.since(*now);
        let running = now.since(record.created_at);
        let hint = running.clamp(RETRY_AFTER_MIN, RETRY_AFTER_MAX).min(remaining).max(RETRY_AFTER_MIN);
        Self { retry_after: Duration::from_secs(hint.as_secs()), record: Some(RecordSummary::of(snapshot)) }
    }

    pub(crate) const fn unseen() -> Self {
        Self { retry_after: RETRY_AFTER_MIN, record: None }
    }
}

/// An operation that was begun and never finished.
///
/// Attempt, time and checkpoint are those of the *last* claim. That one may itself have done nothing but ask what became
/// of the claims before it, or have been given back: whoever looks for the effect looks for that of **every** attempt so
/// far, by the key, and not for one since `created_at`.
#[derive(Clone, PartialEq, Eq)]
pub struct Abandoned {
    /// Which one.
    pub key: RecordKey,
    /// The number of the last attempt.
    pub attempt: u32,
    /// What it saved for a later attempt.
    pub checkpoint: Option<Bytes>,
    /// When the last attempt claimed it, by the store's clock.
    pub created_at: Timestamp,
    /// How long the last attempt's lease has been over.
    pub abandoned_for: Duration,
}

impl Abandoned {
    pub(crate) fn seen(key: &RecordKey, snapshot: &Snapshot) -> Self {
        let Snapshot { record, now } = snapshot;
        let checkpoint = match &record.status {
            Status::InProgress { checkpoint } => checkpoint.clone(),
            Status::Completed(_) | Status::Released => None,
        };
        Self {
            key: key.clone(),
            attempt: record.attempt,
            checkpoint,
            created_at: record.created_at,
            abandoned_for: now.since(record.lease_until),
        }
    }
}

impl std::fmt::Debug for Abandoned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Abandoned")
            .field("key", &self.key)
            .field("attempt", &self.attempt)
            .field("checkpoint_bytes", &self.checkpoint.as_ref().map(Bytes::len))
            .field("created_at", &self.created_at)
            .field("abandoned_for", &self.abandoned_for)
            .finish()
    }
}

/// What may be told about a record to a caller who is not given its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordSummary {
    /// How far the operation has come.
    pub state: RecordState,
    /// The attempt that the record comes from.
    pub attempt: u32,
    /// When it was claimed, by the store's clock.
    pub created_at: Timestamp,
    /// How long its claim stands without renewal.
    pub lease_until: Timestamp,
    /// From when on the record counts as gone.
    pub past_from: Timestamp,
    /// The number of the algorithm that its fingerprint was made with.
    pub fingerprint_algorithm: u16,
    /// The store's clock when it was read.
    pub now: Timestamp,
}

impl RecordSummary {
    pub(crate) fn of(Snapshot { record, now }: &Snapshot) -> Self {
        Self {
            state: RecordState::of(record, *now),
            attempt: record.attempt,
            created_at: record.created_at,
            lease_until: record.lease_until,
            past_from: record.past_from(),
            fingerprint_algorithm: Fingerprint::algorithm(&record.fingerprint),
            now: *now,
        }
    }
}

/// How far the operation of a record has come, whatever request is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a new state must be a compile error where it is acted on")]
pub enum RecordState {
    /// Past its time, or released: the next caller starts afresh.
    Expired,
    /// Done.
    Completed,
    /// The lease is over and nobody finished.
    Abandoned,
    /// Somebody works on it.
    InProgress,
}

impl RecordState {
    fn of(record: &Record, now: Timestamp) -> Self {
        use crate::state::{KeyState, observe};

        // The law, asked on behalf of the very request that the record is bound to.
        match observe(Some(record), &record.fingerprint.into(), now) {
            KeyState::Absent | KeyState::Expired { .. } | KeyState::HashMismatch => Self::Expired,
            KeyState::Completed { .. } => Self::Completed,
            KeyState::Abandoned { .. } => Self::Abandoned,
            KeyState::InProgress { .. } => Self::InProgress,
        }
    }
}

/// Why a caller does not get to execute: every outcome but the execution itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    Replay(StoredResponse),
    NotRetained(ResponseHead),
    InProgress(InProgress),
    HashMismatch(RecordSummary),
    Abandoned(Abandoned),
}

impl Refusal {
    pub(crate) fn completed(result: StoredResult) -> Self {
        match result {
            StoredResult::Retained(response) => Self::Replay(response),
            StoredResult::NotRetained(head) => Self::NotRetained(head),
        }
    }
}

impl From<Refusal> for Outcome {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Replay(response) => Self::Replayed(response),
            Refusal::NotRetained(head) => Self::NotRetained(head),
            Refusal::InProgress(in_progress) => Self::InProgress(in_progress),
            Refusal::HashMismatch(summary) => Self::HashMismatch(summary),
            Refusal::Abandoned(abandoned) => Self::Abandoned(abandoned),
        }
    }
}

const RETRY_AFTER_MIN: Duration = Duration::from_secs(1);
const RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
