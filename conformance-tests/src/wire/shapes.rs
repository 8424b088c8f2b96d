//! The shapes of core's types. Serde compares each with the type itself when it is compiled, so that a field that is new
//! there is an error here.

use ::bytes::Bytes;
use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Completion, Expected, Fingerprint, Header, LeaseChange,
    NewClaim, Record, RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal, ResponseHead, Revision,
    Snapshot, Span, Stamp, Status, StoredResponse, StoredResult, Timestamp, Token, Version,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::values::{bytes, fingerprint, optional_bytes, record_key, revision, span, timestamp, token};
use crate::call::Request;

#[derive(Serialize, Deserialize)]
#[serde(remote = "Request", rename_all = "snake_case")]
pub(super) enum RequestForm {
    Claim {
        #[serde(with = "record_key")]
        key: RecordKey,
        #[serde(with = "NewClaimForm")]
        claim: NewClaim,
        #[serde(with = "ExpectedForm")]
        expected: Expected,
    },
    Load {
        #[serde(with = "record_key")]
        key: RecordKey,
    },
    Renew {
        #[serde(with = "record_key")]
        key: RecordKey,
        #[serde(with = "token")]
        token: Token,
        #[serde(with = "RenewalForm")]
        renewal: Renewal,
    },
    Complete {
        #[serde(with = "record_key")]
        key: RecordKey,
        #[serde(with = "token")]
        token: Token,
        #[serde(with = "CompletionForm")]
        completion: Completion,
    },
    Release {
        #[serde(with = "record_key")]
        key: RecordKey,
        #[serde(with = "token")]
        token: Token,
        #[serde(with = "ReleaseForm")]
        release: Release,
    },
    PurgeExpired {
        limit: u32,
    },
    ClaimMany {
        #[serde(with = "items")]
        claims: Vec<ClaimRequest>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ClaimRequest")]
struct ClaimRequestForm {
    #[serde(with = "record_key")]
    key: RecordKey,
    #[serde(with = "NewClaimForm")]
    claim: NewClaim,
    #[serde(with = "ExpectedForm")]
    expected: Expected,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "NewClaim")]
struct NewClaimForm {
    #[serde(with = "token")]
    token: Token,
    #[serde(with = "fingerprint")]
    fingerprint: Fingerprint,
    attempt: u32,
    #[serde(with = "optional_bytes")]
    checkpoint: Option<Bytes>,
    #[serde(rename = "lease_us", with = "span")]
    lease: Span,
    #[serde(rename = "keep_us", with = "span")]
    keep: Span,
    #[serde(rename = "keep_unresolved_us", with = "span")]
    keep_unresolved: Span,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Expected", rename_all = "snake_case")]
enum ExpectedForm {
    Absent,
    Exactly(#[serde(with = "VersionForm")] Version),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Version")]
struct VersionForm {
    #[serde(with = "token")]
    token: Token,
    #[serde(with = "revision")]
    revision: Revision,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Renewal")]
struct RenewalForm {
    #[serde(with = "revision")]
    revision: Revision,
    #[serde(with = "LeaseChangeForm")]
    lease: LeaseChange,
    #[serde(with = "optional_bytes")]
    checkpoint: Option<Bytes>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LeaseChange", rename_all = "snake_case")]
enum LeaseChangeForm {
    #[serde(rename = "extend_us")]
    Extend(#[serde(with = "span")] Span),
    End,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Completion")]
struct CompletionForm {
    #[serde(with = "revision")]
    revision: Revision,
    #[serde(with = "StoredResultForm")]
    result: StoredResult,
    #[serde(rename = "retention_us", with = "span")]
    retention: Span,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Release")]
struct ReleaseForm {
    #[serde(with = "revision")]
    revision: Revision,
    #[serde(rename = "keep_us", with = "span")]
    keep: Span,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "StoredResult", rename_all = "snake_case")]
enum StoredResultForm {
    Retained(#[serde(with = "StoredResponseForm")] StoredResponse),
    NotRetained(#[serde(with = "ResponseHeadForm")] ResponseHead),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "StoredResponse")]
struct StoredResponseForm {
    code: u16,
    #[serde(with = "headers")]
    headers: Vec<Header>,
    #[serde(with = "bytes")]
    body: Bytes,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ResponseHead")]
struct ResponseHeadForm {
    code: u16,
    #[serde(with = "headers")]
    headers: Vec<Header>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Header")]
struct HeaderForm {
    #[serde(with = "bytes")]
    name: Bytes,
    #[serde(with = "bytes")]
    value: Bytes,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Snapshot")]
struct SnapshotForm {
    #[serde(with = "RecordForm")]
    record: Record,
    #[serde(rename = "now_us", with = "timestamp")]
    now: Timestamp,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Record")]
struct RecordForm {
    #[serde(with = "VersionForm")]
    version: Version,
    #[serde(with = "fingerprint")]
    fingerprint: Fingerprint,
    attempt: u32,
    #[serde(rename = "created_at_us", with = "timestamp")]
    created_at: Timestamp,
    #[serde(rename = "lease_until_us", with = "timestamp")]
    lease_until: Timestamp,
    #[serde(rename = "expires_at_us", with = "timestamp")]
    expires_at: Timestamp,
    #[serde(rename = "unresolved_until_us", with = "timestamp")]
    unresolved_until: Timestamp,
    #[serde(with = "StatusForm")]
    status: Status,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Status", rename_all = "snake_case")]
enum StatusForm {
    InProgress {
        #[serde(with = "optional_bytes")]
        checkpoint: Option<Bytes>,
    },
    Completed(#[serde(with = "StoredResultForm")] StoredResult),
    Released,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Stamp")]
struct StampForm {
    #[serde(rename = "now_us", with = "timestamp")]
    now: Timestamp,
    #[serde(rename = "lease_until_us", with = "timestamp")]
    lease_until: Timestamp,
    #[serde(rename = "expires_at_us", with = "timestamp")]
    expires_at: Timestamp,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ClaimOutcome", rename_all = "snake_case")]
enum ClaimOutcomeForm {
    Claimed(#[serde(with = "StampForm")] Stamp),
    Occupied(#[serde(with = "boxed_snapshot")] Box<Snapshot>),
    Vacant,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "RenewOutcome", rename_all = "snake_case")]
enum RenewOutcomeForm {
    Applied(#[serde(with = "StampForm")] Stamp),
    NotHeld,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "CompleteOutcome", rename_all = "snake_case")]
enum CompleteOutcomeForm {
    Applied(#[serde(with = "StampForm")] Stamp),
    AlreadyCompleted(#[serde(with = "boxed_snapshot")] Box<Snapshot>),
    NotHeld,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "ReleaseOutcome", rename_all = "snake_case")]
enum ReleaseOutcomeForm {
    Applied,
    NotHeld,
}

/// Types that say their shape where serde takes no `with`: in lists, options and results.
macro_rules! with_shape {
    ($($name:ident($value:ty) as $form:literal;)+) => {
        $(
            #[derive(Serialize, Deserialize)]
            #[serde(transparent)]
            pub(super) struct $name(#[serde(with = $form)] pub(super) $value);
        )+
    };
}

with_shape! {
    ClaimAnswer(ClaimOutcome) as "ClaimOutcomeForm";
    LoadAnswer(Snapshot) as "SnapshotForm";
    RenewAnswer(RenewOutcome) as "RenewOutcomeForm";
    CompleteAnswer(CompleteOutcome) as "CompleteOutcomeForm";
    ReleaseAnswer(ReleaseOutcome) as "ReleaseOutcomeForm";
    Item(ClaimRequest) as "ClaimRequestForm";
    OneHeader(Header) as "HeaderForm";
}

mod boxed_snapshot {
    use super::*;

    pub(super) fn serialize<S: Serializer>(snapshot: &Snapshot, serializer: S) -> Result<S::Ok, S::Error> {
        SnapshotForm::serialize(snapshot, serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<Snapshot>, D::Error> {
        SnapshotForm::deserialize(deserializer).map(Box::new)
    }
}

mod items {
    use super::*;

    pub(super) fn serialize<S: Serializer>(items: &[ClaimRequest], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(items.iter().cloned().map(Item))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<ClaimRequest>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().map(|Item(item)| item).collect())
    }
}

mod headers {
    use super::*;

    pub(super) fn serialize<S: Serializer>(headers: &[Header], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(headers.iter().cloned().map(OneHeader))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Header>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.into_iter().map(|OneHeader(header)| header).collect())
    }
}
