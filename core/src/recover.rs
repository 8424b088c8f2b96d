//! Claiming, and asking about the attempt that was taken over before anything is done under the claim.

use std::sync::Arc;

use crate::acquire::{Acquired, Acquisition, Grant, LOOKS_MAX, Patience, Unobtained};
#[cfg(feature = "tokio")]
use crate::caller::runtime_with_timers;
use crate::conclude::{Concluded, Superseded};
use crate::error::StoreError;
use crate::guard::catch_panic;
use crate::holder::{Held, Holder};
use crate::outcome::{Abandoned, InProgress, Refusal};
use crate::policy::{Policy, Verdict};
use crate::response::StoredResult;

/// What a request came to, once an abandoned attempt before it was asked about.
pub(crate) enum Obtained {
    Granted(Arc<Holder>),
    Refused(Refusal),
}

enum Recovered {
    Execute,
    Refused(Refusal),
    /// Somebody took over while the question was out: look again.
    Superseded,
}

impl Acquisition<'_> {
    /// Claims the key; under [`Policy::Resolve`] asks what became of an abandoned attempt first.
    pub(crate) async fn obtain(&self, patience: &mut impl Patience) -> Result<Obtained, Unobtained> {
        for _ in 0..LOOKS_MAX {
            let grant = match self.acquire(patience).await? {
                Acquired::Refused(refusal) => return Ok(Obtained::Refused(refusal)),
                Acquired::Granted(grant) => grant,
            };
            let Grant { holder, ask_about: Some(abandoned) } = grant else {
                return Ok(Obtained::Granted(grant.holder));
            };
            let recovered = self.recover(&holder, abandoned, patience).await;
            match recovered.map_err(|error| Unobtained::leaving(error, Arc::clone(&holder)))? {
                Recovered::Execute => return Ok(Obtained::Granted(holder)),
                Recovered::Refused(refusal) => return Ok(Obtained::Refused(refusal)),
                Recovered::Superseded => {}
            }
        }
        Ok(Obtained::Refused(Refusal::InProgress(InProgress::unseen())))
    }

    async fn recover(
        &self,
        holder: &Arc<Holder>,
        abandoned: Abandoned,
        patience: &mut impl Patience,
    ) -> Result<Recovered, StoreError> {
        // Without a runtime, or a thread for heartbeats, the lease alone covers the question; a question that outlives it
        // is asked again by the next caller, and this one's writes are refused.
        #[cfg(feature = "tokio")]
        let heartbeat = runtime_with_timers().and_then(|_| self.context.heart.start(Arc::clone(holder)).ok());
        let verdict = self.ask(abandoned.clone()).await;
        #[cfg(feature = "tokio")]
        drop(heartbeat);
        match verdict {
            Verdict::Completed(response) => {
                let result = self.rules.result_to_store(response);
                store_verdict(holder, result, patience).await
            }
            // The claim may have been lost while the question was out.
            Verdict::NotExecuted => match holder.extend_patiently(patience).await? {
                Held::Yes => Ok(Recovered::Execute),
                Held::No => Ok(Recovered::Superseded),
            },
            Verdict::Unknown => {
                while let Err(error) = holder.end_lease().await {
                    patience.bear(error).await?;
                }
                Ok(Recovered::Refused(Refusal::Abandoned(abandoned)))
            }
        }
    }

    /// Asks the embedder. A question that panics has no answer.
    async fn ask(&self, abandoned: Abandoned) -> Verdict {
        let Policy::Resolve(resolver) = &self.rules.policy else {
            return Verdict::Unknown;
        };
        catch_panic(async { resolver.ask(abandoned).await }).await.unwrap_or(Verdict::Unknown)
    }
}

async fn store_verdict(
    holder: &Holder,
    result: StoredResult,
    patience: &mut impl Patience,
) -> Result<Recovered, StoreError> {
    let concluded = loop {
        match holder.store_result(&result).await {
            Ok(concluded) => break concluded,
            Err(error) => patience.bear(error).await?,
        }
    };
    Ok(match concluded {
        Concluded::Stored => Recovered::Refused(Refusal::completed(result)),
        Concluded::Superseded(Superseded::By(stored)) => Recovered::Refused(Refusal::completed(stored)),
        Concluded::Superseded(Superseded::NotHeld) => Recovered::Superseded,
    })
}
