//! `begin` inside a runtime: the claim is made in a task of its own, so that dropping the caller loses nothing.

use std::sync::Arc;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tracing::{Instrument as _, Span};

use crate::acquire::Unobtained;
use crate::caller::Caller;
use crate::claim::{Claim, Decision};
use crate::error::{StoreError, StoreErrorKind};
use crate::fingerprint::Fingerprints;
use crate::holder::Holder;
use crate::idempotency::Idempotency;
use crate::key::RecordKey;
use crate::outcome::Refusal;
use crate::persist;
use crate::recover::Obtained;

impl Idempotency {
    pub(crate) async fn begin_in_background(
        &self,
        runtime: Handle,
        key: RecordKey,
        fingerprints: Fingerprints,
    ) -> Result<Decision, StoreError> {
        let (waiting, answer) = oneshot::channel();
        let (engine, handle) = (self.clone(), runtime.clone());
        let making = async move {
            let mut caller = Caller::new(waiting, ());
            // Whatever comes back undelivered is given back by its drop.
            match engine.obtain(&key, &fingerprints, &mut caller).await {
                Ok(obtained) => drop(caller.answer(Ok(Delivery::of(obtained, &engine, handle)))),
                Err(Unobtained { error, left_behind }) => {
                    drop(caller.answer(Err(error)));
                    if let Some(holder) = left_behind {
                        persist::give_back(&holder).await;
                    }
                }
            }
        };
        runtime.spawn(making.instrument(Span::current()));
        match answer.await {
            Ok(delivery) => Ok(delivery?.take()),
            Err(_) => Err(StoreError::new(
                StoreErrorKind::Unavailable,
                self.shared.context.store.name(),
                "the runtime shut down while a claim was under way",
            )),
        }
    }
}

/// What a request came to, on its way to the caller. A grant that is dropped on the way is given back: nobody has
/// executed under it.
enum Delivery {
    Granted(Undelivered),
    Refused(Refusal),
}

impl Delivery {
    fn of(obtained: Obtained, engine: &Idempotency, runtime: Handle) -> Self {
        match obtained {
            Obtained::Granted(holder) => {
                Self::Granted(Undelivered { holder: Some(holder), engine: engine.clone(), runtime })
            }
            Obtained::Refused(refusal) => Self::Refused(refusal),
        }
    }

    fn take(self) -> Decision {
        match self {
            Self::Granted(undelivered) => Decision::Execute(undelivered.take()),
            Self::Refused(refusal) => refusal.into(),
        }
    }
}

struct Undelivered {
    holder: Option<Arc<Holder>>,
    engine: Idempotency,
    runtime: Handle,
}

impl Undelivered {
    fn take(mut self) -> Claim {
        let holder = self.holder.take().expect("a grant is taken once");
        self.engine.claim(holder)
    }
}

impl Drop for Undelivered {
    fn drop(&mut self) {
        if let Some(holder) = self.holder.take() {
            self.runtime.spawn(async move { persist::give_back(&holder).await });
        }
    }
}
