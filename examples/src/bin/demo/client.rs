//! The clients' side: people who want something done, and retry until they hear that it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use onceonly::IdempotencyKey;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

use crate::plan::{self, Clicks, Operation, RequestId, Weather};
use crate::random::Random;
use crate::wire::{Call, Reply, Trouble};
use crate::workplace::{Asked, Fate};

/// How long a client waits for a reply.
const PATIENCE: Duration = Duration::from_millis(250);

/// How often a client tries before it gives up.
const ATTEMPTS_MAX: u64 = 200;

/// The network between the clients and the workplace. Clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Network {
    pub(crate) seed: u64,
    pub(crate) workplace: mpsc::Sender<Asked>,
    pub(crate) counters: Arc<Counters>,
}

/// What the clients did.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// Requests that clients sent, whether they arrived or not.
    pub(crate) attempts: AtomicU64,
    /// Calls that entered the network's far end, which may be more or fewer.
    calls: AtomicU64,
}

/// Wants `operation` until every click was answered. Gives the ids of the charges that the clicks were told of.
pub(crate) async fn want(network: &Network, operation: &Operation) -> Vec<String> {
    // The key is made before the first attempt, once for the operation: both clicks send the same one, and every retry.
    let key = IdempotencyKey::generate();
    let click = |number| Click { network, operation, key: &key, number };
    let answers = match operation.clicks {
        Clicks::Once => [click(0).insist().await, None],
        Clicks::Twice => {
            let (first, second) = (click(0), click(1));
            <[_; 2]>::from(tokio::join!(first.insist(), second.insist()))
        }
    };
    answers.into_iter().flatten().collect()
}

/// One press of the button.
struct Click<'a> {
    network: &'a Network,
    operation: &'a Operation,
    key: &'a IdempotencyKey,
    number: u64,
}

impl Click<'_> {
    /// Sends the request again and again until it hears of a charge.
    async fn insist(&self) -> Option<String> {
        let mut trouble = self.operation.trouble;
        for attempt in 1..=ATTEMPTS_MAX {
            let request = RequestId { operation: self.operation.index, click: self.number, attempt };
            self.network.counters.attempts.fetch_add(1, Ordering::Relaxed);
            let pause = match self.send(request, trouble).await {
                Some(Fate::Answered(Reply::Charged { id })) => return Some(id),
                Some(Fate::Answered(Reply::ComeBack { after_ms })) => Duration::from_millis(after_ms),
                Some(Fate::Killed) => {
                    trouble = Trouble::None;
                    Duration::ZERO
                }
                None => Duration::ZERO,
            };
            if trouble == Trouble::Slow {
                trouble = Trouble::None;
            }
            let jitter =
                Random::new(&[self.network.seed, 2, request.operation, request.click, attempt]).below(60);
            sleep(pause.min(PAUSE_MAX) + Duration::from_millis(20 + jitter)).await;
        }
        None
    }

    /// Sends it once. `None`: no reply came, and the client cannot tell why.
    async fn send(&self, request: RequestId, trouble: Trouble) -> Option<Fate> {
        // Trouble on the way would keep the trouble at the worker from happening.
        let weather = match trouble {
            Trouble::None => plan::weather(self.network.seed, request),
            Trouble::Slow | Trouble::KilledBeforeCharge | Trouble::KilledAfterCharge => Weather::Fair,
        };
        match weather {
            Weather::Fair => {
                let fate = self.deliver(trouble).await;
                match trouble {
                    // Its death is the answer, and will come.
                    Trouble::KilledBeforeCharge | Trouble::KilledAfterCharge => fate.await.ok(),
                    Trouble::None | Trouble::Slow => timeout(PATIENCE, fate).await.ok()?.ok(),
                }
            }
            Weather::RequestLost => {
                sleep(PATIENCE).await;
                None
            }
            Weather::ReplyLost => {
                drop(self.deliver(trouble).await);
                sleep(PATIENCE).await;
                None
            }
            Weather::Duplicated => {
                let fate = self.deliver(trouble).await;
                drop(self.deliver(trouble).await);
                timeout(PATIENCE, fate).await.ok()?.ok()
            }
        }
    }

    async fn deliver(&self, trouble: Trouble) -> oneshot::Receiver<Fate> {
        let (fate, answer) = oneshot::channel();
        let call = Call {
            number: self.network.counters.calls.fetch_add(1, Ordering::Relaxed),
            key: self.key.as_str().into(),
            customer: self.operation.customer.clone(),
            amount: self.operation.amount,
            trouble,
        };
        // Fails if the workplace is closed for good; the answer then never comes.
        let _ = self.network.workplace.send(Asked { call, fate }).await;
        answer
    }
}

/// A client is told to come back in a second or more. These are less patient, so that the demonstration is shorter.
const PAUSE_MAX: Duration = Duration::from_millis(300);
