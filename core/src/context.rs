//! What every clone of an engine shares with the claims that it makes.

use std::sync::Arc;

use crate::error::StoreError;
use crate::guard::guarded;
#[cfg(feature = "tokio")]
use crate::heartbeat::Heart;
use crate::holder::{Granted, Holder};
use crate::key::RecordKey;
use crate::observer::Reporter;
use crate::record::Snapshot;
use crate::settings::Rules;
use crate::store::{ClaimOutcome, Expected, KeyStore, NewClaim};

/// The store, who is told of what happens, and the thread that renews.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) store: Arc<dyn KeyStore>,
    pub(crate) reporter: Reporter,
    #[cfg(feature = "tokio")]
    pub(crate) heart: Arc<Heart>,
}

impl Context {
    pub(crate) async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        guarded(self.store.name(), self.store.claim(key, claim, expected)).await
    }

    pub(crate) async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        guarded(self.store.name(), self.store.load(key)).await
    }

    /// The holder of a claim that was granted under `rules`.
    pub(crate) fn hold(&self, rules: Arc<Rules>, granted: Granted) -> Holder {
        Holder::new(Arc::clone(&self.store), self.reporter.clone(), rules, granted)
    }
}
