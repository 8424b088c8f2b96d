//! The last write of an attempt: its result, or the return of its claim.

use crate::error::StoreError;
use crate::holder::{Held, Holder};
use crate::observer::EventKind;
use crate::record::{Snapshot, Status};
use crate::response::StoredResult;
use crate::store::CompleteOutcome;

/// What became of a result.
#[derive(Debug)]
pub(crate) enum Concluded {
    /// It is stored.
    Stored,
    /// The record holds another one, or belongs to somebody else.
    Superseded(Superseded),
}

/// What stands in a result's place.
#[derive(Debug)]
pub(crate) enum Superseded {
    /// This claim's own earlier result, which differs.
    By(StoredResult),
    /// Somebody else's claim, or nothing.
    NotHeld,
}

impl Holder {
    /// Sends the result once.
    pub(crate) async fn store_result(&self, result: &StoredResult) -> Result<Concluded, StoreError> {
        self.store_either(result, result).await
    }

    /// Sends `result` once, in place of `whole`, of which an earlier copy may have been stored.
    pub(crate) async fn store_either(
        &self,
        result: &StoredResult,
        whole: &StoredResult,
    ) -> Result<Concluded, StoreError> {
        let concluded = match self.complete(result).await? {
            CompleteOutcome::Applied(stamp) if stamp.lease_until <= stamp.now => {
                self.report(EventKind::Late);
                Concluded::Stored
            }
            CompleteOutcome::Applied(_) => {
                self.report(EventKind::Completed);
                Concluded::Stored
            }
            CompleteOutcome::AlreadyCompleted(snapshot) => self.compare(*snapshot, [result, whole]),
            CompleteOutcome::NotHeld => {
                self.report(EventKind::Superseded { own: result });
                Concluded::Superseded(Superseded::NotHeld)
            }
        };
        Ok(concluded)
    }

    /// An earlier write of this claim has completed it: by a repeated call, or in the caller's own transaction.
    fn compare(&self, snapshot: Snapshot, own: [&StoredResult; 2]) -> Concluded {
        let [result, _] = own;
        match snapshot.record.status {
            Status::Completed(stored) if own.contains(&&stored) => {
                self.report(EventKind::Completed);
                Concluded::Stored
            }
            Status::Completed(stored) => {
                self.report(EventKind::Conflict { stored: &stored, own: result });
                Concluded::Superseded(Superseded::By(stored))
            }
            Status::InProgress { .. } | Status::Released => {
                self.report(EventKind::Superseded { own: result });
                Concluded::Superseded(Superseded::NotHeld)
            }
        }
    }

    /// Sends the claim back once: nothing happened in this attempt.
    ///
    /// It is released only where that forgets nothing. A later attempt ends its lease instead, and keeps fingerprint,
    /// attempt and checkpoint: what it knows of itself says nothing of the attempts before it.
    pub(crate) async fn give_back(&self) -> Result<Held, StoreError> {
        if self.may_release() {
            return Ok(self.reported_if_held(self.release().await?, EventKind::Released));
        }
        self.end_lease().await
    }

    /// Ends the lease once, for a later attempt.
    pub(crate) async fn end_lease(&self) -> Result<Held, StoreError> {
        Ok(self.reported_if_held(self.suspend().await?, EventKind::Suspended))
    }

    /// What was not the holder's to give back was not given back.
    fn reported_if_held(&self, held: Held, kind: EventKind<'_>) -> Held {
        if held == Held::Yes {
            self.report(kind);
        }
        held
    }
}
