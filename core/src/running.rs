//! Which operations are under way, so that a shutdown can wait for them.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

/// Counts operations. New ones are refused once it is closed.
#[derive(Clone, Debug)]
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

    /// Counts what must be waited for although no new operations are taken.
    pub(crate) fn enter_late(&self) -> Place {
        self.state.send_modify(|state| state.operations += 1);
        Place(Arc::clone(&self.state))
    }

    /// Whether no new operations are taken any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.state.borrow().closed
    }

    /// Takes no new operation any more, and waits for those under way, but no longer than `longest`.
    pub(crate) async fn drain(&self, longest: Duration) -> Drained {
        self.state.send_modify(|state| state.closed = true);
        let mut changes = self.state.subscribe();
        let empty = changes.wait_for(|state| state.operations == 0);
        drop(timeout(longest, empty).await);
        Drained { unfinished: self.state.borrow().operations }
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
