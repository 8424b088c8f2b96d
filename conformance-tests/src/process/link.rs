//! The way to another process and back: orders out, words in, and who waits for what.

use std::collections::HashMap;
use std::io::Write;
use std::panic::resume_unwind;
use std::process::ChildStdin;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard};

use onceonly::{Clock, StoreError, StoreErrorKind};
use tokio::sync::oneshot;

use super::lock;
use crate::call::{Answer, Request, Verb, key_store_by_call};
use crate::fixture::StoreClock;
use crate::protocol::{Call, Interval, Order, What, Word};

/// A call of another process.
pub(crate) struct UnderWay {
    request: Request,
    waits: oneshot::Receiver<()>,
    reply: oneshot::Receiver<Reply>,
}

/// What became of a call of another process, unless it ended first.
enum Reply {
    Answer(Answer),
    Panic(String),
}

impl UnderWay {
    /// Waits until the call is under way in the process: begun, and waiting for something, or over already.
    pub(crate) async fn begun(&mut self) {
        // If it is over already, it never says that it waits.
        let _ = (&mut self.waits).await;
    }

    /// The answer: `Unavailable` if the process has ended without one. A panic goes on here.
    pub(crate) async fn answer(self) -> Answer {
        match self.reply.await {
            Ok(Reply::Answer(answer)) => answer,
            Ok(Reply::Panic(text)) => resume_unwind(Box::new(text)),
            Err(_) => self.request.failed(|| {
                StoreError::new(StoreErrorKind::Unavailable, "process", "it ended before it had answered")
            }),
        }
    }
}

/// The handle of another process, from here.
pub(super) struct RemoteStore(pub(super) Arc<Link>);

impl RemoteStore {
    async fn call(&self, request: Request) -> Answer {
        self.0.call(request).answer().await
    }
}

key_store_by_call!(RemoteStore, "process");

/// The way to a process and back.
pub(super) struct Link {
    clock: StoreClock,
    state: Mutex<LinkState>,
}

struct LinkState {
    /// Lines to be written; none when the process has ended or is to end.
    orders: Option<Sender<String>>,
    ready: Option<oneshot::Sender<()>>,
    calls: HashMap<u64, Waiting>,
    next_id: u64,
    intervals: Vec<Interval>,
    course: Course,
}

impl LinkState {
    /// A new call, and the way to its answer.
    fn expect(&mut self, request: Request) -> (Call, UnderWay) {
        let (waits_sender, waits) = oneshot::channel();
        let (reply_sender, reply) = oneshot::channel();
        let id = self.next_id;
        self.next_id += 1;
        // When the process has ended, nobody will answer, and whoever waits is told at once.
        if self.orders.is_some() {
            let waiting = Waiting { verb: request.verb(), waits: Some(waits_sender), reply: reply_sender };
            self.calls.insert(id, waiting);
        }
        (Call { id, request: request.clone() }, UnderWay { request, waits, reply })
    }
}

/// Who waits for what a process says of a call.
struct Waiting {
    verb: Verb,
    waits: Option<oneshot::Sender<()>>,
    reply: oneshot::Sender<Reply>,
}

/// How a process is to go on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Course {
    Life,
    End,
    Kill,
}

impl Link {
    pub(super) fn new(clock: StoreClock, orders: Sender<String>, ready: oneshot::Sender<()>) -> Self {
        let state = LinkState {
            orders: Some(orders),
            ready: Some(ready),
            calls: HashMap::new(),
            next_id: 0,
            intervals: Vec::new(),
            course: Course::Life,
        };
        Self { clock, state: Mutex::new(state) }
    }

    /// Sends a call off.
    pub(super) fn call(&self, request: Request) -> UnderWay {
        let mut state = self.state();
        let (call, under_way) = state.expect(request);
        self.send(&state, What::Call(call));
        under_way
    }

    /// Sends calls off that are to be made at once, later. `ready` is told when they are there.
    pub(super) fn hold(&self, requests: Vec<Request>, ready: oneshot::Sender<()>) -> Vec<UnderWay> {
        let mut state = self.state();
        if state.orders.is_some() {
            state.ready = Some(ready);
        }
        let (calls, under_way) = requests.into_iter().map(|request| state.expect(request)).unzip();
        self.send(&state, What::Hold { calls });
        under_way
    }

    pub(super) fn order(&self, what: What) {
        self.send(&self.state(), what);
    }

    /// Sends the order with the time of this moment. Under the lock, so that the process is told times in their order.
    fn send(&self, state: &LinkState, what: What) {
        let now = match &self.clock {
            StoreClock::Manual(clock) => Some(clock.now()),
            // The clock is nobody's, or the server's, which all processes go by.
            StoreClock::Steered(_) | StoreClock::System => None,
        };
        let line = serde_json::to_string(&Order { now, what });
        let line = line.unwrap_or_else(|error| panic!("an order cannot be written: {error}"));
        if let Some(orders) = &state.orders {
            // If nobody writes any more, the process has ended, and whoever waits is told.
            let _ = orders.send(line);
        }
    }

    /// Takes in what the process says; false if that cannot be.
    pub(super) fn hear(&self, word: Word) -> bool {
        let mut state = self.state();
        match word {
            Word::Ready => state.ready.take().is_some_and(|ready| {
                // Whoever has given up waiting needs no word.
                let _ = ready.send(());
                true
            }),
            Word::Waits { id } => {
                state.calls.get_mut(&id).is_some_and(|waiting| waiting.waits.take().is_some())
            }
            Word::Answered { id, answer, interval } => {
                state.intervals.push(interval);
                let asked = state.calls.remove(&id).filter(|waiting| waiting.verb == answer.verb());
                asked.is_some_and(|waiting| {
                    // A caller that was dropped needs no answer.
                    let _ = waiting.reply.send(Reply::Answer(answer));
                    true
                })
            }
            Word::Panicked { id, text } => state.calls.remove(&id).is_some_and(|waiting| {
                let _ = waiting.reply.send(Reply::Panic(text));
                true
            }),
        }
    }

    /// The process is to end, once it has read everything before this.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.course = Course::End;
        state.orders = None;
    }

    /// The process is to be killed. It is asked for nothing any more.
    pub(super) fn expect_kill(&self) {
        let mut state = self.state();
        state.course = Course::Kill;
        state.orders = None;
    }

    /// The process has ended. Whoever waits for it learns so; how it was to go on is returned.
    pub(super) fn ended(&self) -> Course {
        let mut state = self.state();
        state.orders = None;
        state.ready = None;
        state.calls.clear();
        state.course
    }

    /// When the calls were under way that were answered since this was last asked.
    pub(super) fn take_intervals(&self) -> Vec<Interval> {
        std::mem::take(&mut self.state().intervals)
    }

    fn state(&self) -> MutexGuard<'_, LinkState> {
        lock(&self.state)
    }
}

/// Writes on a thread of its own: the pipe to a paused process fills up, and then a write waits.
pub(super) fn write_orders(mut input: ChildStdin, lines: &Receiver<String>) {
    for line in lines {
        if writeln!(input, "{line}").is_err() {
            // The process has ended, as the listener will see.
            return;
        }
    }
}
