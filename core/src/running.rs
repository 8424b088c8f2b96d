//! Which operations are under way, so that a shutdown can wait for them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use crate::idempotency::Idempotency;

/// Counts operations. New ones are refused once it is closed.
#[derive(Debug)]
pub(crate) struct Running {
    state: Arc<watch::Sender<State>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    operations: usize,
    closed: bool,
}

impl Default for Running {
    fn default() -> Self {
        Self { state: Arc::new(watch::Sender::new(State::default())) }
    }
}

impl Running {
    /// Counts one operation until the place is dropped; none if no new ones are taken.
    pub(crate) fn enter(&self) -> Option<Place> {
        let entered = self.state.send_if_modified(|state| {
            if !state.closed {
                state.operations += 1;
            }
            !state.closed
        });
        entered.then(|| Place(Arc::clone(&self.state)))
    }
}

/// One operation's place in the count.
#[derive(Debug)]
pub(crate) struct Place(Arc<watch::Sender<State>>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.send_modify(|state| state.operations -= 1);
    }
}

/// How a shutdown went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "operations may still be under way"]
pub struct Drained {
    /// Operations that were still under way when the time was up. Ended with the process, their claims are left to
    /// their leases.
    pub unfinished: usize,
}

impl Idempotency {
    /// For shutting down: takes no new operation ([`RunError::ShuttingDown`](crate::RunError::ShuttingDown)) and waits
    /// until those under way are over, results stored included, but no longer than `longest`.
    ///
    /// Holds for all clones, and for good. Claims of [`Idempotency::begin`](Self::begin) are their callers' to conclude,
    /// and are not waited for. Dropping the future stops the waiting only.
    pub async fn drain(&self, longest: Duration) -> Drained {
        let state = &self.shared.running.state;
        state.send_modify(|state| state.closed = true);
        let mut changes = state.subscribe();
        let empty = changes.wait_for(|state| state.operations == 0);
        drop(timeout(longest, empty).await);
        Drained { unfinished: state.borrow().operations }
    }
}
