//! What an operator says of an abandoned operation.

use std::sync::Arc;

use crate::acquire::{AtOnce, Patience};
use crate::clock;
use crate::conclude::{Concluded, Superseded};
use crate::error::StoreError;
use crate::holder::{Granted, Held, Holder, LocalLease};
use crate::idempotency::Idempotency;
use crate::key::RecordKey;
use crate::outcome::{Abandoned, RecordState, RecordSummary};
use crate::policy::Verdict;
use crate::record::{Snapshot, Token};
use crate::store::{ClaimOutcome, Expected, NewClaim};

/// What became of [`Idempotency::resolve`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an operator's tool must show each of these")]
#[must_use = "the verdict may not have been applied"]
pub enum Resolution {
    /// The operation is done, with the response of the verdict: replayed from now on, or not retained if it is larger
    /// than [`Settings::response_bytes_max`](crate::Settings::response_bytes_max).
    Completed,
    /// The key is free: the next caller executes, as attempt 1.
    Released,
    /// Nothing was changed; the key stays abandoned.
    StillUnknown,
    /// Nothing was changed: the key is not abandoned. Somebody works on it, has finished it, or it has expired.
    NotAbandoned(RecordSummary),
    /// Nothing was changed: somebody else wrote the record meanwhile. What it is now may be abandoned again, by an attempt
    /// that the verdict does not speak of: find out, and resolve again.
    Changed(RecordSummary),
    /// Nothing was changed: nothing is stored under the key.
    NotFound,
}

impl Idempotency {
    /// Settles an abandoned operation by hand, under whatever policy it was left.
    ///
    /// The key is claimed first, expecting exactly the write that was seen abandoned: a holder that completes late, or
    /// another operator, is not overruled. A live lease cannot be resolved. [`Verdict::NotExecuted`] says that the
    /// effect did not happen *and can no longer happen*; a holder that still runs afterwards makes it happen twice. It
    /// speaks of every attempt up to this call: under [`Policy::Rerun`](crate::Policy::Rerun), or with several operators,
    /// look at [`Idempotency::inspect`] again right before.
    ///
    /// Dropping the future leaves the key as it was, settled, or claimed: then it is abandoned again after a lease.
    ///
    /// # Errors
    /// If the store failed. The verdict may or may not have been applied; resolve again.
    pub async fn resolve(&self, key: &RecordKey, verdict: Verdict) -> Result<Resolution, StoreError> {
        let context = &self.shared.context;
        let Some(snapshot) = context.load(key).await? else {
            return Ok(Resolution::NotFound);
        };
        let summary = RecordSummary::of(&snapshot);
        if summary.state != RecordState::Abandoned {
            return Ok(Resolution::NotAbandoned(summary));
        }
        if verdict == Verdict::Unknown {
            return Ok(Resolution::StillUnknown);
        }
        let mut patience = AtOnce::new();
        if let Some(holder) = self.take_over(key, &snapshot, &mut patience).await?
            && let Some(resolution) = settle(&holder, &verdict, &mut patience).await?
        {
            return Ok(resolution);
        }
        // Whatever is there now is not what was judged.
        let seen = context.load(key).await?;
        Ok(seen.map_or(Resolution::NotFound, |seen| Resolution::Changed(RecordSummary::of(&seen))))
    }

    /// Claims the abandoned key; none if its record has changed since it was seen.
    async fn take_over(
        &self,
        key: &RecordKey,
        snapshot: &Snapshot,
        patience: &mut impl Patience,
    ) -> Result<Option<Holder>, StoreError> {
        let abandoned = Abandoned::seen(key, snapshot);
        let claim = NewClaim {
            token: Token::random(),
            // The operator speaks for the request that the key is bound to.
            fingerprint: snapshot.record.fingerprint,
            attempt: abandoned.attempt.saturating_add(1),
            checkpoint: abandoned.checkpoint,
            lease: self.rules.lease,
            keep: self.rules.keep,
            keep_unresolved: self.rules.keep_unresolved,
        };
        let expected = Expected::Exactly(snapshot.record.version);
        let lease = loop {
            let sent = clock::monotonic();
            match self.shared.context.claim(key, &claim, expected).await {
                Ok(ClaimOutcome::Claimed(stamp)) => break LocalLease::answered(sent, stamp),
                // The answer to an earlier copy was lost.
                Ok(ClaimOutcome::Occupied(seen)) if seen.record.is_held_by(claim.token, seen.now) => {
                    break LocalLease { sent, remaining: seen.record.lease_until.since(seen.now) };
                }
                Ok(ClaimOutcome::Occupied(_) | ClaimOutcome::Vacant) => return Ok(None),
                Err(error) => patience.bear(error).await?,
            }
        };
        let NewClaim { token, attempt, checkpoint, .. } = claim;
        let granted = Granted { key: key.clone(), token, attempt, checkpoint, lease };
        Ok(Some(self.shared.context.hold(Arc::clone(&self.rules), granted)))
    }
}

/// Writes the verdict under the claim; none if somebody took over meanwhile.
async fn settle(
    holder: &Holder,
    verdict: &Verdict,
    patience: &mut impl Patience,
) -> Result<Option<Resolution>, StoreError> {
    loop {
        let settled = match verdict {
            Verdict::Completed(response) => {
                let result = holder.rules().result_to_store(response.clone());
                holder.store_result(&result).await.map(|concluded| match concluded {
                    Concluded::Stored | Concluded::Superseded(Superseded::By(_)) => {
                        Some(Resolution::Completed)
                    }
                    Concluded::Superseded(Superseded::NotHeld) => None,
                })
            }
            Verdict::NotExecuted => holder.release().await.map(|held| match held {
                Held::Yes => Some(Resolution::Released),
                Held::No => None,
            }),
            Verdict::Unknown => return Ok(Some(Resolution::StillUnknown)),
        };
        match settled {
            Ok(resolution) => return Ok(resolution),
            Err(error) => patience.bear(error).await?,
        }
    }
}
