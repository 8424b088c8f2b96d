//! Others in the same database: readers, stores, and handles that do not wait for them.

use std::sync::Arc;
use std::time::Duration;

use super::{Case, lock, set_up};
use crate::fixture::{Fixture, RawSnapshot};
use crate::handle::Handle;
use crate::verdict::not_claimed;

impl Case {
    /// Holds on to the state as it is now, as a long reader does. Where none can, the case is not claimed.
    pub(crate) async fn raw_snapshot(&self) -> RawSnapshot {
        let snapshot = set_up(self.raw().snapshot().await);
        snapshot.unwrap_or_else(|| not_claimed("the fixture has no reader that holds on to a state"))
    }

    /// A handle whose calls soon give up where they wait for a lock. Where there is none, the case is not claimed.
    pub(crate) async fn impatient(&self) -> Handle {
        let handle = set_up(self.fixture.impatient_handle(PATIENCE).await);
        Handle::new(handle.unwrap_or_else(|| not_claimed("the fixture has no handle that soon gives up")))
    }

    /// Another store beside this one. Where there is none, the case is not claimed.
    pub(crate) async fn neighbour(&self) -> Arc<dyn Fixture> {
        let Some(neighbour) = set_up(self.fixture.neighbour().await) else {
            not_claimed("the fixture has no second store in the same database");
        };
        let neighbour: Arc<dyn Fixture> = Arc::from(neighbour);
        lock(&self.neighbours).push(Arc::clone(&neighbour));
        neighbour
    }
}

/// How long a handle waits that soon gives up: long enough for a lock that is given back at once.
const PATIENCE: Duration = Duration::from_millis(50);
