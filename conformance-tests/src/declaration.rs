//! What a store says of itself.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Facts about a store. They tell the suite how to test, and none of them excuses a store from a clause. What a store does
/// not declare, such as to survive the end of a process, is not asked of it, and the run says so.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Declaration {
    /// What the store is called in reports.
    pub name: &'static str,
    /// Whose time the store takes.
    pub clock: ClockKind,
    /// What an acknowledged write survives. Tested up to the end of the process that wrote it, by killing that, if
    /// [several](Processes::Many) can share the records; what goes beyond is printed, not tested.
    pub durability: Durability,
    /// Who can share the records. Tested with other processes.
    pub processes: Processes,
    /// The shortest difference between two of its deadlines. A microsecond unless told otherwise.
    pub resolution: Duration,
    /// The largest response that it must take, head and body together. One MiB unless told otherwise.
    pub response_bytes_max: usize,
}

impl Declaration {
    /// The facts that have no default.
    pub const fn new(
        name: &'static str,
        clock: ClockKind,
        durability: Durability,
        processes: Processes,
    ) -> Self {
        Self {
            name,
            clock,
            durability,
            processes,
            resolution: Duration::from_micros(1),
            response_bytes_max: 1024 * 1024,
        }
    }

    /// The store's deadlines are multiples of `resolution`, rounded up.
    #[must_use]
    pub const fn with_resolution(mut self, resolution: Duration) -> Self {
        self.resolution = resolution;
        self
    }

    /// The store takes responses of up to `bytes`.
    #[must_use]
    pub const fn with_response_bytes_max(mut self, bytes: usize) -> Self {
        self.response_bytes_max = bytes;
        self
    }
}

/// Whose time a store takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "every case must know how to let time pass")]
pub enum ClockKind {
    /// A clock that the suite sets. Deadlines are tested at the exact instant.
    Manual,
    /// The clock of the server that the store stands on, which the suite sets as well. Deadlines are tested at the exact
    /// instant.
    Steered,
    /// A clock that runs. The suite waits, and voids what fell on the wrong side of a deadline.
    System,
}

impl ClockKind {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Manual => "manual",
            Self::Steered => "steered",
            Self::System => "system",
        }
    }

    /// How exactly deadlines are tested by it.
    pub(crate) const fn precision(self) -> &'static str {
        match self {
            Self::Manual => "the suite sets it, and deadlines are tested to the tick",
            Self::Steered => "the suite sets that of the server, and deadlines are tested to the tick",
            Self::System => "it runs, and what fell on the wrong side of a deadline is tried again",
        }
    }
}

/// What an acknowledged write survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Durability {
    /// The drop of a handle, as long as another one is open: records in the memory of a process.
    Handle,
    /// The end of the process that wrote it.
    Process,
    /// The loss of power on the host that keeps it.
    PowerLoss,
    /// The loss of that host.
    Failover,
}

/// Who can share the records of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "one, or more than one")]
pub enum Processes {
    /// The handles of one process.
    One,
    /// The handles of any number of processes. The fixture says where they find each other, see
    /// [`Fixture::address`](crate::Fixture::address).
    Many,
}
