//! From a request to a claim or a refusal.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use crate::clock;
use crate::context::Context;
use crate::error::StoreError;
use crate::fingerprint::{Fingerprint, Fingerprints};
use crate::holder::{Granted, Held, Holder, LocalLease};
use crate::key::RecordKey;
use crate::outcome::{Abandoned, InProgress, RecordSummary, Refusal};
use crate::policy::Policy;
use crate::record::{Snapshot, Status, Token};
use crate::settings::Rules;
use crate::state::{KeyState, observe};
use crate::store::{ClaimOutcome, Expected, NewClaim};

/// What a request came to.
pub(crate) enum Acquired {
    Granted(Grant),
    Refused(Refusal),
}

/// A claim, and what must be asked before it is worked on.
pub(crate) struct Grant {
    pub(crate) holder: Arc<Holder>,
    /// The attempt that was taken over, where the policy is to ask what became of it.
    pub(crate) ask_about: Option<Abandoned>,
}

/// How long a claim without an answer is repeated.
///
/// It is repeated with its own token: with another one the first, should it have landed, would block the key for a
/// lease, and park it with nobody to blame.
pub(crate) trait Patience: Send {
    /// Returns when the call is to be repeated.
    ///
    /// # Errors
    /// `error` itself, if it is definite or has been borne long enough.
    fn bear(&mut self, error: StoreError) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// A call was answered: the next one that is not has the whole patience again.
    fn answered(&mut self);
}

/// Repeats a few times at once: for an engine without a runtime, which cannot pause.
pub(crate) struct AtOnce {
    left: u32,
}

impl AtOnce {
    pub(crate) const fn new() -> Self {
        Self { left: REPEATS }
    }
}

impl Patience for AtOnce {
    async fn bear(&mut self, error: StoreError) -> Result<(), StoreError> {
        if self.left == 0 || !error.outcome_is_unknown() {
            return Err(error);
        }
        self.left -= 1;
        Ok(())
    }

    fn answered(&mut self) {
        self.left = REPEATS;
    }
}

/// The store failed, and what it may have left behind.
pub(crate) struct Unobtained {
    pub(crate) error: StoreError,
    /// A claim of this request that may stand in the store, with nobody to work on it: to be given back.
    pub(crate) left_behind: Option<Arc<Holder>>,
}

impl Unobtained {
    /// Nothing is left behind, or nothing that could be reached: a store that has not answered for as long as was borne
    /// will not take a claim back either, and it is left to its lease.
    pub(crate) const fn with_nothing(error: StoreError) -> Self {
        Self { error, left_behind: None }
    }

    /// The store has answered with `error` while `holder`'s claim stands, or may stand.
    pub(crate) fn leaving(error: StoreError, holder: Arc<Holder>) -> Self {
        if error.outcome_is_unknown() {
            return Self::with_nothing(error);
        }
        Self { error, left_behind: Some(holder) }
    }
}

/// One request for one key.
pub(crate) struct Acquisition<'a> {
    pub(crate) context: &'a Context,
    pub(crate) rules: &'a Arc<Rules>,
    pub(crate) key: &'a RecordKey,
    pub(crate) fingerprints: &'a Fingerprints,
}

/// A claim that was sent or is about to be.
struct Try {
    token: Token,
    expected: Expected,
    fingerprint: Fingerprint,
    attempt: u32,
    checkpoint: Option<Bytes>,
    ask_about: Option<Abandoned>,
}

enum Next {
    Claim(Try),
    Stop(Acquired),
}

impl Acquisition<'_> {
    /// Claims the key, or finds out why it cannot be claimed. No path leads to a grant but a write that the store
    /// acknowledged; whatever vanishes in between is looked at again, a bounded number of times.
    pub(crate) async fn acquire(&self, patience: &mut impl Patience) -> Result<Acquired, Unobtained> {
        let mut next = self.fresh(Expected::Absent);
        let mut earlier = Vec::new();
        for _ in 0..LOOKS_MAX {
            let (sent, outcome) = self.claim(&next, patience).await?;
            let judged = match outcome {
                ClaimOutcome::Claimed(stamp) => {
                    self.grant(&next, LocalLease::answered(sent, stamp), patience).await?
                }
                ClaimOutcome::Vacant => {
                    earlier.push(next);
                    Next::Claim(self.fresh(Expected::Absent))
                }
                ClaimOutcome::Occupied(snapshot) => {
                    earlier.push(next);
                    match own_try(&earlier, &snapshot) {
                        Some(own) => self.judge_own(own, &snapshot, sent, patience).await?,
                        None => self.judge(&snapshot),
                    }
                }
            };
            match judged {
                Next::Claim(again) => next = again,
                Next::Stop(acquired) => return Ok(acquired),
            }
        }
        Ok(Acquired::Refused(Refusal::InProgress(InProgress::unseen())))
    }

    /// A claim of a first attempt.
    fn fresh(&self, expected: Expected) -> Try {
        Try {
            token: Token::random(),
            expected,
            fingerprint: self.fingerprints.current(),
            attempt: 1,
            checkpoint: None,
            ask_about: None,
        }
    }

    /// Sends one claim until its answer is definite. Also says when the answered copy was sent.
    async fn claim(
        &self,
        attempted: &Try,
        patience: &mut impl Patience,
    ) -> Result<(Instant, ClaimOutcome), Unobtained> {
        let claim = NewClaim {
            token: attempted.token,
            fingerprint: attempted.fingerprint,
            attempt: attempted.attempt,
            checkpoint: attempted.checkpoint.clone(),
            lease: self.rules.lease,
            keep: self.rules.keep,
            keep_unresolved: self.rules.keep_unresolved,
        };
        let mut unanswered = false;
        loop {
            let sent = clock::monotonic();
            let error = match self.context.claim(self.key, &claim, attempted.expected).await {
                Ok(outcome) => {
                    patience.answered();
                    return Ok((sent, outcome));
                }
                Err(error) => error,
            };
            match patience.bear(error).await {
                Ok(()) => unanswered = true,
                // An earlier copy may have landed.
                Err(error) if unanswered => {
                    let lease = LocalLease { sent, remaining: Duration::ZERO };
                    return Err(Unobtained::leaving(error, self.holder(attempted, lease)));
                }
                Err(error) => return Err(Unobtained::with_nothing(error)),
            }
        }
    }

    /// What to do about somebody else's record.
    fn judge(&self, snapshot: &Snapshot) -> Next {
        let refuse = |refusal| Next::Stop(Acquired::Refused(refusal));
        match observe(Some(&snapshot.record), self.fingerprints, snapshot.now) {
            KeyState::Absent => Next::Claim(self.fresh(Expected::Absent)),
            KeyState::Expired { version } => Next::Claim(self.fresh(Expected::Exactly(version))),
            KeyState::HashMismatch => refuse(Refusal::HashMismatch(RecordSummary::of(snapshot))),
            KeyState::Completed { result } => refuse(Refusal::completed(result.clone())),
            KeyState::InProgress { .. } => refuse(Refusal::InProgress(InProgress::seen(snapshot))),
            KeyState::Abandoned { version, attempt, checkpoint } => {
                let abandoned = Abandoned::seen(self.key, snapshot);
                if self.rules.policy.parks() {
                    return refuse(Refusal::Abandoned(abandoned));
                }
                Next::Claim(Try {
                    // The record stays bound to what it was bound to, so that an instance of an older release, which
                    // knows no newer algorithm, still recognises its request.
                    fingerprint: snapshot.record.fingerprint,
                    attempt: attempt.saturating_add(1),
                    checkpoint: checkpoint.cloned(),
                    ask_about: matches!(self.rules.policy, Policy::Resolve(_)).then_some(abandoned),
                    ..self.fresh(Expected::Exactly(version))
                })
            }
        }
    }

    /// A claim of this very request landed after all. While its lease lives it is a grant. After that it is replaced
    /// under a new token: nobody has executed *this* claim, so it keeps its attempt; earlier attempts are another
    /// matter, so it keeps the question about them too.
    async fn judge_own(
        &self,
        own: &Try,
        snapshot: &Snapshot,
        sent: Instant,
        patience: &mut impl Patience,
    ) -> Result<Next, Unobtained> {
        let Snapshot { record, now } = snapshot;
        let fresh = self.fresh(Expected::Exactly(record.version));
        if record.is_past(*now) {
            return Ok(Next::Claim(fresh));
        }
        if record.lease_until > *now {
            let lease = LocalLease { sent, remaining: record.lease_until.since(*now) };
            return self.grant(own, lease, patience).await;
        }
        let (fingerprint, attempt) = (own.fingerprint, own.attempt);
        let (checkpoint, ask_about) = (own.checkpoint.clone(), own.ask_about.clone());
        Ok(Next::Claim(Try { fingerprint, attempt, checkpoint, ask_about, ..fresh }))
    }

    /// The grant of a claim that the store acknowledged. Where its lease ran out before the answer arrived, it is
    /// extended first: somebody may have taken over, and then there is nothing to work under.
    async fn grant(
        &self,
        own: &Try,
        lease: LocalLease,
        patience: &mut impl Patience,
    ) -> Result<Next, Unobtained> {
        let holder = self.holder(own, lease);
        // The answer to the extension may be late as well.
        for _ in 0..LOOKS_MAX {
            if !holder.lease_remaining().is_zero() {
                break;
            }
            match holder.extend_patiently(patience).await {
                Ok(Held::Yes) => {}
                Ok(Held::No) => return Ok(Next::Claim(self.fresh(Expected::Absent))),
                Err(error) => return Err(Unobtained::leaving(error, holder)),
            }
        }
        Ok(Next::Stop(Acquired::Granted(Grant { holder, ask_about: own.ask_about.clone() })))
    }

    fn holder(&self, own: &Try, lease: LocalLease) -> Arc<Holder> {
        let granted = Granted {
            key: self.key.clone(),
            token: own.token,
            attempt: own.attempt,
            checkpoint: own.checkpoint.clone(),
            lease,
        };
        Arc::new(self.context.hold(Arc::clone(self.rules), granted))
    }
}

impl Holder {
    /// Extends the lease, repeating the renewal as `patience` allows.
    pub(crate) async fn extend_patiently(&self, patience: &mut impl Patience) -> Result<Held, StoreError> {
        loop {
            match self.extend(None).await {
                Ok(held) => {
                    patience.answered();
                    return Ok(held);
                }
                Err(error) => patience.bear(error).await?,
            }
        }
    }
}

/// The try that wrote what is in the way, if it was one of this request's own.
fn own_try<'a>(sent: &'a [Try], snapshot: &Snapshot) -> Option<&'a Try> {
    let unfinished = matches!(snapshot.record.status, Status::InProgress { .. });
    sent.iter().find(|own| unfinished && own.token == snapshot.record.version.token)
}

/// How often one request looks at a key that changes under its eyes before it is told to come back.
pub(crate) const LOOKS_MAX: u32 = 8;

/// How often a call without an answer is repeated at once.
pub(crate) const REPEATS: u32 = 2;
