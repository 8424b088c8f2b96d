//! The writer of one claim: numbers its writes, keeps them apart, and knows how long the lease can be relied on.

use std::fmt;
#[cfg(feature = "tokio")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_lock::Mutex as AsyncMutex;
use bytes::Bytes;
use event_listener::Event as Signal;
#[cfg(feature = "tokio")]
use tokio::runtime::Handle;

use crate::clock;
use crate::error::StoreError;
#[cfg(feature = "tokio")]
use crate::error::StoreErrorKind;
use crate::guard::guarded;
use crate::key::RecordKey;
use crate::observer::{EventKind, Reporter};
use crate::record::{Revision, Snapshot, Status, Token};
use crate::response::StoredResult;
use crate::settings::Rules;
use crate::store::{
    CompleteOutcome, Completion, KeyStore, LeaseChange, Release, ReleaseOutcome, RenewOutcome, Renewal, Stamp,
};

/// One granted claim, as its holder writes it.
///
/// Writes go out one at a time, each under a number of its own. A write that is given up unanswered may still land; it
/// then carries a lower number than the next one and changes nothing after it.
pub(crate) struct Holder {
    store: Arc<dyn KeyStore>,
    reporter: Reporter,
    rules: Arc<Rules>,
    key: RecordKey,
    token: Token,
    attempt: u32,
    /// What an earlier attempt saved.
    checkpoint: Option<Bytes>,
    /// Whether this attempt has tried to save a checkpoint: it may have landed.
    saved: AtomicBool,
    /// The number of the last write that was begun.
    revision: AtomicU32,
    /// Held while a write is in flight.
    writing: AsyncMutex<()>,
    /// Until when nobody can have taken over, by local time.
    relied_on_until: Mutex<Instant>,
    heartbeat_pauses: AtomicU32,
    /// Whether a last write was begun: the holder itself may have ended its claim.
    ending: AtomicBool,
    lost: AtomicBool,
    lost_signal: Signal,
    /// Where renewals run, once there are any.
    #[cfg(feature = "tokio")]
    worker: OnceLock<Handle>,
}

/// What a claim is made of.
pub(crate) struct Granted {
    pub(crate) key: RecordKey,
    pub(crate) token: Token,
    pub(crate) attempt: u32,
    pub(crate) checkpoint: Option<Bytes>,
    pub(crate) lease: LocalLease,
}

/// A lease by local time: what remained of it when the store answered, counted from before the request was sent, so
/// that it ends here no later than there.
#[derive(Clone, Copy)]
pub(crate) struct LocalLease {
    pub(crate) sent: Instant,
    pub(crate) remaining: Duration,
}

impl LocalLease {
    pub(crate) fn answered(sent: Instant, stamp: Stamp) -> Self {
        Self { sent, remaining: stamp.lease_until.since(stamp.now) }
    }

    fn end(self) -> Instant {
        self.sent + self.remaining
    }
}

/// Whether a claim is still its holder's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "either it is held or it is not")]
pub enum Held {
    /// The write was applied.
    Yes,
    /// Somebody else holds the key, or nobody does: nothing that this claim writes counts any more.
    No,
}

impl Holder {
    pub(crate) fn new(
        store: Arc<dyn KeyStore>,
        reporter: Reporter,
        rules: Arc<Rules>,
        granted: Granted,
    ) -> Self {
        let Granted { key, token, attempt, checkpoint, lease } = granted;
        Self {
            store,
            reporter,
            rules,
            key,
            token,
            attempt,
            checkpoint,
            saved: AtomicBool::new(false),
            revision: AtomicU32::new(Revision::FIRST.number()),
            writing: AsyncMutex::new(()),
            relied_on_until: Mutex::new(lease.end()),
            heartbeat_pauses: AtomicU32::new(0),
            ending: AtomicBool::new(false),
            lost: AtomicBool::new(false),
            lost_signal: Signal::new(),
            #[cfg(feature = "tokio")]
            worker: OnceLock::new(),
        }
    }

    pub(crate) const fn key(&self) -> &RecordKey {
        &self.key
    }

    pub(crate) const fn token(&self) -> Token {
        self.token
    }

    pub(crate) const fn attempt(&self) -> u32 {
        self.attempt
    }

    pub(crate) const fn checkpoint(&self) -> Option<&Bytes> {
        self.checkpoint.as_ref()
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    pub(crate) fn report(&self, kind: EventKind<'_>) {
        self.reporter.report(&self.key, kind);
    }

    /// Extends the lease, and replaces the checkpoint if one is given.
    pub(crate) async fn extend(&self, checkpoint: Option<Bytes>) -> Result<Held, StoreError> {
        let lease = LeaseChange::Extend(self.rules.lease);
        let _write = self.begin_write().await;
        let renewal = Renewal { revision: self.next_revision(), lease, checkpoint };
        self.send_renewal(&renewal).await
    }

    /// Saves a checkpoint. Unanswered, it is repeated once under its own number: no later write can have been sent.
    ///
    /// Where there is a thread for heartbeats it runs there: a write that only the handler's runtime could drive would
    /// hold up every renewal while the handler blocks that runtime.
    pub(crate) async fn save(self: &Arc<Self>, checkpoint: Bytes) -> Result<Held, StoreError> {
        #[cfg(feature = "tokio")]
        if let Some(worker) = self.worker.get() {
            let (holder, saved) = (Arc::clone(self), checkpoint.clone());
            if let Ok(answer) = worker.spawn(async move { holder.send_checkpoint(saved).await }).await {
                return answer;
            }
            // That thread ends with the engine, which a claim of `begin` may outlive.
        }
        self.send_checkpoint(checkpoint).await
    }

    async fn send_checkpoint(&self, checkpoint: Bytes) -> Result<Held, StoreError> {
        self.saved.store(true, Ordering::SeqCst);
        let lease = LeaseChange::Extend(self.rules.lease);
        let _write = self.begin_write().await;
        let renewal = Renewal { revision: self.next_revision(), lease, checkpoint: Some(checkpoint) };
        match self.send_renewal(&renewal).await {
            Err(error) if error.outcome_is_unknown() => self.send_renewal(&renewal).await,
            answer => answer,
        }
    }

    /// Ends the lease now, for a later attempt to take over.
    pub(crate) async fn suspend(&self) -> Result<Held, StoreError> {
        self.ending.store(true, Ordering::SeqCst);
        let _write = self.begin_write().await;
        let renewal = Renewal { revision: self.next_revision(), lease: LeaseChange::End, checkpoint: None };
        let call = self.store.renew(&self.key, self.token, &renewal);
        match guarded(self.store.name(), call).await? {
            RenewOutcome::Applied(_) => Ok(self.gave_up()),
            RenewOutcome::NotHeld => Ok(Held::No),
        }
    }

    pub(crate) async fn complete(&self, result: &StoredResult) -> Result<CompleteOutcome, StoreError> {
        self.ending.store(true, Ordering::SeqCst);
        let _write = self.begin_write().await;
        let completion = Completion {
            revision: self.next_revision(),
            result: result.clone(),
            retention: self.rules.retention,
        };
        guarded(self.store.name(), self.store.complete(&self.key, self.token, &completion)).await
    }

    pub(crate) async fn release(&self) -> Result<Held, StoreError> {
        self.ending.store(true, Ordering::SeqCst);
        let _write = self.begin_write().await;
        let release = Release { revision: self.next_revision(), keep: self.rules.keep_released };
        match guarded(self.store.name(), self.store.release(&self.key, self.token, &release)).await? {
            ReleaseOutcome::Applied => Ok(self.gave_up()),
            ReleaseOutcome::NotHeld => Ok(Held::No),
        }
    }

    /// From here on others may execute.
    fn gave_up(&self) -> Held {
        *self.relied_on() = clock::monotonic();
        Held::Yes
    }

    /// Whether giving the claim back forgets nothing: it is the first attempt, and it saved nothing that a later
    /// attempt of another caller could have executed with.
    pub(crate) fn may_release(&self) -> bool {
        let first = self.attempt == 1 && self.checkpoint.is_none();
        // Under Park nobody else can have executed, so a checkpoint of this attempt speaks of this attempt alone.
        first && (self.rules.policy.parks() || !self.saved.load(Ordering::SeqCst))
    }

    async fn begin_write(&self) -> async_lock::MutexGuard<'_, ()> {
        self.writing.lock().await
    }

    async fn send_renewal(&self, renewal: &Renewal) -> Result<Held, StoreError> {
        let sent = clock::monotonic();
        let call = self.store.renew(&self.key, self.token, renewal);
        match guarded(self.store.name(), call).await? {
            RenewOutcome::Applied(stamp) => {
                *self.relied_on() = LocalLease::answered(sent, stamp).end();
                Ok(Held::Yes)
            }
            RenewOutcome::NotHeld => {
                if !self.has_ended_itself().await {
                    self.lose();
                }
                Ok(Held::No)
            }
        }
    }

    /// Whether a renewal may have been refused because of the holder's own last write, whose answer was lost, or which
    /// is part of a transaction that was committed: nobody has taken over then.
    async fn has_ended_itself(&self) -> bool {
        if !self.ending.load(Ordering::SeqCst) {
            return false;
        }
        match guarded(self.store.name(), self.store.load(&self.key)).await {
            Ok(Some(Snapshot { record, .. })) => {
                record.version.token == self.token && !matches!(record.status, Status::InProgress { .. })
            }
            Ok(None) => false,
            // What is not known is not told.
            Err(_) => true,
        }
    }

    /// The error of a call that has no answer.
    #[cfg(feature = "tokio")]
    pub(crate) fn unavailable(&self, detail: &'static str) -> StoreError {
        StoreError::new(StoreErrorKind::Unavailable, self.store.name(), detail)
    }

    /// The number for the next write. A claim cannot come near four thousand million writes within its longest run.
    pub(crate) fn next_revision(&self) -> Revision {
        Revision::from_number(self.revision.fetch_add(1, Ordering::SeqCst) + 1)
    }

    pub(crate) fn lease_remaining(&self) -> Duration {
        self.relied_on().saturating_duration_since(clock::monotonic())
    }

    /// Until when nobody can have taken over, by local time.
    #[cfg(feature = "tokio")]
    pub(crate) fn relied_on_until(&self) -> Instant {
        *self.relied_on()
    }

    fn relied_on(&self) -> MutexGuard<'_, Instant> {
        self.relied_on_until.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the renewals for a write in the caller's own transaction.
    pub(crate) fn pause_heartbeat(&self) {
        self.ending.store(true, Ordering::SeqCst);
        self.heartbeat_pauses.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn resume_heartbeat(&self) {
        self.heartbeat_pauses.fetch_sub(1, Ordering::SeqCst);
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn heartbeat_is_paused(&self) -> bool {
        self.heartbeat_pauses.load(Ordering::SeqCst) > 0
    }

    /// The claim can no longer be relied on.
    pub(crate) fn lose(&self) {
        if !self.lost.swap(true, Ordering::SeqCst) {
            self.lost_signal.notify(usize::MAX);
            self.report(EventKind::Lost);
        }
    }

    /// Whether it was lost, or its lease is over where others may take over.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst) || (!self.rules.policy.parks() && self.lease_remaining().is_zero())
    }

    /// Where renewals of this claim run.
    #[cfg(feature = "tokio")]
    pub(crate) fn work_on(&self, worker: &Handle) {
        // A second heartbeat of one claim runs where the first one did.
        drop(self.worker.set(worker.clone()));
    }

    pub(crate) async fn lost(&self) {
        loop {
            let signal = self.lost_signal.listen();
            if self.is_lost() {
                return;
            }
            signal.await;
        }
    }
}

impl fmt::Debug for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holder")
            .field("key", &self.key)
            .field("token", &self.token)
            .field("attempt", &self.attempt)
            .finish_non_exhaustive()
    }
}
