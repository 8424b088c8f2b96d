//! How often the engine allocates, over the memory store. A program of its own, since the allocator that counts would
//! slow down what the other one times.

use std::error::Error;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use allocation_counter::measure;
use onceonly::{
    Answer, Completed, Decision, Fingerprint, Idempotency, IdempotencyKey, Outcome, RecordKey, Scope,
    StoredResponse,
};
use onceonly_memory::MemoryStore;
use tokio::runtime::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    let onceonly = Idempotency::new(MemoryStore::new());
    let fingerprint = Fingerprint::builder().part("body", [b'x'; 200]).finish();
    let keys = (0..OPERATIONS * 3).map(|number| IdempotencyKey::new(&format!("request-{number:020}")));
    let keys = keys
        .map(|key| Ok(RecordKey::new(Scope::global(), key?)))
        .collect::<Result<Vec<_>, Box<dyn Error>>>()?;
    let (for_begin, rest) = keys.split_at(OPERATIONS);
    let (for_begin_in_runtime, for_run) = rest.split_at(OPERATIONS);
    let runtime = Builder::new_current_thread().enable_time().build()?;

    let begin = async |key: &RecordKey, response: StoredResponse| match onceonly.begin(key, fingerprint).await
    {
        Ok(Decision::Execute(mut claim)) => matches!(claim.complete(response).await, Completed::Stored),
        Ok(Decision::Replay(_)) => true,
        _ => false,
    };
    let run = async |key: &RecordKey, response: StoredResponse| {
        let handler = |_| async move { Answer::Final(response) };
        matches!(
            onceonly.run(key, fingerprint, handler).await,
            Ok(Outcome::Executed(_) | Outcome::Replayed(_))
        )
    };

    println!("| allocations beyond the response's own | median | most |\n|---|--:|--:|");
    for kind in ["fresh", "replay"] {
        count(&format!("begin + complete, {kind}"), for_begin, |key, response| ready(begin(key, response)))?;
        count(&format!("begin + complete in tokio, {kind}"), for_begin_in_runtime, |key, response| {
            runtime.block_on(begin(key, response))
        })?;
        count(&format!("run, {kind}"), for_run, |key, response| runtime.block_on(run(key, response)))?;
    }
    Ok(())
}

/// Prints how often `operate` allocates on this thread. The most includes the growing of maps.
fn count(
    name: &str,
    keys: &[RecordKey],
    mut operate: impl FnMut(&RecordKey, StoredResponse) -> bool,
) -> Result<(), Box<dyn Error>> {
    let mut counts = Vec::with_capacity(keys.len());
    for key in keys {
        let response = StoredResponse::new(201, vec![b'r'; 200]);
        // A body is shared by the record and whoever is answered; sharing it the first time allocates once.
        let response = response.clone();
        let mut done = false;
        counts.push(measure(|| done = operate(key, response)).count_total);
        if !done {
            return Err(format!("{name}: an operation was not done").into());
        }
    }
    counts.sort_unstable();
    let median = counts.get(counts.len() / 2).ok_or("no keys")?;
    println!("| {name} | {median} | {} |", counts.last().unwrap_or(median));
    Ok(())
}

/// The value of a future that never waits.
fn ready(future: impl Future<Output = bool>) -> bool {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => false,
    }
}

const OPERATIONS: usize = 10_000;
