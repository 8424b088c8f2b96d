//! The law: what a record means for a request at a point in time.
//!
//! Every rule about fingerprints and deadlines stands here and nowhere else. The law reads no clock and does no I/O.

use std::time::Duration;

use bytes::Bytes;

use crate::fingerprint::Fingerprints;
use crate::record::{Record, Status, Version};
use crate::response::StoredResult;
use crate::time::Timestamp;

/// What a record key is to a request. See [`observe`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new state must be a compile error where it is acted on")]
pub enum KeyState<'record> {
    /// Nothing is stored: claim, expecting absence.
    Absent,
    /// What is stored no longer counts: claim, expecting exactly this version, as attempt 1 without a checkpoint.
    Expired {
        /// The version to be replaced.
        version: Version,
    },
    /// The key is bound to another request: refuse.
    HashMismatch,
    /// Done: replay.
    Completed {
        /// The stored result.
        result: &'record StoredResult,
    },
    /// The lease is over and nobody finished. Whether the effect happened only the embedder knows: see
    /// [`Policy`](crate::Policy).
    Abandoned {
        /// The version to be replaced, if the policy takes over.
        version: Version,
        /// The attempt that was abandoned.
        attempt: u32,
        /// What it saved for a later attempt.
        checkpoint: Option<&'record Bytes>,
    },
    /// Somebody works on it: refuse for now.
    InProgress {
        /// The lease that remains.
        remaining: Duration,
    },
}

/// Reads `record` at `now`, on behalf of a request with `fingerprints`. The first row that matches wins; deadlines are
/// half-open, at the deadline it is past.
///
/// | # | record | condition | state |
/// |---|---|---|---|
/// | 1 | none | | `Absent` |
/// | 2 | any | released; or completed and `expires_at <= now`; or in progress and `unresolved_until <= now` | `Expired` |
/// | 3 | any | fingerprint differs | `HashMismatch` |
/// | 4 | completed | | `Completed` |
/// | 5 | in progress | `lease_until <= now` | `Abandoned` |
/// | 6 | in progress | | `InProgress` |
///
/// Row 3 stands before 4 to 6: a running or abandoned claim still binds its key to its request, and a retry that can
/// never succeed must not be told to come back later. `now` must be the store's time at which `record` was read.
pub fn observe<'record>(
    record: Option<&'record Record>,
    fingerprints: &Fingerprints,
    now: Timestamp,
) -> KeyState<'record> {
    let Some(record) = record else {
        return KeyState::Absent;
    };
    if matches!(record.status, Status::Released) || record.is_past(now) {
        return KeyState::Expired { version: record.version };
    }
    if !fingerprints.matches(&record.fingerprint) {
        return KeyState::HashMismatch;
    }
    match &record.status {
        Status::Completed(result) => KeyState::Completed { result },
        Status::InProgress { checkpoint } if record.lease_until <= now => KeyState::Abandoned {
            version: record.version,
            attempt: record.attempt,
            checkpoint: checkpoint.as_ref(),
        },
        Status::InProgress { .. } => KeyState::InProgress { remaining: record.lease_until.since(now) },
        Status::Released => KeyState::Expired { version: record.version },
    }
}
