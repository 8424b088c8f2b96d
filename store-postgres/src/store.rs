//! The store.

use std::fmt;
use std::sync::Arc;
use std::thread;

use async_trait::async_trait;
use futures_channel::oneshot;
use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, RecordKey,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, Token,
};
use tokio::runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::connection::Settings;
use crate::error::{Error, NAME};
use crate::job::{Answer, Complete, Job, Load, Queued, ReleaseCall, Renew};
use crate::lane;
use crate::options::PostgresOptions;
use crate::purge::{self, Purge};

/// A [`KeyStore`] in a PostgreSQL table, for any number of processes.
///
/// Clones share a few connections of the store's own, each driven by a thread; they are opened when they are first needed
/// and again when they are lost. Dropping the last clone ends them, once what is queued is answered.
///
/// Records that are past their time stay until [`KeyStore::purge_expired`] deletes them: run the engine's sweeper.
#[derive(Clone)]
pub struct PostgresStore {
    shared: Arc<Shared>,
}

struct Shared {
    settings: Arc<Settings>,
    lanes: Vec<UnboundedSender<Vec<Job>>>,
    purges: UnboundedSender<Purge>,
}

impl PostgresStore {
    /// The default options, to be changed before connecting.
    pub fn options() -> PostgresOptions {
        PostgresOptions::new()
    }

    pub(crate) fn start(settings: Settings, lanes: usize) -> Result<Self, Error> {
        let settings = Arc::new(settings);
        let lanes = (0..lanes)
            .map(|number| {
                let settings = Arc::clone(&settings);
                on_a_thread(format!("onceonly-postgres-{number}"), |queue| lane::run(settings, queue))
            })
            .collect::<Result<_, _>>()?;
        let purging = Arc::clone(&settings);
        let purges = on_a_thread("onceonly-purge".to_owned(), |queue| purge::run(purging, queue))?;
        Ok(Self { shared: Arc::new(Shared { settings, lanes, purges }) })
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.shared.settings
    }

    /// Queues a call where calls about its record queue, and waits for the answer.
    async fn call<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, StoreError> {
        let (answer, answered) = oneshot::channel();
        let job = job(answer);
        let lane = self.lane(job.key());
        // If the thread has panicked, the caller sees its answer dropped.
        let _ = self.shared.lanes[lane].send(vec![job]);
        answer_of(answered).await
    }

    /// Calls about one record go over one connection, where they keep their order.
    fn lane(&self, key: &RecordKey) -> usize {
        let [.., last] = key.digest();
        usize::from(*last) % self.shared.lanes.len()
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("table", &self.shared.settings.table.qualified())
            .finish_non_exhaustive()
    }
}

/// Every verb travels in one statement with what queued beside it, and is answered after its commit. A dropped future
/// leaves a claim undone if its turn had not come; everything else is carried out.
#[async_trait]
impl KeyStore for PostgresStore {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        self.call(|answer| Job::claim(key.clone(), claim.clone(), expected, answer)).await
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        let call = Load { key: key.clone() };
        self.call(|answer| Job::Load(Queued { call, answer })).await
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let call = Renew { key: key.clone(), token, renewal: renewal.clone() };
        self.call(|answer| Job::Renew(Queued { call, answer })).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let call = Complete { key: key.clone(), token, completion: completion.clone() };
        self.call(|answer| Job::Complete(Queued { call, answer })).await
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let call = ReleaseCall { key: key.clone(), token, release: *release };
        self.call(|answer| Job::Release(Queued { call, answer })).await
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        let (answer, answered) = oneshot::channel();
        let _ = self.shared.purges.send(Purge { limit, answer });
        answer_of(answered).await
    }

    async fn claim_many(&self, claims: &[ClaimRequest]) -> Vec<Result<ClaimOutcome, StoreError>> {
        let mut waiting = Vec::with_capacity(claims.len());
        let mut jobs: Vec<Vec<Job>> = self.shared.lanes.iter().map(|_| Vec::new()).collect();
        for ClaimRequest { key, claim, expected } in claims {
            let (answer, answered) = oneshot::channel();
            jobs[self.lane(key)].push(Job::claim(key.clone(), claim.clone(), *expected, answer));
            waiting.push(answered);
        }
        for (lane, jobs) in self.shared.lanes.iter().zip(jobs) {
            let _ = lane.send(jobs);
        }
        let mut outcomes = Vec::with_capacity(waiting.len());
        for answered in waiting {
            outcomes.push(answer_of(answered).await);
        }
        outcomes
    }
}

async fn answer_of<T>(answered: oneshot::Receiver<Result<T, StoreError>>) -> Result<T, StoreError> {
    match answered.await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::Unanswered("the store's thread has ended").into()),
    }
}

/// A queue whose calls are carried out on a thread with a runtime of its own: callers' runtimes may end, or be kept busy
/// by a handler that blocks. It ends when the queue is dropped, once it has answered what is in there.
fn on_a_thread<J: Send + 'static, F: Future<Output = ()>>(
    name: String,
    run: impl FnOnce(UnboundedReceiver<J>) -> F + Send + 'static,
) -> Result<UnboundedSender<J>, Error> {
    let (sender, queue) = unbounded_channel();
    let runtime = runtime::Builder::new_current_thread().enable_all().build().map_err(Error::Thread)?;
    let carry_out = move || runtime.block_on(run(queue));
    thread::Builder::new().name(name).spawn(carry_out).map_err(Error::Thread)?;
    Ok(sender)
}
