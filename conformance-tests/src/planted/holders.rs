//! Whom a store takes for the holder of a record, and until when.

use onceonly::{Record, RecordKey, Status, Timestamp, Token};

use super::claims::micros;
use super::faults::Fault;
use super::keys::key_at;
use super::shared::lock;
use super::store::PlantedStore;
use crate::call::Verb;
use crate::reference::place;

impl PlantedStore {
    /// The record that a holder's write goes to.
    pub(super) fn key_of_write(&self, key: &RecordKey, token: Token) -> RecordKey {
        let key = self.altered_key(key);
        if self.has(Fault::WritesGoByTokenAlone) {
            let held = self.base.all().into_iter().find(|(_, record)| holds(record, token));
            return held.map_or(key, |(place, _)| key_at(&place));
        }
        key
    }

    /// The token under which the store carries out a holder's write that comes with `token`; none if it refuses it.
    pub(super) fn admits(&self, verb: Verb, key: &RecordKey, token: Token) -> Option<Token> {
        let Some(found) = self.stored(key) else { return Some(token) };
        let now = self.base.now();
        if self.refuses(verb, &found, now) {
            return None;
        }
        if self.outlives(verb, &found, token, now) {
            self.revive(key);
        }
        let passes = self.takes_for_holder(verb, key, &found, token, now);
        Some(if passes { found.version.token } else { token })
    }

    fn refuses(&self, verb: Verb, found: &Record, now: Timestamp) -> bool {
        let unfinished = matches!(found.status, Status::InProgress { .. });
        let in_the_last_tick = before(found.past_from()) <= now;
        match (self.fault, verb) {
            (Some(Fault::NoLateRenewal), Verb::Renew) | (Some(Fault::NoLateCompletion), Verb::Complete) => {
                found.lease_until <= now
            }
            (Some(Fault::NoLateRelease), Verb::Release) => unfinished && found.lease_until <= now,
            (Some(Fault::NoCompletionInTheLastTick), Verb::Complete) => unfinished && in_the_last_tick,
            (Some(Fault::NoRepeatInTheLastTick), Verb::Complete) => !unfinished && in_the_last_tick,
            (Some(Fault::SecondReleaseRefused), Verb::Release) => found.status == Status::Released,
            _ => false,
        }
    }

    /// Whether the verb takes a record for current that is past its time.
    fn outlives(&self, verb: Verb, found: &Record, token: Token, now: Timestamp) -> bool {
        let unfinished = matches!(found.status, Status::InProgress { .. });
        match (self.fault, verb) {
            (Some(Fault::NeverPastUnlessPurged), _) => true,
            (Some(Fault::RenewedAtTheDeadline), Verb::Renew)
            | (Some(Fault::CompletedAtTheDeadline), Verb::Complete)
            | (Some(Fault::ReleasedAtTheDeadline), Verb::Release) => unfinished && found.past_from() == now,
            (Some(Fault::RepeatedPastItsTime), Verb::Complete) => {
                matches!(found.status, Status::Completed(_)) && found.version.token == token
            }
            _ => false,
        }
    }

    fn takes_for_holder(
        &self,
        verb: Verb,
        key: &RecordKey,
        found: &Record,
        token: Token,
        now: Timestamp,
    ) -> bool {
        match (self.fault, verb) {
            (Some(Fault::CompleteWithoutToken), Verb::Complete)
            | (Some(Fault::ReleaseWithoutToken), Verb::Release) => true,
            (Some(Fault::RenewByFormerHolder), Verb::Renew)
            | (Some(Fault::CompleteByFormerHolder), Verb::Complete)
            | (Some(Fault::ReleaseByFormerHolder), Verb::Release) => self.once_held(key, token),
            (Some(Fault::MarkIsAnybodys), Verb::Complete)
                if found.status == Status::Released && self.once_held(key, token) =>
            {
                self.reopen(key, Status::Released);
                true
            }
            (Some(Fault::AnybodyHasCompleted), Verb::Complete) => {
                matches!(found.status, Status::Completed(_))
            }
            (Some(Fault::AbandonedIsAnybodys), _) => found.lease_until <= now,
            (Some(Fault::AnyHeldTokenWillDo), _) => {
                self.base.all().values().any(|record| holds(record, token))
            }
            (Some(Fault::TokensCompareEightBytes | Fault::TokensIgnoreCase), _) => {
                self.alike(found.version.token, token)
            }
            _ => false,
        }
    }

    /// Whether the store takes one of two tokens for the other.
    pub(super) fn alike(&self, one: Token, other: Token) -> bool {
        let (one, other) = (one.as_bytes(), other.as_bytes());
        match self.fault {
            Some(Fault::TokensCompareEightBytes) => one[..8] == other[..8],
            Some(Fault::TokensIgnoreCase) => one.eq_ignore_ascii_case(other),
            _ => one == other,
        }
    }

    pub(super) fn once_held(&self, key: &RecordKey, token: Token) -> bool {
        lock(&self.shared.former).get(&place(key)).is_some_and(|former| former.contains(&token))
    }

    /// Moves the deadlines of a record that is past its time.
    pub(super) fn revive(&self, key: &RecordKey) {
        self.base.edit(key, |slot, now| {
            if let Some(record) = slot {
                record.unresolved_until = record.unresolved_until.max(now.plus(micros(1)));
                record.expires_at = record.expires_at.max(now.plus(micros(1)));
            }
        });
    }

    /// Puts a record of this status back in progress.
    pub(super) fn reopen(&self, key: &RecordKey, status: Status) {
        self.base.edit(key, |slot, _| match slot {
            Some(record) if record.status == status => {
                record.status = Status::InProgress { checkpoint: None }
            }
            _ => {}
        });
    }
}

/// Whether the record is in progress under `token`.
pub(super) fn holds(record: &Record, token: Token) -> bool {
    matches!(record.status, Status::InProgress { .. }) && record.version.token == token
}

/// One tick before `instant`.
pub(super) const fn before(instant: Timestamp) -> Timestamp {
    Timestamp::from_micros(instant.as_micros() - 1)
}
