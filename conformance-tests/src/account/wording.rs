//! Keys and tokens as letters, times in milliseconds from the start.

use onceonly::{
    ClaimRequest, Expected, LeaseChange, NewClaim, RecordKey, Span, StoredResult, Timestamp, Token, Version,
};

use super::Jump;
use crate::call::Request;
use crate::compare::Wording;
use crate::property::shown_key;

/// What an account calls its keys and tokens: by letters, in the order in which they come up.
pub(super) struct Words<'a> {
    start: Timestamp,
    keys: Vec<&'a RecordKey>,
    tokens: Vec<Token>,
}

impl<'a> Words<'a> {
    pub(super) fn of(start: Timestamp, requests: impl Iterator<Item = &'a Request>) -> Self {
        let mut words = Self { start, keys: Vec::new(), tokens: Vec::new() };
        for request in requests {
            words.learn(request);
        }
        words
    }

    fn learn(&mut self, request: &'a Request) {
        match request {
            Request::Claim { key, claim, expected } => self.learn_claim(key, claim.token, *expected),
            Request::ClaimMany { claims } => {
                for ClaimRequest { key, claim, expected } in claims {
                    self.learn_claim(key, claim.token, *expected);
                }
            }
            other => self.learn_names(other.key(), other.token()),
        }
    }

    fn learn_claim(&mut self, key: &'a RecordKey, token: Token, expected: Expected) {
        if let Expected::Exactly(version) = expected {
            self.learn_names(None, Some(version.token));
        }
        self.learn_names(Some(key), Some(token));
    }

    fn learn_names(&mut self, key: Option<&'a RecordKey>, token: Option<Token>) {
        let new_key = key.filter(|key| !self.keys.contains(key));
        self.keys.extend(new_key);
        let new_token = token.filter(|token| !self.tokens.contains(token));
        self.tokens.extend(new_token);
    }

    // Names.

    pub(super) fn key(&self, key: &RecordKey) -> String {
        let place = self.keys.iter().position(|known| *known == key);
        place.map_or_else(|| shown_key(key), |place| letter(place, b'a'))
    }

    /// What the letters of the keys stand for, also the letters in them that cannot be seen.
    pub(super) fn legend(&self) -> impl Iterator<Item = String> {
        self.keys
            .iter()
            .enumerate()
            .map(|(place, key)| format!("  {} is {}", letter(place, b'a'), shown_key(key)))
    }

    pub(super) fn version(&self, version: Version) -> String {
        format!("{} revision {}", self.token(version.token), version.revision.number())
    }

    // What happened.

    pub(super) fn jump(&self, jump: &Jump) -> String {
        match jump {
            Jump::ToDeadline { key, deadline, behind } => {
                let of = format!("{deadline} of {}", self.key(key));
                match behind {
                    0 => of,
                    ahead if *ahead < 0 => format!("{} ms before {of}", milliseconds(-ahead)),
                    behind => format!("{} ms after {of}", milliseconds(*behind)),
                }
            }
            Jump::Ahead => "a little later".to_owned(),
            Jump::PastAll => "when every record is past its time".to_owned(),
        }
    }

    pub(super) fn request(&self, request: &Request) -> String {
        match request {
            Request::Claim { key, claim, expected } => format!("claim {}", self.claim(key, claim, *expected)),
            Request::ClaimMany { claims } => {
                let items = claims.iter().map(|item| self.claim(&item.key, &item.claim, item.expected));
                format!("claim_many [{}]", items.collect::<Vec<_>>().join(" | "))
            }
            Request::Load { key } => format!("load {}", self.key(key)),
            Request::Renew { key, token, renewal } => {
                let lease = match renewal.lease {
                    LeaseChange::Extend(lease) => format!("lease {}", span(lease)),
                    LeaseChange::End => "end of the lease".to_owned(),
                };
                let checkpoint = renewal.checkpoint.as_deref().map(checkpoint).unwrap_or_default();
                format!("renew {}: {lease}{checkpoint}", self.write(key, *token, renewal.revision.number()))
            }
            Request::Complete { key, token, completion } => {
                let write = self.write(key, *token, completion.revision.number());
                format!(
                    "complete {write}: {}, retention {}",
                    result(&completion.result),
                    span(completion.retention)
                )
            }
            Request::Release { key, token, release } => {
                format!(
                    "release {}: keep {}",
                    self.write(key, *token, release.revision.number()),
                    span(release.keep)
                )
            }
            Request::PurgeExpired { limit } => format!("purge_expired, at most {limit}"),
        }
    }

    fn claim(&self, key: &RecordKey, claim: &NewClaim, expected: Expected) -> String {
        let expected = match expected {
            Expected::Absent => "nothing".to_owned(),
            Expected::Exactly(version) => self.version(version),
        };
        let attempt = if claim.attempt == 1 { String::new() } else { format!(", attempt {}", claim.attempt) };
        format!(
            "{} by {}, expecting {expected}: lease {}, keep {}, keep_unresolved {}{attempt}{}",
            self.key(key),
            self.token(claim.token),
            span(claim.lease),
            span(claim.keep),
            span(claim.keep_unresolved),
            claim.checkpoint.as_deref().map(checkpoint).unwrap_or_default(),
        )
    }

    fn write(&self, key: &RecordKey, token: Token, revision: u32) -> String {
        format!("{} by {}, revision {revision}", self.key(key), self.token(token))
    }
}

impl Wording for Words<'_> {
    fn time(&self, time: Timestamp) -> String {
        milliseconds(time.as_micros() - self.start.as_micros())
    }

    fn token(&self, token: Token) -> String {
        let place = self.tokens.iter().position(|known| *known == token);
        place.map_or_else(|| format!("{token:?}"), |place| letter(place, b'A'))
    }
}

/// The letter at `place`, twice behind the last one, and so on.
fn letter(place: usize, first: u8) -> String {
    let letter = (b'a'..=b'z').nth(place % 26).unwrap_or(b'a') - b'a' + first;
    char::from(letter).to_string().repeat(place / 26 + 1)
}

fn milliseconds(micros: i64) -> String {
    let (whole, rest) = (micros / 1_000, micros % 1_000);
    let sign = if micros < 0 && whole == 0 { "-" } else { "" };
    match rest.abs() {
        0 => whole.to_string(),
        rest => format!("{sign}{whole}.{rest:03}"),
    }
}

fn span(span: Span) -> String {
    milliseconds(span.as_micros())
}

pub(super) fn checkpoint(bytes: &[u8]) -> String {
    format!(", checkpoint \"{}\"", bytes.escape_ascii())
}

pub(super) fn result(result: &StoredResult) -> String {
    let headers = match result.headers().len() {
        0 => String::new(),
        1 => ", 1 header".to_owned(),
        headers => format!(", {headers} headers"),
    };
    match result.body() {
        None => format!("code {}{headers}, not retained", result.code()),
        Some(body) if body.len() > 40 => format!("code {}{headers}, {} bytes", result.code(), body.len()),
        Some(body) => format!("code {}{headers}, \"{}\"", result.code(), body.escape_ascii()),
    }
}
