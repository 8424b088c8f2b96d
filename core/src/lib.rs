//! Operations that arrive more than once take effect once, and every caller gets the same answer.
//!
//! A client that heard nothing can only try again: whether the request was lost, the server died in the middle, or the
//! answer was lost, looks the same to it. At-least-once delivery is all that a network gives. This crate adds the other
//! half, at most one execution per key, on the database that a server has already. Together they are *effectively
//! once*. Nothing here is exactly-once delivery, which is not to be had.
//!
//! # How to use it
//!
//! Make a [`RecordKey`] of the caller's [`Scope`] and its [`IdempotencyKey`], a [`Fingerprint`] of what the request asks
//! for, and let [`Idempotency::run`] call the handler if nobody has yet:
//!
//! ```
//! # #[cfg(feature = "tokio")] {
//! # use onceonly::{Answer, Fingerprint, Idempotency, IdempotencyKey, Outcome, RecordKey, RunError, Scope, StoredResponse};
//! # async fn post_charges(
//! #     idempotency: Idempotency, account: &str, header: &[u8], body: &[u8],
//! # ) -> Result<StoredResponse, Box<dyn std::error::Error>> {
//! let key = RecordKey::new(Scope::named(account)?, IdempotencyKey::from_bytes(header)?);
//! let fingerprint = Fingerprint::builder().part("path", "/charges").part("body", body).finish();
//!
//! let outcome = idempotency
//!     .run(&key, fingerprint, |attempt| async move {
//!         // Charge, with `attempt.derive_key("charge")` as the provider's idempotency key.
//!         Answer::Final(StoredResponse::new(201, "charged"))
//!     })
//!     .await?;
//!
//! Ok(match outcome {
//!     Outcome::Executed(response) | Outcome::Replayed(response) => response,
//!     Outcome::InProgress(_) => StoredResponse::new(409, "come back later"),
//!     Outcome::HashMismatch(_) => StoredResponse::new(422, "this key belongs to another request"),
//!     Outcome::Abandoned(_) => StoredResponse::new(409, "nobody knows how the first attempt ended"),
//!     Outcome::NotRetained(head) => StoredResponse::new(409, "done, but the response was not kept"),
//! })
//! # }
//! # }
//! ```
//!
//! # The states of a key
//!
//! [`observe`] is the law: what a stored record means for a request, at a point in time.
//!
//! | state | what is stored | what the caller gets |
//! |---|---|---|
//! | [`Absent`](KeyState::Absent) | nothing | it executes |
//! | [`Expired`](KeyState::Expired) | a record past its time, or released | it executes, as if nothing were there |
//! | [`HashMismatch`](KeyState::HashMismatch) | another request | it is refused for good |
//! | [`Completed`](KeyState::Completed) | the result | the same response again |
//! | [`InProgress`](KeyState::InProgress) | a claim whose lease stands | it is told to come back |
//! | [`Abandoned`](KeyState::Abandoned) | a claim whose lease is over | what the [`Policy`] says |
//!
//! # Which policy for which handler
//!
//! A holder that vanished may have had its effect or not. The record cannot tell.
//!
//! | the handler's effect | policy |
//! |---|---|
//! | unknown, or not looked into yet | [`Policy::Park`], the default: never twice; somebody calls [`Idempotency::resolve`] |
//! | commits together with the result (`complete_in` of a store) | [`Policy::Rerun`] |
//! | sets a state, and is the same done twice | [`Policy::Rerun`] |
//! | is made by calls that carry [`Attempt::derive_key`] to a service that honours it | [`Policy::Rerun`] |
//! | resumes from [`Attempt::save_checkpoint`] | [`Policy::Rerun`] |
//! | can be looked up afterwards, in a ledger or at the provider | [`Policy::resolve`] |
//!
//! # What is not promised
//!
//! * An effect outside the store's database can happen twice under [`Policy::Rerun`] and [`Policy::Resolve`], if a
//!   holder that everybody gave up on still runs. Its result is refused; its effect is not undone.
//! * After the retention a retry runs again. It must be longer than the latest retry.
//! * No request may reach the store later than the retentions and [`Settings::keep_released`].
//! * A token proves who holds a claim. It has no order, so an outside system cannot fence with it.
//! * A store loses what its documentation says it can lose.
//!
//! # Features
//!
//! | feature | brings |
//! |---|---|
//! | none | the law, the contract of stores, [`Idempotency::begin`]: nothing blocks, sleeps or spawns |
//! | `tokio` | `Idempotency::run`, waiting, heartbeats, `Sweeper`, `drain` |
//! | `serde` | results of one's own types, stored as JSON |
//!
//! Stores are crates of their own: `onceonly-memory`, `onceonly-sqlite`. Whoever writes another one reads [`KeyStore`]
//! and runs `onceonly-conformance` against it.

mod acquire;
mod attempt;
#[cfg(feature = "tokio")]
mod begin;
#[cfg(feature = "tokio")]
mod caller;
mod claim;
mod clock;
mod conclude;
mod context;
mod digest;
mod error;
mod fingerprint;
mod guard;
#[cfg(feature = "tokio")]
mod heartbeat;
mod holder;
mod idempotency;
mod key;
mod observer;
mod outcome;
#[cfg(feature = "tokio")]
mod persist;
mod policy;
mod random;
mod record;
mod recover;
mod resolve;
mod response;
#[cfg(feature = "tokio")]
mod run;
#[cfg(feature = "tokio")]
mod running;
mod settings;
mod state;
mod store;
#[cfg(feature = "tokio")]
mod sweep;
mod time;
mod transaction;
mod transition;
#[cfg(feature = "serde")]
mod typed;
#[cfg(feature = "tokio")]
mod wait;

pub use attempt::{Attempt, SaveError};
pub use claim::{Claim, Completed, Decision};
pub use clock::{Clock, ManualClock, SystemClock};
pub use error::{StoreError, StoreErrorKind};
pub use fingerprint::{Fingerprint, FingerprintBuilder, FingerprintSecret, Fingerprints, SecretTooShort};
pub use holder::Held;
pub use idempotency::{Idempotency, IdempotencyBuilder};
pub use key::{IdempotencyKey, InvalidKey, InvalidKeyReason, KEY_BYTES_MAX, KeyPart, RecordKey, Scope};
pub use observer::{Event, EventKind, Observer};
pub use outcome::{Abandoned, Answer, InProgress, Outcome, RecordState, RecordSummary};
pub use policy::{Policy, Resolver, Verdict};
pub use record::{Record, Revision, Snapshot, Status, Token, Version};
pub use resolve::Resolution;
pub use response::{
    CorruptHeaders, Header, ResponseHead, StoredResponse, StoredResult, decode_headers, encode_headers,
};
#[cfg(feature = "tokio")]
pub use run::RunError;
#[cfg(feature = "tokio")]
pub use running::Drained;
pub use settings::{InvalidSettings, Settings, Waiting};
pub use state::{KeyState, observe};
pub use store::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Completion, Expected, KeyStore, LeaseChange, NewClaim,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Stamp,
};
#[cfg(feature = "tokio")]
pub use sweep::{Sweeper, SweeperHandle};
pub use time::{InvalidSpan, Span, Timestamp};
pub use transaction::{CompleteIn, Holding, Mark, TransactionWrite};
#[cfg(all(feature = "serde", feature = "tokio"))]
pub use typed::RunTypedError;
#[cfg(feature = "serde")]
pub use typed::UnreadableResult;
