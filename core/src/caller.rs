//! Whoever waits for a spawned operation, and how long it is let wait.

use std::panic::catch_unwind;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::acquire::Patience;
use crate::clock;
use crate::error::StoreError;
use crate::random;

/// The present runtime, if it can pause. One without timers is as good as none: the first pause would panic, and after a
/// handler has run it is too late to find that out.
pub(crate) fn runtime_with_timers() -> Option<Handle> {
    let runtime = Handle::try_current().ok()?;
    catch_unwind(|| drop(sleep(Duration::ZERO))).ok()?;
    Some(runtime)
}

/// The caller of an operation that works on in a task of its own. It may go away at any time.
pub(crate) struct Caller<T, E, W> {
    waiting: Option<oneshot::Sender<Result<T, E>>>,
    /// What is to be done for it, as long as it waits.
    work: Option<W>,
}

impl<T, E, W> Caller<T, E, W> {
    pub(crate) const fn new(waiting: oneshot::Sender<Result<T, E>>, work: W) -> Self {
        Self { waiting: Some(waiting), work: Some(work) }
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

    /// What is to be done, if somebody still waits for it.
    pub(crate) fn take_work(&mut self) -> Option<W> {
        if self.is_gone() {
            self.work = None;
        }
        self.work.take()
    }
}

/// Repeats with growing pauses, for the length of a lease and for [`CLEAN_UP_FOR`] at the longest. The caller is told
/// after [`ANSWER_WITHIN`]; the repetition goes on without it, so that a claim that landed unseen is found and given
/// back.
pub(crate) struct Pauses<'a, T, E, W> {
    caller: &'a mut Caller<T, E, W>,
    longest: Duration,
    /// Since the first call in a row that was not answered.
    backoff: Option<Backoff>,
}

impl<'a, T, E, W> Pauses<'a, T, E, W> {
    pub(crate) fn for_lease(lease: Duration, caller: &'a mut Caller<T, E, W>) -> Self {
        Self { caller, longest: lease.clamp(ANSWER_WITHIN, CLEAN_UP_FOR), backoff: None }
    }
}

impl<T: Send, E: From<StoreError> + Send, W: Send> Patience for Pauses<'_, T, E, W> {
    async fn bear(&mut self, error: StoreError) -> Result<(), StoreError> {
        let backoff = self.backoff.get_or_insert_with(|| Backoff::starting_with(FIRST_PAUSE));
        if !error.outcome_is_unknown() || backoff.elapsed() >= self.longest {
            return Err(error);
        }
        if backoff.elapsed() >= ANSWER_WITHIN {
            // Whether anybody still takes the answer makes no difference to what follows.
            drop(self.caller.answer(Err(error.into())));
        }
        if self.caller.is_gone() {
            self.caller.work = None;
        }
        backoff.pause().await;
        Ok(())
    }

    fn answered(&mut self) {
        self.backoff = None;
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
        sleep(random::jittered(self.next).min(longest)).await;
        self.next = (self.next * 2).min(PAUSE_MAX);
    }
}

/// How long a caller waits while calls to the store fail, before it is told without them.
pub(crate) const ANSWER_WITHIN: Duration = Duration::from_secs(2);

/// How long a claim whose caller has gone is looked for at the longest.
const CLEAN_UP_FOR: Duration = Duration::from_secs(15 * 60);

const FIRST_PAUSE: Duration = Duration::from_millis(20);

const PAUSE_MAX: Duration = Duration::from_secs(5);
