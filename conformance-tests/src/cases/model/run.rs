//! A sequence being played: what its steps come to where it has got to.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bytes::Bytes;
use onceonly::{
    ClaimRequest, Completion, Expected, LeaseChange, NewClaim, Record, RecordKey, Release, Renewal, Revision,
    Span, StoredResponse, StoredResult, Timestamp, Token, Version,
};

use super::step::{
    Caller, Checkpoint, Claim, Credential, Expectation, Lease, NAMES, Numbering, Sequence, Side, Step,
    Stored, Tick,
};
use crate::account::Jump;
use crate::call::Request;
use crate::case::{Case, fingerprint, response, revision, seconds, span, version};
use crate::pair::{Pair, deadlines};
use crate::property::scope_of;
use crate::reference::is_past;

pub(super) struct Run<'a> {
    case: &'a Case,
    pair: Pair<'a>,
    keys: Vec<RecordKey>,
    /// The keys that steps have named, in that order: the one named first is the first of `keys`, whichever it was.
    named: Vec<usize>,
    /// What each key was claimed with, the last one last.
    claimed_with: Vec<Vec<Token>>,
    /// Every deadline that a record has had, also one that was moved: a store may go by the wrong one.
    deadlines: BTreeSet<Deadline>,
    /// The highest number that a token was used with.
    numbers: BTreeMap<[u8; 16], u32>,
    /// How many writes there were, to tell what they write apart.
    writes: usize,
}

impl<'a> Run<'a> {
    pub(super) async fn of(case: &'a Case, number: usize, sequence: &Sequence) -> Self {
        clear_away(case).await;
        let names = &NAMES[sequence.names][..sequence.keys];
        let keys = names.iter().map(|(scope, name)| case.key_in(&scope_of(case, number, scope), name));
        Self {
            case,
            pair: Pair::of(case).await,
            keys: keys.collect(),
            named: Vec::new(),
            claimed_with: vec![Vec::new(); sequence.keys],
            deadlines: BTreeSet::new(),
            numbers: BTreeMap::new(),
            writes: 0,
        }
    }

    pub(super) async fn take(&mut self, step: &Step) {
        self.play(step).await;
        for place in 0..self.keys.len() {
            let record = self.record(place);
            self.deadlines.extend(record.into_iter().flat_map(|record| Deadline::all_of(place, &record)));
        }
    }

    /// Past every deadline, everything goes.
    pub(super) async fn finish(&mut self) {
        let now = self.pair.now();
        let last = self.deadlines.last().map_or(now, |last| last.at.max(now));
        self.pair.set_clock(last, Jump::PastAll).await;
        self.purge(1_000).await;
    }

    async fn play(&mut self, step: &Step) {
        match step {
            Step::Claim(claims) => match &claims[..] {
                [claim] => {
                    let ClaimRequest { key, claim, expected } = self.claim(claim);
                    self.pair.tell(Request::Claim { key, claim, expected }).await;
                }
                claims => {
                    let claims = claims.iter().map(|claim| self.claim(claim)).collect();
                    self.pair.tell(Request::ClaimMany { claims }).await;
                }
            },
            Step::Renew { by, lease, checkpoint } => {
                let (key, token, revision) = self.write(*by);
                let lease = match lease {
                    Lease::Extend { us } => LeaseChange::Extend(micros(*us)),
                    Lease::End => LeaseChange::End,
                };
                let renewal = Renewal { revision, lease, checkpoint: self.checkpoint(*checkpoint) };
                self.pair.tell(Request::Renew { key, token, renewal }).await;
            }
            Step::Complete { by, result, retention_us } => {
                let (key, token, revision) = self.write(*by);
                let (result, retention) = (self.result(*result), self.case.unreached(micros(*retention_us)));
                let completion = Completion { revision, result, retention };
                self.pair.tell(Request::Complete { key, token, completion }).await;
            }
            Step::Release { by, keep_us } => {
                let (key, token, revision) = self.write(*by);
                let release = Release { revision, keep: self.case.unreached(micros(*keep_us)) };
                self.pair.tell(Request::Release { key, token, release }).await;
            }
            Step::Purge { limit } => self.purge(*limit).await,
            Step::LateCopy { key, verb, back } => {
                let place = self.place(*key);
                let key = self.keys[place].clone();
                self.pair.tell_again(&key, *verb, *back).await;
            }
            Step::Clock(tick) => self.pass(*tick).await,
        }
    }

    /// Where the key of this number stands.
    fn place(&mut self, key: usize) -> usize {
        let key = key % self.keys.len();
        self.named.iter().position(|named| *named == key).unwrap_or_else(|| {
            self.named.push(key);
            self.named.len() - 1
        })
    }

    fn claim(&mut self, claim: &Claim) -> ClaimRequest {
        let place = self.place(claim.key);
        let expected = self.expected(place, claim.expected);
        let token = self.case.token();
        self.claimed_with[place].push(token);
        self.numbers.insert(*token.as_bytes(), 1);
        let new = NewClaim {
            token,
            fingerprint: fingerprint(claim.request),
            attempt: claim.attempt,
            checkpoint: self.checkpoint(claim.checkpoint),
            lease: micros(claim.lease_us),
            keep: self.case.unreached(micros(claim.keep_us)),
            keep_unresolved: self.case.unreached(micros(claim.keep_unresolved_us)),
        };
        ClaimRequest { key: self.keys[place].clone(), claim: new, expected }
    }

    fn expected(&self, place: usize, expectation: Expectation) -> Expected {
        let standing = self.record(place).map(|record| record.version);
        let standing = standing.unwrap_or_else(|| version(self.last_token(place), 1));
        match expectation {
            Expectation::Nothing => Expected::Absent,
            Expectation::Standing => Expected::Exactly(standing),
            Expectation::Before => {
                Expected::Exactly(Version { revision: before(standing.revision), ..standing })
            }
            Expectation::OtherToken => {
                Expected::Exactly(Version { token: almost(standing.token), ..standing })
            }
        }
    }

    fn write(&mut self, by: Caller) -> (RecordKey, Token, Revision) {
        let place = self.place(by.key);
        let token = self.token(place, by.token);
        let standing = self.record(place).map_or(Revision::FIRST, |record| record.version.revision);
        let highest = self.numbers.entry(*token.as_bytes()).or_insert(1);
        let revision = match by.revision {
            Numbering::Next => revision(*highest + 1),
            Numbering::Equal => standing,
            Numbering::Before => before(standing),
            Numbering::Far => revision(*highest + 65_536),
        };
        *highest = (*highest).max(revision.number());
        self.writes += 1;
        (self.keys[place].clone(), token, revision)
    }

    fn token(&self, place: usize, credential: Credential) -> Token {
        let holder =
            || self.record(place).map_or_else(|| self.last_token(place), |record| record.version.token);
        match credential {
            Credential::Holder => holder(),
            Credential::Former => {
                let former = self.claimed_with[place].iter().rev().nth(1);
                former.copied().unwrap_or_else(|| self.case.token())
            }
            Credential::OfOtherKey => self.last_token((place + 1) % self.keys.len()),
            Credential::AlmostHolder => almost(holder()),
            Credential::Stranger => self.case.token(),
        }
    }

    fn last_token(&self, place: usize) -> Token {
        self.claimed_with[place].last().copied().unwrap_or_else(|| self.case.token())
    }

    fn record(&self, place: usize) -> Option<Record> {
        self.pair.record(&self.keys[place])
    }

    fn checkpoint(&mut self, checkpoint: Checkpoint) -> Option<Bytes> {
        match checkpoint {
            Checkpoint::None => None,
            Checkpoint::Text => Some(format!("saved {}", self.writes).into()),
            Checkpoint::Empty => Some(Bytes::new()),
        }
    }

    fn result(&self, result: Stored) -> StoredResult {
        match result {
            Stored::Text => response(&format!("result {}", self.writes)),
            Stored::Empty => response(""),
            Stored::NotRetained => StoredResult::NotRetained(StoredResponse::new(502, "").into_head()),
            Stored::Raw => {
                let all: Vec<u8> = (0..=255).collect();
                let raw = StoredResponse::new(599, all.clone()).with_header("X-Twice", "b");
                StoredResult::Retained(raw.with_header("x-bytes", all).with_header("X-Twice", "a"))
            }
        }
    }

    /// Deletes on both. Which records go of more than `limit` is the store's choice, so then both delete the rest too.
    async fn purge(&mut self, limit: u32) {
        let past = self.keys.iter().filter_map(|key| self.pair.record(key));
        let past = past.filter(|record| is_past(record, self.pair.now())).count();
        self.pair.tell(Request::PurgeExpired { limit }).await;
        if limit > 0 && past > limit as usize {
            self.pair.tell(Request::PurgeExpired { limit: 1_000 }).await;
        }
        for key in self.keys.clone() {
            self.pair.look(key).await;
        }
    }

    // Time.

    async fn pass(&mut self, tick: Tick) {
        let now = self.pair.now();
        match tick {
            Tick::Little { us } => {
                let tick = self.case.tick();
                let us = i64::try_from(us).unwrap_or(tick);
                self.pair.set_clock(later(now, us - us % tick + tick), Jump::Ahead).await;
            }
            Tick::Deadline { key, ahead, side } => {
                let place = self.place(key);
                self.reach(now, place, ahead, side).await;
            }
        }
    }

    async fn reach(&mut self, now: Timestamp, place: usize, ahead: usize, side: Side) {
        let deadlines = self.deadlines.iter().filter(|deadline| deadline.place == place && now < deadline.at);
        let coming: Vec<&Deadline> = deadlines.collect();
        if coming.is_empty() {
            return;
        }
        let Deadline { at, name, .. } = *coming[ahead % coming.len()];
        let behind = match side {
            Side::At => 0,
            Side::Before => -self.case.tick(),
            Side::Behind => self.case.tick(),
        };
        let to = later(at, behind).max(now);
        let jump = Jump::ToDeadline { key: self.keys[place].clone(), deadline: name, behind };
        self.pair.set_clock(to, jump).await;
    }
}

/// A deadline of a record under the key at `place`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Deadline {
    at: Timestamp,
    place: usize,
    name: &'static str,
}

impl Deadline {
    fn all_of(place: usize, record: &Record) -> [Self; 3] {
        deadlines(record).map(|(name, at)| Self { at, place, name })
    }
}

/// Deletes what an earlier sequence has left that did not come to its end, if time can be made to pass.
async fn clear_away(case: &Case) {
    if !case.sets_clock() {
        return;
    }
    case.set_clock(case.now().await.plus(seconds(LONGER_THAN_ALL_S))).await;
    // The sequence before found out already if a purge does not come to its end.
    for _ in 0..10 {
        if case.store().purge(1_000).await == 0 {
            break;
        }
    }
}

fn later(time: Timestamp, us: i64) -> Timestamp {
    Timestamp::from_micros(time.as_micros() + us)
}

fn micros(us: u64) -> Span {
    span(Duration::from_micros(us))
}

fn before(revision: Revision) -> Revision {
    Revision::from_number(revision.number().saturating_sub(1).max(1))
}

fn almost(token: Token) -> Token {
    let mut bytes = *token.as_bytes();
    bytes[15] ^= 1;
    Token::from_bytes(bytes)
}

/// A day: longer than any record is kept.
const LONGER_THAN_ALL_S: u64 = 24 * 3_600;
