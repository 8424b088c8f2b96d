//! Renewing leases while handlers run, on a thread of the library's own.
//!
//! A handler that blocks the caller's runtime must not lose its lease to that; so nothing here runs on it. One thread
//! serves all claims of an engine. It sleeps until the next renewal is due and is woken only for one that is due sooner,
//! so that operations that end before their first renewal cost two entries in a map.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::{self, SendError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{self, Handle, Runtime};
use tokio::sync::Notify;
use tokio::time::{timeout, timeout_at};

use crate::clock;
use crate::holder::{Held, Holder};
use crate::observer::EventKind;

/// The heartbeats of one engine. The thread starts with the first claim and ends with the last clone of the engine.
#[derive(Debug, Default)]
pub(crate) struct Heart {
    pulse: Mutex<Option<Arc<Pulse>>>,
}

impl Heart {
    /// Renews the claim at a third of its lease, up to the longest run, until the heartbeat is dropped.
    ///
    /// # Errors
    /// If the system has no thread to give.
    pub(crate) fn start(&self, holder: Arc<Holder>) -> io::Result<Heartbeat> {
        let pulse = self.pulse()?;
        holder.work_on(&pulse.worker);
        let beat = Beat::new(holder);
        let id = pulse.add(beat.first_at(), beat);
        Ok(Heartbeat { pulse, id })
    }

    fn pulse(&self) -> io::Result<Arc<Pulse>> {
        let mut started = self.pulse.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pulse) = &*started {
            return Ok(Arc::clone(pulse));
        }
        // The thread first: a runtime that no thread could take would have to be dropped here, which panics inside
        // another runtime.
        let (give, take) = mpsc::sync_channel::<(Runtime, Arc<Pulse>)>(1);
        std::thread::Builder::new().name("onceonly-heartbeat".into()).spawn(move || {
            if let Ok((runtime, pulse)) = take.recv() {
                runtime.block_on(pulse.run());
            }
        })?;
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let pulse = Arc::new(Pulse::on(runtime.handle().clone()));
        if let Err(SendError((runtime, _))) = give.send((runtime, Arc::clone(&pulse))) {
            runtime.shutdown_background();
            return Err(io::Error::other("the thread for heartbeats has ended"));
        }
        *started = Some(Arc::clone(&pulse));
        Ok(pulse)
    }
}

impl Drop for Heart {
    fn drop(&mut self) {
        if let Some(pulse) = self.pulse.get_mut().unwrap_or_else(PoisonError::into_inner) {
            pulse.queue().stopped = true;
            pulse.earlier.notify_one();
        }
    }
}

/// Keeps one claim's lease alive. Dropping it ends the renewals; one that is under way holds the claim's place in line,
/// so that whatever the holder writes next comes after it.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    pulse: Arc<Pulse>,
    id: BeatId,
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        let mut queue = self.pulse.queue();
        queue.remove(self.id);
        if queue.stopped {
            self.pulse.earlier.notify_one();
        }
    }
}

#[derive(Debug)]
struct Pulse {
    worker: Handle,
    queue: Mutex<Queue>,
    /// There is a renewal due before the one that the thread sleeps for.
    earlier: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    /// When each claim is due. A claim that is being renewed has no entry.
    due: BTreeMap<(Instant, BeatId), Beat>,
    /// Where in `due` each live claim stands.
    live: BTreeMap<BeatId, Option<Instant>>,
    next_id: u64,
    /// When the thread wakes by itself.
    wakes: Option<Instant>,
    stopped: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct BeatId(u64);

#[derive(Debug)]
struct Beat {
    holder: Arc<Holder>,
    /// When the longest run is over.
    ends: Instant,
    overran: bool,
}

impl Queue {
    fn insert(&mut self, at: Instant, id: BeatId, beat: Beat) {
        self.live.insert(id, Some(at));
        self.due.insert((at, id), beat);
    }

    fn remove(&mut self, id: BeatId) {
        if let Some(Some(at)) = self.live.remove(&id) {
            self.due.remove(&(at, id));
        }
    }

    /// Takes what is due at `now`, and notes when to wake next.
    fn take_due(&mut self, now: Instant) -> Vec<(BeatId, Beat)> {
        let mut taken = Vec::new();
        while let Some(entry) = self.due.first_entry()
            && entry.key().0 <= now
        {
            let ((_, id), beat) = entry.remove_entry();
            self.live.insert(id, None);
            taken.push((id, beat));
        }
        self.wakes = self.due.first_key_value().map(|((at, _), _)| *at);
        taken
    }
}

impl Pulse {
    fn on(worker: Handle) -> Self {
        Self { worker, queue: Mutex::default(), earlier: Notify::new() }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, at: Instant, beat: Beat) -> BeatId {
        let mut queue = self.queue();
        let id = BeatId(queue.next_id);
        queue.next_id += 1;
        queue.insert(at, id, beat);
        self.wake_for(queue, at);
        id
    }

    /// Queues a claim again, unless its heartbeat was dropped while it was renewed.
    fn add_again(&self, at: Instant, id: BeatId, beat: Beat) {
        let mut queue = self.queue();
        if queue.live.contains_key(&id) {
            queue.insert(at, id, beat);
            self.wake_for(queue, at);
        }
    }

    fn wake_for(&self, queue: MutexGuard<'_, Queue>, at: Instant) {
        let sooner = queue.wakes.is_none_or(|wakes| at < wakes);
        drop(queue);
        if sooner {
            self.earlier.notify_one();
        }
    }

    async fn run(self: Arc<Self>) {
        loop {
            let (due, wakes) = {
                let mut queue = self.queue();
                if queue.stopped && queue.live.is_empty() {
                    return;
                }
                (queue.take_due(clock::monotonic()), queue.wakes)
            };
            for (id, beat) in due {
                tokio::spawn(Arc::clone(&self).renew(id, beat));
            }
            match wakes {
                Some(wakes) => drop(timeout_at(wakes.into(), self.earlier.notified()).await),
                None => self.earlier.notified().await,
            }
        }
    }

    async fn renew(self: Arc<Self>, id: BeatId, mut beat: Beat) {
        match beat.renew().await {
            Next::At(at) => self.add_again(at, id, beat),
            Next::Never => {}
            // A handler that has concluded meanwhile lost nothing.
            Next::Lost if self.queue().live.contains_key(&id) => beat.holder.lose(),
            Next::Lost => {}
        }
    }
}

enum Next {
    At(Instant),
    Lost,
    Never,
}

impl Beat {
    fn new(holder: Arc<Holder>) -> Self {
        let ends = clock::monotonic() + holder.rules().longest_run.as_duration();
        Self { holder, ends, overran: false }
    }

    /// A third of the lease from now; sooner, if the answer to the claim was long on its way and less than that remains
    /// beyond two thirds.
    fn first_at(&self) -> Instant {
        let now = clock::monotonic();
        let two_thirds_before = self.holder.relied_on_until().checked_sub(2 * self.interval()).unwrap_or(now);
        two_thirds_before.clamp(now, now + self.interval())
    }

    fn interval(&self) -> Duration {
        self.holder.rules().lease.as_duration() / 3
    }

    /// Renews the lease once, and says what is to follow.
    async fn renew(&mut self) -> Next {
        let now = clock::monotonic();
        if self.ends <= now {
            return self.overrun(now);
        }
        if self.holder.heartbeat_is_paused() {
            return Next::At(now + self.interval() / 4);
        }
        match timeout(self.patience(now), self.holder.extend(None)).await {
            Ok(Ok(Held::Yes)) => Next::At((now + self.interval()).min(self.ends)),
            Ok(Ok(Held::No)) => Next::Never,
            Ok(Err(_)) | Err(_) => self.missed(),
        }
    }

    /// How long a renewal may take: where somebody could take over, no longer than the lease can be relied on.
    fn patience(&self, now: Instant) -> Duration {
        let longest = self.interval().min(RENEWAL_MAX);
        match self.holder.rules().policy.parks() {
            true => longest,
            false => longest.min(self.last_moment().saturating_duration_since(now)),
        }
    }

    /// The store could not be reached. Where somebody could take over, the claim is lost shortly before its lease ends;
    /// where nobody may, the handler runs on and completes late.
    fn missed(&self) -> Next {
        let now = clock::monotonic();
        let retry = now + self.interval() / 4;
        if self.holder.rules().policy.parks() {
            return Next::At(retry);
        }
        match self.last_moment() {
            last if last <= now => Next::Lost,
            last => Next::At(retry.min(last)),
        }
    }

    /// The longest run is over: no renewal any more, and where somebody could take over, the claim is lost when its
    /// lease is about to end.
    fn overrun(&mut self, now: Instant) -> Next {
        if !self.overran {
            self.overran = true;
            self.holder.report(EventKind::Overran);
        }
        if self.holder.rules().policy.parks() {
            return Next::Never;
        }
        match self.last_moment() {
            last if last <= now => Next::Lost,
            last => Next::At(last),
        }
    }

    fn last_moment(&self) -> Instant {
        let margin = self.holder.rules().lease.as_duration() / 10;
        let until = self.holder.relied_on_until();
        until.checked_sub(margin).unwrap_or(until)
    }
}

/// How long one renewal may take.
const RENEWAL_MAX: Duration = Duration::from_secs(5);
