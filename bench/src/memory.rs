//! The memory store beside the bare sharded map of its records, beside the floor of two lookups, and beside dashmap
//! behind the same trait.

mod bare_map;
mod dash_store;
mod floor;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use onceonly::{ClaimOutcome, CompleteOutcome, Completion, Expected, Fingerprint, KeyStore};
use onceonly_memory::MemoryStore;

use self::bare_map::BareMap;
use self::dash_store::DashStore;
use self::floor::Floor;
use crate::load::{Numbers, Request, Timer, completion, fingerprint, on_threads, ready, response};
use crate::runner::{Comparison, Failure, Figure, Sample, Variant};

pub(crate) fn comparisons() -> Vec<Comparison> {
    vec![
        compare("memory fresh", Work::Fresh, Goals { dashmap: 1.5, own_one_thread: Some(1.9) }),
        compare("memory replay", Work::Replay, Goals { dashmap: 1.27, own_one_thread: None }),
    ]
}

#[derive(Clone, Copy)]
enum Work {
    /// Claim an absent key and complete it.
    Fresh,
    /// Claim a completed key and be given its result.
    Replay,
}

#[derive(Clone, Copy)]
struct Goals {
    dashmap: f64,
    own_one_thread: Option<f64>,
}

fn compare(name: &str, work: Work, goals: Goals) -> Comparison {
    let mut variants = Vec::new();
    for threads in [1, 2] {
        let mut add = |name: &str, make: fn() -> Box<dyn Target>| {
            let run = move |duration| measure(make().as_ref(), work, threads, duration);
            variants.push(Variant::new(format!("{name} {threads}"), threads, run));
        };
        add("store", || Box::new(Arc::new(MemoryStore::new()) as Arc<dyn KeyStore>));
        add("bare map", || Box::new(BareMap::new()));
        add("floor", || Box::new(Floor::new()));
        add("dashmap", || Box::new(Arc::new(DashStore::new()) as Arc<dyn KeyStore>));
    }
    let ratio = |of: &str, over: &str, at_least| Figure::Ratio { of: of.into(), over: over.into(), at_least };
    let figures = vec![
        ratio("store 1", "bare map 1", Some(0.7)),
        ratio("store 2", "bare map 2", Some(0.7)),
        ratio("store 1", "floor 1", None),
        ratio("store 2", "floor 2", None),
        ratio("store 1", "dashmap 1", None),
        ratio("store 2", "dashmap 2", Some(goals.dashmap)),
        ratio("store 2", "store 1", goals.own_one_thread),
        ratio("bare map 2", "bare map 1", None),
        Figure::ClaimP99Micros { of: "store 2".into(), at_most: None },
    ];
    Comparison { name: name.into(), variants, figures }
}

/// Something that keeps results by key.
trait Target: Sync {
    /// Claims an absent key and completes it.
    fn fresh(&self, ask: &Ask<'_>, completion: &Completion, timer: &mut Timer) -> Result<(), Failure>;

    /// Claims a completed key and is given its result.
    fn replay(&self, ask: &Ask<'_>, timer: &mut Timer) -> Result<(), Failure>;
}

struct Ask<'a> {
    request: &'a Request,
    fingerprint: Fingerprint,
}

impl Target for Arc<dyn KeyStore> {
    fn fresh(&self, ask: &Ask<'_>, completion: &Completion, timer: &mut Timer) -> Result<(), Failure> {
        let Ask { request: Request { key, token }, fingerprint } = ask;
        let claim = ask.request.claim(*fingerprint);
        let ClaimOutcome::Claimed(_) = timer.claim(|| ready(self.claim(key, &claim, Expected::Absent)))??
        else {
            return Err("a fresh key was not granted".into());
        };
        let CompleteOutcome::Applied(_) = ready(self.complete(key, *token, completion))?? else {
            return Err("a held claim was not completed".into());
        };
        Ok(())
    }

    fn replay(&self, ask: &Ask<'_>, timer: &mut Timer) -> Result<(), Failure> {
        let claim = ask.request.claim(ask.fingerprint);
        let claimed = timer.claim(|| ready(self.claim(&ask.request.key, &claim, Expected::Absent)))??;
        match claimed {
            ClaimOutcome::Occupied(snapshot) if snapshot.record.fingerprint == ask.fingerprint => Ok(()),
            _ => Err("a completed key was not replayed".into()),
        }
    }
}

/// Fills `target` with the records that are present in every run, then lets the callers at it.
fn measure(target: &dyn Target, work: Work, threads: usize, duration: Duration) -> Result<Sample, Failure> {
    let fingerprint = fingerprint();
    for request in present() {
        // A body of its own for each, so that replays of different keys do not meet at one reference count.
        target.fresh(&Ask { request, fingerprint }, &completion(response()), &mut Timer::default())?;
    }
    let mut numbers = Numbers(0);
    let mut next = PRESENT;
    let prepare = || match work {
        Work::Fresh => {
            next += FRESH_CHUNK;
            (next - FRESH_CHUNK..next).map(Request::numbered).collect()
        }
        Work::Replay => {
            let chosen = numbers.by_ref().take(REPLAY_CHUNK as usize);
            chosen.map(|number| present()[(number % PRESENT) as usize].clone()).collect()
        }
    };
    on_threads(threads, duration, prepare, |requests, timer| {
        let completion = completion(response());
        requests.iter().map(|request| Ask { request, fingerprint }).try_for_each(|ask| match work {
            Work::Fresh => target.fresh(&ask, &completion, timer),
            Work::Replay => target.replay(&ask, timer),
        })
    })
}

/// The requests whose records are there before a run begins.
fn present() -> &'static [Request] {
    static REQUESTS: OnceLock<Vec<Request>> = OnceLock::new();
    REQUESTS.get_or_init(|| (0..PRESENT).map(Request::numbered).collect())
}

const PRESENT: u64 = 100_000;

/// Requests that a thread is handed at a time: a tenth of a second of work, so that it does not show when the system
/// first starts two threads on one core.
const FRESH_CHUNK: u64 = 100_000;
const REPLAY_CHUNK: u64 = 300_000;
