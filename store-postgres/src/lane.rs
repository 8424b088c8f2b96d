//! A connection on which calls that came together travel together.

use std::collections::HashSet;
use std::sync::Arc;

use onceonly::{ClaimOutcome, CompleteOutcome, RecordKey, ReleaseOutcome, RenewOutcome, Snapshot};
use sqlx::postgres::PgConnection;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::carry::{self, Outcomes};
use crate::connection::{Link, Settings};
use crate::error::Error;
use crate::job::{Claim, Complete, Job, Load, Queued, ReleaseCall, Renew, Takeover};
use crate::statements::Statements;
use crate::verb::Verb;

/// Carries out what is queued, until the queue is dropped.
///
/// There is no timer: what is queued when a statement ends goes with the next one, and a call that finds nobody before it
/// goes at once.
pub(crate) async fn run(settings: Arc<Settings>, mut queue: UnboundedReceiver<Vec<Job>>) {
    let mut link = Link::new(settings);
    while let Some(mut waiting) = queue.recv().await {
        while waiting.len() < BATCH_MAX {
            match queue.try_recv() {
                Ok(jobs) => waiting.extend(jobs),
                Err(_) => break,
            }
        }
        while !waiting.is_empty() {
            let (batch, rest) = Batch::of_different_keys(waiting);
            batch.carry_out(&mut link).await;
            waiting = rest;
        }
    }
    link.close().await;
}

/// Calls about different records, by verb.
#[derive(Default)]
struct Batch {
    loads: Vec<Queued<Load, Option<Snapshot>>>,
    claims: Vec<Queued<Claim, ClaimOutcome>>,
    takeovers: Vec<Queued<Takeover, ClaimOutcome>>,
    renewals: Vec<Queued<Renew, RenewOutcome>>,
    completions: Vec<Queued<Complete, CompleteOutcome>>,
    releases: Vec<Queued<ReleaseCall, ReleaseOutcome>>,
}

impl Batch {
    /// The first call about each record, and the others in their order: calls about one record keep theirs.
    fn of_different_keys(waiting: Vec<Job>) -> (Self, Vec<Job>) {
        let mut batch = Self::default();
        let mut seen: HashSet<RecordKey> = HashSet::new();
        let mut rest = Vec::new();
        for job in waiting {
            if job.is_pointless() {
                continue;
            }
            if seen.len() == BATCH_MAX || !seen.insert(job.key().clone()) {
                rest.push(job);
                continue;
            }
            match job {
                Job::Load(queued) => batch.loads.push(queued),
                Job::Claim(queued) => batch.claims.push(queued),
                Job::Takeover(queued) => batch.takeovers.push(queued),
                Job::Renew(queued) => batch.renewals.push(queued),
                Job::Complete(queued) => batch.completions.push(queued),
                Job::Release(queued) => batch.releases.push(queued),
            }
        }
        (batch, rest)
    }

    async fn carry_out(self, link: &mut Link) {
        settle(link, self.loads, carry::all).await;
        settle(link, self.claims, carry::claims).await;
        settle(link, self.takeovers, carry::all).await;
        settle(link, self.renewals, carry::all).await;
        settle(link, self.completions, carry::all).await;
        settle(link, self.releases, carry::all).await;
    }
}

/// Carries out calls of one verb and answers them.
///
/// If the server refuses the statement because of one item, each is tried by itself: no caller fails for another's sake.
async fn settle<V: Verb, T>(
    link: &mut Link,
    calls: Vec<Queued<V, T>>,
    carry: impl AsyncFn(&mut PgConnection, &Statements, &[&V]) -> Outcomes<T>,
) {
    if calls.is_empty() {
        return;
    }
    let items: Vec<&V> = calls.iter().map(|queued| &queued.call).collect();
    let mut outcomes = link.carry_out(&items, &carry).await;
    if items.len() > 1 && outcomes.as_ref().is_err_and(Error::is_of_the_statement) {
        let mut each = Vec::with_capacity(items.len());
        for item in items {
            let alone = link.carry_out(&[item], &carry).await;
            each.push(alone.and_then(|mut outcomes| outcomes.remove(0)));
        }
        outcomes = Ok(each);
    }
    match outcomes {
        Ok(outcomes) => {
            for (queued, outcome) in calls.into_iter().zip(outcomes) {
                // Whoever asked may be gone.
                let _ = queued.answer.send(outcome.map_err(Into::into));
            }
        }
        Err(error) => {
            for queued in calls {
                let _ = queued.answer.send(Err(error.again()));
            }
        }
    }
}

/// More in one statement gains little, and makes a lock that is held elsewhere dearer.
const BATCH_MAX: usize = 256;
