//! A runtime that ends while its calls are under way, and a handle that goes together with its calls.

use std::sync::Arc;
use std::time::Duration;

use onceonly::{Expected, NewClaim, RecordKey};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;

use super::dropped::is_a_state_of_the_task;
use super::failures::recovers;
use crate::case::{Case, checkpoint, completion, response, set_up};
use crate::handle::Handle;
use crate::verdict::check;

/// The engine too calls a store from a runtime of its own, which ends when the engine does.
pub(super) async fn a_runtime_that_ends_leaves_whole_records_and_a_usable_handle(case: &Case) {
    let (handle, fresh) = (case.another().await, case.another().await);
    for round in 0..6 {
        let tasks = Tasks::of(case, round);
        let runtime = set_up(runtime().map_err(Into::into));
        for (key, claim) in &tasks.claims {
            runtime.spawn(tasks.task(&handle, key, claim));
        }
        tasks.some_are_over(round * 4).await;
        end(runtime).await;

        tasks.check_whole(case.store(), "a runtime that ended").await;
        recovers(case, &handle, &fresh, "the runtime that made its first calls has ended").await;
    }
}

pub(super) async fn a_handle_that_goes_with_its_calls_leaves_whole_records(case: &Case) {
    for round in 0..6 {
        let handle = case.another().await;
        let tasks = Tasks::of(case, round);
        let running: Vec<_> =
            tasks.claims.iter().map(|(key, claim)| tokio::spawn(tasks.task(&handle, key, claim))).collect();
        drop(handle);
        // In the last round all are over, and the handle goes with its last call.
        tasks.some_are_over(if round == 5 { TASKS } else { round * 4 }).await;
        for task in running {
            task.abort();
            // Over or aborted, it holds no handle any more.
            let _ = task.await;
        }

        tasks.check_whole(case.store(), "a handle that went with its calls").await;
        tasks.check_usable(case, round).await;
    }
}

/// Tasks that each claim a key, save a checkpoint and complete.
struct Tasks {
    claims: Vec<(RecordKey, NewClaim)>,
    /// A permit for each that is over.
    over: Arc<Semaphore>,
}

impl Tasks {
    fn of(case: &Case, round: usize) -> Self {
        let key = |number| case.key(&format!("round {round}, task {number}"));
        let claims = (0..TASKS).map(|number| (key(number), case.claim())).collect();
        Self { claims, over: Arc::new(Semaphore::new(0)) }
    }

    fn task(
        &self,
        handle: &Handle,
        key: &RecordKey,
        claim: &NewClaim,
    ) -> impl Future<Output = ()> + Send + use<> {
        let (handle, key, claim, over) = (handle.clone(), key.clone(), claim.clone(), Arc::clone(&self.over));
        async move {
            handle.claimed(&key, &claim).await;
            handle.renewed(&key, claim.token, &checkpoint(2, claim.lease, "half-way")).await;
            handle.completed(&key, claim.token, &completion(3, response("done"))).await;
            over.add_permits(1);
        }
    }

    async fn some_are_over(&self, count: usize) {
        // The semaphore is never closed.
        let _ = self.over.acquire_many(u32::try_from(count).unwrap_or(0)).await;
    }

    async fn check_whole(&self, store: &Handle, after: &str) {
        for (key, claim) in &self.claims {
            let Some(found) = store.load(key).await else { continue };
            check!(
                is_a_state_of_the_task(&found.record, claim),
                "{after} left a record that none of its calls writes: {:?}",
                found.record
            );
        }
    }

    async fn check_usable(&self, case: &Case, round: usize) {
        let (key, claim) = (case.key(&format!("after round {round}")), case.claim());
        case.store().claimed(&key, &claim).await;
        let seen = case.another().await.occupied(&key, &case.claim(), Expected::Absent).await;
        check!(
            seen.record.version.token == claim.token,
            "after a handle was dropped, others see another record"
        );
    }
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(2).enable_all().build()
}

/// Waits until its tasks are dropped. That blocks, so not here.
async fn end(runtime: Runtime) {
    let ending = tokio::task::spawn_blocking(move || runtime.shutdown_timeout(Duration::from_secs(30)));
    crate::race::joined(ending).await;
}

const TASKS: usize = 24;
