//! The engine.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::acquire::{Acquisition, AtOnce, Unobtained};
use crate::attempt::Attempt;
use crate::claim::{Claim, Decision};
use crate::context::Context;
use crate::error::StoreError;
use crate::fingerprint::Fingerprints;
use crate::holder::Holder;
use crate::key::RecordKey;
use crate::observer::{EventKind, Observer, Reporter};
use crate::outcome::{RecordSummary, Refusal};
use crate::policy::Policy;
use crate::recover::Obtained;
use crate::settings::{InvalidSettings, Rules, Settings, Waiting};
use crate::store::KeyStore;

/// Runs operations at most once per key. Clones share the store and everything that is under way.
///
/// With feature `tokio` it has one thread, started with the first claim that is renewed and ended with the last clone,
/// on which leases are renewed: the store's verbs are called from that thread's runtime too.
///
/// It has no type parameter: handlers, routes and consumers can hold one without knowing which store is behind it.
#[derive(Clone)]
pub struct Idempotency {
    pub(crate) shared: Arc<Shared>,
    pub(crate) rules: Arc<Rules>,
}

pub(crate) struct Shared {
    pub(crate) context: Context,
    #[cfg(feature = "tokio")]
    pub(crate) running: crate::running::Running,
}

impl Idempotency {
    /// An engine over `store` with the default [`Settings`] and no observer.
    ///
    /// # Panics
    /// Never: the defaults are valid.
    pub fn new(store: impl KeyStore) -> Self {
        Self::builder(store).build().expect("the default settings are valid")
    }

    /// An engine over `store` with other settings, or with an observer.
    pub fn builder(store: impl KeyStore) -> IdempotencyBuilder {
        IdempotencyBuilder {
            store: Arc::new(store),
            reporter: Reporter::default(),
            settings: Settings::default(),
        }
    }

    /// The same engine with other settings, for one route or consumer: `change` is given the present ones.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use onceonly::{Idempotency, InvalidSettings, Policy};
    /// # fn routes(idempotency: Idempotency) -> Result<(), InvalidSettings> {
    /// let charges = idempotency.clone();
    /// let exports = idempotency.configured(|settings| settings.policy(Policy::Rerun).lease(Duration::from_secs(5)))?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`InvalidSettings`] if the settings do not go together.
    pub fn configured(&self, change: impl FnOnce(Settings) -> Settings) -> Result<Self, InvalidSettings> {
        let rules = change(self.rules.settings.clone()).validated()?;
        Ok(Self { shared: Arc::clone(&self.shared), rules: Arc::new(rules) })
    }

    /// Claims `key` for a request with `fingerprints`, or says why it cannot be claimed.
    ///
    /// **A claim that is dropped stays behind**: it blocks its key for the rest of its lease, and is abandoned after
    /// that. [`Idempotency::run`](Self::run) has no such gap and is the door to take wherever there is a tokio runtime.
    ///
    /// Dropping this *future* may leave a claim behind too. With feature `tokio`, inside a runtime with timers, it does
    /// not: the claim is made in a task of its own, which gives a grant back that nobody awaits any more. Only that way
    /// does it wait, or pause before it asks an unreachable store again; without, it neither sleeps nor spawns.
    ///
    /// # Errors
    /// If the store failed; nothing was executed. A claim that landed all the same is given back where the store can be
    /// asked, and is otherwise left to its lease.
    pub async fn begin(
        &self,
        key: &RecordKey,
        fingerprints: impl Into<Fingerprints>,
    ) -> Result<Decision, StoreError> {
        let fingerprints = fingerprints.into();
        #[cfg(feature = "tokio")]
        if let Some(runtime) = crate::caller::runtime_with_timers() {
            return self.begin_in_background(runtime, key.clone(), fingerprints).await;
        }
        let obtained = self.acquisition(key, &fingerprints).obtain(&mut AtOnce::new()).await;
        match self.reported(key, obtained) {
            Ok(Obtained::Granted(holder)) => Ok(Decision::Execute(self.claim(holder))),
            Ok(Obtained::Refused(refusal)) => Ok(refusal.into()),
            Err(Unobtained { error, left_behind }) => {
                if let Some(holder) = left_behind {
                    // Once: the store has just answered. If this fails, the claim is left to its lease.
                    drop(holder.give_back().await);
                }
                Err(error)
            }
        }
    }

    pub(crate) fn claim(&self, holder: Arc<Holder>) -> Claim {
        Claim::new(
            Attempt::new(holder),
            #[cfg(feature = "tokio")]
            self.shared.running.clone(),
        )
    }

    /// What is stored under `key`, whatever request it belongs to, without its result. Changes nothing, dropped or not.
    ///
    /// # Errors
    /// If the store failed.
    pub async fn inspect(&self, key: &RecordKey) -> Result<Option<RecordSummary>, StoreError> {
        let snapshot = self.shared.context.load(key).await?;
        Ok(snapshot.map(|snapshot| RecordSummary::of(&snapshot)))
    }

    /// For shutting down: takes no new operation ([`RunError::ShuttingDown`](crate::RunError::ShuttingDown)) and waits
    /// until those under way are over, results stored included, but no longer than `longest`.
    ///
    /// Holds for all clones, and for good. Claims of [`Idempotency::begin`](Self::begin) are their callers' to conclude,
    /// and are not waited for. Dropping the future stops the waiting only.
    #[cfg(feature = "tokio")]
    pub async fn drain(&self, longest: Duration) -> crate::running::Drained {
        self.shared.running.drain(longest).await
    }

    pub(crate) fn acquisition<'a>(
        &'a self,
        key: &'a RecordKey,
        fingerprints: &'a Fingerprints,
    ) -> Acquisition<'a> {
        Acquisition { context: &self.shared.context, rules: &self.rules, key, fingerprints }
    }

    /// Reports what a request came to.
    pub(crate) fn reported(
        &self,
        key: &RecordKey,
        obtained: Result<Obtained, Unobtained>,
    ) -> Result<Obtained, Unobtained> {
        let kind = match &obtained {
            Ok(Obtained::Granted(holder)) => match holder.attempt() {
                1 => EventKind::Claimed,
                attempt => EventKind::TakenOver { attempt },
            },
            Ok(Obtained::Refused(refusal)) => match refusal {
                Refusal::Replay(_) => EventKind::Replayed,
                Refusal::NotRetained(_) => EventKind::NotRetained,
                Refusal::InProgress(_) => EventKind::InProgress,
                Refusal::HashMismatch(_) => EventKind::Mismatched,
                Refusal::Abandoned(_) => EventKind::Parked,
            },
            Err(Unobtained { error, .. }) => EventKind::StoreFailed { error },
        };
        self.shared.context.reporter.report(key, kind);
        obtained
    }
}

impl fmt::Debug for Idempotency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Idempotency")
            .field("store", &self.shared.context.store.name())
            .field("settings", &self.rules.settings)
            .finish_non_exhaustive()
    }
}

/// Puts an [`Idempotency`] together. The settings are those of [`Settings`].
#[must_use = "an engine is made by `build`"]
pub struct IdempotencyBuilder {
    store: Arc<dyn KeyStore>,
    reporter: Reporter,
    settings: Settings,
}

impl IdempotencyBuilder {
    /// See [`Settings::lease`].
    pub fn lease(self, lease: Duration) -> Self {
        self.settings(|settings| settings.lease(lease))
    }

    /// See [`Settings::longest_run`].
    pub fn longest_run(self, longest_run: Duration) -> Self {
        self.settings(|settings| settings.longest_run(longest_run))
    }

    /// See [`Settings::retention`].
    pub fn retention(self, retention: Duration) -> Self {
        self.settings(|settings| settings.retention(retention))
    }

    /// See [`Settings::unresolved`].
    pub fn unresolved(self, unresolved: Duration) -> Self {
        self.settings(|settings| settings.unresolved(unresolved))
    }

    /// See [`Settings::policy`].
    pub fn policy(self, policy: Policy) -> Self {
        self.settings(|settings| settings.policy(policy))
    }

    /// See [`Settings::waiting`].
    pub fn waiting(self, waiting: Waiting) -> Self {
        self.settings(|settings| settings.waiting(waiting))
    }

    /// See [`Settings::response_bytes_max`].
    pub fn response_bytes_max(self, bytes: usize) -> Self {
        self.settings(|settings| settings.response_bytes_max(bytes))
    }

    /// Changes any of the settings.
    pub fn settings(self, change: impl FnOnce(Settings) -> Settings) -> Self {
        Self { settings: change(self.settings), ..self }
    }

    /// Tells `observer` what happens to operations.
    pub fn observer(self, observer: impl Observer) -> Self {
        Self { reporter: Reporter::new(observer), ..self }
    }

    /// The engine.
    ///
    /// # Errors
    /// [`InvalidSettings`] if the settings do not go together.
    pub fn build(self) -> Result<Idempotency, InvalidSettings> {
        let context = Context {
            store: self.store,
            reporter: self.reporter,
            #[cfg(feature = "tokio")]
            heart: Arc::default(),
        };
        let shared = Shared {
            context,
            #[cfg(feature = "tokio")]
            running: crate::running::Running::default(),
        };
        Ok(Idempotency { shared: Arc::new(shared), rules: Arc::new(self.settings.validated()?) })
    }
}

impl fmt::Debug for IdempotencyBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdempotencyBuilder")
            .field("store", &self.store.name())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
