//! What an engine is told, and the rules that it makes of it.

use std::time::Duration;

use crate::policy::Policy;
use crate::response::{ResponseHead, StoredResponse, StoredResult};
use crate::time::{InvalidSpan, Span};

/// How operations are claimed, kept and recovered: the defaults of an [`Idempotency`](crate::Idempotency), or what one
/// route does otherwise ([`Idempotency::configured`](crate::Idempotency::configured)).
///
/// Values are checked together when they are put to use; see [`InvalidSettings`].
#[derive(Clone, Debug)]
#[must_use = "settings take effect where they are handed over"]
pub struct Settings {
    lease: Duration,
    longest_run: Duration,
    retention: Duration,
    unresolved: Option<Duration>,
    keep_released: Duration,
    policy: Policy,
    waiting: Waiting,
    response_bytes_max: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            lease: Duration::from_secs(60),
            longest_run: Duration::from_secs(15 * 60),
            retention: Duration::from_secs(24 * 3600),
            unresolved: None,
            keep_released: Duration::from_secs(15 * 60),
            policy: Policy::Park,
            waiting: Waiting::No,
            response_bytes_max: 1 << 20,
        }
    }
}

impl Settings {
    /// How long a claim stands without renewal: 60 s unless set; 10 ms to 24 h. Under `run` it is renewed at a third of
    /// this. Short leases notice a dead holder soon; a lease shorter than the store's longest hiccup is lost by a
    /// holder that lives.
    pub const fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    /// How long a handler may run, and so how long its lease is renewed: 15 min unless set; at least the lease. A
    /// handler that runs longer keeps running but loses its claim when the lease is over.
    pub const fn longest_run(mut self, longest_run: Duration) -> Self {
        self.longest_run = longest_run;
        self
    }

    /// How long a result is replayed at least, from its completion: 24 h unless set; at least the lease.
    ///
    /// Too short, and a retry that comes later (a phone that was offline, a batch from a dead-letter queue) runs
    /// again. Too long, and the table grows: about rate × retention records.
    pub const fn retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// How long an unfinished key is remembered: 30 days unless set, or retention and longest run together if that is
    /// longer, which is also the least. After it, a retry of an abandoned operation runs again.
    pub const fn unresolved(mut self, unresolved: Duration) -> Self {
        self.unresolved = Some(unresolved);
        self
    }

    /// How long the mark of a released key stands: 15 min unless set. It must be longer than a request can be late on
    /// its way to the store.
    pub const fn keep_released(mut self, keep: Duration) -> Self {
        self.keep_released = keep;
        self
    }

    /// What becomes of an operation whose holder vanished: [`Policy::Park`] unless set.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Whether a caller whose operation is running waits for its result: [`Waiting::No`] unless set.
    pub const fn waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    /// The largest response that is kept, headers and body together: 1 MiB unless set, 64 MiB at most. A larger one is
    /// stored as *not retained*. The same limit holds for checkpoints, which are refused beyond it.
    pub const fn response_bytes_max(mut self, bytes: usize) -> Self {
        self.response_bytes_max = bytes;
        self
    }

    /// Checks every value and how they go together.
    pub(crate) fn validated(self) -> Result<Rules, InvalidSettings> {
        let span =
            |name, duration| Span::new(duration).map_err(|source| InvalidSettings::Span { name, source });
        let lease = span("lease", self.lease)?;
        let longest_run = span("longest run", self.longest_run)?;
        let retention = span("retention", self.retention)?;
        let keep_released = span("keep released", self.keep_released)?;
        if lease < LEASE_MIN || lease > LEASE_MAX {
            return Err(InvalidSettings::Lease);
        }
        if longest_run < lease {
            return Err(InvalidSettings::LongestRunBelowLease);
        }
        if retention < lease {
            return Err(InvalidSettings::RetentionBelowLease);
        }
        let keep = retention.plus(longest_run);
        let keep_unresolved = match self.unresolved {
            Some(unresolved) => span("unresolved", unresolved)?,
            None => keep.max(UNRESOLVED),
        };
        if keep_unresolved < keep {
            return Err(InvalidSettings::UnresolvedBelowRetention);
        }
        if let Waiting::UpTo(longest) = self.waiting
            && span("waiting", longest)? > longest_run
        {
            return Err(InvalidSettings::WaitingAboveLongestRun);
        }
        if self.response_bytes_max == 0 || self.response_bytes_max > RESPONSE_BYTES_LIMIT {
            return Err(InvalidSettings::ResponseBytes);
        }
        Ok(Rules {
            lease,
            longest_run,
            retention,
            keep,
            keep_unresolved,
            keep_released,
            policy: self.policy.clone(),
            waiting: self.waiting,
            response_bytes_max: self.response_bytes_max,
            settings: self,
        })
    }
}

/// Whether a caller whose operation is running already waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "either it waits or it does not")]
pub enum Waiting {
    /// It is told at once.
    No,
    /// It looks again, with growing pauses, for at most this long, and is answered with the result if that comes. It
    /// holds no connection and no lock while it waits. Takes effect with feature `tokio` only; at most the longest run.
    UpTo(Duration),
}

/// Why settings cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidSettings {
    /// A duration that no store can keep.
    #[error("{name}")]
    Span {
        /// The setting.
        name: &'static str,
        /// What is wrong with it.
        source: InvalidSpan,
    },
    /// The lease is out of bounds.
    #[error("lease is not between 10 ms and 24 h")]
    Lease,
    /// A handler could not even use up its first lease.
    #[error("longest run is shorter than the lease")]
    LongestRunBelowLease,
    /// A result would be forgotten while its operation can still be retried by its own holder.
    #[error("retention is shorter than the lease")]
    RetentionBelowLease,
    /// An unfinished operation would be forgotten, and made again, before a finished one.
    #[error("unresolved is shorter than retention and longest run together")]
    UnresolvedBelowRetention,
    /// A caller would wait longer than any operation runs.
    #[error("waiting is longer than the longest run")]
    WaitingAboveLongestRun,
    /// The cap on responses is zero or above 64 MiB.
    #[error("largest response is not between 1 byte and 64 MiB")]
    ResponseBytes,
}

/// Settings that were checked. Everything else in core reads these.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) lease: Span,
    #[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "bounds what only a runtime can do"))]
    pub(crate) longest_run: Span,
    pub(crate) retention: Span,
    /// Retention and longest run together: what a claim sets, so that completing in time changes no deadline.
    pub(crate) keep: Span,
    pub(crate) keep_unresolved: Span,
    pub(crate) keep_released: Span,
    pub(crate) policy: Policy,
    #[cfg_attr(not(feature = "tokio"), expect(dead_code, reason = "only a runtime can wait"))]
    pub(crate) waiting: Waiting,
    pub(crate) response_bytes_max: usize,
    /// What the rules were made of, to be changed for one route.
    pub(crate) settings: Settings,
}

impl Rules {
    /// The response as it is stored: whole, or not retained. Never a part of a body.
    pub(crate) fn result_to_store(&self, response: StoredResponse) -> StoredResult {
        if response.len_bytes() <= self.response_bytes_max {
            return StoredResult::Retained(response);
        }
        self.head_to_store(response)
    }

    /// The response without its body. Headers that are too large by themselves go too: the code alone still tells
    /// retries that the operation is done.
    pub(crate) fn head_to_store(&self, response: StoredResponse) -> StoredResult {
        let without_body = response.len_bytes() - response.body.len();
        let mut head = response.into_head();
        if without_body > self.response_bytes_max {
            head = ResponseHead { code: head.code, headers: Vec::new() };
        }
        StoredResult::NotRetained(head)
    }
}

const LEASE_MIN: Span = Span::from_millis(10);
const LEASE_MAX: Span = Span::from_secs(24 * 3600);
const UNRESOLVED: Span = Span::from_secs(30 * 24 * 3600);
const RESPONSE_BYTES_LIMIT: usize = 64 << 20;
