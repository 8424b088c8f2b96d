//! Last writes that are repeated until the store has answered.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::caller::{ANSWER_WITHIN, Backoff};
use crate::conclude::Concluded;
use crate::error::{StoreError, StoreErrorKind};
use crate::holder::Holder;
use crate::observer::EventKind;
use crate::response::StoredResult;

/// Stores the result, repeating the write past the lease, until the answer is definite or [`REPEAT_FOR`] has passed.
/// The effect has happened: giving up early would leave a key that nobody can answer for.
///
/// # Errors
/// The last error, when it is given up.
pub(crate) async fn store_result(holder: &Holder, mut result: StoredResult) -> Result<Concluded, StoreError> {
    let mut backoff = Backoff::starting_with(PAUSE);
    loop {
        let error = match holder.store_result(&result).await {
            Ok(concluded) => return Ok(concluded),
            Err(error) => error,
        };
        if error.kind() == StoreErrorKind::Rejected
            && let StoredResult::Retained(response) = result
        {
            // The store will not have these bytes. That the operation is done must still be known.
            result = StoredResult::NotRetained(response.into_head());
            holder.report(EventKind::WriteDelayed { error: &error });
            continue;
        }
        wait(holder, error, &mut backoff).await?;
        // Where others may take over, they are kept from it as long as the store lets us.
        drop(holder.extend(None).await);
    }
}

/// [`store_result`] in a task of its own, awaited for at most [`ANSWER_WITHIN`]: none if it is not over by then, or if
/// the runtime is shutting down.
pub(crate) async fn store_in_background(
    runtime: &Handle,
    holder: Arc<Holder>,
    result: StoredResult,
) -> Option<Result<Concluded, StoreError>> {
    let storing = runtime.spawn(async move { store_result(&holder, result).await });
    timeout(ANSWER_WITHIN, storing).await.ok()?.ok()
}

/// Gives the claim back, repeating the write as [`store_result`] does. Given up, it is left to its lease.
pub(crate) async fn give_back(holder: &Holder) {
    let mut backoff = Backoff::starting_with(PAUSE);
    while let Err(error) = holder.give_back().await {
        if wait(holder, error, &mut backoff).await.is_err() {
            return;
        }
    }
}

/// Pauses before a write is repeated, or gives it up.
async fn wait(holder: &Holder, error: StoreError, backoff: &mut Backoff) -> Result<(), StoreError> {
    if error.kind() == StoreErrorKind::Corrupt || backoff.elapsed() >= REPEAT_FOR {
        holder.report(EventKind::WriteFailed { error: &error });
        return Err(error);
    }
    holder.report(EventKind::WriteDelayed { error: &error });
    backoff.pause().await;
    Ok(())
}

const PAUSE: Duration = Duration::from_millis(25);

/// How long a last write is repeated.
const REPEAT_FOR: Duration = Duration::from_secs(15 * 60);
