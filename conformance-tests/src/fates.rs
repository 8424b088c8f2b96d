//! A store between a caller and a real store, in which calls meet the fates of a bad network.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use onceonly::{KeyStore, StoreError, StoreErrorKind};
use tokio::sync::Notify;

use crate::call::{Answer, Request, Verb, key_store_by_call};
use crate::gate::Gate;

/// What becomes of a call.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_enums, reason = "a script of fates names them all")]
pub enum Fate {
    /// It is delivered and answered.
    Pass,
    /// It never reaches the store; the caller gets `Unavailable`.
    LoseRequest,
    /// It reaches the store and takes effect; the caller gets `Unavailable`.
    LoseReply,
    /// It never reaches the store; the caller gets this error.
    Fail(StoreErrorKind),
    /// The caller gets `Unavailable` at once, and the request is kept back until [`Fates::deliver_kept`].
    Late,
    /// It is delivered and answered, and a copy is kept back until [`Fates::deliver_kept`].
    Again,
    /// It is delivered twice; the caller gets the second answer.
    Twice,
    /// It is under way for this long before it reaches the store. Dropped meanwhile, it never does.
    Delay(Duration),
    /// It waits at the gate before it reaches the store. Dropped there, it never does.
    Hold(Gate),
    /// It reaches the store and takes effect; the answer waits at the gate.
    HoldReply(Gate),
}

/// A [`KeyStore`] that passes calls on to another one and lets them meet a [`Fate`] on the way.
///
/// Fates are given per verb: [`Fates::next`] for its next call, [`Fates::always`] for all calls for which no `next`
/// is left. Every call is recorded as it arrives, in order. Clones share script and record.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// use onceonly::{KeyStore, ManualClock, StoreErrorKind, Timestamp};
/// use onceonly_conformance::{Fate, Fates, ReferenceStore, Verb};
/// # let key = onceonly::RecordKey::new(onceonly::Scope::global(), onceonly::IdempotencyKey::generate());
///
/// let fates = Fates::around(ReferenceStore::new(ManualClock::starting_at(Timestamp::from_micros(0))));
/// fates.next(Verb::Load, Fate::LoseRequest);
///
/// assert_eq!(fates.load(&key).await.unwrap_err().kind(), StoreErrorKind::Unavailable);
/// assert_eq!(fates.load(&key).await.unwrap(), None);
/// assert_eq!(fates.count(Verb::Load), 2);
/// # });
/// ```
#[derive(Clone)]
pub struct Fates {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn KeyStore>,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    next: HashMap<Verb, VecDeque<Fate>>,
    always: HashMap<Verb, Fate>,
    calls: Vec<Call>,
    kept: VecDeque<Request>,
}

/// A call as it arrived at [`Fates`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Call {
    /// What was asked for.
    pub request: Request,
    /// What became of it.
    pub fate: Fate,
    /// Whether the caller had its answer, or had dropped the call, when this was read.
    pub over: bool,
    /// The place in [`Fates::calls`] of an earlier write of the same token that was still under way when this one
    /// arrived. No two writes of one claim may be in flight at once, so this is a fault of the caller.
    pub overlaps: Option<usize>,
}

impl Fates {
    /// Stands before `store`; every call passes until told otherwise.
    pub fn around(store: impl KeyStore) -> Self {
        let state = Mutex::default();
        Self { shared: Arc::new(Shared { store: Arc::new(store), state, changed: Notify::new() }) }
    }

    /// The next call of `verb` meets `fate`; behind those that were given before.
    pub fn next(&self, verb: Verb, fate: Fate) {
        self.state().next.entry(verb).or_default().push_back(fate);
    }

    /// Every call of `verb` meets `fate`, from when no [`Fates::next`] is left.
    pub fn always(&self, verb: Verb, fate: Fate) {
        self.state().always.insert(verb, fate);
    }

    /// All calls of all verbs fail as on a dead network, until [`Fates::heal`].
    pub fn cut(&self) {
        for verb in Verb::ALL {
            self.always(verb, Fate::LoseRequest);
        }
    }

    /// Forgets every fate that was given: calls pass. Calls that wait at a gate go on waiting; kept ones stay kept.
    pub fn heal(&self) {
        let mut state = self.state();
        state.next.clear();
        state.always.clear();
    }

    /// The next call of `verb` waits before the store, until the gate is opened.
    pub fn hold_next(&self, verb: Verb) -> Gate {
        let gate = Gate::new();
        self.next(verb, Fate::Hold(gate.clone()));
        gate
    }

    /// The next call of `verb` takes effect, and its answer waits until the gate is opened.
    pub fn hold_next_reply(&self, verb: Verb) -> Gate {
        let gate = Gate::new();
        self.next(verb, Fate::HoldReply(gate.clone()));
        gate
    }

    /// Delivers the oldest request that [`Fate::Late`] or [`Fate::Again`] kept back, and says what it was and how the
    /// store answered; `None` if none is kept.
    pub async fn deliver_kept(&self) -> Option<(Request, Answer)> {
        let request = self.state().kept.pop_front()?;
        let answer = request.deliver(&*self.shared.store).await;
        Some((request, answer))
    }

    /// Every call so far, in the order of arrival. Deliveries by [`Fates::deliver_kept`] are not calls.
    pub fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    /// How many calls of `verb` have arrived.
    pub fn count(&self, verb: Verb) -> usize {
        self.state().calls.iter().filter(|call| call.request.verb() == verb).count()
    }

    /// Waits until `calls` calls of `verb` have arrived, counted from the beginning.
    pub async fn arrived(&self, verb: Verb, calls: usize) {
        self.wait_until(|state| {
            state.calls.iter().filter(|call| call.request.verb() == verb).count() >= calls
        })
        .await;
    }

    /// Waits until `calls` calls of `verb` are over, counted from the beginning: answered, or dropped by the caller.
    pub async fn over(&self, verb: Verb, calls: usize) {
        self.wait_until(|state| {
            state.calls.iter().filter(|call| call.over && call.request.verb() == verb).count() >= calls
        })
        .await;
    }

    async fn wait_until(&self, condition: impl Fn(&State) -> bool) {
        loop {
            // Registered before the look, so that a change between look and wait is not missed.
            let changed = self.shared.changed.notified();
            if condition(&self.state()) {
                return;
            }
            changed.await;
        }
    }

    async fn call(&self, request: Request) -> Answer {
        let (fate, _arrival) = self.arrive(&request);
        let store = &*self.shared.store;
        let failed = |kind, detail| request.failed(|| StoreError::new(kind, "fates", detail));
        let unavailable = |detail| failed(StoreErrorKind::Unavailable, detail);
        match fate {
            Fate::Pass => request.deliver(store).await,
            Fate::LoseRequest => unavailable("the request was lost"),
            Fate::LoseReply => {
                request.deliver(store).await;
                unavailable("the reply was lost")
            }
            Fate::Fail(kind) => failed(kind, "told to fail"),
            Fate::Late => {
                let answer = unavailable("the request is late");
                self.state().kept.push_back(request);
                answer
            }
            Fate::Again => {
                let answer = request.deliver(store).await;
                self.state().kept.push_back(request);
                answer
            }
            Fate::Twice => {
                request.deliver(store).await;
                request.deliver(store).await
            }
            Fate::Delay(duration) => {
                tokio::time::sleep(duration).await;
                request.deliver(store).await
            }
            Fate::Hold(gate) => {
                gate.pass().await;
                request.deliver(store).await
            }
            Fate::HoldReply(gate) => {
                let answer = request.deliver(store).await;
                gate.pass().await;
                answer
            }
        }
    }

    /// Records the call and draws its fate. The call is over when what is returned beside it is dropped.
    fn arrive(&self, request: &Request) -> (Fate, Arrival<'_>) {
        let mut state = self.state();
        let verb = request.verb();
        let planned = state.next.get_mut(&verb).and_then(VecDeque::pop_front);
        let fate = planned.or_else(|| state.always.get(&verb).cloned()).unwrap_or(Fate::Pass);
        let overlaps = request.token().and_then(|token| {
            state.calls.iter().position(|call| !call.over && call.request.token() == Some(token))
        });
        let place = state.calls.len();
        state.calls.push(Call { request: request.clone(), fate: fate.clone(), over: false, overlaps });
        drop(state);
        self.shared.changed.notify_waiters();
        (fate, Arrival { fates: self, place })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock panics half-way, so a poisoned one holds a sound state.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Fates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fates").field("store", &self.shared.store.name()).finish_non_exhaustive()
    }
}

/// A call under way.
struct Arrival<'a> {
    fates: &'a Fates,
    place: usize,
}

impl Drop for Arrival<'_> {
    fn drop(&mut self) {
        if let Some(call) = self.fates.state().calls.get_mut(self.place) {
            call.over = true;
        }
        self.fates.shared.changed.notify_waiters();
    }
}

key_store_by_call!(Fates, "fates");
