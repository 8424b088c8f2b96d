//! Faults in batches of claims.

use std::collections::BTreeMap;

use onceonly::{ClaimOutcome, ClaimRequest, Expected, KeyStore, NewClaim, StoreError, StoreErrorKind};

use super::faults::Fault;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::place;

impl PlantedStore {
    pub(super) async fn claim_many_wrongly(
        &self,
        claims: &[ClaimRequest],
    ) -> Vec<Result<ClaimOutcome, StoreError>> {
        if claims.is_empty() && self.has(Fault::EmptyBatchFails) {
            return vec![Err(self.rejected("syntax error at end of input"))];
        }
        if self.has(Fault::BatchLocksInOrder) {
            self.lock_in_order(claims).await;
        }
        if self.has(Fault::CorruptFailsBatch) {
            let unreadable = |request: &ClaimRequest| self.readable_to_a_write(&request.key).err();
            if claims.iter().any(|request| unreadable(request).is_some()) {
                return claims.iter().map(|_| Err(self.batch_failed())).collect();
            }
        }
        let mut answers = self.claim_each(claims).await;
        if self.has(Fault::BatchLocksInOrder) {
            for request in claims {
                lock(&self.shared.locked).remove(&place(&request.key));
            }
            self.shared.turns.give_back();
        }
        self.rearrange(claims, &mut answers);
        answers
    }

    async fn claim_each(&self, claims: &[ClaimRequest]) -> Vec<Result<ClaimOutcome, StoreError>> {
        let taken = if self.has(Fault::BatchLosesItsLast) { claims.len().min(100) } else { claims.len() };
        let (mut granted, mut first) = (BTreeMap::new(), None);
        let mut answers: Vec<Result<ClaimOutcome, StoreError>> = Vec::with_capacity(taken);
        for request in &claims[..taken] {
            let place = place(&request.key);
            if granted.contains_key(&place) && self.has(Fault::BatchDropsDuplicates) {
                continue;
            }
            let refused = |answer: &Result<_, _>| !matches!(answer, Ok(ClaimOutcome::Claimed(_)));
            let outcome = if answers.iter().any(refused) && self.has(Fault::BatchStopsAtRefusal) {
                Ok(ClaimOutcome::Vacant)
            } else {
                self.claim_one_of(claims, request).await
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
        answers
    }

    async fn claim_one_of(
        &self,
        claims: &[ClaimRequest],
        ClaimRequest { key, claim, expected }: &ClaimRequest,
    ) -> Result<ClaimOutcome, StoreError> {
        let guarded = matches!(expected, Expected::Exactly(_));
        match self.fault {
            Some(Fault::BatchTakeoverLooksThenWrites) if guarded => {
                self.look_then_write(key, claim, *expected).await
            }
            Some(Fault::LargeBatchSkipsGuarded) if guarded && claims.len() > 8 => Ok(ClaimOutcome::Vacant),
            Some(Fault::BatchBindsOnce) => {
                let claim = NewClaim { fingerprint: claims[0].claim.fingerprint, ..claim.clone() };
                self.claim(key, &claim, *expected).await
            }
            Some(Fault::BatchInTwoWrites) => match self.claim(key, claim, *expected).await? {
                granted @ ClaimOutcome::Claimed(_) => Ok(self.claim_in_two_writes(key, granted).await),
                refused => Ok(refused),
            },
            _ => self.claim(key, claim, *expected).await,
        }
    }

    /// Puts the answers of a batch where they do not belong.
    fn rearrange(&self, claims: &[ClaimRequest], answers: &mut Vec<Result<ClaimOutcome, StoreError>>) {
        match self.fault {
            Some(Fault::BatchAnswersBackwards) => answers.reverse(),
            Some(Fault::BatchAnswersByKey) => {
                let places = claims.iter().map(|request| place(&request.key));
                let mut by_place: Vec<_> = places.zip(answers.drain(..)).collect();
                by_place.sort_by(|(one, _), (other, _)| one.cmp(other));
                answers.extend(by_place.into_iter().map(|(_, answer)| answer));
            }
            Some(Fault::LargeBatchPartsBackwards) if answers.len() > PART => answers.rotate_left(PART),
            Some(Fault::BatchFailureIsGranted) => {
                let granted = answers.iter().find_map(|answer| match answer {
                    Ok(ClaimOutcome::Claimed(stamp)) => Some(*stamp),
                    _ => None,
                });
                for answer in answers {
                    if let (Err(_), Some(stamp)) = (&answer, granted) {
                        *answer = Ok(ClaimOutcome::Claimed(stamp));
                    }
                }
            }
            _ => {}
        }
    }

    fn batch_failed(&self) -> StoreError {
        StoreError::new(StoreErrorKind::Corrupt, self.name(), "an item of the batch cannot be read")
    }

    /// Takes each item's lock and holds it; two batches in opposite order wait for each other.
    async fn lock_in_order(&self, claims: &[ClaimRequest]) {
        for request in claims {
            self.shared.turns.until(|| lock(&self.shared.locked).insert(place(&request.key))).await;
            self.gap().await;
        }
    }
}

/// How many items a database takes at once.
const PART: usize = 100;
