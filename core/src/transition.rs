//! What each write makes of a record, for stores that hold the record in their hands.
//!
//! A store whose database evaluates conditions itself says the same in its own language; the conformance suite holds
//! both to the clauses of [`KeyStore`](crate::KeyStore). The caller of these functions must hold whatever keeps others
//! from writing the record, and read `now` after it got hold of it.

use crate::fingerprint::Fingerprint;
use crate::record::{Record, Revision, Snapshot, Status, Token, Version};
use crate::response::{ResponseHead, StoredResult};
use crate::store::{
    CompleteOutcome, Completion, Expected, LeaseChange, NewClaim, Release, ReleaseOutcome, RenewOutcome,
    Renewal, Stamp,
};
use crate::time::{Span, Timestamp};

impl Expected {
    /// Whether a claim that expects this may replace what is `stored`.
    pub fn admits(self, stored: Option<&Record>) -> bool {
        match self {
            Self::Absent => stored.is_none(),
            Self::Exactly(version) => stored.is_some_and(|record| record.version == version),
        }
    }
}

impl Record {
    /// The record that `claim` writes at `now`.
    pub fn claimed(claim: &NewClaim, now: Timestamp) -> Self {
        Self {
            version: Version { token: claim.token, revision: Revision::FIRST },
            fingerprint: claim.fingerprint,
            attempt: claim.attempt,
            created_at: now,
            lease_until: now.plus(claim.lease),
            expires_at: now.plus(claim.keep),
            unresolved_until: now.plus(claim.keep_unresolved),
            status: Status::InProgress { checkpoint: claim.checkpoint.clone() },
        }
    }

    /// The record that a store's `mark_in` writes at `now`: completed from the start, without a result, under a token that
    /// nobody knows.
    pub fn marked(retention: Span, now: Timestamp) -> Self {
        Self {
            version: Version { token: Token::random(), revision: Revision::FIRST },
            fingerprint: Fingerprint::builder().part("onceonly", "mark").finish(),
            attempt: 1,
            created_at: now,
            lease_until: now,
            expires_at: now.plus(retention),
            unresolved_until: now.plus(retention),
            status: Status::Completed(StoredResult::NotRetained(ResponseHead::default())),
        }
    }

    /// Renews the record at `now`, if `token` holds it. See [`KeyStore::renew`](crate::KeyStore::renew).
    pub fn renew(&mut self, token: Token, renewal: &Renewal, now: Timestamp) -> RenewOutcome {
        if !self.is_held_by(token, now) {
            return RenewOutcome::NotHeld;
        }
        if renewal.revision > self.version.revision {
            self.version.revision = renewal.revision;
            match renewal.lease {
                LeaseChange::Extend(lease) => {
                    self.lease_until = self.lease_until.max(now.plus(lease));
                    self.unresolved_until = self.unresolved_until.max(self.lease_until);
                }
                LeaseChange::End => self.lease_until = now,
            }
            if renewal.checkpoint.is_some() {
                self.status = Status::InProgress { checkpoint: renewal.checkpoint.clone() };
            }
        }
        RenewOutcome::Applied(self.stamp(now))
    }

    /// Completes the record at `now`, if `token` holds it. See [`KeyStore::complete`](crate::KeyStore::complete).
    pub fn complete(&mut self, token: Token, completion: &Completion, now: Timestamp) -> CompleteOutcome {
        if self.is_held_by(token, now) {
            self.version.revision = completion.revision;
            self.expires_at = self.expires_at.max(now.plus(completion.retention));
            self.status = Status::Completed(completion.result.clone());
            return CompleteOutcome::Applied(self.stamp(now));
        }
        let own = self.version.token == token && matches!(self.status, Status::Completed(_));
        if own && !self.is_past(now) {
            return CompleteOutcome::AlreadyCompleted(Box::new(Snapshot { record: self.clone(), now }));
        }
        CompleteOutcome::NotHeld
    }

    /// Marks the record as released at `now`, if `token` holds it. See
    /// [`KeyStore::release`](crate::KeyStore::release).
    pub fn release(&mut self, token: Token, release: &Release, now: Timestamp) -> ReleaseOutcome {
        if self.is_held_by(token, now) {
            self.version.revision = release.revision;
            self.expires_at = now.plus(release.keep);
            self.status = Status::Released;
            return ReleaseOutcome::Applied;
        }
        if self.version.token == token && matches!(self.status, Status::Released) && !self.is_past(now) {
            return ReleaseOutcome::Applied;
        }
        ReleaseOutcome::NotHeld
    }

    /// The stamp of a write at `now`.
    pub const fn stamp(&self, now: Timestamp) -> Stamp {
        Stamp { now, lease_until: self.lease_until, expires_at: self.expires_at }
    }
}
