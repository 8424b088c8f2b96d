//! What the engine adds to the verbs of the store beneath it: one caller, over the memory store.

use std::sync::Arc;
use std::time::Duration;

use onceonly::{
    Answer, ClaimOutcome, CompleteOutcome, Completed, Decision, Expected, Fingerprint, Idempotency, KeyStore,
    Outcome, StoredResponse,
};
use onceonly_memory::MemoryStore;
use tokio::runtime::Builder;

use crate::load::{Request, completion, fingerprint, on_threads, ready, response};
use crate::runner::{Comparison, Failure, Figure, Sample, Variant};

pub(crate) fn comparisons() -> Vec<Comparison> {
    vec![compare("engine fresh", Work::Fresh, Some(1.5)), compare("engine replay", Work::Replay, None)]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    /// An absent key, to its end.
    Fresh,
    /// A completed key.
    Replay,
}

#[derive(Clone, Copy)]
enum Door {
    /// The store's own verbs, through `dyn KeyStore`.
    Verbs,
    /// `begin` and `complete`, polled without a runtime: neither spawns.
    Begin,
    /// `begin` and `complete` inside a runtime, where each makes a task.
    BeginInRuntime,
    /// `run`, with its heartbeat.
    Run,
}

impl Door {
    const ALL: [Self; 4] = [Self::Verbs, Self::Begin, Self::BeginInRuntime, Self::Run];

    const fn name(self) -> &'static str {
        match self {
            Self::Verbs => "store's verbs",
            Self::Begin => "begin + complete",
            Self::BeginInRuntime => "begin + complete in tokio",
            Self::Run => "run",
        }
    }
}

fn compare(name: &str, work: Work, begin_micros: Option<f64>) -> Comparison {
    let variants =
        Door::ALL.map(|door| Variant::new(door.name(), 1, move |duration| measure(door, work, duration)));
    let micros = |door: Door, at_most| Figure::MicrosPerOperation { of: door.name().into(), at_most };
    let figures = vec![
        micros(Door::Verbs, None),
        micros(Door::Begin, begin_micros),
        micros(Door::BeginInRuntime, None),
        micros(Door::Run, None),
    ];
    Comparison { name: name.into(), variants: variants.into(), figures }
}

fn measure(door: Door, work: Work, duration: Duration) -> Result<Sample, Failure> {
    let bed = Bed::new();
    let present: Vec<Request> = (0..PRESENT).map(Request::numbered).collect();
    ready(bed.chunk(Door::Verbs, Work::Fresh, &present))??;

    let mut next = PRESENT;
    let prepare = || {
        next += CHUNK;
        (next - CHUNK..next)
            .map(|number| Request::numbered(if work == Work::Fresh { number } else { number % PRESENT }))
            .collect()
    };
    on_threads(1, duration, prepare, |requests, _| match door {
        Door::Verbs | Door::Begin => ready(bed.chunk(door, work, requests))?,
        Door::BeginInRuntime | Door::Run => {
            let runtime = Builder::new_current_thread().enable_time().build()?;
            runtime.block_on(bed.chunk(door, work, requests))
        }
    })
}

/// A store and an engine over it.
struct Bed {
    store: Arc<dyn KeyStore>,
    onceonly: Idempotency,
    fingerprint: Fingerprint,
}

impl Bed {
    fn new() -> Self {
        let store = MemoryStore::new();
        Self { onceonly: Idempotency::new(store.clone()), store: Arc::new(store), fingerprint: fingerprint() }
    }

    async fn chunk(&self, door: Door, work: Work, requests: &[Request]) -> Result<(), Failure> {
        let response = response();
        for request in requests {
            let done = match door {
                Door::Verbs => self.verbs(request, &response).await?,
                Door::Begin | Door::BeginInRuntime => self.begin(request, &response).await?,
                Door::Run => self.run(request, &response).await?,
            };
            if done != Some(work) {
                return Err(format!("{}: the key was not as expected", door.name()).into());
            }
        }
        Ok(())
    }

    async fn verbs(&self, request: &Request, response: &StoredResponse) -> Result<Option<Work>, Failure> {
        let claim = request.claim(self.fingerprint);
        if let ClaimOutcome::Occupied(_) = self.store.claim(&request.key, &claim, Expected::Absent).await? {
            return Ok(Some(Work::Replay));
        }
        let completion = completion(response.clone());
        let completed = self.store.complete(&request.key, request.token, &completion).await?;
        Ok(matches!(completed, CompleteOutcome::Applied(_)).then_some(Work::Fresh))
    }

    async fn begin(&self, request: &Request, response: &StoredResponse) -> Result<Option<Work>, Failure> {
        match self.onceonly.begin(&request.key, self.fingerprint).await? {
            Decision::Execute(mut claim) => {
                let completed = claim.complete(response.clone()).await;
                Ok(matches!(completed, Completed::Stored).then_some(Work::Fresh))
            }
            Decision::Replay(_) => Ok(Some(Work::Replay)),
            _ => Ok(None),
        }
    }

    async fn run(&self, request: &Request, response: &StoredResponse) -> Result<Option<Work>, Failure> {
        let response = response.clone();
        let handler = |_| async move { Answer::Final(response) };
        match self.onceonly.run(&request.key, self.fingerprint, handler).await? {
            Outcome::Executed(_) => Ok(Some(Work::Fresh)),
            Outcome::Replayed(_) => Ok(Some(Work::Replay)),
            _ => Ok(None),
        }
    }
}

/// Records that are there before a run begins.
const PRESENT: u64 = 100_000;

/// Requests between two looks at the clock.
const CHUNK: u64 = 10_000;
