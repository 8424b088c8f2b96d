//! The front door: claim, handler, heartbeat and completion in a task of their own.

use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};
use tracing::{Instrument as _, Span};

use crate::acquire::Unobtained;
use crate::attempt::Attempt;
use crate::caller::{ANSWER_WITHIN, Caller, runtime_with_timers};
use crate::conclude::{Concluded, Superseded};
use crate::error::StoreError;
use crate::fingerprint::Fingerprints;
use crate::guard::{Panicked, catch_panic};
use crate::holder::Holder;
use crate::idempotency::Idempotency;
use crate::key::RecordKey;
use crate::observer::EventKind;
use crate::outcome::{Abandoned, Answer, InProgress, Outcome, Refusal};
use crate::persist;
use crate::recover::Obtained;
use crate::response::StoredResponse;
use crate::running::Place;
use crate::state::{KeyState, observe};

type Handler = Box<dyn FnOnce(Attempt) -> Pin<Box<dyn Future<Output = Answer> + Send>> + Send>;

impl Idempotency {
    /// Executes `handler` for `key` if nobody has yet, and says what came of it.
    ///
    /// Claim, handler, heartbeat and completion live in a task of their own on the caller's runtime. **Dropping this
    /// future drops only the waiting**: a handler that has been polled runs on and its result is stored; a claim whose
    /// handler was not polled yet is given back. The handler decides what is kept by the [`Answer`] it returns.
    ///
    /// * A handler that panics, or is dropped with its runtime, is none of the answers: its claim is left to its lease,
    ///   and then to the [`Policy`](crate::Policy).
    /// * If the result cannot be stored, the caller is answered all the same, after at most two seconds, and the write
    ///   is repeated for up to 15 minutes, also past the lease.
    /// * If somebody took over, the caller is answered from the record, and its own result goes to the
    ///   [`Observer`](crate::Observer).
    ///
    /// ```
    /// # use onceonly::*;
    /// # async fn charge(idempotency: Idempotency) -> Result<(), Box<dyn std::error::Error>> {
    /// let key = RecordKey::new(Scope::named("acct_1")?, IdempotencyKey::new("order-77")?);
    /// let fingerprint = Fingerprint::builder().part("body", r#"{"amount":1000}"#).finish();
    /// let outcome = idempotency
    ///     .run(&key, fingerprint, |attempt| async move {
    ///         // Charge, passing `attempt.derive_key("charge")` on.
    ///         Answer::Final(StoredResponse::new(201, "charged"))
    ///     })
    ///     .await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// See [`RunError`]. After [`RunError::Panicked`] and [`RunError::Aborted`] this call may have had its effect; after the
    /// others it has not. None of them says anything of earlier calls under the same key.
    pub async fn run<F, Fut>(
        &self,
        key: &RecordKey,
        fingerprints: impl Into<Fingerprints>,
        handler: F,
    ) -> Result<Outcome, RunError>
    where
        F: FnOnce(Attempt) -> Fut + Send + 'static,
        Fut: Future<Output = Answer> + Send + 'static,
    {
        let runtime = runtime_with_timers().ok_or(RunError::NoRuntime)?;
        let place = self.shared.running.enter().ok_or(RunError::ShuttingDown)?;
        let (waiting, answer) = oneshot::channel();
        let handler: Handler = Box::new(|attempt| Box::pin(handler(attempt)));
        let operation = Operation {
            engine: self.clone(),
            key: key.clone(),
            fingerprints: fingerprints.into(),
            caller: Caller::new(waiting, handler),
            _place: place,
        };
        runtime.spawn(operation.run().instrument(Span::current()));
        answer.await.unwrap_or(Err(RunError::Aborted))
    }
}

/// Why [`Idempotency::run`] has no outcome.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The store failed before the handler of this call ran, which will not run any more; one of an earlier call may have. A claim that landed all the same is given
    /// back; only if the store stays unreachable for longer than a lease (two seconds at least, 15 minutes at most) is
    /// it left to its lease.
    #[error("key not claimed")]
    Store(#[from] StoreError),
    /// The handler panicked. Its claim is left to its lease: whether its effect happened is not known.
    #[error("handler panicked")]
    Panicked,
    /// The engine is being drained. Nothing was claimed.
    #[error("engine is shutting down")]
    ShuttingDown,
    /// There is no tokio runtime to run on, or one without timers. Nothing was claimed. (tokio tells only by a panic
    /// whether there are timers; it is caught, and its message appears. Where panics abort, the process ends.)
    #[error("no tokio runtime with timers")]
    NoRuntime,
    /// The system has no thread for heartbeats. The claim is given back.
    #[error("no thread for heartbeats")]
    NoHeartbeat(#[source] io::Error),
    /// The runtime shut down in the middle. The handler may have run, and its result may be stored or not; the claim, if
    /// there is one, is left to its lease.
    #[error("runtime shut down in the middle of the operation")]
    Aborted,
}

/// One call of `run`, in its own task.
struct Operation {
    engine: Idempotency,
    key: RecordKey,
    fingerprints: Fingerprints,
    caller: Caller<Outcome, RunError, Handler>,
    _place: Place,
}

impl Operation {
    async fn run(mut self) {
        let Some(holder) = self.claim().await else { return };
        let heartbeat = match self.engine.shared.context.heart.start(Arc::clone(&holder)) {
            Ok(heartbeat) => heartbeat,
            Err(error) => {
                self.answer(Err(RunError::NoHeartbeat(error)));
                return persist::give_back(&holder).await;
            }
        };
        // From here on the handler may have its effect. If nobody asks any more, nothing has happened, and is to happen.
        let Some(handler) = self.caller.take_work() else {
            drop(heartbeat);
            return persist::give_back(&holder).await;
        };
        let attempt = Attempt::new(Arc::clone(&holder));
        let span = tracing::debug_span!("onceonly", key = ?self.key, attempt = attempt.number());
        let answer = catch_panic(async { handler(attempt).await }).instrument(span).await;
        drop(heartbeat);
        match answer {
            Ok(answer) => self.conclude(&holder, answer).await,
            Err(Panicked) => {
                holder.report(EventKind::Panicked);
                self.answer(Err(RunError::Panicked));
            }
        }
    }

    /// The claim; none if there is nothing to execute, and the caller was told why.
    async fn claim(&mut self) -> Option<Arc<Holder>> {
        match self.engine.obtain(&self.key, &self.fingerprints, &mut self.caller).await {
            Ok(Obtained::Granted(holder)) => return Some(holder),
            Ok(Obtained::Refused(refusal)) => self.answer(Ok(refusal.into())),
            Err(Unobtained { error, left_behind }) => {
                self.answer(Err(error.into()));
                drop(self.caller.take_work());
                if let Some(holder) = left_behind {
                    persist::give_back(&holder).await;
                }
            }
        }
        None
    }

    /// Writes what the handler concluded, and answers the caller: after the write, but no later than
    /// [`ANSWER_WITHIN`].
    async fn conclude(mut self, holder: &Holder, answer: Answer) {
        let rules = holder.rules();
        let (response, result) = match answer {
            Answer::Final(response) => (response.clone(), rules.result_to_store(response)),
            Answer::NotRetained(response) => (response.clone(), rules.head_to_store(response)),
            Answer::NoEffect(response) => {
                self.answer_within(holder, persist::give_back(holder), &response).await;
                return self.answer(Ok(Outcome::Executed(response)));
            }
        };
        let written = self.answer_within(holder, persist::store_result(holder, result), &response).await;
        let outcome = match written {
            Ok(Concluded::Stored) | Err(_) => Outcome::Executed(response),
            Ok(Concluded::Superseded(Superseded::By(stored))) => Refusal::completed(stored).into(),
            Ok(Concluded::Superseded(Superseded::NotHeld)) => {
                self.engine.answer_of_record(&self.key, &self.fingerprints, response).await
            }
        };
        self.answer(Ok(outcome));
    }

    /// Waits for `write`, but lets the caller have its response meanwhile if the store takes too long.
    async fn answer_within<W: Future>(
        &mut self,
        holder: &Holder,
        write: W,
        response: &StoredResponse,
    ) -> W::Output {
        let mut write = pin!(write);
        tokio::select! {
            written = &mut write => return written,
            () = sleep(ANSWER_WITHIN) => {
                self.answer(Ok(Outcome::Executed(response.clone())));
                let error = holder.unavailable("it has not answered yet");
                holder.report(EventKind::WriteDelayed { error: &error });
            }
        }
        write.await
    }

    fn answer(&mut self, answer: Result<Outcome, RunError>) {
        // Nobody may be waiting any more; that changes nothing.
        drop(self.caller.answer(answer));
    }
}

impl Idempotency {
    /// Somebody took over: what their record says is what every other caller is told. Where it says nothing of this
    /// request any more, the caller's own response is the best there is.
    async fn answer_of_record(
        &self,
        key: &RecordKey,
        fingerprints: &Fingerprints,
        own: StoredResponse,
    ) -> Outcome {
        let looking = timeout(ANSWER_WITHIN, self.shared.context.load(key));
        let Ok(Ok(Some(snapshot))) = looking.await else {
            return Outcome::Executed(own);
        };
        match observe(Some(&snapshot.record), fingerprints, snapshot.now) {
            KeyState::Completed { result } => Refusal::completed(result.clone()).into(),
            KeyState::InProgress { .. } => Outcome::InProgress(InProgress::seen(&snapshot)),
            KeyState::Abandoned { .. } => Outcome::Abandoned(Abandoned::seen(key, &snapshot)),
            KeyState::Absent | KeyState::Expired { .. } | KeyState::HashMismatch => Outcome::Executed(own),
        }
    }
}
