//! Faults in completions.

use bytes::Bytes;
use onceonly::{
    CompleteOutcome, Completion, KeyStore, Record, RecordKey, Revision, Span, Status, StoreError,
    StoredResult, Timestamp, Token,
};

use super::claims::micros;
use super::faults::Fault;
use super::holders::holds;
use super::keys::{is_like, key_at};
use super::looks::blank_claim;
use super::shared::lock;
use super::store::PlantedStore;
use crate::reference::{new_record, place, stamp};

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
        if let Some(outcome) = self.complete_in_parts(key, token, completion, &found).await {
            return Ok(outcome);
        }
        match self.fault {
            Some(Fault::TokenReachesNeighbours) if found.version.token != token => {
                let neighbours = lock(&self.shared.neighbours).clone();
                for neighbour in neighbours {
                    if let done @ CompleteOutcome::Applied(_) =
                        neighbour.complete(key, token, completion).await?
                    {
                        return Ok(done);
                    }
                }
            }
            Some(Fault::ReleaseLeavesToken) if found.version.token == token => {
                self.reopen(key, Status::Released);
            }
            Some(Fault::RenewedMarkIsHeld)
                // The claim was the first write of its token, and the release the second, unless one came in between.
                if found.version.token == token && Revision::from_number(2) < found.version.revision =>
            {
                self.reopen(key, Status::Released);
            }
            Some(Fault::LastResultWins) if found.version.token == token => {
                self.reopen(key, found.status.clone());
            }
            _ => {}
        }
        match self.base.complete(key, token, &self.with_body_left_behind(key, completion)).await? {
            CompleteOutcome::Applied(_) if self.has(Fault::CompletionIsSentAgain) => {
                self.base.complete(key, token, completion).await
            }
            CompleteOutcome::Applied(written) => {
                if self.has(Fault::KeyIsAPattern) {
                    self.complete_all_like(key, completion);
                }
                Ok(self.base.edit(key, |slot, now| match slot {
                    Some(record) if record.version.token == token => {
                        self.note_class(key, now, completion.retention);
                        self.alter_completed(record, &found, completion, now);
                        CompleteOutcome::Applied(stamp(record, now))
                    }
                    _ => CompleteOutcome::Applied(written),
                }))
            }
            CompleteOutcome::AlreadyCompleted(shown) => Ok(self.completed_before(key, completion, shown)),
            CompleteOutcome::NotHeld => Ok(CompleteOutcome::NotHeld),
        }
    }

    /// What comes of a completion that takes more than one step, or none. `found` is the record as it was looked at.
    async fn complete_in_parts(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
        found: &Record,
    ) -> Option<CompleteOutcome> {
        if !holds(found, token) {
            return None;
        }
        let write = |result| self.write_result(key, completion, result);
        match self.fault {
            Some(Fault::StaleCompletionDropped) if completion.revision <= found.version.revision => {
                return Some(CompleteOutcome::Applied(stamp(found, self.base.now())));
            }
            Some(Fault::CompletionCommittedLater) => {
                self.commit_later(key, token, completion);
                return Some(CompleteOutcome::Applied(stamp(found, self.base.now())));
            }
            Some(Fault::CompletionFinishedLater) => {
                self.finish_later(key, completion);
                return Some(write(without_body(&completion.result)));
            }
            Some(Fault::HalfWrittenOnDrop | Fault::CompletionInTwoWrites) => {
                write(without_body(&completion.result));
            }
            Some(
                Fault::CompleteLooksThenWrites
                | Fault::CompletionGuardedByToken
                | Fault::CompletionGuardedByStatus
                | Fault::CompletionOverMark,
            ) => {}
            _ => return None,
        }
        self.gap().await;
        let still = self.stored(key).is_some_and(|record| self.still_writes(&record, token));
        Some(if still { write(completion.result.clone()) } else { CompleteOutcome::NotHeld })
    }

    /// Whether a completion that has looked before writes over what is there by now.
    fn still_writes(&self, record: &Record, token: Token) -> bool {
        let same = record.version.token == token;
        match (self.fault, &record.status) {
            (Some(Fault::CompletionGuardedByToken), _) => same,
            (Some(Fault::CompletionGuardedByStatus), status) => matches!(status, Status::InProgress { .. }),
            (Some(Fault::CompletionOverMark), status) => same && !matches!(status, Status::Completed(_)),
            _ => true,
        }
    }

    async fn complete_absent(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        match self.fault {
            Some(Fault::PurgeLeavesToken) => {
                let grave = lock(&self.shared.graves).remove(&place(key));
                if let Some(record) = grave.filter(|record| record.version.token == token) {
                    self.base.edit(key, |slot, _| *slot = Some(record));
                    self.revive(key);
                }
            }
            Some(Fault::CompletionCreates) => {
                self.base.edit(key, |slot, now| {
                    slot.get_or_insert_with(|| new_record(&blank_claim(token), now));
                });
            }
            _ => {}
        }
        self.base.complete(key, token, completion).await
    }

    /// The completion with the body of an earlier period, where it brings none and the old one was left there.
    fn with_body_left_behind(&self, key: &RecordKey, completion: &Completion) -> Completion {
        let mut completion = completion.clone();
        if self.has(Fault::ResultIsLeftBehind) {
            let mut bodies = lock(&self.shared.bodies);
            match completion.result.body().cloned() {
                Some(body) => {
                    bodies.insert(place(key), body);
                }
                None => {
                    let (code, headers) = (completion.result.code(), completion.result.headers().to_vec());
                    let left = bodies.get(&place(key)).cloned();
                    completion.result = StoredResult::from_parts(code, headers, left);
                }
            }
        }
        completion
    }

    /// Completes all records whose keys `key` stands for as a pattern.
    fn complete_all_like(&self, key: &RecordKey, completion: &Completion) {
        let (scope, pattern) = place(key);
        let pattern: Vec<char> = pattern.chars().collect();
        for other in self.base.all().into_keys().filter(|other| other.0 == scope) {
            if is_like(&other.1.chars().collect::<Vec<_>>(), &pattern) {
                self.write_result(&key_at(&other), completion, completion.result.clone());
            }
        }
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
