//! Others in the same database: handles that do not wait for them.

use std::time::Duration;

use super::{Case, set_up};
use crate::handle::Handle;
use crate::verdict::not_claimed;

impl Case {
    /// A handle whose calls soon give up where they wait for a lock. Where there is none, the case is not claimed.
    pub(crate) async fn impatient(&self) -> Handle {
        let handle = set_up(self.fixture.impatient_handle(PATIENCE).await);
        Handle::new(handle.unwrap_or_else(|| not_claimed("the fixture has no handle that soon gives up")))
    }
}

/// How long a handle waits that soon gives up: long enough for a lock that is given back at once.
const PATIENCE: Duration = Duration::from_millis(50);
