//! Operations that arrive more than once take effect once, and every caller gets the same answer.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod clock;
mod digest;
mod error;
mod fingerprint;
mod key;
mod random;
mod record;
mod response;
mod state;
mod store;
mod time;
mod transition;

pub use clock::{Clock, ManualClock, SystemClock};
pub use error::{StoreError, StoreErrorKind};
pub use fingerprint::{Fingerprint, FingerprintBuilder, FingerprintSecret, Fingerprints, SecretTooShort};
pub use key::{IdempotencyKey, InvalidKey, InvalidKeyReason, KEY_BYTES_MAX, KeyPart, RecordKey, Scope};
pub use record::{Record, Revision, Snapshot, Status, Token, Version};
pub use response::{
    CorruptHeaders, Header, ResponseHead, StoredResponse, StoredResult, decode_headers, encode_headers,
};
pub use state::{KeyState, observe};
pub use store::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Completion, Expected, KeyStore, LeaseChange, NewClaim,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Stamp,
};
pub use time::{InvalidSpan, Span, Timestamp};
