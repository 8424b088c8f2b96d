//! Whoever waits for a spawned operation.

use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::acquire::Patience;
use crate::clock;
use crate::error::StoreError;
use crate::random;

/// The caller of an operation that works on in a task of its own. It may go away at any time.
pub(crate) struct Caller<T, E> {
    waiting: Option<oneshot::Sender<Result<T, E>>>,
}

impl<T, E> Caller<T, E> {
    pub(crate) const fn new(waiting: oneshot::Sender<Result<T, E>>) -> Self {
        Self { waiting: Some(waiting) }
    }

    /// Answers the caller; does nothing if it was answered before. What nobody takes any more comes back.
    pub(crate) fn answer(&mut self, answer: Result<T, E>) -> Result<(), Result<T, E>> {
        match self.waiting.take() {
            Some(waiting) => waiting.send(answer),
            None => Err(answer),
        }
    }

    /// Whether nobody waits any more: the caller left, or was answered.
    pub(crate) fn is_gone(&self) -> bool {
        self.waiting.as_ref().is_none_or(oneshot::Sender::is_closed)
    }

    /// Waits until nobody waits any more.
    pub(crate) async fn gone(&mut self) {
        if let Some(waiting) = &mut self.waiting {
            waiting.closed().await;
        }
    }
}

/// Repeats with growing pauses for the length of a lease. The caller is told after [`ANSWER_WITHIN`]; the repetition
/// goes on without it, so that a claim that landed unseen is found and given back.
pub(crate) struct Pauses<'a, T, E> {
    pub(crate) caller: &'a mut Caller<T, E>,
    pub(crate) lease: Duration,
    pub(crate) backoff: Backoff,
}

impl<T: Send, E: From<StoreError> + Send> Patience for Pauses<'_, T, E> {
    async fn bear(&mut self, error: StoreError) -> Result<(), StoreError> {
        if !error.outcome_is_unknown() || self.backoff.elapsed() >= self.lease.max(ANSWER_WITHIN) {
            return Err(error);
        }
        if self.backoff.elapsed() >= ANSWER_WITHIN {
            // Whether anybody still takes the answer makes no difference to what follows.
            drop(self.caller.answer(Err(error.into())));
        }
        self.backoff.pause().await;
        Ok(())
    }
}

/// Pauses that double up to five seconds, each shortened at random.
pub(crate) struct Backoff {
    since: Instant,
    next: Duration,
}

impl Backoff {
    pub(crate) fn starting_with(next: Duration) -> Self {
        Self { since: clock::runtime(), next }
    }

    /// Time since the first attempt.
    pub(crate) fn elapsed(&self) -> Duration {
        clock::runtime().duration_since(self.since)
    }

    pub(crate) async fn pause(&mut self) {
        self.pause_at_most(PAUSE_MAX).await;
    }

    pub(crate) async fn pause_at_most(&mut self, longest: Duration) {
        tokio::time::sleep(random::jittered(self.next).min(longest)).await;
        self.next = (self.next * 2).min(PAUSE_MAX);
    }
}

/// How long a caller waits for a store that does not answer, before it is told without it.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(2);

const PAUSE_MAX: Duration = Duration::from_secs(5);
