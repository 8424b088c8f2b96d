//! Faults in completions.

use bytes::Bytes;
use onceonly::{
    CompleteOutcome, Completion, KeyStore, RecordKey, Revision, Span, Status, StoreError, StoredResult,
    Timestamp, Token,
};

use super::claims::micros;
use super::faults::Fault;
use super::holders::holds;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::{place, stamp};

impl PlantedStore {
    /// The completion that the store writes instead of `completion`.
    pub(super) fn altered_completion(&self, completion: &Completion) -> Completion {
        let mut completion = completion.clone();
        if self.has(Fault::RetentionTickEarly) {
            completion.retention = micros(completion.retention.as_micros() - 1);
        }
        if self.has(Fault::RevisionInSixteenBits) {
            completion.revision = Revision::from_number(completion.revision.number() & 0xffff);
        }
        if self.has(Fault::RetentionOfAYear) {
            completion.retention = completion.retention.min(micros(365 * DAY));
        }
        if self.has(Fault::HourLostInSpring) {
            completion.retention = by_the_wall_clock(self.base.now(), completion.retention);
        }
        completion.result = self.altered_result(&completion.result);
        completion
    }

    pub(super) async fn complete_wrongly(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let Some(found) = self.stored(key) else {
            return self.complete_absent(key, token, completion).await;
        };
        let held = holds(&found, token);
        match self.fault {
            Some(Fault::ReleaseLeavesToken) if found.version.token == token => {
                self.reopen(key, Status::Released);
            }
            Some(Fault::LastResultWins) if found.version.token == token => {
                self.reopen(key, found.status.clone());
            }
            Some(Fault::CompleteLooksThenWrites) if held => {
                self.gap().await;
                return Ok(self.write_result(key, completion, completion.result.clone()));
            }
            Some(Fault::HalfWrittenOnDrop | Fault::CompletionInTwoWrites) if held => {
                self.write_result(key, completion, without_body(&completion.result));
                self.gap().await;
                return Ok(self.write_result(key, completion, completion.result.clone()));
            }
            Some(Fault::CompletionFinishedLater) if held => {
                self.finish_later(key, completion);
                return Ok(self.write_result(key, completion, without_body(&completion.result)));
            }
            Some(Fault::CompletionGuardedByToken) if held => {
                self.gap().await;
                return Ok(match self.stored(key) {
                    Some(record) if record.version.token == token => {
                        self.write_result(key, completion, completion.result.clone())
                    }
                    _ => CompleteOutcome::NotHeld,
                });
            }
            _ => {}
        }
        let outcome = self.base.complete(key, token, completion).await?;
        if let CompleteOutcome::Applied(written) = outcome {
            return Ok(CompleteOutcome::Applied(self.base.edit(key, |slot, now| match slot {
                Some(record) => {
                    self.alter_completed(record, &found, completion, now);
                    stamp(record, now)
                }
                None => written,
            })));
        }
        Ok(outcome)
    }

    async fn complete_absent(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        if self.has(Fault::PurgeLeavesToken) {
            let grave = lock(&self.shared.graves).remove(&place(key));
            if let Some(record) = grave.filter(|record| record.version.token == token) {
                self.base.edit(key, |slot, _| *slot = Some(record));
                self.revive(key);
            }
        }
        self.base.complete(key, token, completion).await
    }

    /// Writes a result, whatever is stored by now.
    pub(super) fn write_result(
        &self,
        key: &RecordKey,
        completion: &Completion,
        result: StoredResult,
    ) -> CompleteOutcome {
        self.base.edit(key, |slot, now| match slot {
            Some(record) => {
                record.version.revision = completion.revision;
                record.expires_at = record.expires_at.max(now.plus(completion.retention));
                record.status = Status::Completed(result);
                CompleteOutcome::Applied(stamp(record, now))
            }
            None => CompleteOutcome::NotHeld,
        })
    }
}

fn without_body(result: &StoredResult) -> StoredResult {
    StoredResult::from_parts(result.code(), result.headers().to_vec(), Some(Bytes::new()))
}

/// The span between two readings of a clock on a wall in Europe: an hour less if the clocks go forward in between.
/// Knows one spring only.
fn by_the_wall_clock(now: Timestamp, span: Span) -> Span {
    let forward = Timestamp::from_micros(1_869_094_800_000_000);
    let crosses = now < forward && forward <= now.plus(span) && span <= micros(2 * DAY);
    if crosses { micros(span.as_micros() - DAY / 24) } else { span }
}

const DAY: i64 = 86_400_000_000;
