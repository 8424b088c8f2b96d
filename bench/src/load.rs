//! The work that is measured: idempotent requests, and callers that make them.

use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use onceonly::{
    Completion, Fingerprint, IdempotencyKey, NewClaim, RecordKey, Revision, Scope, Span, StoredResponse,
    StoredResult, Token,
};
use tokio::task::JoinSet;

use crate::runner::{Failure, Sample};

/// Length of the stored result, in bytes.
pub(crate) const RESPONSE_BYTES: usize = 200;

/// One request as a store sees it. Made before the clock runs: making keys and tokens is the same for everybody.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub key: RecordKey,
    pub token: Token,
}

impl Request {
    /// The request with this number: another key and token for each.
    pub(crate) fn numbered(number: u64) -> Self {
        let key = IdempotencyKey::new(&format!("request-{number:020}"))
            .expect("a short text without control characters");
        let mut token = [0; 16];
        token[..8].copy_from_slice(&number.to_le_bytes());
        Self { key: RecordKey::new(Scope::global(), key), token: Token::from_bytes(token) }
    }

    /// The claim that is sent to the store.
    pub(crate) fn claim(&self, fingerprint: Fingerprint) -> NewClaim {
        NewClaim {
            token: self.token,
            fingerprint,
            attempt: 1,
            checkpoint: None,
            lease: span(60),
            keep: span(DAY_SECS + 15 * 60),
            keep_unresolved: span(30 * DAY_SECS),
        }
    }
}

/// What every request of a run asks for.
pub(crate) fn fingerprint() -> Fingerprint {
    Fingerprint::builder().part("body", [b'x'; RESPONSE_BYTES]).finish()
}

/// The response to every request: bytes of the caller's own, so that callers do not meet at one reference count.
pub(crate) fn response() -> StoredResponse {
    StoredResponse::new(201, Bytes::from(vec![b'r'; RESPONSE_BYTES]))
}

/// What a store is sent to complete a request with `response`.
pub(crate) fn completion(response: StoredResponse) -> Completion {
    Completion {
        revision: Revision::from_number(2),
        result: StoredResult::Retained(response),
        retention: span(DAY_SECS),
    }
}

/// Numbers that are the same in every run and have no order that a map or an index could profit from (splitmix64).
#[derive(Clone, Debug)]
pub(crate) struct Numbers(pub u64);

impl Iterator for Numbers {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        Some(mixed ^ (mixed >> 31))
    }
}

/// Lets `threads` threads work through requests for about `duration`.
///
/// Requests are handed out in chunks. `prepare` makes a thread's next chunk while no clock runs; then all threads start
/// together, and each lets `work` do its chunk.
pub(crate) fn on_threads<P, W>(
    threads: usize,
    duration: Duration,
    mut prepare: P,
    work: W,
) -> Result<Sample, Failure>
where
    P: FnMut() -> Vec<Request>,
    W: Fn(&[Request], &mut Timer) -> Result<(), Failure> + Sync,
{
    let mut sample = Sample::default();
    while sample.elapsed < duration {
        let chunks: Vec<Vec<Request>> = (0..threads).map(|_| prepare()).collect();
        let start = Barrier::new(threads);
        let timed = |chunk: &[Request]| {
            let mut timer = Timer::default();
            start.wait();
            let started = Instant::now();
            work(chunk, &mut timer)?;
            Ok(Worked { started, ended: Instant::now(), claim_nanos: timer.claim_nanos })
        };
        let worked: Vec<Result<Worked, Failure>> = thread::scope(|scope| {
            let handles: Vec<_> = chunks.iter().map(|chunk| scope.spawn(|| timed(chunk))).collect();
            handles.into_iter().map(|handle| handle.join().expect("a caller panicked")).collect()
        });
        let worked = worked.into_iter().collect::<Result<Vec<_>, _>>()?;
        sample.elapsed += Worked::elapsed(&worked);
        sample.operations += chunks.iter().map(|chunk| chunk.len() as u64).sum::<u64>();
        sample.claim_nanos.extend(worked.into_iter().flat_map(|worked| worked.claim_nanos));
    }
    Ok(sample)
}

/// Lets `callers` tasks of a runtime make requests one after the other for `duration`.
///
/// `request` makes the request with the next number, `operate` carries it out and says how long its claim took.
pub(crate) fn on_tasks<R, O, F>(
    callers: usize,
    duration: Duration,
    request: R,
    operate: O,
) -> Result<Sample, Failure>
where
    R: Fn(u64) -> Request + Clone + Send + 'static,
    O: Fn(Request) -> F + Clone + Send + 'static,
    F: Future<Output = Result<Duration, Failure>> + Send,
{
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build()?;
    let next = Arc::new(AtomicU64::new(0));
    let start = Arc::new(tokio::sync::Barrier::new(callers));
    let mut tasks = JoinSet::new();
    for _ in 0..callers {
        let (request, operate) = (request.clone(), operate.clone());
        let (next, start) = (Arc::clone(&next), Arc::clone(&start));
        let caller = async move {
            start.wait().await;
            let started = Instant::now();
            let mut claim_nanos = Vec::new();
            while started.elapsed() < duration {
                let took = operate(request(next.fetch_add(1, Ordering::Relaxed))).await?;
                claim_nanos.push(nanos(took));
            }
            Ok::<_, Failure>(Worked { started, ended: Instant::now(), claim_nanos })
        };
        tasks.spawn_on(caller, runtime.handle());
    }
    let worked = runtime.block_on(tasks.join_all()).into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(Sample {
        operations: worked.iter().map(|worked| worked.claim_nanos.len() as u64).sum(),
        elapsed: Worked::elapsed(&worked),
        claim_nanos: worked.into_iter().flat_map(|worked| worked.claim_nanos).collect(),
    })
}

struct Worked {
    started: Instant,
    ended: Instant,
    claim_nanos: Vec<u64>,
}

impl Worked {
    /// From the first caller's start to the last one's end.
    fn elapsed(all: &[Self]) -> Duration {
        let started = all.iter().map(|worked| worked.started).min();
        let ended = all.iter().map(|worked| worked.ended).max();
        started.zip(ended).map_or(Duration::ZERO, |(started, ended)| ended - started)
    }
}

/// Times one claim in 64. Reading the clock costs a tenth of what a claim in memory costs.
#[derive(Debug, Default)]
pub(crate) struct Timer {
    claims: u64,
    claim_nanos: Vec<u64>,
}

impl Timer {
    /// Does a claim, timed or not.
    pub(crate) fn claim<T>(&mut self, claim: impl FnOnce() -> T) -> T {
        self.claims += 1;
        if self.claims % 64 != 1 {
            return claim();
        }
        let started = Instant::now();
        let outcome = claim();
        self.claim_nanos.push(nanos(started.elapsed()));
        outcome
    }
}

pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The value of a future that never waits, such as a verb of the memory store.
pub(crate) fn ready<F: Future>(future: F) -> Result<F::Output, Failure> {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => Err("a store in memory waited".into()),
    }
}

fn span(secs: u64) -> Span {
    Span::new(Duration::from_secs(secs)).expect("not zero, and less than a hundred years")
}

const DAY_SECS: u64 = 86_400;
