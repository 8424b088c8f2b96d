//! What was answered, by the store and by the model.

use onceonly::{
    ClaimOutcome, CompleteOutcome, Record, RenewOutcome, Snapshot, Stamp, Status, StoreError, Timestamp,
};

use super::wording::{Words, checkpoint, result};
use crate::call::{Answer, Verb};
use crate::compare::{Wording, differences_in};
use crate::handle::chain;

impl Words<'_> {
    /// In a sentence, how the store's answer differs from the model's.
    pub(super) fn parting(&self, verb: Verb, store: &Answer, model: &Answer) -> String {
        let (verb, found, due) = (name(verb), self.answer(store), self.answer(model));
        if found != due {
            return format!("{verb} answered {found}, due was {due}");
        }
        let differences = self.differences(store, model);
        let fields: Vec<&str> =
            differences.iter().filter_map(|line| Some(line.split_once(": found")?.0)).collect();
        match fields[..] {
            [] => format!("{verb} answered {found}, with something else than due"),
            _ => format!("{verb} answered {found}, with another {} than due", fields.join(", ")),
        }
    }

    /// The outcome alone.
    pub(super) fn answer(&self, answer: &Answer) -> String {
        let outcomes: Vec<String> = parts(answer).into_iter().map(|part| part.outcome).collect();
        match answer {
            Answer::ClaimMany(_) => format!("[{}]", outcomes.join(", ")),
            _ => outcomes.concat(),
        }
    }

    /// The outcome with what it carries.
    pub(super) fn whole_answer(&self, answer: &Answer) -> String {
        let whole = parts(answer).into_iter().map(|Part { outcome, carries }| match carries {
            Carried::Nothing => outcome,
            Carried::Stamp(stamp) => {
                let (lease_until, expires_at) = (self.time(stamp.lease_until), self.time(stamp.expires_at));
                format!("{outcome}: lease_until {lease_until}, expires_at {expires_at}")
            }
            Carried::Snapshot(shown) => format!("{outcome}: {}", self.record(&shown.record)),
        });
        whole.collect::<Vec<_>>().join(" | ")
    }

    fn record(&self, record: &Record) -> String {
        let status = match &record.status {
            Status::InProgress { checkpoint: saved } => {
                format!("in progress{}", saved.as_deref().map(checkpoint).unwrap_or_default())
            }
            Status::Completed(stored) => format!("completed with {}", result(stored)),
            Status::Released => "released".to_owned(),
        };
        format!(
            "{}, attempt {}, {status}; lease_until {}, expires_at {}, unresolved_until {}",
            self.version(record.version),
            record.attempt,
            self.time(record.lease_until),
            self.time(record.expires_at),
            self.time(record.unresolved_until),
        )
    }

    /// What differs in what two answers carry, a line for each field.
    pub(super) fn differences(&self, store: &Answer, model: &Answer) -> Vec<String> {
        let pairs = parts(store).into_iter().zip(parts(model));
        pairs.flat_map(|(store, model)| self.carried_differences(&store.carries, &model.carries)).collect()
    }

    fn carried_differences(&self, store: &Carried<'_>, model: &Carried<'_>) -> Vec<String> {
        match (store, model) {
            (Carried::Stamp(found), Carried::Stamp(due)) => {
                let times = |stamp: &Stamp| {
                    [("now", stamp.now), ("lease_until", stamp.lease_until), ("expires_at", stamp.expires_at)]
                };
                let fields = times(found).into_iter().zip(times(due));
                let other = fields.filter(|(found, due)| found != due);
                other.map(|((field, found), (_, due))| self.difference(field, found, due)).collect()
            }
            (Carried::Snapshot(found), Carried::Snapshot(due)) => {
                let mut differences = differences_in(self, &found.record, &due.record);
                if found.now != due.now {
                    differences.push(self.difference("now", found.now, due.now));
                }
                differences
            }
            _ => Vec::new(),
        }
    }

    fn difference(&self, field: &str, found: Timestamp, due: Timestamp) -> String {
        format!("{field}: found {}, due {}", self.time(found), self.time(due))
    }
}

/// An answer, or that to one item of a batch.
struct Part<'a> {
    outcome: String,
    carries: Carried<'a>,
}

enum Carried<'a> {
    Nothing,
    Stamp(&'a Stamp),
    Snapshot(&'a Snapshot),
}

impl<'a> Part<'a> {
    fn new(outcome: impl Into<String>, carries: Carried<'a>) -> Self {
        Self { outcome: outcome.into(), carries }
    }

    fn of<T>(answer: &'a Result<T, StoreError>, part: impl Fn(&'a T) -> Self) -> Self {
        match answer {
            Ok(outcome) => part(outcome),
            Err(error) => Self::new(format!("an error ({})", chain(error)), Carried::Nothing),
        }
    }

    fn claim(outcome: &'a ClaimOutcome) -> Self {
        match outcome {
            ClaimOutcome::Claimed(stamp) => Self::new("Claimed", Carried::Stamp(stamp)),
            ClaimOutcome::Occupied(shown) => Self::new("Occupied", Carried::Snapshot(shown)),
            ClaimOutcome::Vacant => Self::new("Vacant", Carried::Nothing),
        }
    }

    fn load(found: &'a Option<Snapshot>) -> Self {
        match found {
            Some(found) => Self::new("a record", Carried::Snapshot(found)),
            None => Self::new("none", Carried::Nothing),
        }
    }

    fn renew(outcome: &'a RenewOutcome) -> Self {
        match outcome {
            RenewOutcome::Applied(stamp) => Self::new("Applied", Carried::Stamp(stamp)),
            RenewOutcome::NotHeld => Self::new("NotHeld", Carried::Nothing),
        }
    }

    fn complete(outcome: &'a CompleteOutcome) -> Self {
        match outcome {
            CompleteOutcome::Applied(stamp) => Self::new("Applied", Carried::Stamp(stamp)),
            CompleteOutcome::AlreadyCompleted(shown) => {
                Self::new("AlreadyCompleted", Carried::Snapshot(shown))
            }
            CompleteOutcome::NotHeld => Self::new("NotHeld", Carried::Nothing),
        }
    }
}

fn parts(answer: &Answer) -> Vec<Part<'_>> {
    match answer {
        Answer::ClaimMany(answers) => answers.iter().map(|answer| Part::of(answer, Part::claim)).collect(),
        Answer::Claim(answer) => vec![Part::of(answer, Part::claim)],
        Answer::Load(answer) => vec![Part::of(answer, Part::load)],
        Answer::Renew(answer) => vec![Part::of(answer, Part::renew)],
        Answer::Complete(answer) => vec![Part::of(answer, Part::complete)],
        Answer::Release(answer) => {
            vec![Part::of(answer, |outcome| Part::new(format!("{outcome:?}"), Carried::Nothing))]
        }
        Answer::PurgeExpired(answer) => {
            vec![Part::of(answer, |deleted| Part::new(format!("{deleted} deleted"), Carried::Nothing))]
        }
    }
}

const fn name(verb: Verb) -> &'static str {
    match verb {
        Verb::Claim => "claim",
        Verb::Load => "load",
        Verb::Renew => "renew",
        Verb::Complete => "complete",
        Verb::Release => "release",
        Verb::PurgeExpired => "purge_expired",
        Verb::ClaimMany => "claim_many",
    }
}
