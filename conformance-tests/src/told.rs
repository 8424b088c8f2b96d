//! Answers in words and without times, so that those of two runs can be compared.

use onceonly::{ClaimOutcome, CompleteOutcome, RenewOutcome, Snapshot, StoreError};

use crate::call::Answer;

/// What the caller was told, without the times in it.
pub(crate) fn told(answer: &Answer) -> String {
    match answer {
        Answer::Claim(answer) => claim(answer),
        Answer::Load(Ok(Some(found))) => shown(found),
        Answer::Load(Ok(None)) => "no record".to_owned(),
        Answer::Renew(Ok(RenewOutcome::Applied(_))) | Answer::Complete(Ok(CompleteOutcome::Applied(_))) => {
            "applied".to_owned()
        }
        Answer::Renew(Ok(RenewOutcome::NotHeld)) | Answer::Complete(Ok(CompleteOutcome::NotHeld)) => {
            "not held".to_owned()
        }
        Answer::Complete(Ok(CompleteOutcome::AlreadyCompleted(found))) => {
            format!("already completed, {}", shown(found))
        }
        Answer::Release(Ok(outcome)) => format!("{outcome:?}"),
        Answer::PurgeExpired(Ok(count)) => format!("{count} purged"),
        Answer::ClaimMany(answers) => answers.iter().map(claim).collect::<Vec<_>>().join("; "),
        Answer::Load(Err(error))
        | Answer::Renew(Err(error))
        | Answer::Complete(Err(error))
        | Answer::Release(Err(error))
        | Answer::PurgeExpired(Err(error)) => error.to_string(),
    }
}

fn claim(answer: &Result<ClaimOutcome, StoreError>) -> String {
    match answer {
        Ok(ClaimOutcome::Claimed(_)) => "claimed".to_owned(),
        Ok(ClaimOutcome::Occupied(found)) => format!("occupied, {}", shown(found)),
        Ok(ClaimOutcome::Vacant) => "vacant".to_owned(),
        Err(error) => error.to_string(),
    }
}

fn shown(found: &Snapshot) -> String {
    let record = &found.record;
    format!("{:?}, attempt {}, {:?}", record.version, record.attempt, record.status)
}
