//! What every clone of an engine shares with the claims that it makes.

use std::sync::Arc;

#[cfg(feature = "tokio")]
use crate::heartbeat::Heart;
use crate::holder::{Granted, Holder};
use crate::observer::Reporter;
use crate::settings::Rules;
use crate::store::KeyStore;

/// The store, who is told of what happens, and the thread that renews.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) store: Arc<dyn KeyStore>,
    pub(crate) reporter: Reporter,
    #[cfg(feature = "tokio")]
    pub(crate) heart: Arc<Heart>,
}

impl Context {
    /// The holder of a claim that was granted under `rules`.
    pub(crate) fn hold(&self, rules: Arc<Rules>, granted: Granted) -> Holder {
        Holder::new(Arc::clone(&self.store), self.reporter.clone(), rules, granted)
    }
}
