//! What becomes of an operation that was begun and never finished.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::outcome::Abandoned;
use crate::response::StoredResponse;

/// What becomes of an operation whose lease ran out before anybody finished it.
///
/// Its effect may have happened or not; the record cannot tell. The default never executes twice; the others need
/// something of the handler, or of the outside world, that only the embedder knows.
///
/// [`Rerun`](Self::Rerun) and [`Resolve`](Self::Resolve) cannot stop a holder that still runs: its writes are refused,
/// its effects are not. All processes that share a key must treat it under one policy: a holder under
/// [`Park`](Self::Park) is not told when the store cannot be reached, since nobody may take over.
#[derive(Clone, Debug, Default)]
#[expect(clippy::exhaustive_enums, reason = "an embedder chooses one of these")]
pub enum Policy {
    /// Nobody executes. Callers are told [`Abandoned`](crate::Outcome::Abandoned) until the holder completes late or
    /// somebody calls [`Idempotency::resolve`](crate::Idempotency::resolve).
    #[default]
    Park,
    /// The next caller executes again. Right for a handler whose effect is transactional, naturally idempotent,
    /// resumed from a checkpoint, or made by calls that carry [`derive_key`](crate::Attempt::derive_key).
    Rerun,
    /// The next caller claims the key, then asks the outside world what became of the earlier attempt.
    Resolve(Resolver),
}

impl Policy {
    pub(crate) const fn parks(&self) -> bool {
        matches!(self, Self::Park)
    }

    /// [`Policy::Resolve`] with `ask`, which finds out whether the effect of the abandoned attempt happened, by a
    /// look into the ledger or a question to the provider.
    ///
    /// It runs under a claim of its own, which counts as an attempt: the verdict must cover every attempt so far, see
    /// [`Abandoned`]. Should it panic, the verdict is [`Verdict::Unknown`]. Nobody ends it if it never answers: its
    /// caller waits, and after the longest run the next caller asks again. Give it a time-out of its own.
    pub fn resolve<F, Fut>(ask: F) -> Self
    where
        F: Fn(Abandoned) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Verdict> + Send + 'static,
    {
        Self::Resolve(Resolver(Arc::new(move |abandoned| Box::pin(ask(abandoned)))))
    }
}

/// The question that [`Policy::resolve`] was given.
#[derive(Clone)]
pub struct Resolver(Arc<Ask>);

type Ask = dyn Fn(Abandoned) -> Pin<Box<dyn Future<Output = Verdict> + Send>> + Send + Sync;

impl Resolver {
    pub(crate) fn ask(&self, abandoned: Abandoned) -> Pin<Box<dyn Future<Output = Verdict> + Send>> {
        (self.0)(abandoned)
    }
}

impl fmt::Debug for Resolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resolver")
    }
}

/// What became of an abandoned operation, over all of its attempts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "whoever decides must decide one of these")]
pub enum Verdict {
    /// The effect happened, and this is the response: stored and replayed from now on.
    Completed(StoredResponse),
    /// The effect did not happen, in no attempt, *and can no longer happen*. A holder that may still be running, or a
    /// request that may still be on its way to the provider, is [`Unknown`](Self::Unknown).
    NotExecuted,
    /// Nobody can tell yet. The key stays abandoned.
    Unknown,
}
