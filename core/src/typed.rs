//! Results as values of the embedder's own types, stored as JSON.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::response::StoredResponse;

impl StoredResponse {
    /// A response whose body is `value` as JSON.
    ///
    /// # Errors
    /// [`serde_json::Error`] if `value` cannot be written as JSON. Nothing was stored.
    pub fn from_json<T: Serialize>(code: u16, value: &T) -> Result<Self, serde_json::Error> {
        let body = serde_json::to_vec(value)?;
        Ok(Self::new(code, body).with_header("content-type", "application/json"))
    }

    /// The body as a value.
    ///
    /// # Errors
    /// [`UnreadableResult`] if it is not JSON of that type, as after a release that renamed a field. The operation is
    /// done all the same: do not run it again.
    pub fn to_json<T: DeserializeOwned>(&self) -> Result<T, UnreadableResult> {
        serde_json::from_slice(&self.body).map_err(UnreadableResult::new)
    }
}

/// A stored result cannot be read as the type that was asked for.
#[derive(Debug, thiserror::Error)]
#[error("stored result cannot be read")]
pub struct UnreadableResult {
    category: serde_json::error::Category,
    line: usize,
    column: usize,
}

impl UnreadableResult {
    /// Keeps where it failed, not the words: a decoder's message may quote the stored body.
    #[expect(clippy::needless_pass_by_value, reason = "shaped for map_err")]
    fn new(error: serde_json::Error) -> Self {
        Self { category: error.classify(), line: error.line(), column: error.column() }
    }

    /// Whether the body is no JSON at all, rather than JSON of another shape.
    pub const fn is_syntax(&self) -> bool {
        !matches!(self.category, serde_json::error::Category::Data)
    }
}

#[cfg(feature = "tokio")]
mod running {
    use super::{DeserializeOwned, Serialize, StoredResponse, UnreadableResult};
    use crate::attempt::Attempt;
    use crate::fingerprint::Fingerprints;
    use crate::idempotency::Idempotency;
    use crate::key::RecordKey;
    use crate::outcome::{Answer, Outcome};
    use crate::run::RunError;

    impl Idempotency {
        /// [`Idempotency::run`] for a handler whose result is a value of its own type: it is stored as JSON, and comes
        /// back as a value.
        ///
        /// Dropping the future drops only the waiting, as there.
        ///
        /// A value that cannot be written as JSON is an operation that is done and whose result is lost: it is stored
        /// as not retained, and the caller of this very execution still gets it.
        ///
        /// # Errors
        /// As [`Idempotency::run`], and [`RunTypedError::Unreadable`] if the stored result is not of type `T`. The
        /// handler does not run again on that.
        pub async fn run_typed<T, F, Fut>(
            &self,
            key: &RecordKey,
            fingerprints: impl Into<Fingerprints>,
            handler: F,
        ) -> Result<Outcome<T>, RunTypedError>
        where
            T: Serialize + DeserializeOwned + Send + 'static,
            F: FnOnce(Attempt) -> Fut + Send + 'static,
            Fut: Future<Output = Answer<T>> + Send + 'static,
        {
            let (keep, kept) = tokio::sync::oneshot::channel();
            let outcome = self
                .run(key, fingerprints, move |attempt| async move {
                    let (answer, value) = encoded(handler(attempt).await);
                    // Nobody may be waiting for the value; the result is stored all the same.
                    drop(keep.send(value));
                    answer
                })
                .await?;
            Ok(match outcome {
                // The value itself; read back from the response only where it went astray.
                Outcome::Executed(response) => Outcome::Executed(match kept.await {
                    Ok(value) => value,
                    Err(_) => response.to_json()?,
                }),
                Outcome::Replayed(response) => Outcome::Replayed(response.to_json()?),
                Outcome::NotRetained(head) => Outcome::NotRetained(head),
                Outcome::InProgress(in_progress) => Outcome::InProgress(in_progress),
                Outcome::HashMismatch(summary) => Outcome::HashMismatch(summary),
                Outcome::Abandoned(abandoned) => Outcome::Abandoned(abandoned),
            })
        }
    }

    /// The answer as it is stored, and the value for the caller.
    fn encoded<T: Serialize>(answer: Answer<T>) -> (Answer, T) {
        match answer {
            Answer::Final(value) => match StoredResponse::from_json(0, &value) {
                Ok(response) => (Answer::Final(response), value),
                Err(_) => (Answer::NotRetained(StoredResponse::default()), value),
            },
            Answer::NotRetained(value) => (Answer::NotRetained(StoredResponse::default()), value),
            Answer::NoEffect(value) => (Answer::NoEffect(StoredResponse::default()), value),
        }
    }

    /// Why [`Idempotency::run_typed`] has no outcome.
    #[derive(Debug, thiserror::Error)]
    #[non_exhaustive]
    pub enum RunTypedError {
        /// There is no outcome at all.
        #[error(transparent)]
        Run(#[from] RunError),
        /// The operation is done, but its stored result cannot be read as this type.
        #[error(transparent)]
        Unreadable(#[from] UnreadableResult),
    }
}

#[cfg(feature = "tokio")]
pub use running::RunTypedError;
