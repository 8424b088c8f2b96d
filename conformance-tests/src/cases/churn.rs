//! A key that is claimed and released again and again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use onceonly::{ClaimOutcome, Expected, NewClaim, RecordKey, Status};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::case::{Case, release, version};
use crate::handle::Handle;
use crate::race::Contender;
use crate::verdict::{check, check_eq};

/// Each holder keeps the key until every other caller has tried to have it. One that had looked at the mark before the
/// grant, and writes after it, is then seen.
pub(in crate::cases) async fn versions_never_repeat_under_churn(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(4);
    while let Some(round) = race.next_round() {
        let (key, due) = (case.key(&format!("round {round}")), case.rounds() / 4);
        let churn = Arc::new(Churn::of(handles.len(), due));
        let contenders = handles.iter().enumerate().map(|(place, handle)| -> Contender<()> {
            let claims = (0..due).map(|_| case.claim()).collect();
            let caller =
                Caller { place, handle: handle.clone(), key: key.clone(), churn: Arc::clone(&churn) };
            Box::pin(caller.claim_and_release(claims))
        });
        race.round(contenders.collect()).await;
        let granted = churn.granted.load(Ordering::Relaxed);
        check!(
            granted >= due,
            "round {round}: {granted} claims of a key that is released again and again were granted, due were {due}"
        );
    }
    race.check_overlap();
}

/// What the callers of a round know of each other.
struct Churn {
    due: usize,
    granted: AtomicUsize,
    /// How often each caller has tried.
    tried: Vec<AtomicUsize>,
    changed: Notify,
}

impl Churn {
    fn of(callers: usize, due: usize) -> Self {
        let tried = (0..callers).map(|_| AtomicUsize::new(0)).collect();
        Self { due, granted: AtomicUsize::new(0), tried, changed: Notify::new() }
    }

    fn is_over(&self) -> bool {
        self.due <= self.granted.load(Ordering::Relaxed)
    }

    fn tries(&self) -> Vec<usize> {
        self.tried.iter().map(|tried| tried.load(Ordering::Relaxed)).collect()
    }

    /// Waits until everybody but the caller at `place` has tried since `before`, or nobody does any more.
    async fn everybody_has_tried(&self, place: usize, before: &[usize]) {
        loop {
            // Made before the look, so that a change in between is not missed.
            let changed = self.changed.notified();
            let now = self.tries();
            let all = (0..now.len()).all(|other| other == place || before[other] < now[other]);
            if all || self.is_over() {
                return;
            }
            changed.await;
        }
    }
}

struct Caller {
    place: usize,
    handle: Handle,
    key: RecordKey,
    churn: Arc<Churn>,
}

impl Caller {
    /// Claims the key with each claim in turn, as soon as nobody holds it, and releases it, until all callers together
    /// were granted as often as is due.
    async fn claim_and_release(self, claims: Vec<NewClaim>) {
        let mut attempts = 0;
        for claim in &claims {
            // A store that grants nothing any more must not be asked for ever.
            while !self.churn.is_over() && attempts < ATTEMPTS_MAX {
                attempts += 1;
                let granted = self.is_granted(claim).await;
                self.churn.tried[self.place].fetch_add(1, Ordering::Relaxed);
                self.churn.changed.notify_waiters();
                if granted {
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
    }

    async fn is_granted(&self, claim: &NewClaim) -> bool {
        let (handle, key) = (&self.handle, &self.key);
        let seen = handle.load(key).await;
        let expected = seen.map_or(Expected::Absent, |seen| match seen.record.status {
            Status::Released => Expected::Exactly(seen.record.version),
            // Somebody is at work; a claim of this version would displace them.
            _ => Expected::Absent,
        });
        let ClaimOutcome::Claimed(_) = handle.claim(key, claim, expected).await else { return false };
        self.churn.granted.fetch_add(1, Ordering::Relaxed);
        let before = self.churn.tries();
        // Whoever has used up their attempts tries no more: that is no reason to wait.
        let _ = timeout(PATIENCE, self.churn.everybody_has_tried(self.place, &before)).await;
        let shown = handle.record(key).await.version;
        check_eq!(shown, version(claim.token, 1), "the version of a claim while it is held");
        handle.released(key, claim.token, &release(2)).await;
        true
    }
}

/// Far more than a caller needs who meets seven others.
const ATTEMPTS_MAX: usize = 10_000;

const PATIENCE: Duration = Duration::from_millis(100);
