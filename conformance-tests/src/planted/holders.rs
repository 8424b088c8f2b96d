//! Whom a store takes for the holder of a record, and until when.

use onceonly::{Record, RecordKey, Status, Timestamp, Token};

use super::claims::micros;
use super::faults::Fault;
use super::shared::lock;
use super::store::PlantedStore;
use crate::call::Verb;
use crate::reference::place;

impl PlantedStore {
    /// The token under which the store carries out a holder's write that comes with `token`; none if it refuses it.
    pub(super) fn admits(&self, verb: Verb, key: &RecordKey, token: Token) -> Option<Token> {
        let Some(found) = self.stored(key) else { return Some(token) };
        if self.refuses(verb, &found) {
            return None;
        }
        if self.has(Fault::NeverPastUnlessPurged) {
            self.revive(key);
        }
        let passes = self.takes_for_holder(verb, key, &found, token);
        Some(if passes { found.version.token } else { token })
    }

    fn refuses(&self, verb: Verb, found: &Record) -> bool {
        match (self.fault, verb) {
            (Some(Fault::NoLateRenewal), Verb::Renew) | (Some(Fault::NoLateCompletion), Verb::Complete) => {
                found.lease_until <= self.base.now()
            }
            (Some(Fault::SecondReleaseRefused), Verb::Release) => found.status == Status::Released,
            _ => false,
        }
    }

    fn takes_for_holder(&self, verb: Verb, key: &RecordKey, found: &Record, token: Token) -> bool {
        match (self.fault, verb) {
            (Some(Fault::CompleteWithoutToken), Verb::Complete)
            | (Some(Fault::ReleaseWithoutToken), Verb::Release) => true,
            (Some(Fault::CompleteByFormerHolder), Verb::Complete)
            | (Some(Fault::ReleaseByFormerHolder), Verb::Release) => self.once_held(key, token),
            (Some(Fault::TokensCompareEightBytes), _) => alike(found.version.token, token),
            _ => false,
        }
    }

    fn once_held(&self, key: &RecordKey, token: Token) -> bool {
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

/// Whether both begin with the same eight bytes.
pub(super) fn alike(one: Token, other: Token) -> bool {
    one.as_bytes()[..8] == other.as_bytes()[..8]
}

/// One tick before `instant`.
pub(super) const fn before(instant: Timestamp) -> Timestamp {
    Timestamp::from_micros(instant.as_micros() - 1)
}
