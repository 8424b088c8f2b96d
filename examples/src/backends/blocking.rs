//! Calls that block their thread, made from async code.

use std::sync::Arc;
use std::time::Duration;

use onceonly::{StoreError, StoreErrorKind};
use tokio::sync::Semaphore;

/// Makes a store's blocking calls on the threads that the runtime keeps for them: a bounded number at once, and none is
/// waited for longer than its caller's patience.
///
/// Without the first bound, a database that hangs would collect all of those threads, which the application needs for
/// files and names as well. Without the second, it would collect the callers.
///
/// When its future is dropped or its patience is over, a call whose turn has not come is never made; any other runs to
/// its end on its thread. So it happens entirely or not at all.
#[derive(Clone, Debug)]
pub(super) struct BlockingCalls {
    store: &'static str,
    writers: Arc<Semaphore>,
    readers: Arc<Semaphore>,
    patience: Duration,
}

impl BlockingCalls {
    /// The calls of `store`, whose database lets one transaction write at a time: a second thread would only wait.
    pub(super) fn of(store: &'static str) -> Self {
        let writers = Arc::new(Semaphore::new(1));
        let readers = Arc::new(Semaphore::new(READERS));
        Self { store, writers, readers, patience: Duration::from_secs(5) }
    }

    /// The same calls for callers of another patience than five seconds.
    pub(super) fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Makes a call that writes, when those before it have come to their end.
    ///
    /// # Errors
    /// Those of `call`; [`Unavailable`](StoreErrorKind::Unavailable) if it has not answered in time;
    /// [`Other`](StoreErrorKind::Other) if it panicked.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(&self.writers, call).await
    }

    /// Makes a call that only reads, beside those that write.
    ///
    /// # Errors
    /// As [`BlockingCalls::write`].
    pub(super) async fn read<T: Send + 'static>(
        &self,
        call: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.run(&self.readers, call).await
    }

    async fn run<T: Send + 'static>(
        &self,
        turns: &Arc<Semaphore>,
        call: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let answer = async {
            // In the order in which they came.
            let turn = Arc::clone(turns).acquire_owned().await.expect("nobody closes it");
            let called = tokio::task::spawn_blocking(move || {
                // The turn ends with the call, not with the future that waits for it.
                let _turn = turn;
                call()
            });
            called.await.unwrap_or_else(|failure| {
                Err(StoreError::new(StoreErrorKind::Other, self.store, "the call did not come to its end")
                    .with_source(failure))
            })
        };
        tokio::time::timeout(self.patience, answer).await.unwrap_or_else(|_| {
            Err(StoreError::new(StoreErrorKind::Unavailable, self.store, "no answer in time"))
        })
    }
}

/// More than a few would wait for the same disk.
const READERS: usize = 8;

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    /// Longer than any test takes.
    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(1);

    /// A call that is under way until the sender says so.
    fn blocked() -> (mpsc::Sender<()>, impl FnOnce() -> Result<(), StoreError>) {
        let (end, ended) = mpsc::channel();
        let call = move || {
            let _ = ended.recv();
            Ok(())
        };
        (end, call)
    }

    #[tokio::test]
    async fn a_call_that_hangs_ends_in_unavailable_and_so_do_those_behind_it() {
        let calls = BlockingCalls::of("test").with_patience(SHORT);
        let (end, hanging) = blocked();
        for error in [calls.write(hanging).await.unwrap_err(), calls.write(|| Ok(())).await.unwrap_err()] {
            assert_eq!(error.kind(), StoreErrorKind::Unavailable);
        }
        drop(end);
        // What hung has ended, and with it its turn.
        let calls = calls.with_patience(LONG);
        calls.write(|| Ok(())).await.unwrap();
    }

    #[tokio::test]
    async fn a_call_that_is_dropped_before_its_turn_is_never_made() {
        let calls = BlockingCalls::of("test").with_patience(LONG);
        let (end, first) = blocked();
        let first = tokio::spawn({
            let calls = calls.clone();
            async move { calls.write(first).await }
        });
        while calls.writers.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let made = Arc::new(AtomicUsize::new(0));
        let count = {
            let made = Arc::clone(&made);
            move || {
                made.fetch_add(1, Ordering::SeqCst);
                Ok(())
            }
        };
        let impatient = calls.clone().with_patience(SHORT);
        impatient.write(count.clone()).await.unwrap_err();
        drop(end);
        first.await.unwrap().unwrap();
        calls.write(count).await.unwrap();
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn a_call_whose_caller_has_gone_runs_to_its_end() {
        let calls = BlockingCalls::of("test").with_patience(SHORT);
        let (made, end) = mpsc::channel();
        let (go_on, wait) = mpsc::channel::<()>();
        let call = move || {
            let _ = wait.recv();
            let _ = made.send(());
            Ok(())
        };
        calls.write(call).await.unwrap_err();
        drop(go_on);
        end.recv_timeout(LONG).unwrap();
    }

    #[tokio::test]
    async fn a_call_that_panics_is_an_error_and_keeps_no_turn() {
        let calls = BlockingCalls::of("test").with_patience(LONG);
        let error = calls.write::<()>(|| panic!("planted")).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Other);
        calls.write(|| Ok(())).await.unwrap();
    }
}
