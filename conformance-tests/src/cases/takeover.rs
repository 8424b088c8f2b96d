//! Takers of an abandoned record, against each other and against a holder that comes back late.

use onceonly::{
    ClaimOutcome, CompleteOutcome, Expected, Record, RecordKey, ReleaseOutcome, RenewOutcome, Status, Token,
    Version,
};

use crate::case::{Case, completion, end_of_lease, extension, release, response, seconds, version};
use crate::compare::check_same_record;
use crate::handle::Handle;
use crate::race::{Contender, Race};
use crate::verdict::{broken, check, check_eq};

pub(super) async fn one_taker_of_an_abandoned_record_is_granted(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds());
    while let Some(round) = race.next_round() {
        let (key, seen) = abandoned(case, &format!("round {round}")).await;
        let contenders = handles.iter().map(|handle| take(case, handle, &key, seen)).collect();
        let answers = race.round(contenders).await;

        let winners: Vec<_> = answers.into_iter().flatten().collect();
        check!(
            winners.len() == 1,
            "round {round}: {} of 8 takeovers were granted, due was one",
            winners.len()
        );
        let holder = case.store().record(&key).await.version.token;
        check_eq!(holder, winners[0], "round {round}: who holds the record after one takeover");
    }
    race.check_overlap();
}

pub(super) async fn a_renewal_and_a_takeover_do_not_both_win(case: &Case) {
    let mut duel = Duel::of(case).await;
    while let Some(ended) = duel
        .round(|holder, key, seen| {
            Box::pin(async move {
                let renewal = extension(seen.revision.number() + 1, seconds(600));
                matches!(holder.renew(&key, seen.token, &renewal).await, RenewOutcome::Applied(_))
            })
        })
        .await
    {
        check_eq!(ended.record.version.token, ended.winner, "round {}: who holds the record", ended.round);
    }
    duel.race.check_overlap();
}

pub(super) async fn a_completion_and_a_takeover_do_not_both_win(case: &Case) {
    let mut duel = Duel::of(case).await;
    while let Some(ended) = duel
        .round(|holder, key, seen| {
            Box::pin(async move {
                let done = completion(9, response("the holder's"));
                holder.complete(&key, seen.token, &done).await != CompleteOutcome::NotHeld
            })
        })
        .await
    {
        let round = ended.round;
        check_eq!(ended.record.version.token, ended.winner, "round {round}: whose record it is");
        let due = if ended.holder_won {
            Status::Completed(response("the holder's"))
        } else {
            Status::InProgress { checkpoint: None }
        };
        check_eq!(ended.record.status, due, "round {round}: how far the operation has come");
    }
    duel.race.check_overlap();
}

/// The trace that a counter alone falls to: the taker's look is overtaken by a whole other claim that has come to the
/// same revision.
pub(super) async fn a_taker_that_looked_before_another_claim_is_refused(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let first = case.claim();
    case.step("a claim is made and abandoned; a taker looks at it");
    store.claimed(&key, &first).await;
    store.renewed(&key, first.token, &end_of_lease(2)).await;
    let seen = store.record(&key).await.version;
    case.step("the holder comes back and releases; somebody else claims and renews");
    store.released(&key, first.token, &release(3)).await;
    let second = case.claim();
    let mark = store.record(&key).await.version;
    store.claimed_over(&key, &second, Expected::Exactly(mark)).await;
    store.renewed(&key, second.token, &extension(2, second.lease)).await;
    let live = store.record(&key).await;
    check_eq!(live.version.revision, seen.revision, "the revision that the live claim has come to");

    case.step("the taker claims what it has seen");
    case.another().await.occupied(&key, &case.claim(), Expected::Exactly(seen)).await;

    check_same_record(
        &store.record(&key).await,
        &live,
        "a live claim was displaced by a taker of an older one",
    );
}

pub(super) async fn a_release_and_takeovers_grant_the_key_once(case: &Case) {
    let mut duel = Duel::of(case).await;
    while let Some(ended) = duel
        .round(|holder, key, seen| {
            Box::pin(
                async move { holder.release(&key, seen.token, &release(9)).await == ReleaseOutcome::Applied },
            )
        })
        .await
    {
        let round = ended.round;
        check_eq!(ended.record.version.token, ended.winner, "round {round}: whose record it is");
        let mark = ended.record.status == Status::Released;
        check_eq!(mark, ended.holder_won, "round {round}: whether the released mark stands");
    }
    duel.race.check_overlap();
}

/// A late holder, whose call is delivered four times at once, against four takers.
struct Duel<'a> {
    case: &'a Case,
    handles: Vec<Handle>,
    race: Race,
}

/// A round of a [`Duel`] that one side won.
struct Ended {
    round: usize,
    holder_won: bool,
    winner: Token,
    record: Record,
}

impl<'a> Duel<'a> {
    async fn of(case: &'a Case) -> Self {
        Self { case, handles: case.handles(8).await, race: case.race(case.rounds()) }
    }

    /// Runs the next round. `late_call` makes a call of the holder and says whether it was applied.
    async fn round(
        &mut self,
        late_call: impl Fn(Handle, RecordKey, Version) -> Contender<bool>,
    ) -> Option<Ended> {
        let round = self.race.next_round()?;
        let (key, seen) = abandoned(self.case, &format!("round {round}")).await;
        let contenders = self.handles.iter().enumerate().map(|(place, handle)| -> Contender<_> {
            if place % 2 == 0 {
                let call = late_call(handle.clone(), key.clone(), seen);
                return Box::pin(async move { (call.await, None) });
            }
            let taking = take(self.case, handle, &key, seen);
            Box::pin(async move { (false, taking.await) })
        });
        let contenders = contenders.collect();
        let answers = self.race.round(contenders).await;

        let applied = answers.iter().filter(|(applied, _)| *applied).count();
        let taken: Vec<_> = answers.iter().filter_map(|(_, taken)| *taken).collect();
        let winner = match (applied, taken.as_slice()) {
            (4, []) => seen.token,
            (0, [taker]) => *taker,
            _ => broken(format!(
                "round {round}: {applied} of 4 deliveries of the holder's call were applied and {} of 4 takeovers \
                 granted; due was all of the first or one of the second",
                taken.len()
            )),
        };
        let record = self.case.store().record(&key).await;
        Some(Ended { round, holder_won: applied == 4, winner, record })
    }
}

/// A key whose holder has ended its lease, and the version that a taker sees.
pub(super) async fn abandoned(case: &Case, name: &str) -> (RecordKey, Version) {
    let (key, claim) = (case.key(name), case.claim());
    case.store().claimed(&key, &claim).await;
    case.store().renewed(&key, claim.token, &end_of_lease(2)).await;
    (key, version(claim.token, 2))
}

/// Takes over what was `seen`; the taker's token if that was granted.
fn take(case: &Case, handle: &Handle, key: &RecordKey, seen: Version) -> Contender<Option<Token>> {
    let (handle, key, claim) = (handle.clone(), key.clone(), case.claim());
    Box::pin(async move {
        let outcome = handle.claim(&key, &claim, Expected::Exactly(seen)).await;
        matches!(outcome, ClaimOutcome::Claimed(_)).then_some(claim.token)
    })
}
