//! What an engine reports: to `tracing`, and to an observer of the embedder's.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::error::StoreError;
use crate::key::RecordKey;
use crate::response::StoredResult;

/// Is told what happens to operations, to count and to alert.
///
/// It is called in the middle of the work, also on the thread that renews leases: it must not block, or leases run out.
/// A panic of it is caught and logged. An observer that holds a clone of its engine keeps it alive for ever.
pub trait Observer: Send + Sync + 'static {
    /// Something happened to the operation under `event.key`.
    fn observe(&self, event: &Event<'_>);
}

impl<O: Observer + ?Sized> Observer for Arc<O> {
    fn observe(&self, event: &Event<'_>) {
        (**self).observe(event);
    }
}

/// Something that happened to one operation.
#[derive(Debug)]
#[non_exhaustive]
pub struct Event<'a> {
    /// Which operation. Its `Debug` form is a digest, fit for a log.
    pub key: &'a RecordKey,
    /// What happened.
    pub kind: EventKind<'a>,
}

/// What happened. [`EventKind::name`] is fixed for each kind, to be used as a metric's label.
#[derive(Debug)]
#[non_exhaustive]
pub enum EventKind<'a> {
    /// The key was claimed for its first attempt.
    Claimed,
    /// An abandoned key was claimed for attempt `attempt`.
    TakenOver {
        /// The attempt's number.
        attempt: u32,
    },
    /// A caller was answered with the stored response.
    Replayed,
    /// A caller was told that the response was not kept.
    NotRetained,
    /// A caller was refused because the key belongs to another request.
    Mismatched,
    /// A caller was told to come back.
    InProgress,
    /// A caller was told that the operation was abandoned.
    Parked,
    /// The result was stored.
    Completed,
    /// The result was stored after the lease had run out. Harmless once; often, and the lease is too short or the
    /// store too slow.
    Late,
    /// The key was given back: nothing happened.
    Released,
    /// The lease was ended for a later attempt.
    Suspended,
    /// The handler panicked; its claim is left to its lease.
    Panicked,
    /// The claim can no longer be relied on while its handler runs: the store refused a renewal, or could not be
    /// reached until the lease was about to end.
    Lost,
    /// The handler has run longer than the longest run; its lease is renewed no more.
    Overran,
    /// Somebody took over and `own` was not stored: **the handler ran twice**, and one result stands.
    Superseded {
        /// What this attempt would have stored.
        own: &'a StoredResult,
    },
    /// This attempt's own claim holds another result already: it completed twice, with different results.
    Conflict {
        /// What is stored and will be replayed.
        stored: &'a StoredResult,
        /// What was not stored.
        own: &'a StoredResult,
    },
    /// A result, or the return of a claim, could not be written yet; the write is repeated.
    WriteDelayed {
        /// The store's error.
        error: &'a StoreError,
    },
    /// A result, or the return of a claim, could not be written, and is given up. The key is left to its lease.
    WriteFailed {
        /// The store's last error.
        error: &'a StoreError,
    },
    /// A caller was refused because the store could not be asked.
    StoreFailed {
        /// The store's error.
        error: &'a StoreError,
    },
}

impl EventKind<'_> {
    /// The fixed name of the kind.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::TakenOver { .. } => "taken_over",
            Self::Replayed => "replayed",
            Self::NotRetained => "not_retained",
            Self::Mismatched => "mismatched",
            Self::InProgress => "in_progress",
            Self::Parked => "parked",
            Self::Completed => "completed",
            Self::Late => "late",
            Self::Released => "released",
            Self::Suspended => "suspended",
            Self::Panicked => "panicked",
            Self::Lost => "lost",
            Self::Overran => "overran",
            Self::Superseded { .. } => "superseded",
            Self::Conflict { .. } => "conflict",
            Self::WriteDelayed { .. } => "write_delayed",
            Self::WriteFailed { .. } => "write_failed",
            Self::StoreFailed { .. } => "store_failed",
        }
    }

    const fn error(&self) -> Option<&StoreError> {
        match self {
            Self::WriteDelayed { error } | Self::WriteFailed { error } | Self::StoreFailed { error } => {
                Some(error)
            }
            _ => None,
        }
    }

    /// Whether somebody should look. A duplicate is the library's daily work and none of this.
    const fn severity(&self) -> Severity {
        match self {
            Self::Superseded { .. } | Self::Conflict { .. } | Self::WriteFailed { .. } => Severity::Error,
            Self::Late
            | Self::Panicked
            | Self::Lost
            | Self::Overran
            | Self::WriteDelayed { .. }
            | Self::StoreFailed { .. } => Severity::Warning,
            _ => Severity::Routine,
        }
    }
}

#[derive(Clone, Copy)]
enum Severity {
    Routine,
    Warning,
    Error,
}

/// Hands each event to `tracing` and to the observer.
#[derive(Clone, Default)]
pub(crate) struct Reporter(Option<Arc<dyn Observer>>);

impl Reporter {
    pub(crate) fn new(observer: impl Observer) -> Self {
        Self(Some(Arc::new(observer)))
    }

    pub(crate) fn report(&self, key: &RecordKey, kind: EventKind<'_>) {
        let outcome = kind.name();
        let error = kind.error().map(tracing::field::debug);
        match kind.severity() {
            Severity::Routine => tracing::debug!(?key, outcome, error),
            Severity::Warning => tracing::warn!(?key, outcome, error),
            Severity::Error => tracing::error!(?key, outcome, error),
        }
        if let Some(observer) = &self.0 {
            // An observer that panics must not end a heartbeat or leave a claim behind.
            let observed = catch_unwind(AssertUnwindSafe(|| observer.observe(&Event { key, kind })));
            if let Err(payload) = observed {
                std::mem::forget(payload);
                tracing::error!(?key, outcome, "observer panicked");
            }
        }
    }
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Reporter(observer)" } else { "Reporter" })
    }
}
