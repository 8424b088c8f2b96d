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
use crate::response::{ResponseHead, StoredResult};
use crate::running::Place;

/// Stores the result, repeating the write past the lease, until the answer is definite or [`REPEAT_FOR`] has passed.
/// The effect has happened: giving up early would leave a key that nobody can answer for.
///
/// # Errors
/// The last error, when it is given up.
pub(crate) async fn store_result(holder: &Holder, whole: StoredResult) -> Result<Concluded, StoreError> {
    let head =
        StoredResult::NotRetained(ResponseHead { code: whole.code(), headers: whole.headers().to_vec() });
    let mut result = &whole;
    let mut backoff = Backoff::starting_with(PAUSE);
    loop {
        let error = match holder.store_either(result, &whole).await {
            Ok(concluded) => return Ok(concluded),
            Err(error) => error,
        };
        let rejected = error.kind() == StoreErrorKind::Rejected;
        if rejected && result.body().is_some() {
            // The store will not have these bytes. That the operation is done must still be known.
            holder.report(EventKind::WriteDelayed { error: &error });
            result = &head;
            continue;
        }
        if rejected {
            // It takes nothing at all: it is the set-up that is wrong, and the body is not to blame.
            result = &whole;
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
    place: Place,
) -> Option<Result<Concluded, StoreError>> {
    let storing = runtime.spawn(async move {
        let _place = place;
        store_result(&holder, result).await
    });
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
    // No heartbeat any more: where others may take over, the lease is renewed between two repetitions.
    match holder.rules().policy.parks() {
        true => backoff.pause().await,
        false => backoff.pause_at_most(holder.rules().lease.as_duration() / 3).await,
    }
    Ok(())
}

const PAUSE: Duration = Duration::from_millis(25);

/// How long a last write is repeated.
const REPEAT_FOR: Duration = Duration::from_secs(15 * 60);
