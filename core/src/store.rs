//! The store: who holds a key.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;

use crate::error::StoreError;
use crate::fingerprint::Fingerprint;
use crate::key::RecordKey;
use crate::record::{Revision, Snapshot, Token, Version};
use crate::response::StoredResult;
use crate::time::{Span, Timestamp};

/// A place where records are kept: conditional writes on single records, and nothing more.
///
/// Every rule about fingerprints, deadlines and policy lives in [`observe`](crate::observe) and the engine. A store
/// compares versions and tokens, and adds durations to its own clock. Whoever writes one runs `onceonly-conformance`
/// against it; each clause below has cases there.
///
/// What each write makes of a record is spelt out in code: [`Record::claimed`](crate::Record::claimed), `renew`,
/// `complete` and `release`, and [`Expected::admits`]. A store that holds the record in its hands while nobody else can
/// write it applies those; one whose database evaluates conditions says the same in its own language.
///
/// # The clauses
///
/// ## Exclusive
/// Of any number of claims of one record key with the same expectation, over all handles and processes, one is
/// granted. *Broken:* two callers execute; the customer is charged twice.
///
/// ## Held
/// Only the present holder's token writes. Once a later claim was granted, the earlier token is refused for ever,
/// whether the later claim lives, is completed, released, expired or purged. *Broken:* a holder that everybody gave up
/// on overwrites the result that others were already answered with.
///
/// ## Durable
/// After `Ok`, every later call on any handle sees the write; what it survives besides (process, host, failover) is
/// what the store's documentation declares. *Broken:* an acknowledged claim vanishes, and the next caller executes
/// again.
///
/// ## Whole
/// A call that failed or was dropped happened entirely or not at all, now or later. *Broken:* a record half one write
/// and half another is replayed, or blocks its key for good.
///
/// ## Verbatim
/// Every byte of key, scope, fingerprint, checkpoint and result comes back, and every number with its value. *Broken:*
/// a replay differs from what the first caller was told.
///
/// ## One clock
/// Deadlines are computed and compared with the store's clock, read *after* any wait for a lock, and `now` comes back
/// with every answer. No application clock takes part. *Broken:* hosts whose clocks differ take over live claims.
///
/// ## Isolated
/// Two record keys never meet, whatever their bytes, nor does one wait for another without bound. *Broken:* one
/// customer is given another's response.
///
/// ## Primary
/// No answer comes from a replica. *Broken:* a replica's delay of milliseconds shows a finished key as absent.
///
/// ## Bounded
/// No verb waits without limit; it ends in `Unavailable`. *Broken:* a paused server takes every worker with it.
///
/// # Repeating
///
/// Every verb may be repeated with the same token after [`Unavailable`](crate::StoreErrorKind::Unavailable), and may
/// arrive late or twice; the state is then as if it had arrived once.
///
/// # Past its time
///
/// A record is past its time from [`Record::past_from`](crate::Record::past_from) on. From then `renew`, `complete` and
/// `release` answer `NotHeld`. `claim` and `load` hand the record back with `now`; the law reads it as expired. Whether
/// it was purged already makes no difference to what a caller is told.
///
/// # Runtimes
///
/// The engine calls verbs from the embedder's runtime and from the one of its own thread, which ends with the engine. A
/// connection that only the runtime it was opened on can drive must be opened on one of the store's own.
///
/// # Dropped futures
///
/// Dropping a verb's future at any await leaves what an unanswered call leaves: nothing, or the whole effect, now or
/// later. The handle stays usable, and no transaction or lock stays open.
#[async_trait]
pub trait KeyStore: Send + Sync + 'static {
    /// What the store is called in errors and logs, such as `"sqlite"`.
    fn name(&self) -> &'static str;

    /// Writes a new in-progress record if what is stored is what `expected` says; else changes nothing.
    ///
    /// The record gets revision 1, `lease_until = now + lease`, `expires_at = now + keep` and
    /// `unresolved_until = now + keep_unresolved`; the rest as [`NewClaim`] says.
    ///
    /// * **Outcomes:** [`ClaimOutcome`].
    /// * **Atomicity:** comparing and writing are one step; a stored record is never overwritten on `Absent`, past its
    ///   time or not.
    /// * **After an error:** the claim may be there, or come later. Repeat it with the same token; with another one the
    ///   first would block the key for a lease.
    /// * **If broken:** two handlers run. A store that answers `Claimed` to its own token's repetition after the lease
    ///   lets a caller start who may already have been displaced.
    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError>;

    /// The record as stored, past its time or not. Never creates, never deletes.
    ///
    /// * **Outcomes:** the record with the store's time, or none.
    /// * **Atomicity:** one consistent state of the record, never half of a write.
    /// * **After an error:** nothing changed.
    /// * **If broken:** a stale answer makes callers wait for a result that is there; a creating one binds keys that
    ///   nobody claimed.
    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError>;

    /// Extends or ends the lease of a held record, and replaces its checkpoint if a new one is given.
    ///
    /// [`LeaseChange::Extend`] moves `lease_until` to `now + lease` unless that would be earlier, and
    /// `unresolved_until` along with it if it would fall before. [`LeaseChange::End`] sets `lease_until` to `now`. The
    /// record takes over the renewal's revision. A renewal whose revision is not higher than the stored one changes
    /// nothing and is `Applied`: it is the holder's own, already overtaken.
    ///
    /// * **Outcomes:** [`RenewOutcome`].
    /// * **Atomicity:** comparing token and revision, and writing, are one step.
    /// * **After an error:** repeat under the same revision only while no later write was sent, else under a new one.
    /// * **If broken:** a late copy brings back an old checkpoint, or extends a lease that its holder has ended.
    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError>;

    /// Stores the result of a held record, with `expires_at = max(expires_at, now + retention)` and the completion's
    /// revision.
    ///
    /// The lease does not matter: a late holder that nobody displaced is accepted, since its effect has happened. Nor
    /// does the revision: whatever it is, the write is carried out.
    ///
    /// * **Outcomes:** [`CompleteOutcome`].
    /// * **Atomicity:** comparing the token and writing the whole result are one step. A result that is there is never
    ///   changed.
    /// * **After an error:** repeat with the same token; if the first one was applied, the answer is
    ///   `AlreadyCompleted`.
    /// * **If broken:** the stored answer is whichever holder wrote last, and no longer what callers were told.
    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError>;

    /// Marks a held record as released: the release's revision, checkpoint dropped, `expires_at = now + keep`. The write
    /// is carried out whatever the revision is.
    ///
    /// * **Outcomes:** [`ReleaseOutcome`].
    /// * **Atomicity:** comparing the token and marking are one step.
    /// * **After an error:** repeat with the same token.
    /// * **If broken:** a record that is deleted at once lets a late copy of the claim land on the empty place, where
    ///   it parks a key that nobody works on.
    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError>;

    /// Deletes at most `limit` records that are past their time, and says how many.
    ///
    /// Repeated until it deletes none, it leaves nothing behind that is past its time. Safe to run from many
    /// processes at once, and invisible to every other verb.
    ///
    /// * **Outcomes:** the number of records deleted by this call.
    /// * **Atomicity:** each record is judged in the step that deletes it; one that was renewed or claimed since it was
    ///   chosen survives.
    /// * **After an error or a dropped future:** some records may be gone; all of them were past their time.
    /// * **If broken:** a live claim is deleted and its key granted again.
    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError>;

    /// Several claims at once: one answer for each, in order. A later item with the same record key sees the earlier
    /// one. One item's failure is that item's alone.
    ///
    /// Stores that can send a batch in one round trip do; the default claims one by one.
    ///
    /// * **Outcomes:** for each item what [`KeyStore::claim`] would have answered.
    /// * **Atomicity:** each item by itself, as in `claim`; the batch as a whole has none.
    /// * **After an error or a dropped future:** each item may have been written, or not, now or later. Repeat it with its
    ///   token.
    /// * **If broken:** an answer in the wrong place lets a handler run under a claim that is somebody else's.
    async fn claim_many(&self, claims: &[ClaimRequest]) -> Vec<Result<ClaimOutcome, StoreError>> {
        let mut outcomes = Vec::with_capacity(claims.len());
        for ClaimRequest { key, claim, expected } in claims {
            outcomes.push(self.claim(key, claim, *expected).await);
        }
        outcomes
    }
}

/// A claim to be written. Core makes it: a store copies it into the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewClaim {
    /// Who will hold the record.
    pub token: Token,
    /// What the key is bound to.
    pub fingerprint: Fingerprint,
    /// The attempt's number.
    pub attempt: u32,
    /// What an earlier attempt saved.
    pub checkpoint: Option<Bytes>,
    /// How long the claim stands without renewal.
    pub lease: Span,
    /// Retention and longest run together, so that completing in time leaves `expires_at`, and an index on it,
    /// untouched.
    pub keep: Span,
    /// How long the record is remembered if nobody finishes.
    pub keep_unresolved: Span,
}

/// What a claim expects to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store must act on both")]
pub enum Expected {
    /// No record at all.
    Absent,
    /// A record of exactly this version.
    Exactly(Version),
}

/// One item of [`KeyStore::claim_many`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimRequest {
    /// Which record.
    pub key: RecordKey,
    /// What to write.
    pub claim: NewClaim,
    /// What to find.
    pub expected: Expected,
}

/// The store's time of a write, and the deadlines that the record has since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// The instant of the write.
    pub now: Timestamp,
    /// The record's lease.
    pub lease_until: Timestamp,
    /// The record's retention.
    pub expires_at: Timestamp,
}

/// The answer to [`KeyStore::claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new outcome must be a compile error where it is acted on")]
pub enum ClaimOutcome {
    /// The record was written.
    Claimed(Stamp),
    /// Nothing was written; this is what is there. It may be one's own record, if an earlier call was applied after
    /// all.
    Occupied(Box<Snapshot>),
    /// Nothing was written, and there is nothing to show: the expected record is gone, or another claim is on its way.
    /// Look again.
    Vacant,
}

/// A renewal to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// The number of this write.
    pub revision: Revision,
    /// What becomes of the lease.
    pub lease: LeaseChange,
    /// The checkpoint that replaces the stored one, if any.
    pub checkpoint: Option<Bytes>,
}

/// What a renewal does to the lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a store must act on both")]
pub enum LeaseChange {
    /// It stands for this long from now, or for what remains of it if that is longer.
    Extend(Span),
    /// It ends now, for others to take over. The only write that shortens a lease.
    End,
}

/// The answer to [`KeyStore::renew`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new outcome must be a compile error where it is acted on")]
pub enum RenewOutcome {
    /// Written, or overtaken by a later write of the same holder.
    Applied(Stamp),
    /// The token does not hold the record; nothing was written.
    NotHeld,
}

/// A result to be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The number of this write.
    pub revision: Revision,
    /// The result.
    pub result: StoredResult,
    /// How long it is kept at least, from now.
    pub retention: Span,
}

/// The answer to [`KeyStore::complete`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new outcome must be a compile error where it is acted on")]
pub enum CompleteOutcome {
    /// The result is stored.
    Applied(Stamp),
    /// This same token has completed the record before; nothing was changed. The store compares nothing: whether the
    /// stored result is the same is for core to see.
    AlreadyCompleted(Box<Snapshot>),
    /// The token does not hold the record; nothing was written.
    NotHeld,
}

/// A claim to be given back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// The number of this write.
    pub revision: Revision,
    /// How long the mark stands: longer than a request can be late.
    pub keep: Span,
}

/// The answer to [`KeyStore::release`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a new outcome must be a compile error where it is acted on")]
pub enum ReleaseOutcome {
    /// The record is marked as released, now or by an earlier call with this token whose mark stands.
    Applied,
    /// The token does not hold the record; nothing was written.
    NotHeld,
}

#[async_trait]
impl<S: KeyStore + ?Sized> KeyStore for Arc<S> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        (**self).claim(key, claim, expected).await
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        (**self).load(key).await
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        (**self).renew(key, token, renewal).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        (**self).complete(key, token, completion).await
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        (**self).release(key, token, release).await
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        (**self).purge_expired(limit).await
    }

    async fn claim_many(&self, claims: &[ClaimRequest]) -> Vec<Result<ClaimOutcome, StoreError>> {
        (**self).claim_many(claims).await
    }
}
