//! Renewals that meet the end of their own claim: the heartbeat does not know that the handler is done.

use onceonly::{RenewOutcome, Status};

use crate::case::{Case, checkpoint, completion, release, response};
use crate::race::Contender;
use crate::verdict::check_eq;

/// A renewal that reads, waits and writes back takes away the result that was stored in between; the token is the same.
pub(super) async fn renewals_never_take_away_a_result(case: &Case) {
    renewals_and_one_end(case, End::Completion).await;
}

/// The same for the mark of a release: the key that was given back is held again, by nobody.
pub(super) async fn renewals_never_take_away_a_mark(case: &Case) {
    renewals_and_one_end(case, End::Release).await;
}

#[derive(Clone, Copy)]
enum End {
    Completion,
    Release,
}

/// Seven renewals and one end under one token. The end must be applied, must stand, and must be the last of them.
async fn renewals_and_one_end(case: &Case, end: End) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds());
    while let Some(round) = race.next_round() {
        let (key, claim) = (case.key(&format!("round {round}")), case.claim());
        case.store().claimed(&key, &claim).await;
        let contenders = handles.iter().enumerate().map(|(place, handle)| -> Contender<()> {
            let (handle, key, token, lease) = (handle.clone(), key.clone(), claim.token, claim.lease);
            match (place, end) {
                (0, End::Completion) => Box::pin(async move {
                    handle.completed(&key, token, &completion(99, response("done"))).await;
                }),
                (0, End::Release) => {
                    Box::pin(async move { handle.released(&key, token, &release(99)).await })
                }
                _ => Box::pin(async move {
                    for number in 0..4 {
                        let number = u32::try_from(place).unwrap_or(0) + 8 * number + 1;
                        let renewal = checkpoint(number, lease, "half-way");
                        if handle.renew(&key, token, &renewal).await == RenewOutcome::NotHeld {
                            return;
                        }
                    }
                }),
            }
        });
        race.round(contenders.collect()).await;

        let left = case.store().record(&key).await;
        let due = match end {
            End::Completion => Status::Completed(response("done")),
            End::Release => Status::Released,
        };
        check_eq!(
            left.status,
            due,
            "round {round}: what is left of an ended claim after renewals beside its end"
        );
        check_eq!(left.version.revision.number(), 99, "round {round}: the revision of the end");
    }
    race.check_overlap();
}
