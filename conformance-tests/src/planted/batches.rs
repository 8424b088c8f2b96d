//! Faults in batches of claims.

use std::collections::BTreeMap;

use onceonly::{ClaimOutcome, ClaimRequest, Expected, KeyStore, StoreError, StoreErrorKind};

use super::faults::Fault;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::place;

impl PlantedStore {
    pub(super) async fn claim_many_wrongly(
        &self,
        claims: &[ClaimRequest],
    ) -> Vec<Result<ClaimOutcome, StoreError>> {
        if self.has(Fault::BatchLocksInOrder) {
            self.lock_in_order(claims).await;
        }
        if self.has(Fault::CorruptFailsBatch) {
            let unreadable = |request: &ClaimRequest| self.readable_to_a_write(&request.key).err();
            if claims.iter().any(|request| unreadable(request).is_some()) {
                return claims.iter().map(|_| Err(self.batch_failed())).collect();
            }
        }
        let taken = if self.has(Fault::BatchLosesItsLast) { claims.len().min(100) } else { claims.len() };
        let (mut granted, mut first) = (BTreeMap::new(), None);
        let mut answers = Vec::with_capacity(taken);
        for ClaimRequest { key, claim, expected } in &claims[..taken] {
            let place = place(key);
            let guarded = matches!(expected, Expected::Exactly(_));
            let outcome = if guarded && self.has(Fault::BatchTakeoverLooksThenWrites) {
                self.look_then_write(key, claim, *expected).await
            } else if guarded && self.has(Fault::LargeBatchSkipsGuarded) && claims.len() > 8 {
                Ok(ClaimOutcome::Vacant)
            } else {
                self.claim(key, claim, *expected).await
            };
            answers.push(match (outcome, granted.get(&place)) {
                (Ok(ClaimOutcome::Claimed(stamp)), _) if self.has(Fault::BatchStampedOnce) => {
                    Ok(ClaimOutcome::Claimed(*first.get_or_insert(stamp)))
                }
                (Ok(ClaimOutcome::Occupied(_)), Some(stamp)) if self.has(Fault::BatchGrantsDuplicates) => {
                    Ok(ClaimOutcome::Claimed(*stamp))
                }
                (outcome, _) => outcome,
            });
            if let Some(Ok(ClaimOutcome::Claimed(stamp))) = answers.last() {
                granted.insert(place, *stamp);
            }
        }
        if self.has(Fault::BatchLocksInOrder) {
            let mut locked = lock(&self.shared.locked);
            for request in claims {
                locked.remove(&place(&request.key));
            }
        }
        if self.has(Fault::BatchAnswersBackwards) {
            answers.reverse();
        }
        answers
    }

    fn batch_failed(&self) -> StoreError {
        StoreError::new(StoreErrorKind::Corrupt, self.name(), "an item of the batch cannot be read")
    }

    /// Takes each item's lock and holds it; two batches in opposite order wait for each other.
    async fn lock_in_order(&self, claims: &[ClaimRequest]) {
        for request in claims {
            while !lock(&self.shared.locked).insert(place(&request.key)) {
                tokio::task::yield_now().await;
            }
            self.gap().await;
        }
    }
}
