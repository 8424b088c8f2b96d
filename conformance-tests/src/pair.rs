//! A store beside the model: both are given the same calls at the same instants, and must answer and hold the same.

use onceonly::{
    ClaimOutcome, Clock, CompleteOutcome, ManualClock, Record, RecordKey, RenewOutcome, Snapshot, Stamp,
    Timestamp,
};

use crate::account::{Account, Jump};
use crate::call::{Answer, Request, Verb};
use crate::case::Case;
use crate::handle::failed;
use crate::reference::ReferenceStore;
use crate::verdict::{broken, call_failed};

/// The store under test and a model of it, which is empty at first.
///
/// On a clock that runs they cannot have the same instants: times are left out there, and whoever makes the calls sees
/// to it that no deadline is reached.
pub(crate) struct Pair<'a> {
    case: &'a Case,
    model: ReferenceStore,
    /// The model's. It is set whenever the store's is.
    clock: ManualClock,
    account: Account,
}

impl<'a> Pair<'a> {
    /// A pair for calls on keys that the store holds nothing under.
    pub(crate) async fn of(case: &'a Case) -> Self {
        let start = if case.sets_clock() { case.now().await } else { NO_TIME };
        let clock = ManualClock::starting_at(start);
        let model = ReferenceStore::new(clock.clone()).with_resolution(case.declaration().resolution);
        let account = Account::from(start);
        Self { case, model, clock, account }
    }

    /// The time for both.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// What both hold under `key`.
    pub(crate) fn record(&self, key: &RecordKey) -> Option<Record> {
        self.model.edit(key, |slot, _| slot.clone())
    }

    /// Sets the clock of both, unless it runs.
    pub(crate) async fn set_clock(&mut self, to: Timestamp, jump: Jump) {
        if self.case.sets_clock() {
            self.case.set_clock(to).await;
            self.clock.set(to);
            self.account.clock_was_set(to, jump);
        }
    }

    /// Gives the call to both. The case is over unless they answer the same, and hold the same under its keys.
    pub(crate) async fn tell(&mut self, request: Request) {
        self.told(request, None).await;
    }

    /// Delivers a call once more that concerned `key`: of that verb the one `back` calls before the last one, if there was
    /// any.
    pub(crate) async fn tell_again(&mut self, key: &RecordKey, verb: Verb, back: usize) {
        if let Some((place, request)) = self.earlier(key, verb, back) {
            self.told(request, Some(place)).await;
        }
    }

    fn earlier(&self, key: &RecordKey, verb: Verb, back: usize) -> Option<(usize, Request)> {
        let calls = self.account.calls().rev();
        let mut such = calls.filter(|(_, call)| call.verb() == verb && keys_of(call).contains(key));
        such.nth(back).map(|(place, call)| (place, call.clone()))
    }

    async fn told(&mut self, request: Request, copy_of: Option<usize>) {
        let keys = keys_of(&request);
        self.both(request, copy_of).await;
        for key in keys {
            self.look(key).await;
        }
    }

    /// Compares what is held under `key`. What agrees is not worth a line of the account.
    pub(crate) async fn look(&mut self, key: RecordKey) {
        let request = Request::Load { key };
        let (store, model) = self.answers(&request).await;
        if !alike(&store, &model) {
            self.part(request, None, &store, model);
        }
    }

    async fn both(&mut self, request: Request, copy_of: Option<usize>) {
        let (store, model) = self.answers(&request).await;
        if !alike(&store, &model) {
            self.part(request, copy_of, &store, model);
        }
        self.account.call_was_made(self.now(), request, copy_of, model);
    }

    async fn answers(&self, request: &Request) -> (Answer, Answer) {
        let store = request.deliver(&*self.case.plain_store()).await;
        if let Some(error) = store.error().filter(|error| error.outcome_is_unknown()) {
            failed(&format!("{:?}", request.verb()), error);
        }
        let model = request.deliver(&self.model).await;
        if self.case.sets_clock() {
            return (store, model);
        }
        (without_times(store), without_times(model))
    }

    fn part(&mut self, request: Request, copy_of: Option<usize>, store: &Answer, model: Answer) -> ! {
        self.account.call_was_made(self.now(), request, copy_of, model);
        let account = self.account.of_parting(store);
        match store.error() {
            Some(_) => call_failed(account),
            None => broken(account),
        }
    }
}

/// The deadlines of a record by their names.
pub(crate) const fn deadlines(record: &Record) -> [(&'static str, Timestamp); 3] {
    [
        ("lease_until", record.lease_until),
        ("expires_at", record.expires_at),
        ("unresolved_until", record.unresolved_until),
    ]
}

fn keys_of(request: &Request) -> Vec<RecordKey> {
    match request {
        Request::ClaimMany { claims } => claims.iter().map(|item| item.key.clone()).collect(),
        _ => request.key().cloned().into_iter().collect(),
    }
}

/// Whether two answers of one verb say the same. An error is no answer.
fn alike(store: &Answer, model: &Answer) -> bool {
    fn same<T: PartialEq, E>(store: &Result<T, E>, model: &Result<T, E>) -> bool {
        matches!((store, model), (Ok(store), Ok(model)) if store == model)
    }
    match (store, model) {
        (Answer::Claim(store), Answer::Claim(model)) => same(store, model),
        (Answer::Load(store), Answer::Load(model)) => same(store, model),
        (Answer::Renew(store), Answer::Renew(model)) => same(store, model),
        (Answer::Complete(store), Answer::Complete(model)) => same(store, model),
        (Answer::Release(store), Answer::Release(model)) => same(store, model),
        (Answer::PurgeExpired(store), Answer::PurgeExpired(model)) => same(store, model),
        (Answer::ClaimMany(store), Answer::ClaimMany(model)) => {
            store.len() == model.len() && store.iter().zip(model).all(|(store, model)| same(store, model))
        }
        _ => false,
    }
}

fn without_times(answer: Answer) -> Answer {
    match answer {
        Answer::Claim(answer) => Answer::Claim(answer.map(timeless_claim)),
        Answer::Load(answer) => Answer::Load(answer.map(|found| found.map(timeless_snapshot))),
        Answer::Renew(answer) => Answer::Renew(answer.map(|outcome| match outcome {
            RenewOutcome::Applied(_) => RenewOutcome::Applied(NO_STAMP),
            RenewOutcome::NotHeld => RenewOutcome::NotHeld,
        })),
        Answer::Complete(answer) => Answer::Complete(answer.map(|outcome| match outcome {
            CompleteOutcome::Applied(_) => CompleteOutcome::Applied(NO_STAMP),
            CompleteOutcome::AlreadyCompleted(found) => {
                CompleteOutcome::AlreadyCompleted(Box::new(timeless_snapshot(*found)))
            }
            CompleteOutcome::NotHeld => CompleteOutcome::NotHeld,
        })),
        Answer::ClaimMany(answers) => {
            Answer::ClaimMany(answers.into_iter().map(|answer| answer.map(timeless_claim)).collect())
        }
        Answer::Release(_) | Answer::PurgeExpired(_) => answer,
    }
}

fn timeless_claim(outcome: ClaimOutcome) -> ClaimOutcome {
    match outcome {
        ClaimOutcome::Claimed(_) => ClaimOutcome::Claimed(NO_STAMP),
        ClaimOutcome::Occupied(found) => ClaimOutcome::Occupied(Box::new(timeless_snapshot(*found))),
        ClaimOutcome::Vacant => ClaimOutcome::Vacant,
    }
}

fn timeless_snapshot(found: Snapshot) -> Snapshot {
    let record = Record {
        created_at: NO_TIME,
        lease_until: NO_TIME,
        expires_at: NO_TIME,
        unresolved_until: NO_TIME,
        ..found.record
    };
    Snapshot { record, now: NO_TIME }
}

const NO_TIME: Timestamp = Timestamp::from_micros(0);
const NO_STAMP: Stamp = Stamp { now: NO_TIME, lease_until: NO_TIME, expires_at: NO_TIME };
