//! Operations that arrive more than once take effect once, and every caller gets the same answer.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod acquire;
mod attempt;
#[cfg(feature = "tokio")]
mod begin;
#[cfg(feature = "tokio")]
mod caller;
mod claim;
mod clock;
mod conclude;
mod digest;
mod error;
mod fingerprint;
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
pub use transaction::{Holding, TransactionWrite};
#[cfg(all(feature = "serde", feature = "tokio"))]
pub use typed::RunTypedError;
#[cfg(feature = "serde")]
pub use typed::UnreadableResult;
