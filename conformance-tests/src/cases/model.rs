//! Random sequences, on the store and on a model side by side.

use std::collections::BTreeMap;

use onceonly::{
    ClaimOutcome, CompleteOutcome, Expected, LeaseChange, ManualClock, RecordKey, Renewal, Snapshot,
    Timestamp, Token, Version,
};

use crate::call::{Answer, Request};
use crate::case::{Case, checkpoint, completion, fingerprint, release, response, revision, seconds};
use crate::compare::differences;
use crate::handle::failed;
use crate::random::Random;
use crate::reference::ReferenceStore;
use crate::verdict::broken;

/// The store and the model are given the same calls at the same instants; every answer and every record must be equal.
/// On a clock that runs they cannot have the same instants, so times are left out and no deadline is reached.
pub(super) async fn random_sequences_agree_with_the_model(case: &Case) {
    let mut random = case.random();
    let mut players = Players::of(case).await;
    for sequence in 0..SEQUENCES {
        players.begin(sequence);
        let mut history = Vec::new();
        for step in 0..STEPS {
            if let Some(to) = players.clock_step(&mut random).await {
                history.push(format!("{step:3}  the clock shows {to:?}"));
                continue;
            }
            let request = players.request(&mut random);
            history.push(format!("{step:3}  {}", shown(&request)));
            let difference = players.play(&request).await;
            if let Some(difference) = difference {
                let from = history.len().saturating_sub(HISTORY_SHOWN);
                broken(format!(
                    "sequence {sequence}, step {step}: {difference}\nthe last steps were\n{}",
                    history[from..].join("\n")
                ));
            }
        }
    }
}

/// The store under test, the model, and what both have been told.
struct Players<'a> {
    case: &'a Case,
    model: ReferenceStore,
    /// The model's, set to what the store's clock shows whenever that is set.
    clock: ManualClock,
    keys: Vec<RecordKey>,
    tokens: Vec<Token>,
    /// The highest revision that a token has used.
    revisions: BTreeMap<[u8; 16], u32>,
    deadlines: Vec<Timestamp>,
}

impl<'a> Players<'a> {
    async fn of(case: &'a Case) -> Self {
        let clock = ManualClock::starting_at(case.now().await);
        Self {
            case,
            model: ReferenceStore::new(clock.clone()).with_resolution(case.declaration().resolution),
            clock,
            keys: Vec::new(),
            tokens: Vec::new(),
            revisions: BTreeMap::new(),
            deadlines: Vec::new(),
        }
    }

    /// New keys that are easily confused, and new tokens. Both keep what they hold, for later purges to find.
    fn begin(&mut self, sequence: usize) {
        let names = ["a", "A", "a ", "b", "é", "e\u{301}"];
        let key = |place| self.case.key(&format!("{sequence} {}.", names[(sequence + place) % names.len()]));
        self.keys = (0..3).map(key).collect();
        self.tokens = vec![self.case.token()];
    }

    /// Sometimes moves the clock, where the suite sets it: to a deadline, to one tick on either side of it, or a little.
    async fn clock_step(&mut self, random: &mut Random) -> Option<Timestamp> {
        if !self.case.sets_clock() || !random.percent(15) {
            return None;
        }
        let now = self.case.now().await;
        self.deadlines.retain(|deadline| now.as_micros() - 1 <= deadline.as_micros());
        let to = if self.deadlines.is_empty() || random.percent(20) {
            now.as_micros() + i64::try_from(random.below(1_000)).unwrap_or(0)
        } else {
            let step = [-1, 0, 1][random.below(3)];
            random.pick(&self.deadlines).as_micros() + step
        };
        let to = Timestamp::from_micros(to.max(now.as_micros()));
        self.case.set_clock(to).await;
        self.clock.set(to);
        Some(to)
    }

    fn request(&mut self, random: &mut Random) -> Request {
        let key = random.pick(&self.keys).clone();
        let token = *random.pick(&self.tokens);
        match random.below(100) {
            0..30 => self.claim(key, random),
            30..45 => Request::Load { key },
            45..65 => {
                let number = self.renewal_revision(token, random);
                Request::Renew { key, token, renewal: renewal(number, random) }
            }
            65..80 => {
                let mut completion =
                    completion(self.next_revision(token), response(&format!("result {}", random.below(9))));
                completion.retention = seconds([30, 600, 4_000][random.below(3)]);
                Request::Complete { key, token, completion }
            }
            80..92 => Request::Release { key, token, release: release(self.next_revision(token)) },
            _ => Request::PurgeExpired { limit: [0, 1, 1_000][random.below(3)] },
        }
    }

    fn claim(&mut self, key: RecordKey, random: &mut Random) -> Request {
        let mut claim = self.case.claim();
        if random.percent(15) {
            claim.token = *random.pick(&self.tokens);
        }
        self.tokens.push(claim.token);
        // Few enough that a random pick often meets one that holds something.
        if self.tokens.len() > 6 {
            self.tokens.remove(0);
        }
        claim.fingerprint = fingerprint(["charge", "refund"][random.below(2)]);
        claim.attempt = u32::try_from(1 + random.below(3)).unwrap_or(1);
        claim.checkpoint = random.percent(30).then(|| "inherited".into());
        if self.case.sets_clock() {
            (claim.lease, claim.keep) = (seconds(10), seconds(100));
            claim.keep_unresolved = seconds([50, 300][random.below(2)]);
        }
        let expected = if random.percent(50) {
            Expected::Absent
        } else {
            let token = *random.pick(&self.tokens);
            let highest = self.revisions.get(token.as_bytes()).copied().unwrap_or(1);
            let number = if random.percent(85) { highest } else { highest.saturating_sub(1).max(1) };
            Expected::Exactly(Version { token, revision: revision(number) })
        };
        Request::Claim { key, claim, expected }
    }

    /// A number that the token has not used. A holder numbers its writes, and the contract says nothing of an end that
    /// carries an old number; only renewals may be overtaken.
    fn next_revision(&mut self, token: Token) -> u32 {
        let highest = self.revisions.entry(*token.as_bytes()).or_insert(1);
        *highest += 1;
        *highest
    }

    /// Mostly the next number of the token, sometimes one that was used before: a late copy.
    fn renewal_revision(&mut self, token: Token, random: &mut Random) -> u32 {
        let next = self.next_revision(token);
        if random.percent(75) { next } else { (next - u32::from(random.percent(50)) - 1).max(1) }
    }

    /// Gives the call to both and compares what they say and what they then hold.
    async fn play(&mut self, request: &Request) -> Option<String> {
        let store = self.told(request).await;
        let model = request.deliver(&self.model).await;
        if self.unlike(&store, &model) {
            let parts = unlike_parts(&store, &model);
            return Some(format!("the store answered something else than the model\n{parts}"));
        }
        if matches!(request, Request::PurgeExpired { limit: 1 }) {
            // Which of several records goes is the store's choice: let both delete the rest as well.
            let rest = Request::PurgeExpired { limit: 1_000 };
            self.told(&rest).await;
            rest.deliver(&self.model).await;
        }
        for key in self.keys.clone() {
            let load = Request::Load { key };
            let store = self.told(&load).await;
            let model = load.deliver(&self.model).await;
            if self.unlike(&store, &model) {
                return Some(format!(
                    "the store then holds something else than the model\n{}",
                    unlike_parts(&store, &model)
                ));
            }
            if let Answer::Load(Ok(Some(found))) = model {
                let record = found.record;
                self.deadlines.extend([record.lease_until, record.expires_at, record.unresolved_until]);
            }
        }
        None
    }

    /// What the store under test answers.
    async fn told(&self, request: &Request) -> Answer {
        let answer = request.deliver(&*self.case.plain_store()).await;
        if let Some(error) = answer.error() {
            failed(&format!("{:?}", request.verb()), error);
        }
        answer
    }

    fn unlike(&self, store: &Answer, model: &Answer) -> bool {
        let (store, model) = (format!("{store:?}"), format!("{model:?}"));
        if self.case.sets_clock() { store != model } else { without_times(&store) != without_times(&model) }
    }
}

/// What differs between two answers: of the records that they show the fields, else the answers as they are.
fn unlike_parts(store: &Answer, model: &Answer) -> String {
    let differences = match (record_shown(store), record_shown(model)) {
        (Some(found), Some(due)) => differences(&found.record, &due.record),
        _ => Vec::new(),
    };
    if differences.is_empty() {
        return format!("the store  {store:?}\nthe model  {model:?}");
    }
    differences.join("\n")
}

fn record_shown(answer: &Answer) -> Option<&Snapshot> {
    match answer {
        Answer::Load(Ok(found)) => found.as_ref(),
        Answer::Claim(Ok(ClaimOutcome::Occupied(found)))
        | Answer::Complete(Ok(CompleteOutcome::AlreadyCompleted(found))) => Some(found.as_ref()),
        _ => None,
    }
}

fn renewal(number: u32, random: &mut Random) -> Renewal {
    let mut renewal = checkpoint(number, seconds([1, 10, 500][random.below(3)]), format!("saved {number}"));
    if random.percent(50) {
        renewal.checkpoint = None;
    }
    if random.percent(25) {
        renewal.lease = LeaseChange::End;
    }
    renewal
}

/// The Debug form with every timestamp (`123us`) replaced.
fn without_times(text: &str) -> String {
    let words = text.split(' ').map(|word| if word.contains("us") { "<time>" } else { word });
    words.collect::<Vec<_>>().join(" ")
}

fn shown(request: &Request) -> String {
    match request {
        Request::Claim { key, claim, expected } => {
            format!("claim {key:?} by {:?}, {expected:?}", claim.token)
        }
        Request::Load { key } => format!("load {key:?}"),
        Request::Renew { key, token, renewal } => format!("renew {key:?} by {token:?}, {renewal:?}"),
        Request::Complete { key, token, completion } => {
            format!("complete {key:?} by {token:?}, {:?}", completion.revision)
        }
        Request::Release { key, token, release } => {
            format!("release {key:?} by {token:?}, {:?}", release.revision)
        }
        Request::PurgeExpired { limit } => format!("purge at most {limit}"),
        Request::ClaimMany { claims } => format!("claim {} at once", claims.len()),
    }
}

const SEQUENCES: usize = 40;
const STEPS: usize = 60;
const HISTORY_SHOWN: usize = 12;
