//! The verbs of a store, with what a case expects of them.

use std::error::Error;
use std::sync::Arc;

use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, Record, RecordKey,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, Stamp, StoreError, Token,
};

use crate::call::{Answer, Request};
use crate::verdict::{broken, call_failed, inconclusive};

/// A handle to the store under test. Each method either answers what its name says or ends the case.
#[derive(Clone)]
pub(crate) struct Handle {
    store: Arc<dyn KeyStore>,
}

impl Handle {
    pub(crate) fn new(store: Arc<dyn KeyStore>) -> Self {
        Self { store }
    }

    pub(crate) fn plain(&self) -> Arc<dyn KeyStore> {
        Arc::clone(&self.store)
    }

    // Claim.

    pub(crate) async fn claim(&self, key: &RecordKey, claim: &NewClaim, expected: Expected) -> ClaimOutcome {
        definite("claim", self.store.claim(key, claim, expected).await)
    }

    /// Claims an absent key.
    pub(crate) async fn claimed(&self, key: &RecordKey, claim: &NewClaim) -> Stamp {
        self.claimed_over(key, claim, Expected::Absent).await
    }

    /// Claims what must be granted.
    pub(crate) async fn claimed_over(&self, key: &RecordKey, claim: &NewClaim, expected: Expected) -> Stamp {
        match self.claim(key, claim, expected).await {
            ClaimOutcome::Claimed(stamp) => stamp,
            other => broken(format!("claim expecting {expected:?} answered {other:?}, due was Claimed")),
        }
    }

    /// Claims what must be refused with the record that is there.
    pub(crate) async fn occupied(&self, key: &RecordKey, claim: &NewClaim, expected: Expected) -> Snapshot {
        match self.claim(key, claim, expected).await {
            ClaimOutcome::Occupied(found) => *found,
            other => broken(format!("claim expecting {expected:?} answered {other:?}, due was Occupied")),
        }
    }

    pub(crate) async fn claim_many(&self, claims: &[ClaimRequest]) -> Vec<ClaimOutcome> {
        let answers = self.store.claim_many(claims).await;
        if answers.len() != claims.len() {
            broken(format!(
                "claim_many of {} items gave {} answers: which claim is whose cannot be told",
                claims.len(),
                answers.len()
            ));
        }
        answers.into_iter().map(|answer| definite("an item of claim_many", answer)).collect()
    }

    // Load.

    pub(crate) async fn load(&self, key: &RecordKey) -> Option<Snapshot> {
        definite("load", self.store.load(key).await)
    }

    /// Loads what must be there.
    pub(crate) async fn found(&self, key: &RecordKey) -> Snapshot {
        match self.load(key).await {
            Some(found) => found,
            None => broken("load found no record where one is due"),
        }
    }

    pub(crate) async fn record(&self, key: &RecordKey) -> Record {
        self.found(key).await.record
    }

    // Renew.

    pub(crate) async fn renew(&self, key: &RecordKey, token: Token, renewal: &Renewal) -> RenewOutcome {
        definite("renew", self.store.renew(key, token, renewal).await)
    }

    pub(crate) async fn renewed(&self, key: &RecordKey, token: Token, renewal: &Renewal) -> Stamp {
        match self.renew(key, token, renewal).await {
            RenewOutcome::Applied(stamp) => stamp,
            RenewOutcome::NotHeld => broken("renew by the holder answered NotHeld, due was Applied"),
        }
    }

    pub(crate) async fn renew_refused(&self, key: &RecordKey, token: Token, renewal: &Renewal) {
        match self.renew(key, token, renewal).await {
            RenewOutcome::NotHeld => {}
            applied => broken(format!("renew answered {applied:?}, due was NotHeld")),
        }
    }

    // Complete.

    pub(crate) async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> CompleteOutcome {
        definite("complete", self.store.complete(key, token, completion).await)
    }

    pub(crate) async fn completed(&self, key: &RecordKey, token: Token, completion: &Completion) -> Stamp {
        match self.complete(key, token, completion).await {
            CompleteOutcome::Applied(stamp) => stamp,
            other => broken(format!("complete by the holder answered {other:?}, due was Applied")),
        }
    }

    pub(crate) async fn already_completed(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Snapshot {
        match self.complete(key, token, completion).await {
            CompleteOutcome::AlreadyCompleted(found) => *found,
            other => broken(format!("a repeated complete answered {other:?}, due was AlreadyCompleted")),
        }
    }

    pub(crate) async fn complete_refused(&self, key: &RecordKey, token: Token, completion: &Completion) {
        match self.complete(key, token, completion).await {
            CompleteOutcome::NotHeld => {}
            other => broken(format!("complete answered {other:?}, due was NotHeld")),
        }
    }

    // Release.

    pub(crate) async fn release(&self, key: &RecordKey, token: Token, release: &Release) -> ReleaseOutcome {
        definite("release", self.store.release(key, token, release).await)
    }

    pub(crate) async fn released(&self, key: &RecordKey, token: Token, release: &Release) {
        match self.release(key, token, release).await {
            ReleaseOutcome::Applied => {}
            ReleaseOutcome::NotHeld => broken("release by the holder answered NotHeld, due was Applied"),
        }
    }

    pub(crate) async fn release_refused(&self, key: &RecordKey, token: Token, release: &Release) {
        match self.release(key, token, release).await {
            ReleaseOutcome::NotHeld => {}
            ReleaseOutcome::Applied => broken("release answered Applied, due was NotHeld"),
        }
    }

    // Purge.

    pub(crate) async fn purge(&self, limit: u32) -> u64 {
        definite("purge_expired", self.store.purge_expired(limit).await)
    }

    /// Purges until nothing is left to purge, and says how many records that were.
    pub(crate) async fn purge_all(&self) -> u64 {
        let mut purged = 0;
        // More calls than a healthy store needs for any case; a store that never says zero would go on for ever.
        for _ in 0..10_000 {
            match self.purge(1_000).await {
                0 => return purged,
                some => purged += some,
            }
        }
        broken("purge_expired does not come to zero in 10000 calls")
    }
}

/// The answer of a call on a store that is well: errors are not due.
pub(crate) fn definite<T>(verb: &str, answer: Result<T, StoreError>) -> T {
    match answer {
        Ok(answer) => answer,
        Err(error) => failed(verb, &error),
    }
}

/// Ends the case over a call that failed. An error that leaves the outcome open may be the machine's: a database that
/// is busy for longer than its driver waits says so. It accuses nobody, and still the case has shown nothing.
pub(crate) fn failed(verb: &str, error: &StoreError) -> ! {
    if error.outcome_is_unknown() {
        inconclusive(format!("{verb} had no certain answer: {}", chain(error)));
    }
    call_failed(format!("{verb} failed on a store that is well: {}", chain(error)))
}

/// Repeats a call until its answer is certain, as a caller does that was given none.
pub(crate) async fn until_certain(request: &Request, handle: &Handle) -> Answer {
    let mut told = String::new();
    for _ in 0..TRIES {
        let answer = request.deliver(&*handle.store).await;
        match answer.error() {
            None => return answer,
            Some(error) if error.outcome_is_unknown() => told = chain(error),
            Some(error) => failed(&format!("{:?}, repeated,", request.verb()), error),
        }
    }
    broken(format!("{:?}, repeated {TRIES} times, still has no certain answer: {told}", request.verb()))
}

/// An error and what it comes from, in words.
pub(crate) fn chain(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        text = format!("{text}: {source}");
        cause = source.source();
    }
    text
}

/// How often a call is repeated. A store that is well answers the first time, or the second on a busy machine.
const TRIES: usize = 10;
