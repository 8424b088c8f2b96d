//! The look past the store.

use std::sync::Arc;

use async_trait::async_trait;
use onceonly::RecordKey;

use super::shared::lock;
use super::store::PlantedStore;
use crate::fixture::{FixtureError, RawAccess, RawLock, RawSnapshot};

impl PlantedStore {
    /// Counts, damages and locks records as somebody else can who has access to the database.
    pub fn raw(&self) -> Arc<dyn RawAccess> {
        Arc::new(Records(self.handle()))
    }
}

struct Records(PlantedStore);

#[async_trait]
impl RawAccess for Records {
    async fn count(&self) -> Result<u64, FixtureError> {
        Ok(self.0.len() as u64)
    }

    async fn stored(&self, key: &RecordKey) -> Result<Option<Vec<u8>>, FixtureError> {
        let damage = self.0.damage_of(key);
        Ok(self.0.stored(key).map(|record| format!("{record:?} {damage:?}").into_bytes()))
    }

    async fn damage(&self, key: &RecordKey, way: usize) -> Result<Option<String>, FixtureError> {
        Ok(self.0.damage(key, way).map(str::to_owned))
    }

    async fn lock(&self, key: &RecordKey) -> Result<Option<RawLock>, FixtureError> {
        Ok(Some(Box::new(self.0.lock_from_outside(key))))
    }

    async fn snapshot(&self) -> Result<Option<RawSnapshot>, FixtureError> {
        let snapshot = Arc::new(self.0.base.all());
        *lock(&self.0.shared.snapshot) = Arc::downgrade(&snapshot);
        Ok(Some(Box::new(snapshot)))
    }
}
