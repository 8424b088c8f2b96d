//! Faults in completions.

use bytes::Bytes;
use onceonly::{
    CompleteOutcome, Completion, Header, KeyStore, Record, RecordKey, Revision, Span, Status, StoreError,
    StoredResult, Timestamp, Token,
};

use super::claims::micros;
use super::faults::Fault;
use super::store::{PlantedStore, lock};
use super::writes::{alike, holds};
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
        let (code, headers) = (completion.result.code(), completion.result.headers().to_vec());
        let body = completion.result.body().cloned();
        completion.result = StoredResult::from_parts(
            if self.has(Fault::CodeInByte) { code & 0xff } else { code },
            self.altered_headers(headers),
            self.altered_body(body),
        );
        completion
    }

    fn altered_headers(&self, mut headers: Vec<Header>) -> Vec<Header> {
        match self.fault {
            Some(Fault::HeadersCut) => headers.truncate(32),
            Some(Fault::HeaderValueCut) => {
                for header in &mut headers {
                    header.value.truncate(4096);
                }
            }
            Some(Fault::HeadersSorted) => headers.sort_by(|one, other| one.name.cmp(&other.name)),
            Some(Fault::HeadersLowerCased) => {
                for header in &mut headers {
                    header.name = header.name.to_ascii_lowercase().into();
                }
            }
            Some(Fault::HeadersAsText) => {
                for header in &mut headers {
                    header.value = lossy(&header.value);
                }
            }
            _ => {}
        }
        headers
    }

    fn altered_body(&self, body: Option<Bytes>) -> Option<Bytes> {
        match self.fault {
            Some(Fault::NotRetainedIsEmpty) => Some(body.unwrap_or_default()),
            Some(Fault::BodyCut) => body.map(|body| body.slice(..body.len().min(64))),
            Some(Fault::CutAtTheLimit) => body.map(|body| body.slice(..body.len().min(1024 * 1024))),
            Some(Fault::BodyLossyText) => body.map(|body| lossy(&body)),
            Some(Fault::LineBreaksNormalised) => body.map(|body| {
                let unified = body.iter().copied().filter(|byte| *byte != b'\r');
                unified.collect::<Vec<u8>>().into()
            }),
            _ => body,
        }
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
            Some(Fault::CompleteWithoutToken) => {
                return self.base.complete(key, found.version.token, completion).await;
            }
            Some(Fault::CompleteByFormerHolder) if self.once_held(key, token) => {
                return self.base.complete(key, found.version.token, completion).await;
            }
            Some(Fault::TokensCompareEightBytes) if alike(found.version.token, token) => {
                return self.base.complete(key, found.version.token, completion).await;
            }
            Some(Fault::NoLateCompletion) if self.is_late(&found) => return Ok(CompleteOutcome::NotHeld),
            Some(Fault::NeverPastUnlessPurged) => self.revive(key),
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

    fn alter_completed(&self, record: &mut Record, found: &Record, completion: &Completion, now: Timestamp) {
        let base = match self.fault {
            Some(Fault::RetentionFromClaim) => found.created_at,
            Some(Fault::RetentionFromLease) => found.lease_until,
            Some(Fault::RetentionMovesBack) => {
                record.expires_at = now.plus(completion.retention);
                return;
            }
            _ => return,
        };
        record.expires_at = found.expires_at.max(base.plus(completion.retention));
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

    pub(super) fn once_held(&self, key: &RecordKey, token: Token) -> bool {
        lock(&self.shared.former).get(&place(key)).is_some_and(|former| former.contains(&token))
    }

    /// Puts a record of this status back in progress.
    fn reopen(&self, key: &RecordKey, status: Status) {
        self.base.edit(key, |slot, _| match slot {
            Some(record) if record.status == status => {
                record.status = Status::InProgress { checkpoint: None }
            }
            _ => {}
        });
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

fn lossy(bytes: &[u8]) -> Bytes {
    String::from_utf8_lossy(bytes).into_owned().into_bytes().into()
}
