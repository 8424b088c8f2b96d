//! B013: reads that lag behind, as from a replica, over writes that do not.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, CompleteOutcome, Completion, Expected, Idempotency, KeyStore, NewClaim, Outcome, Policy,
    RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, Token, Waiting,
};
use onceonly_conformance::Fates;

use super::setup::{World, charged, request, response};

/// Shows each record as it was when it was frozen; writes go to the present one.
#[derive(Clone)]
struct Lagging {
    store: Fates,
    frozen: Arc<Mutex<HashMap<RecordKey, Option<Snapshot>>>>,
}

impl Lagging {
    fn behind(store: Fates) -> Self {
        Self { store, frozen: Arc::default() }
    }

    async fn freeze(&self, key: &RecordKey) {
        let seen = self.store.load(key).await.unwrap();
        self.frozen.lock().unwrap().insert(key.clone(), seen);
    }

    fn lagging(&self, key: &RecordKey, present: Option<Snapshot>) -> Option<Snapshot> {
        self.frozen.lock().unwrap().get(key).cloned().unwrap_or(present)
    }
}

#[async_trait]
impl KeyStore for Lagging {
    fn name(&self) -> &'static str {
        "lagging"
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        Ok(match self.store.claim(key, claim, expected).await? {
            ClaimOutcome::Occupied(snapshot) => match self.lagging(key, Some(*snapshot)) {
                Some(snapshot) => ClaimOutcome::Occupied(Box::new(snapshot)),
                None => ClaimOutcome::Vacant,
            },
            outcome => outcome,
        })
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        let present = self.store.load(key).await?;
        Ok(self.lagging(key, present))
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        self.store.renew(key, token, renewal).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        self.store.complete(key, token, completion).await
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        self.store.release(key, token, release).await
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        self.store.purge_expired(limit).await
    }
}

/// A lagging view of a key: nothing there yet, still running, or abandoned; and the key is finished by now.
#[tokio::test]
async fn b013_a_lagging_read_never_leads_to_a_second_execution() {
    for policy in [Policy::Park, Policy::Rerun] {
        for moment in ["absent", "running", "abandoned"] {
            let world = World::under(policy.clone());
            let lagging = Lagging::behind(world.fates.clone());
            if moment == "absent" {
                lagging.freeze(&world.key).await;
            }
            let started = world.start().await;
            if moment == "abandoned" {
                world.let_lease_pass();
            }
            if moment != "absent" {
                lagging.freeze(&world.key).await;
            }
            started.finish(charged()).await.unwrap();
            let engine = Idempotency::builder(lagging)
                .policy(policy.clone())
                .waiting(Waiting::UpTo(std::time::Duration::from_millis(50)))
                .build()
                .unwrap();
            let outcome = engine.run(&world.key, request(), |_| async { unreachable!("it ran twice") }).await;
            assert!(
                matches!(outcome, Ok(Outcome::InProgress(_) | Outcome::Abandoned(_))),
                "{policy:?}, seen {moment}: {outcome:?}"
            );
            assert_eq!(world.run(charged()).await.unwrap(), Outcome::Replayed(response("charged")));
        }
    }
}
