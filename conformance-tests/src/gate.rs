//! A point that calls wait at until a test lets them pass.

use std::fmt;
use std::sync::Arc;

use tokio::sync::watch;

/// Holds calls until it is opened, and tells when one has arrived. Clones are the same gate.
///
/// A call that is dropped while it waits goes no further. A gate that is dropped without being opened holds its calls
/// for good.
#[derive(Clone)]
pub struct Gate {
    state: Arc<watch::Sender<GateState>>,
}

#[derive(Clone, Copy, Default)]
struct GateState {
    arrived: usize,
    open: bool,
}

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self { state: Arc::new(watch::Sender::new(GateState::default())) }
    }

    /// Waits until a call stands at the gate, or has passed it.
    pub async fn arrived(&self) {
        self.arrivals(1).await;
    }

    /// Waits until so many calls have come to the gate.
    pub async fn arrivals(&self, calls: usize) {
        self.wait(|state| state.arrived >= calls).await;
    }

    /// Lets all calls pass, those that wait and those that come later.
    pub fn open(&self) {
        self.state.send_modify(|state| state.open = true);
    }

    pub(crate) async fn pass(&self) {
        self.state.send_modify(|state| state.arrived += 1);
        self.wait(|state| state.open).await;
    }

    async fn wait(&self, condition: impl Fn(&GateState) -> bool) {
        let mut changes = self.state.subscribe();
        // The sender lives in `self`, so the channel is not closed while this waits.
        let _ = changes.wait_for(|state| condition(state)).await;
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GateState { arrived, open } = *self.state.borrow();
        f.debug_struct("Gate").field("arrived", &arrived).field("open", &open).finish()
    }
}
