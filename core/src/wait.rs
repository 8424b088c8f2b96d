//! Claiming, and waiting for whoever holds the key.

use std::time::Duration;

use tokio::time::sleep;

use crate::acquire::Unobtained;
use crate::caller::{Backoff, Caller, Pauses};
use crate::error::StoreError;
use crate::fingerprint::Fingerprints;
use crate::idempotency::Idempotency;
use crate::key::RecordKey;
use crate::outcome::{InProgress, Refusal};
use crate::recover::Obtained;
use crate::settings::Waiting;
use crate::state::{KeyState, observe};

impl Idempotency {
    /// Claims the key, waiting for another holder where the settings say so.
    pub(crate) async fn obtain<T, E, W>(
        &self,
        key: &RecordKey,
        fingerprints: &Fingerprints,
        caller: &mut Caller<T, E, W>,
    ) -> Result<Obtained, Unobtained>
    where
        T: Send,
        E: From<StoreError> + Send,
        W: Send,
    {
        let acquisition = self.acquisition(key, fingerprints);
        let mut wait = Wait::new(self, key, fingerprints);
        let obtained = loop {
            let mut pauses = Pauses::for_lease(self.rules.lease.as_duration(), caller);
            match acquisition.obtain(&mut pauses).await {
                Ok(Obtained::Refused(Refusal::InProgress(seen))) => match wait.for_change(seen, caller).await
                {
                    Waited::Changed => {}
                    Waited::Enough(seen) => break Ok(Obtained::Refused(Refusal::InProgress(seen))),
                },
                obtained => break obtained,
            }
        };
        self.reported(key, obtained)
    }
}

/// A caller's patience with another holder. It polls: no store is asked to notify, and nothing is held meanwhile.
struct Wait<'a> {
    engine: &'a Idempotency,
    key: &'a RecordKey,
    fingerprints: &'a Fingerprints,
    backoff: Backoff,
}

enum Waited {
    /// The key is no longer in progress: claim again.
    Changed,
    /// The time is up, or nobody waits any more.
    Enough(InProgress),
}

impl<'a> Wait<'a> {
    fn new(engine: &'a Idempotency, key: &'a RecordKey, fingerprints: &'a Fingerprints) -> Self {
        Self { engine, key, fingerprints, backoff: Backoff::starting_with(FIRST_PAUSE) }
    }

    async fn for_change<T, E, W>(&mut self, mut seen: InProgress, caller: &mut Caller<T, E, W>) -> Waited {
        let Waiting::UpTo(longest) = self.engine.rules.waiting else {
            return Waited::Enough(seen);
        };
        loop {
            let left = longest.saturating_sub(self.backoff.elapsed());
            // An engine that is being drained begins nothing new for those who wait either.
            if left.is_zero() || caller.is_gone() || self.engine.shared.running.is_closed() {
                return Waited::Enough(seen);
            }
            tokio::select! {
                () = self.backoff.pause_at_most(left.min(LOOK_EVERY)) => {}
                () = caller.gone() => return Waited::Enough(seen),
            }
            let left = longest.saturating_sub(self.backoff.elapsed());
            let look = tokio::select! {
                look = self.look() => look,
                () = sleep(left) => Look::Unanswered,
                () = caller.gone() => return Waited::Enough(seen),
            };
            match look {
                _ if self.engine.shared.running.is_closed() => return Waited::Enough(seen),
                Look::Running(present) => seen = present,
                Look::Changed => return Waited::Changed,
                Look::Unanswered => {}
            }
        }
    }

    /// One look. The request's fingerprint is checked again: the key may belong to another request by now.
    async fn look(&self) -> Look {
        match self.engine.shared.context.load(self.key).await {
            Err(_) => Look::Unanswered,
            Ok(None) => Look::Changed,
            Ok(Some(snapshot)) => match observe(Some(&snapshot.record), self.fingerprints, snapshot.now) {
                KeyState::InProgress { .. } => Look::Running(InProgress::seen(&snapshot)),
                _ => Look::Changed,
            },
        }
    }
}

enum Look {
    Running(InProgress),
    Changed,
    Unanswered,
}

const FIRST_PAUSE: Duration = Duration::from_millis(20);

/// The longest pause between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);
