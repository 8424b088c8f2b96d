//! A store and the calls of a race.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use onceonly::{
    ClaimOutcome, Clock, CompleteOutcome, Completion, Expected, Fingerprint, IdempotencyKey, KeyStore,
    LeaseChange, ManualClock, NewClaim, Record, RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal,
    Revision, Scope, Snapshot, Span, StoreError, StoredResponse, StoredResult, Timestamp, Token, Version,
};
use onceonly_memory::MemoryStore;

/// The store, for callers that are threads.
pub(crate) struct Store(MemoryStore);

impl Store {
    /// A store on which time stands still.
    pub(crate) fn new() -> Self {
        Self::with_clock(ManualClock::starting_at(START))
    }

    pub(crate) fn with_clock(clock: impl Clock) -> Self {
        Self(MemoryStore::with_clock(clock))
    }

    pub(crate) fn with_capacity(records: usize) -> Self {
        Self(MemoryStore::with_capacity(ManualClock::starting_at(START), records))
    }

    /// A store that is full of claims, one of each key, and whose clock shows `later` than when they were made.
    pub(crate) fn full_of(keys: &[RecordKey], claim: &NewClaim, later: Duration) -> Self {
        let clock = ManualClock::starting_at(START);
        let store = Self(MemoryStore::with_capacity(clock.clone(), keys.len()));
        for key in keys {
            store.claimed(key, claim);
        }
        clock.advance(later);
        store
    }

    pub(crate) fn try_claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        answer(self.0.claim(key, claim, expected))
    }

    pub(crate) fn claim(&self, key: &RecordKey, claim: &NewClaim, expected: Expected) -> ClaimOutcome {
        self.try_claim(key, claim, expected).unwrap()
    }

    /// Claims a key whose record is past its time and may be purged meanwhile; what the claim expected that was granted.
    pub(crate) fn claim_again(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expired: &NewClaim,
    ) -> Option<Expected> {
        let mut expected = Expected::Exactly(first(expired));
        let mut outcome = self.claim(key, claim, expected);
        if outcome == ClaimOutcome::Vacant {
            expected = Expected::Absent;
            outcome = self.claim(key, claim, expected);
        }
        matches!(outcome, ClaimOutcome::Claimed(_)).then_some(expected)
    }

    /// A claim that nothing is in the way of.
    pub(crate) fn claimed(&self, key: &RecordKey, claim: &NewClaim) {
        let outcome = self.claim(key, claim, Expected::Absent);
        assert!(matches!(outcome, ClaimOutcome::Claimed(_)), "the claim of an absent key: {outcome:?}");
    }

    pub(crate) fn load(&self, key: &RecordKey) -> Option<Snapshot> {
        answer(self.0.load(key)).unwrap()
    }

    /// What is stored under a key that must be there.
    pub(crate) fn record(&self, key: &RecordKey) -> Record {
        self.load(key).expect("the key has a record").record
    }

    /// Extends the lease, as the claim's second write.
    pub(crate) fn renew(&self, key: &RecordKey, claim: &NewClaim) -> RenewOutcome {
        let renewal = Renewal { revision: SECOND, lease: LeaseChange::Extend(span(LEASE)), checkpoint: None };
        answer(self.0.renew(key, claim.token, &renewal)).unwrap()
    }

    /// Completes with the result that says `text`, as the claim's second write.
    pub(crate) fn complete(&self, key: &RecordKey, claim: &NewClaim, text: &str) -> CompleteOutcome {
        let completion = Completion { revision: SECOND, result: result(text), retention: span(LEASE) };
        answer(self.0.complete(key, claim.token, &completion)).unwrap()
    }

    /// Releases, as the claim's second write.
    pub(crate) fn release(&self, key: &RecordKey, claim: &NewClaim) -> ReleaseOutcome {
        answer(self.0.release(key, claim.token, &Release { revision: SECOND, keep: span(LEASE) })).unwrap()
    }

    pub(crate) fn purge(&self, limit: u32) -> u64 {
        answer(self.0.purge_expired(limit)).unwrap()
    }
}

/// What a verb answers. Nobody would wake one that waits for anything but a lock.
fn answer<T>(verb: impl Future<Output = T>) -> T {
    match pin!(verb).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(answer) => answer,
        Poll::Pending => panic!("a verb of the store in memory has awaited something"),
    }
}

/// Keys 1 and 3 are in one of the store's two shards, keys 2 and 4 in the other.
pub(crate) fn key(number: u8) -> RecordKey {
    RecordKey::new(Scope::global(), IdempotencyKey::new(&format!("key {number}")).unwrap())
}

/// A claim under a token that consists of `number`, with a lease of [`LEASE`], to be forgotten after [`KEPT`].
pub(crate) fn claim(number: u8) -> NewClaim {
    NewClaim {
        token: Token::from_bytes([number; 16]),
        fingerprint: Fingerprint::builder().finish(),
        attempt: 1,
        checkpoint: None,
        lease: span(LEASE),
        keep: span(KEPT),
        keep_unresolved: span(KEPT),
    }
}

pub(crate) fn result(text: &str) -> StoredResult {
    StoredResult::Retained(StoredResponse::new(200, text.as_bytes().to_vec()))
}

/// The version of the claim itself.
pub(crate) const fn first(claim: &NewClaim) -> Version {
    Version { token: claim.token, revision: Revision::FIRST }
}

/// The version of the claim's second write.
pub(crate) const fn second(claim: &NewClaim) -> Version {
    Version { token: claim.token, revision: SECOND }
}

fn span(duration: Duration) -> Span {
    Span::new(duration).unwrap()
}

pub(crate) const START: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);
pub(crate) const LEASE: Duration = Duration::from_secs(10);
pub(crate) const KEPT: Duration = Duration::from_secs(60);
const SECOND: Revision = Revision::from_number(2);
