//! Deleting what is past its time, in the background.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::guard::guarded;
use crate::idempotency::Idempotency;
use crate::random;
use crate::store::KeyStore;

/// Purges a store in batches, for as long as its handle lives.
///
/// Without one, a store that cannot delete by itself grows for ever. Several may run at once, in one process or many.
#[derive(Clone)]
#[must_use = "a sweeper sweeps once it is started"]
pub struct Sweeper {
    store: Arc<dyn KeyStore>,
    interval: Duration,
    batch: u32,
}

impl Sweeper {
    /// A sweeper for `store`: every minute, a thousand records at a time.
    pub fn new(store: Arc<dyn KeyStore>) -> Self {
        Self { store, interval: Duration::from_secs(60), batch: 1_000 }
    }

    /// How long it pauses once nothing is left to delete, shortened at random by up to a half, so that the sweepers of
    /// several processes part. Below a millisecond it counts as one.
    pub const fn interval(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// How many records one call deletes at most: a large batch holds the store's locks for longer. Zero counts as one.
    pub const fn batch(mut self, records: u32) -> Self {
        self.batch = records;
        self
    }

    /// Sweeps in a task of the present tokio runtime.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub fn start(self) -> SweeperHandle {
        let (stop, stopped) = watch::channel(());
        let sweeping = tokio::spawn(self.sweep(stopped));
        SweeperHandle { _stop: stop, sweeping }
    }

    async fn sweep(self, mut stopped: watch::Receiver<()>) {
        let batch = self.batch.max(1);
        let interval = self.interval.max(Duration::from_millis(1));
        loop {
            let pause = match guarded(self.store.name(), self.store.purge_expired(batch)).await {
                // A full batch: there is more. The pause leaves room for others between two batches.
                Ok(deleted) if deleted >= u64::from(batch) => BETWEEN_BATCHES.min(interval),
                Ok(deleted) => {
                    tracing::debug!(store = self.store.name(), deleted, "swept");
                    interval
                }
                Err(error) => {
                    tracing::warn!(store = self.store.name(), ?error, "sweep failed");
                    interval
                }
            };
            tokio::select! {
                () = sleep(random::jittered(pause)) => {}
                // The handle is gone.
                _ = stopped.changed() => return,
            }
        }
    }
}

impl std::fmt::Debug for Sweeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sweeper")
            .field("store", &self.store.name())
            .field("interval", &self.interval)
            .field("batch", &self.batch)
            .finish()
    }
}

/// Keeps a [`Sweeper`] at work. Dropping it ends the sweeping after the batch that is under way.
#[derive(Debug)]
#[must_use = "dropping the handle ends the sweeping"]
pub struct SweeperHandle {
    _stop: watch::Sender<()>,
    sweeping: JoinHandle<()>,
}

impl SweeperHandle {
    /// Ends the sweeping and waits until the batch under way is done. Dropping the future ends it without waiting.
    pub async fn stop(self) {
        let Self { _stop: stop, sweeping } = self;
        drop(stop);
        // The task ends by itself; that it was ended with its runtime is as good.
        drop(sweeping.await);
    }
}

impl Idempotency {
    /// A [`Sweeper`] for this engine's store.
    pub fn sweeper(&self) -> Sweeper {
        Sweeper::new(Arc::clone(&self.shared.context.store))
    }
}

const BETWEEN_BATCHES: Duration = Duration::from_millis(20);
