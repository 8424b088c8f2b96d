//! Random sequences, on the store and on a model side by side.

mod run;
mod step;

use self::run::Run;
use self::step::{Sequence, sequences};
use crate::case::Case;
use crate::property::{Plan, drawn, for_all};

/// The store and the model are given the same calls at the same instants; every answer and every record must be equal.
///
/// Each sequence has keys of its own and begins and ends, on a clock that can be set, without any record, so that it is
/// the same wherever it is played.
pub(super) async fn random_sequences_agree_with_the_model(case: &Case) {
    let plan = Plan { trials: 400, trials_min: 20, part: 6 };
    for_all(case, plan, drawn(case, sequences(STEPS)), async |number, sequence: &Sequence| {
        let mut run = Run::of(case, number, sequence).await;
        for step in &sequence.steps {
            run.take(step).await;
        }
        run.finish().await;
    })
    .await;
}

const STEPS: usize = 60;
