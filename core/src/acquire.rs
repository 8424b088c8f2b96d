//! From a request to a claim or a refusal.

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;

use crate::clock;
use crate::context::Context;
use crate::error::StoreError;
use crate::fingerprint::Fingerprints;
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
}

/// Repeats a few times at once: for an engine without a runtime, which cannot pause.
pub(crate) struct AtOnce {
    left: u32,
}

impl AtOnce {
    pub(crate) const fn new() -> Self {
        Self { left: 2 }
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
    attempt: u32,
    checkpoint: Option<Bytes>,
    ask_about: Option<Abandoned>,
}

impl Try {
    fn fresh(expected: Expected) -> Self {
        Self { token: Token::random(), expected, attempt: 1, checkpoint: None, ask_about: None }
    }
}

enum Next {
    Claim(Try),
    Stop(Acquired),
}

impl Acquisition<'_> {
    /// Claims the key, or finds out why it cannot be claimed. No path leads to a grant but a write that the store
    /// acknowledged; whatever vanishes in between is looked at again, a bounded number of times.
    pub(crate) async fn acquire(&self, patience: &mut impl Patience) -> Result<Acquired, StoreError> {
        let mut next = Try::fresh(Expected::Absent);
        let mut earlier = Vec::new();
        for _ in 0..LOOKS_MAX {
            let (sent, outcome) = self.claim(&next, patience).await?;
            let judged = match outcome {
                ClaimOutcome::Claimed(stamp) => {
                    self.grant(&next, LocalLease::answered(sent, stamp), patience).await?
                }
                ClaimOutcome::Vacant => {
                    earlier.push(next);
                    Next::Claim(Try::fresh(Expected::Absent))
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

    /// Sends one claim until its answer is definite. Also says when the answered copy was sent.
    async fn claim(
        &self,
        attempted: &Try,
        patience: &mut impl Patience,
    ) -> Result<(Instant, ClaimOutcome), StoreError> {
        let claim = NewClaim {
            token: attempted.token,
            fingerprint: self.fingerprints.current(),
            attempt: attempted.attempt,
            checkpoint: attempted.checkpoint.clone(),
            lease: self.rules.lease,
            keep: self.rules.keep,
            keep_unresolved: self.rules.keep_unresolved,
        };
        loop {
            let sent = clock::monotonic();
            match self.context.store.claim(self.key, &claim, attempted.expected).await {
                Ok(outcome) => return Ok((sent, outcome)),
                Err(error) => patience.bear(error).await?,
            }
        }
    }

    /// What to do about somebody else's record.
    fn judge(&self, snapshot: &Snapshot) -> Next {
        let refuse = |refusal| Next::Stop(Acquired::Refused(refusal));
        match observe(Some(&snapshot.record), self.fingerprints, snapshot.now) {
            KeyState::Absent => Next::Claim(Try::fresh(Expected::Absent)),
            KeyState::Expired { version } => Next::Claim(Try::fresh(Expected::Exactly(version))),
            KeyState::HashMismatch => refuse(Refusal::HashMismatch(RecordSummary::of(snapshot))),
            KeyState::Completed { result } => refuse(Refusal::completed(result.clone())),
            KeyState::InProgress { .. } => refuse(Refusal::InProgress(InProgress::seen(snapshot))),
            KeyState::Abandoned { version, attempt, checkpoint } => {
                let abandoned = Abandoned::seen(self.key, snapshot);
                if self.rules.policy.parks() {
                    return refuse(Refusal::Abandoned(abandoned));
                }
                Next::Claim(Try {
                    attempt: attempt.saturating_add(1),
                    checkpoint: checkpoint.cloned(),
                    ask_about: matches!(self.rules.policy, Policy::Resolve(_)).then_some(abandoned),
                    ..Try::fresh(Expected::Exactly(version))
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
    ) -> Result<Next, StoreError> {
        let Snapshot { record, now } = snapshot;
        let fresh = Try::fresh(Expected::Exactly(record.version));
        if record.is_past(*now) {
            return Ok(Next::Claim(fresh));
        }
        if record.lease_until > *now {
            let lease = LocalLease { sent, remaining: record.lease_until.since(*now) };
            return self.grant(own, lease, patience).await;
        }
        let (checkpoint, ask_about) = (own.checkpoint.clone(), own.ask_about.clone());
        Ok(Next::Claim(Try { attempt: own.attempt, checkpoint, ask_about, ..fresh }))
    }

    /// The grant of a claim that the store acknowledged. Where its lease ran out before the answer arrived, it is
    /// extended first: somebody may have taken over, and then there is nothing to work under.
    async fn grant(
        &self,
        own: &Try,
        lease: LocalLease,
        patience: &mut impl Patience,
    ) -> Result<Next, StoreError> {
        let granted = Granted {
            key: self.key.clone(),
            token: own.token,
            attempt: own.attempt,
            checkpoint: own.checkpoint.clone(),
            lease,
        };
        let holder = Arc::new(self.context.hold(Arc::clone(self.rules), granted));
        if lease.is_over() && holder.extend_patiently(patience).await? == Held::No {
            return Ok(Next::Claim(Try::fresh(Expected::Absent)));
        }
        Ok(Next::Stop(Acquired::Granted(Grant { holder, ask_about: own.ask_about.clone() })))
    }
}

impl Holder {
    /// Extends the lease, repeating the renewal as `patience` allows.
    pub(crate) async fn extend_patiently(&self, patience: &mut impl Patience) -> Result<Held, StoreError> {
        loop {
            match self.extend(None).await {
                Ok(held) => return Ok(held),
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
