//! The server's side: a process of its own, which the other side kills.
//!
//! With and without Onceonly it makes the same charge by the same code. The provider is a bad one on purpose: it takes
//! no idempotency keys, so nothing but Onceonly stands between a repeated request and a second charge.

use std::error::Error;
use std::future;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use onceonly::{
    Abandoned, Answer, Attempt, Drained, Fingerprint, Idempotency, IdempotencyKey, Outcome, Policy,
    RecordKey, Scope, StoredResponse, Verdict,
};
use onceonly_examples::charges::{Charge, Charges, Order, ProviderError};
use onceonly_sqlite::SqliteStore;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};
use tokio::task::JoinSet;

use crate::wire::{Call, Message, Reply, Trouble};

/// How long a claim stands without renewal. Short, so that the demonstration is.
const LEASE: Duration = Duration::from_millis(750);

/// How long a slow handler takes: longer than its lease, which is renewed for as long as it lives.
const SLOW: Duration = Duration::from_millis(3 * 750);

/// Whether the worker uses Onceonly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protection {
    Without,
    With,
}

/// Which process this is. Of all workers on one database only the last one lives: the next is started when the one
/// before it has been waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Incarnation(pub(crate) u32);

/// Takes calls from the standard input until it ends, and answers on the standard output.
///
/// # Errors
/// Whatever keeps it from working at all.
pub(crate) async fn work(
    database: &Path,
    protection: Protection,
    incarnation: Incarnation,
) -> Result<(), Box<dyn Error>> {
    let charges = Charges::open(database)?;
    let worker = Arc::new(match protection {
        Protection::Without => Worker::Without(charges),
        Protection::With => {
            Worker::With(protect(database, charges.clone(), incarnation)?, charges, incarnation)
        }
    });
    let mut calls = BufReader::new(stdin()).lines();
    let mut handlers = JoinSet::new();
    while let Some(line) = calls.next_line().await? {
        let call: Call = serde_json::from_str(&line)?;
        let worker = Arc::clone(&worker);
        handlers.spawn(async move {
            let number = call.number;
            let reply = worker.handle(call).await;
            say(&Message::Reply { number, reply });
        });
    }
    // Nobody hears the answers any more, but charges that were begun are made.
    handlers.join_all().await;
    if let Worker::With(onceonly, ..) = &*worker {
        let Drained { unfinished } = onceonly.drain(Duration::from_secs(10)).await;
        if unfinished > 0 {
            return Err(format!("{unfinished} operations did not end").into());
        }
    }
    Ok(())
}

fn protect(
    database: &Path,
    charges: Charges,
    incarnation: Incarnation,
) -> Result<Idempotency, Box<dyn Error>> {
    let policy = Policy::resolve(move |abandoned| {
        let charges = charges.clone();
        async move { resolve(&charges, incarnation, abandoned).await }
    });
    Ok(Idempotency::builder(SqliteStore::open(database)?).lease(LEASE).policy(policy).build()?)
}

enum Worker {
    Without(Charges),
    With(Idempotency, Charges, Incarnation),
}

impl Worker {
    async fn handle(&self, call: Call) -> Reply {
        match self {
            Self::Without(charges) => match charge(charges, &call).await {
                Ok(charge) => Reply::Charged { id: charge.id },
                Err(_) => COME_BACK,
            },
            Self::With(onceonly, charges, incarnation) => {
                let (charges, incarnation) = (charges.clone(), *incarnation);
                let Ok(key) = IdempotencyKey::new(&call.key) else { return COME_BACK };
                let key = RecordKey::new(Scope::global(), key);
                let fingerprint = Fingerprint::builder()
                    .part("customer", &call.customer)
                    .part("amount", call.amount.to_be_bytes())
                    .finish();
                let outcome = onceonly
                    .run(&key, fingerprint, move |attempt| charge_once(charges, incarnation, call, attempt))
                    .await;
                match outcome {
                    Ok(Outcome::Executed(response) | Outcome::Replayed(response)) => reply(&response),
                    Ok(Outcome::InProgress(in_progress)) => {
                        Reply::ComeBack { after_ms: in_progress.retry_after.as_millis() as u64 }
                    }
                    Ok(Outcome::Abandoned(_) | Outcome::NotRetained(_) | Outcome::HashMismatch(_))
                    | Err(_) => COME_BACK,
                }
            }
        }
    }
}

/// What an attempt leaves behind for whoever finds its key abandoned: it is about to charge.
#[derive(Debug, Serialize, Deserialize)]
struct Checkpoint {
    incarnation: Incarnation,
    customer: String,
}

/// One attempt under Onceonly. It may charge only after it has said so in its checkpoint: a holder that was displaced
/// finds out there, since its checkpoint is refused.
async fn charge_once(charges: Charges, incarnation: Incarnation, call: Call, attempt: Attempt) -> Answer {
    let checkpoint = Checkpoint { incarnation, customer: call.customer.clone() };
    let checkpoint = serde_json::to_vec(&checkpoint).expect("a number and a text");
    if attempt.save_checkpoint(checkpoint).await.is_err() {
        return Answer::NoEffect(StoredResponse::new(503, Bytes::new()));
    }
    match charge(&charges, &call).await {
        Ok(charge) => Answer::Final(receipt(&charge)),
        Err(ProviderError::NothingDone(_) | ProviderError::KeyReused) => {
            Answer::NoEffect(StoredResponse::new(503, Bytes::new()))
        }
        // Left to the lease: whoever takes over looks into the table of charges.
        Err(error @ ProviderError::Unknown(_)) => panic!("{error}"),
    }
}

/// What became of an abandoned attempt? The table of charges knows, with one exception: a charge that is not there may
/// still be made by a holder that lives.
async fn resolve(charges: &Charges, incarnation: Incarnation, abandoned: Abandoned) -> Verdict {
    let Some(checkpoint) = abandoned.checkpoint else {
        // It did not get as far as its checkpoint, and now that the key was claimed by another one it never will.
        return Verdict::NotExecuted;
    };
    let Ok(holder) = serde_json::from_slice::<Checkpoint>(&checkpoint) else { return Verdict::Unknown };
    match charges.of_customer(ACCOUNT.into(), holder.customer).await {
        Ok(Some(charge)) => Verdict::Completed(receipt(&charge)),
        Ok(None) if holder.incarnation == incarnation => Verdict::Unknown,
        // The process of that attempt was waited for before this one was started: it charges no more.
        Ok(None) => Verdict::NotExecuted,
        Err(_) => Verdict::Unknown,
    }
}

/// The effect, and the trouble around it.
async fn charge(charges: &Charges, call: &Call) -> Result<Charge, ProviderError> {
    match call.trouble {
        Trouble::Slow => tokio::time::sleep(SLOW).await,
        Trouble::KilledBeforeCharge => wait_for_the_knife(call).await,
        Trouble::None | Trouble::KilledAfterCharge => {}
    }
    let order = Order {
        account: ACCOUNT.into(),
        // A new one each time: to this provider every request is another one.
        provider_key: IdempotencyKey::generate(),
        amount: call.amount,
        currency: "usd".into(),
        customer: call.customer.clone(),
    };
    let charge = charges.charge(order).await?;
    if call.trouble == Trouble::KilledAfterCharge {
        wait_for_the_knife(call).await;
    }
    Ok(charge)
}

async fn wait_for_the_knife(call: &Call) {
    say(&Message::AtTheKnife { number: call.number });
    future::pending::<()>().await;
}

fn receipt(charge: &Charge) -> StoredResponse {
    StoredResponse::new(201, charge.id.clone())
}

fn reply(response: &StoredResponse) -> Reply {
    match (response.code, std::str::from_utf8(&response.body)) {
        (201, Ok(id)) => Reply::Charged { id: id.into() },
        _ => COME_BACK,
    }
}

fn say(message: &Message) {
    println!("{}", serde_json::to_string(message).expect("numbers and texts"));
}

const ACCOUNT: &str = "acct_demo";
const COME_BACK: Reply = Reply::ComeBack { after_ms: 100 };
