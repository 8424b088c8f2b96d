//! Keys, claims, and what follows them.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use onceonly::{
    Completion, Fingerprint, IdempotencyKey, LeaseChange, NewClaim, RecordKey, Release, Renewal, Revision,
    Scope, Span, StoredResponse, StoredResult, Token, Version,
};

use super::Case;
use crate::declaration::ClockKind;
use crate::random::Random;

impl Case {
    /// Random choices, the same for the same seed.
    pub(crate) const fn random(&self) -> Random {
        Random::seeded(self.seed)
    }

    /// `name` in the case's own scope.
    pub(crate) fn key(&self, name: &str) -> RecordKey {
        self.key_in(&self.scope, name)
    }

    /// `name` in `scope`.
    pub(crate) fn key_in(&self, scope: &Scope, name: &str) -> RecordKey {
        match IdempotencyKey::new(name) {
            Ok(key) => RecordKey::new(scope.clone(), key),
            Err(error) => panic!("{name:?} is a key of the suite: {error}"),
        }
    }

    /// The case's scope, with something behind its name.
    pub(crate) fn scope(&self, suffix: &str) -> Scope {
        let name = format!("{}{suffix}", self.scope.name().unwrap_or_default());
        Scope::named(&name).unwrap_or_else(|error| panic!("{name:?} is a scope of the suite: {error}"))
    }

    /// A token that no other claim of the case has.
    pub(crate) fn token(&self) -> Token {
        let number = self.tokens.fetch_add(1, Ordering::Relaxed);
        Token::from_bytes(Random::seeded(self.seed ^ number.rotate_left(32)).sixteen())
    }

    /// A new claim whose deadlines no case runs into by waiting.
    pub(crate) fn claim(&self) -> NewClaim {
        NewClaim {
            token: self.token(),
            fingerprint: fingerprint("charge 1000 usd"),
            attempt: 1,
            checkpoint: None,
            lease: seconds(60),
            keep: seconds(3_600),
            keep_unresolved: seconds(7_200),
        }
    }

    /// A new claim whose deadlines come soon enough to be waited for: its lease before its retention, and that before
    /// it is no longer remembered.
    pub(crate) fn brief_claim(&self) -> NewClaim {
        NewClaim { lease: self.brief(1), keep: self.brief(3), keep_unresolved: self.brief(6), ..self.claim() }
    }

    /// A span that a case can wait for: `parts` minutes on a clock that the suite sets, fractions of a second on one that
    /// runs.
    pub(crate) fn brief(&self, parts: u32) -> Span {
        match self.declaration.clock {
            ClockKind::Manual | ClockKind::Steered => seconds(60 * u64::from(parts)),
            ClockKind::System => span(Duration::from_millis(150) * self.scale * parts),
        }
    }

    /// A span that does not end while the case runs, unless the case sets the clock: on one that runs an hour more.
    pub(crate) fn unreached(&self, span: Span) -> Span {
        if self.sets_clock() { span } else { span.plus(seconds(3_600)) }
    }
}

/// The fingerprint of a request that asks for `what`.
pub(crate) fn fingerprint(what: &str) -> Fingerprint {
    Fingerprint::builder().part("body", what).finish()
}

pub(crate) const fn revision(number: u32) -> Revision {
    Revision::from_number(number)
}

pub(crate) const fn version(token: Token, number: u32) -> Version {
    Version { token, revision: revision(number) }
}

/// A completion that keeps its record for an hour.
pub(crate) fn completion(number: u32, result: StoredResult) -> Completion {
    Completion { revision: revision(number), result, retention: seconds(3_600) }
}

/// A result whose body is `body`.
pub(crate) fn response(body: &str) -> StoredResult {
    StoredResult::Retained(
        StoredResponse::new(201, body.to_owned()).with_header("content-type", "text/plain"),
    )
}

pub(crate) fn release(number: u32) -> Release {
    Release { revision: revision(number), keep: seconds(900) }
}

/// A renewal that leaves the checkpoint as it is.
pub(crate) const fn extension(number: u32, lease: Span) -> Renewal {
    Renewal { revision: revision(number), lease: LeaseChange::Extend(lease), checkpoint: None }
}

/// A renewal that saves a checkpoint.
pub(crate) fn checkpoint(number: u32, lease: Span, bytes: impl Into<Bytes>) -> Renewal {
    Renewal { checkpoint: Some(bytes.into()), ..extension(number, lease) }
}

/// A renewal that ends the lease.
pub(crate) const fn end_of_lease(number: u32) -> Renewal {
    Renewal { revision: revision(number), lease: LeaseChange::End, checkpoint: None }
}

pub(crate) fn seconds(seconds: u64) -> Span {
    span(Duration::from_secs(seconds))
}

pub(crate) fn span(duration: Duration) -> Span {
    Span::new(duration).unwrap_or_else(|error| panic!("{duration:?} is a span of the suite: {error}"))
}
