//! Code of others that panics.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::error::{StoreError, StoreErrorKind};

/// Code that is not ours panicked. The panic has been reported by the panic hook.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Runs a future to its end, or to its panic.
///
/// It is not polled again after a panic, so that what it may have left half-done in itself is not seen by anybody.
pub(crate) async fn catch_panic<F: Future>(future: F) -> Result<F::Output, Panicked> {
    let mut future = pin!(future);
    poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
        Ok(poll) => poll.map(Ok),
        Err(payload) => {
            // What was thrown may panic again while it is dropped.
            if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
                std::mem::forget(again);
            }
            Poll::Ready(Err(Panicked))
        }
    })
    .await
}

/// A call into a store. A driver that panics has failed, with an outcome that nobody knows: it must not take a
/// heartbeat, or the repetition of a result, with it.
pub(crate) async fn guarded<T>(
    store: &'static str,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    match catch_panic(call).await {
        Ok(answer) => answer,
        Err(Panicked) => Err(StoreError::new(StoreErrorKind::Other, store, "the store panicked")),
    }
}
