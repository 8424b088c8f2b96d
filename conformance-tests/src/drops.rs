//! Futures that are polled a number of times and then dropped.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// What became of a future that was to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a future comes to its end or it does not")]
pub enum Polled<T> {
    /// It was ready by the last poll that was allowed.
    Ready(T),
    /// It was still pending, and has been dropped.
    Dropped,
}

impl<T> Polled<T> {
    /// What the future gave, if it came to its end.
    pub fn ready(self) -> Option<T> {
        match self {
            Self::Ready(output) => Some(output),
            Self::Dropped => None,
        }
    }
}

/// When a future is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DropPoint {
    /// How many polls it gets.
    pub polls: usize,
    /// When after the last of them it is dropped.
    pub moment: Moment,
}

/// When after its last poll a future is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "before and after what it waited for has happened")]
pub enum Moment {
    /// Right after: what it waits for has usually not happened yet.
    AtOnce,
    /// When it is woken: what it waited for has happened, and it never learns of it.
    WhenWoken,
}

/// Polls `future` at most `polls` times, each time when it has asked to be woken, and then drops it at once. With zero
/// polls it is never begun.
///
/// Some faults show at one poll only: a transaction that is left open by a future dropped between *begin sent* and
/// *begin answered* needs exactly the poll in between. See [`sweep`].
pub async fn poll_times<F>(future: F, polls: usize) -> Polled<F::Output>
where
    F: Future,
{
    drop_at(future, DropPoint { polls, moment: Moment::AtOnce }).await
}

/// Polls `future` as [`DropPoint`] says and then drops it.
pub async fn drop_at<F>(future: F, point: DropPoint) -> Polled<F::Output>
where
    F: Future,
{
    let mut future = pin!(future);
    let mut polls = 0;
    poll_fn(move |context| {
        if polls == point.polls {
            return Poll::Ready(Polled::Dropped);
        }
        polls += 1;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Polled::Ready(output)),
            Poll::Pending if polls == point.polls && point.moment == Moment::AtOnce => {
                Poll::Ready(Polled::Dropped)
            }
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// Runs `round` for 0 polls, for 1 poll and so on, at both moments, until the future in it is ready at both; returns
/// how many polls that took.
///
/// A round sets up a state of its own, drops the future under test with [`drop_at`], checks what is left, and returns
/// what `drop_at` gave.
///
/// # Panics
/// If the future is still pending after ten thousand polls.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use onceonly_conformance::{drop_at, sweep};
///
/// let polls = sweep(async |point| {
///     drop_at(async { tokio::task::yield_now().await }, point).await
/// })
/// .await;
/// assert_eq!(polls, 2);
/// # });
/// ```
pub async fn sweep<T>(mut round: impl AsyncFnMut(DropPoint) -> Polled<T>) -> usize {
    for polls in 0..POLLS_MAX {
        let early = round(DropPoint { polls, moment: Moment::AtOnce }).await.ready().is_some();
        // Without a poll nothing has asked to be woken, so the second moment is the first.
        let late = polls > 0 && round(DropPoint { polls, moment: Moment::WhenWoken }).await.ready().is_some();
        if early && late {
            return polls;
        }
    }
    panic!("the future is not ready after {POLLS_MAX} polls");
}

const POLLS_MAX: usize = 10_000;
