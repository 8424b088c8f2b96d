//! The writer of one claim: numbers its writes, keeps them apart, and knows how long the lease can be relied on.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_lock::Mutex as AsyncMutex;
use bytes::Bytes;
use event_listener::Event as Signal;

use crate::clock;
use crate::error::StoreError;
use crate::key::RecordKey;
use crate::observer::{EventKind, Reporter};
use crate::record::{Revision, Token};
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
    lost: AtomicBool,
    lost_signal: Signal,
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

    pub(crate) fn is_over(self) -> bool {
        self.end() <= clock::monotonic()
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
            lost: AtomicBool::new(false),
            lost_signal: Signal::new(),
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
    pub(crate) async fn save(&self, checkpoint: Bytes) -> Result<Held, StoreError> {
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
        let _write = self.begin_write().await;
        let renewal = Renewal { revision: self.next_revision(), lease: LeaseChange::End, checkpoint: None };
        match self.store.renew(&self.key, self.token, &renewal).await? {
            RenewOutcome::Applied(_) => Ok(Held::Yes),
            RenewOutcome::NotHeld => Ok(Held::No),
        }
    }

    pub(crate) async fn complete(&self, result: &StoredResult) -> Result<CompleteOutcome, StoreError> {
        let _write = self.begin_write().await;
        let completion = Completion {
            revision: self.next_revision(),
            result: result.clone(),
            retention: self.rules.retention,
        };
        self.store.complete(&self.key, self.token, &completion).await
    }

    pub(crate) async fn release(&self) -> Result<Held, StoreError> {
        let _write = self.begin_write().await;
        let release = Release { revision: self.next_revision(), keep: self.rules.keep_released };
        match self.store.release(&self.key, self.token, &release).await? {
            ReleaseOutcome::Applied => Ok(Held::Yes),
            ReleaseOutcome::NotHeld => Ok(Held::No),
        }
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
        match self.store.renew(&self.key, self.token, renewal).await? {
            RenewOutcome::Applied(stamp) => {
                *self.relied_on() = LocalLease::answered(sent, stamp).end();
                Ok(Held::Yes)
            }
            RenewOutcome::NotHeld => {
                self.lose();
                Ok(Held::No)
            }
        }
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

    pub(crate) fn pause_heartbeat(&self) {
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
            self.report(EventKind::Lost);
            self.lost_signal.notify(usize::MAX);
        }
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::SeqCst)
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
