//! Calls and their answers as JSON, for another process or for a record of what happened.
//!
//! Every byte and every number survives: bytes as hexadecimal text, times and spans as whole microseconds. Of an error
//! its kind and its words survive.

mod shapes;
mod values;

use std::error::Error;
use std::fmt;

use onceonly::{StoreError, StoreErrorKind};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use self::shapes::{ClaimAnswer, CompleteAnswer, LoadAnswer, ReleaseAnswer, RenewAnswer, RequestForm};
use crate::call::{Answer, Request};
use crate::handle::chain;

pub(crate) use self::values::optional_timestamp;

/// As JSON with one member, named after the verb.
impl Serialize for Request {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RequestForm::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Request {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RequestForm::deserialize(deserializer)
    }
}

/// As JSON with one member, named after the verb. Of an error its kind and its words are written; it is read as an error
/// of that kind with those words as its source.
impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        AnswerForm::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Answer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        AnswerForm::deserialize(deserializer).map(Self::from)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum AnswerForm {
    Claim(ResultForm<ClaimAnswer>),
    Load(ResultForm<Option<LoadAnswer>>),
    Renew(ResultForm<RenewAnswer>),
    Complete(ResultForm<CompleteAnswer>),
    Release(ResultForm<ReleaseAnswer>),
    PurgeExpired(ResultForm<u64>),
    ClaimMany(Vec<ResultForm<ClaimAnswer>>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ResultForm<T> {
    Ok(T),
    Error { kind: KindForm, text: String },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindForm {
    Unavailable,
    Corrupt,
    Rejected,
    Other,
}

impl From<&Answer> for AnswerForm {
    fn from(answer: &Answer) -> Self {
        match answer {
            Answer::Claim(answer) => Self::Claim(ResultForm::of(answer, ClaimAnswer)),
            Answer::Load(answer) => Self::Load(ResultForm::of(answer, |found| found.map(LoadAnswer))),
            Answer::Renew(answer) => Self::Renew(ResultForm::of(answer, RenewAnswer)),
            Answer::Complete(answer) => Self::Complete(ResultForm::of(answer, CompleteAnswer)),
            Answer::Release(answer) => Self::Release(ResultForm::of(answer, ReleaseAnswer)),
            Answer::PurgeExpired(answer) => Self::PurgeExpired(ResultForm::of(answer, |deleted| deleted)),
            Answer::ClaimMany(answers) => {
                Self::ClaimMany(answers.iter().map(|answer| ResultForm::of(answer, ClaimAnswer)).collect())
            }
        }
    }
}

impl From<AnswerForm> for Answer {
    fn from(form: AnswerForm) -> Self {
        match form {
            AnswerForm::Claim(form) => Self::Claim(form.into_result(|ClaimAnswer(outcome)| outcome)),
            AnswerForm::Load(form) => {
                Self::Load(form.into_result(|found| found.map(|LoadAnswer(snapshot)| snapshot)))
            }
            AnswerForm::Renew(form) => Self::Renew(form.into_result(|RenewAnswer(outcome)| outcome)),
            AnswerForm::Complete(form) => Self::Complete(form.into_result(|CompleteAnswer(outcome)| outcome)),
            AnswerForm::Release(form) => Self::Release(form.into_result(|ReleaseAnswer(outcome)| outcome)),
            AnswerForm::PurgeExpired(form) => Self::PurgeExpired(form.into_result(|deleted| deleted)),
            AnswerForm::ClaimMany(forms) => {
                let result = |form: ResultForm<_>| form.into_result(|ClaimAnswer(outcome)| outcome);
                Self::ClaimMany(forms.into_iter().map(result).collect())
            }
        }
    }
}

impl<T> ResultForm<T> {
    fn of<V: Clone>(result: &Result<V, StoreError>, shape: impl FnOnce(V) -> T) -> Self {
        match result {
            Ok(value) => Self::Ok(shape(value.clone())),
            Err(error) => Self::Error { kind: KindForm::from(error.kind()), text: words(error) },
        }
    }

    fn into_result<V>(self, value: impl FnOnce(T) -> V) -> Result<V, StoreError> {
        match self {
            Self::Ok(shaped) => Ok(value(shaped)),
            Self::Error { kind, text } => {
                Err(StoreError::new(kind.into(), "another process's", "in its own words")
                    .with_source(Words(text)))
            }
        }
    }
}

impl From<StoreErrorKind> for KindForm {
    fn from(kind: StoreErrorKind) -> Self {
        match kind {
            StoreErrorKind::Unavailable => Self::Unavailable,
            StoreErrorKind::Corrupt => Self::Corrupt,
            StoreErrorKind::Rejected => Self::Rejected,
            // A kind that core adds later is one of which nothing is known here.
            _ => Self::Other,
        }
    }
}

impl From<KindForm> for StoreErrorKind {
    fn from(form: KindForm) -> Self {
        match form {
            KindForm::Unavailable => Self::Unavailable,
            KindForm::Corrupt => Self::Corrupt,
            KindForm::Rejected => Self::Rejected,
            KindForm::Other => Self::Other,
        }
    }
}

/// What an error said where it arose.
#[derive(Debug)]
struct Words(String);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Words {}

/// The error in words; one that was read keeps those that it was read with.
fn words(error: &StoreError) -> String {
    let read = error.source().and_then(|source| source.downcast_ref::<Words>());
    read.map_or_else(|| chain(error), |Words(text)| text.clone())
}
