//! Refusals, as problem details of RFC 9457.
//!
//! A client tells them apart by `type`, never by the status: 409 can be any of three of Onceonly's, or an answer of the
//! application's own.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use onceonly::StoredResponse;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::message;

/// A kind of refusal.
#[derive(Debug, Serialize)]
pub(crate) struct ProblemType {
    #[serde(rename = "type")]
    urn: &'static str,
    title: &'static str,
    status: u16,
}

/// The route needs a key, and none was sent.
pub(crate) const KEY_MISSING: ProblemType = ProblemType {
    urn: "urn:onceonly:problem:key-missing",
    status: 400,
    title: "This operation requires an idempotency key",
};

/// The header holds no key.
pub(crate) const KEY_INVALID: ProblemType = ProblemType {
    urn: "urn:onceonly:problem:key-invalid",
    status: 400,
    title: "The idempotency key is malformed",
};

/// The key belongs to another request. It must not say which part differed.
pub(crate) const KEY_REUSED: ProblemType = ProblemType {
    urn: "urn:onceonly:problem:key-reused",
    status: 422,
    title: "The idempotency key was used for another request",
};

/// The first request with this key still runs.
pub(crate) const REQUEST_IN_PROGRESS: ProblemType = ProblemType {
    urn: "urn:onceonly:problem:request-in-progress",
    status: 409,
    title: "A request with this idempotency key is in progress",
};

/// The first request was cut off, and nobody knows how far it came.
pub(crate) const OUTCOME_INDETERMINATE: ProblemType = ProblemType {
    urn: "urn:onceonly:problem:outcome-indeterminate",
    status: 409,
    title: "The outcome of the request with this idempotency key is not known",
};

/// The operation is done, and its response was not kept.
pub(crate) const RESPONSE_UNAVAILABLE: ProblemType = ProblemType {
    urn: "urn:onceonly:problem:response-unavailable",
    status: 409,
    title: "The response to this idempotency key is no longer available",
};

/// The keys cannot be looked up, so nothing may run.
pub(crate) const STORE_UNAVAILABLE: ProblemType = ProblemType {
    urn: "urn:onceonly:problem:store-unavailable",
    status: 503,
    title: "Idempotency keys cannot be checked at the moment",
};

/// This server's own: the charge cannot be made as asked for.
pub(crate) const CHARGE_INVALID: ProblemType =
    ProblemType { urn: "urn:payments:problem:charge-invalid", status: 400, title: "The charge is not valid" };

/// This server's own: the account header holds no account.
pub(crate) const ACCOUNT_INVALID: ProblemType = ProblemType {
    urn: "urn:payments:problem:account-invalid",
    status: 400,
    title: "The account is not valid",
};

/// This server's own: the body is larger than it reads.
pub(crate) const BODY_TOO_LARGE: ProblemType = ProblemType {
    urn: "urn:payments:problem:body-too-large",
    status: 413,
    title: "The request body is too large",
};

/// This server's own: the body ended too early, or came too slowly.
pub(crate) const BODY_INCOMPLETE: ProblemType = ProblemType {
    urn: "urn:payments:problem:body-incomplete",
    status: 408,
    title: "The request body did not arrive",
};

/// This server's own: the charge failed, with whatever effect; a stored answer like any other.
pub(crate) const CHARGE_FAILED: ProblemType =
    ProblemType { urn: "urn:payments:problem:charge-failed", status: 500, title: "The charge failed" };

/// This server's own: the provider turned the charge down.
pub(crate) const CHARGE_REFUSED: ProblemType = ProblemType {
    urn: "urn:payments:problem:charge-refused",
    status: 422,
    title: "The provider refused the charge",
};

/// This server's own: the provider did nothing.
pub(crate) const PROVIDER_UNAVAILABLE: ProblemType = ProblemType {
    urn: "urn:payments:problem:provider-unavailable",
    status: 503,
    title: "The provider could not be reached",
};

/// This server's own: the handler was cut off.
pub(crate) const INTERNAL_ERROR: ProblemType = ProblemType {
    urn: "urn:payments:problem:internal-error",
    status: 500,
    title: "The server failed while it worked on the request",
};

/// This server's own: it is about to stop.
pub(crate) const SHUTTING_DOWN: ProblemType = ProblemType {
    urn: "urn:payments:problem:shutting-down",
    status: 503,
    title: "The server is shutting down",
};

/// This server's own: there is nothing at this path.
pub(crate) const NOT_FOUND: ProblemType = ProblemType {
    urn: "urn:payments:problem:not-found",
    status: 404,
    title: "There is nothing at this path",
};

/// This server's own: the path does not take this method.
pub(crate) const METHOD_NOT_ALLOWED: ProblemType = ProblemType {
    urn: "urn:payments:problem:method-not-allowed",
    status: 405,
    title: "The path does not take this method",
};

/// A refusal of one request.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: &'static ProblemType,
    detail: String,
    retry_after_s: Option<u64>,
    extensions: Map<String, Value>,
}

impl Problem {
    /// A problem of `kind`; `detail` tells a person what to do.
    pub(crate) fn new(kind: &'static ProblemType, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into(), retry_after_s: None, extensions: Map::new() }
    }

    /// Says when to come back: whole seconds, at least one, rounded down so that the lease that remains is not
    /// exceeded.
    pub(crate) fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after_s = Some(wait.as_secs().max(1));
        self
    }

    /// Adds a member of its own.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.extensions.insert(name.into(), value.into());
        self
    }

    /// The whole response.
    pub(crate) fn to_response(&self) -> StoredResponse {
        let members = Members { kind: self.kind, detail: &self.detail, extensions: &self.extensions };
        let body = serde_json::to_vec(&members).expect("texts and numbers under texts");
        let response = StoredResponse::new(self.kind.status, body)
            .with_header("content-type", "application/problem+json");
        match self.retry_after_s {
            Some(seconds) => response.with_header("retry-after", seconds.to_string()),
            None => response,
        }
    }
}

/// The members of the JSON object, in the order of RFC 9457.
#[derive(Serialize)]
struct Members<'a> {
    #[serde(flatten)]
    kind: &'a ProblemType,
    detail: &'a str,
    #[serde(flatten)]
    extensions: &'a Map<String, Value>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        message::http_response(self.to_response())
    }
}
