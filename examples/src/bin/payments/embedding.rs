//! The embedding: how a payments server uses Onceonly.
//!
//! This is the file to read, and to copy from. `POST /charges` goes through the six steps that are numbered below; all
//! else in this folder is what any server has.

use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::{Json, Response};
use axum::routing::post;
use onceonly::{Answer, Attempt, Fingerprint, Idempotency, Outcome, RecordKey, RunError, StoredResponse};
use onceonly_examples::chain;
use onceonly_examples::charges::{Charge, Charges, ListedCharge, Order, ProviderError};

use crate::account::Account;
use crate::charge_request::ChargeRequest;
use crate::problem::{self, Problem};
use crate::{key_header, message};

/// What every request needs. Both parts are handles: a clone shares what they stand for.
#[derive(Clone, Debug)]
pub(crate) struct Payments {
    /// Lets each operation run once.
    pub(crate) onceonly: Idempotency,
    /// The provider's charges.
    pub(crate) charges: Charges,
}

/// The routes of the server.
pub(crate) fn router(payments: Payments) -> Router {
    Router::new()
        .route("/charges", post(create_charge).get(list_charges))
        .method_not_allowed_fallback(async || Problem::new(&problem::METHOD_NOT_ALLOWED, "Use GET or POST."))
        .fallback(async || Problem::new(&problem::NOT_FOUND, "Try /charges."))
        .with_state(payments)
}

async fn create_charge(State(payments): State<Payments>, request: Request) -> Result<Response, Problem> {
    let (head, body) = request.into_parts();

    // 1. Who asks? Two callers who choose the same key must never meet, so the caller is the key's scope. It has to
    //    stay the same over all retries: an account, not a session or an access token.
    let account = Account::of(&head.headers)?;

    // 2. Under which key? This route moves money, so it insists on one.
    let key = key_header::idempotency_key(&head.headers)
        .map_err(|malformed| {
            Problem::new(&problem::KEY_INVALID, malformed.detail()).with("reason", malformed.reason())
        })?
        .ok_or_else(|| {
            Problem::new(&problem::KEY_MISSING, "Send a fresh UUID for each charge, and the same on retries.")
        })?;

    // 3. For what? Whatever can be refused without an effect is refused before the key is claimed.
    let body = message::read(body).await?;
    let request = ChargeRequest::parse(&body)?;

    // 4. What makes this request the one it is? The key must not be used for another one.
    let fingerprint = Fingerprint::builder()
        .part("method", head.method.as_str())
        .part("path", head.uri.path())
        .part("query", head.uri.query().unwrap_or_default())
        .part("content-type", message::content_type_essence(&head.headers))
        .part("body", &body)
        .finish();

    // 5. Run it, at most once. It runs on a task of its own: a client that hangs up loses its answer, not its charge.
    let record_key = RecordKey::new(account.scope, key);
    let outcome = payments
        .onceonly
        .run(&record_key, fingerprint, move |attempt| {
            charge(payments.charges, account.name, request, attempt)
        })
        .await;

    // 6. Answer.
    respond(outcome)
}

/// The handler: one attempt to charge. What it concludes is stored, and every retry is answered with it.
async fn charge(charges: Charges, account: String, request: ChargeRequest, attempt: Attempt) -> Answer {
    let ChargeRequest { amount, currency, customer, simulate } = request;
    let trouble = simulate.unwrap_or_default().on_attempt(attempt.number());
    trouble.delay().await;

    // The provider takes idempotency keys too. One that is derived from ours is the same on every attempt, so that an
    // attempt after a crash finds the charge that the first one made.
    let provider_key = attempt.derive_key("charge");
    let order = Order { account, provider_key, amount, currency, customer };
    let charge = match charges.charge(order).await {
        Ok(charge) => charge,
        // Certainly nothing has happened: the key is given back, and a retry may run.
        Err(error @ ProviderError::NothingDone(_)) => {
            return Answer::NoEffect(
                Problem::new(&problem::PROVIDER_UNAVAILABLE, error.to_string())
                    .retry_after(RETRY_AFTER)
                    .to_response(),
            );
        }
        Err(error @ ProviderError::KeyReused) => {
            return Answer::Final(Problem::new(&problem::CHARGE_REFUSED, error.to_string()).to_response());
        }
        // Whether there is a charge is not known. The error is kept: every retry is told the same, nobody is charged
        // twice, and somebody has to look the charge up. That is the cautious end. This provider honours the key it is
        // given, so asking it again would be safe too; `--recovery rerun` does that after a crash.
        Err(error @ ProviderError::Unknown(_)) => {
            return Answer::Final(Problem::new(&problem::CHARGE_FAILED, error.to_string()).to_response());
        }
    };

    match trouble.strike() {
        Ok(()) => Answer::Final(receipt(&charge)),
        Err(_) => Answer::Final(Problem::new(&problem::CHARGE_FAILED, "As asked for.").to_response()),
    }
}

fn receipt(charge: &Charge) -> StoredResponse {
    let body = serde_json::to_vec(charge).expect("a charge has text and numbers only");
    StoredResponse::new(201, body).with_header("content-type", "application/json")
}

/// Each outcome has an answer of its own. None is left to a `_`, so that a new one cannot be overlooked.
fn respond(outcome: Result<Outcome, RunError>) -> Result<Response, Problem> {
    match outcome {
        Ok(Outcome::Executed(response)) => Ok(message::http_response(response)),
        Ok(Outcome::Replayed(response)) => {
            let mut response = message::http_response(response);
            response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
            Ok(response)
        }
        Ok(Outcome::InProgress(in_progress)) => {
            Err(Problem::new(&problem::REQUEST_IN_PROGRESS, "Send the same request again later.")
                .retry_after(in_progress.retry_after))
        }
        Ok(Outcome::HashMismatch(_)) => {
            Err(Problem::new(&problem::KEY_REUSED, "Send another request under a key of its own."))
        }
        Ok(Outcome::Abandoned(_)) => Err(Problem::new(
            &problem::OUTCOME_INDETERMINATE,
            "The charge may have been made: look it up. A new key could make it twice.",
        )),
        Ok(Outcome::NotRetained(head)) => {
            Err(Problem::new(&problem::RESPONSE_UNAVAILABLE, "The charge was made: look it up.")
                .with("original_status", head.code))
        }
        Err(RunError::Store(error)) => {
            eprintln!("payments: {}", chain(&error));
            Err(Problem::new(&problem::STORE_UNAVAILABLE, NOT_CHARGED_NOW).retry_after(RETRY_AFTER))
        }
        Err(RunError::ShuttingDown) => {
            Err(Problem::new(&problem::SHUTTING_DOWN, NOT_CHARGED_NOW).retry_after(RETRY_AFTER))
        }
        // The handler panicked, or the runtime ended under it.
        Err(error) => {
            eprintln!("payments: {}", chain(&error));
            Err(Problem::new(
                &problem::INTERNAL_ERROR,
                "The charge may have been made. Send the same request again to learn more.",
            ))
        }
    }
}

async fn list_charges(
    State(payments): State<Payments>,
    headers: HeaderMap,
) -> Result<Json<Vec<ListedCharge>>, Problem> {
    let account = Account::of(&headers)?;
    let charges = payments.charges.of_account(account.name).await;
    charges.map(Json).map_err(|error| {
        eprintln!("payments: {}", chain(&error));
        Problem::new(&problem::PROVIDER_UNAVAILABLE, "The charges cannot be read.").retry_after(RETRY_AFTER)
    })
}

/// How long a client is to wait when nobody can know.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// An error before the handler ran says nothing of earlier requests: one of them may have charged and crashed.
const NOT_CHARGED_NOW: &str = "This request charged nothing; an earlier one under the same key may have. \
    Send the same request again, under the same key.";
