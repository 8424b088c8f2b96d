//! A store that fails, verb by verb.

use onceonly::{
    Answer, Expected, KeyStore, Outcome, Policy, RecordState, RunError, Status, StoreErrorKind,
    StoredResponse, StoredResult,
};
use onceonly_conformance::{Fate, Request, Verb};

use super::setup::{World, another_request, charged, request, response, soon, until, until_much_later};

const ERRORS: [StoreErrorKind; 4] =
    [StoreErrorKind::Unavailable, StoreErrorKind::Corrupt, StoreErrorKind::Rejected, StoreErrorKind::Other];

/// F5, B118: no failure of a claim lets a handler run.
#[tokio::test(start_paused = true)]
async fn no_error_of_a_claim_runs_the_handler() {
    for kind in ERRORS {
        let world = World::new();
        world.fates.always(Verb::Claim, Fate::Fail(kind));
        let error = world.run(charged()).await.unwrap_err();
        let RunError::Store(error) = error else { panic!("{error:?}") };
        assert_eq!(error.kind(), kind);
        assert_eq!(world.executions(), 0, "{kind:?}");
    }
}

/// A record that cannot be read is not absent (B074, fault 79).
#[tokio::test]
async fn a_corrupt_record_is_reported_and_never_run_or_overwritten() {
    let world = World::new();
    world.fates.always(Verb::Claim, Fate::Fail(StoreErrorKind::Corrupt));
    assert!(world.run(charged()).await.is_err());
    assert!(world.engine.begin(&world.key, request()).await.is_err());
    assert_eq!((world.executions(), world.fates.count(Verb::Claim)), (0, 2));
}

/// B008, B110: the claim landed and its reply was lost. The same token finds its own record, once.
#[tokio::test]
async fn b008_a_claim_whose_reply_was_lost_is_recognised_as_ones_own() {
    let world = World::new();
    world.fates.next(Verb::Claim, Fate::LoseReply);
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
    let tokens: Vec<_> = world.fates.calls().iter().filter_map(|call| call.request.token()).collect();
    assert!(
        tokens.windows(2).all(|pair| pair[0] == pair[1]),
        "an unanswered claim was repeated with another token"
    );
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn a_claim_that_was_lost_is_repeated_under_its_token() {
    let world = World::new();
    world.fates.next(Verb::Claim, Fate::LoseRequest);
    world.fates.next(Verb::Claim, Fate::LoseRequest);
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
    assert_eq!(world.fates.count(Verb::Claim), 3);
}

/// The own claim is found after its lease: nobody executed it, so it does not park and counts no attempt.
#[tokio::test]
async fn an_own_claim_found_after_its_lease_is_replaced_with_the_same_attempt() {
    let world = World::new();
    world.fates.next(Verb::Claim, Fate::LoseReply);
    let gate = world.fates.hold_next(Verb::Claim);
    let caller = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await }
    });
    soon(gate.arrived()).await;
    world.let_lease_pass();
    gate.open();
    let outcome = caller.await.unwrap().unwrap();
    assert!(matches!(outcome, Outcome::Executed(_)), "parked although nobody executed: {outcome:?}");
    assert_eq!((world.snapshot().await.record.attempt, world.executions()), (1, 1));

    let claims: Vec<_> = world.fates.calls().into_iter().map(|call| call.request).collect();
    let [Request::Claim { claim: first, .. }, _, Request::Claim { claim: last, expected, .. }, ..] =
        &claims[..]
    else {
        panic!("{claims:?}")
    };
    assert_ne!(first.token, last.token, "the same token was granted twice");
    assert!(matches!(expected, Expected::Exactly(version) if version.token == first.token));
}

/// The lapsed claim was a takeover, and under Resolve the question about the first attempt still
/// stands.
#[tokio::test]
async fn an_own_takeover_found_after_its_lease_still_asks_about_the_first_attempt() {
    let asked = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = std::sync::Arc::clone(&asked);
    let world = World::under(Policy::resolve(move |abandoned| {
        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        async move {
            assert_eq!(abandoned.attempt, 1);
            onceonly::Verdict::Completed(response("charged before"))
        }
    }));
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    world.fates.next(Verb::Claim, Fate::Pass);
    world.fates.next(Verb::Claim, Fate::LoseReply);
    let gate = world.fates.hold_next(Verb::Claim);
    let caller = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await }
    });
    soon(gate.arrived()).await;
    world.let_lease_pass();
    gate.open();
    assert_eq!(caller.await.unwrap().unwrap(), Outcome::Replayed(response("charged before")));
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 1);
    assert_eq!(world.executions(), 0, "the charge is made twice");
}

/// B080: the effect is done and saving the result fails. The caller has its response, and the write is repeated, under
/// a new number each time and never beside another.
#[tokio::test(start_paused = true)]
async fn b080_a_result_that_cannot_be_stored_yet_is_stored_later() {
    for kind in [StoreErrorKind::Unavailable, StoreErrorKind::Other] {
        let world = World::new();
        world.fates.always(Verb::Complete, Fate::Fail(kind));
        world.fates.always(Verb::Renew, Fate::LoseRequest);
        assert_eq!(world.run(charged()).await.unwrap(), Outcome::Executed(response("charged")), "{kind:?}");
        assert!(world.events.has("write_delayed"));
        assert_eq!(world.summary().await.state, RecordState::InProgress);
        // Past the lease, as the store sees it: nobody may take over, and the result is still accepted.
        world.let_lease_pass();
        world.fates.heal();
        until(async || matches!(world.run(charged()).await.unwrap(), Outcome::Replayed(_))).await;
        assert_eq!(world.executions(), 1);
        let calls = world.fates.calls();
        assert!(
            calls.iter().all(|call| call.overlaps.is_none()),
            "two writes of one claim were in flight at once"
        );
        let numbers: Vec<_> = calls.iter().filter_map(|call| call.request.revision()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1] || pair[1].number() == 1), "{numbers:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn b080_a_result_that_can_never_be_stored_is_reported_and_the_key_is_never_released() {
    let world = World::new();
    world.fates.always(Verb::Complete, Fate::LoseRequest);
    world.run(charged()).await.unwrap();
    until_much_later(async || world.events.has("write_failed")).await;
    assert_eq!(world.fates.count(Verb::Release), 0);
    world.let_lease_pass();
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Abandoned(_)));
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn a_result_whose_stored_reply_was_lost_is_recognised() {
    let world = World::new();
    world.fates.next(Verb::Complete, Fate::LoseReply);
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Executed(response("charged")));
    assert_eq!(world.status().await, Status::Completed(StoredResult::Retained(response("charged"))));
    assert!(!world.events.has("superseded") && !world.events.has("conflict"), "{:?}", world.events.names());
}

/// B080: the store will not have these bytes. That the operation is done is stored all the same.
#[tokio::test]
async fn a_response_that_the_store_rejects_is_stored_as_not_retained() {
    let world = World::new();
    world.fates.next(Verb::Complete, Fate::Fail(StoreErrorKind::Rejected));
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Executed(response("charged")));
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::NotRetained(response("charged").into_head()));
    assert_eq!(world.executions(), 1);
}

/// F3: a copy of the claim arrives after it was released. The mark is there, and refuses it.
#[tokio::test]
async fn a_late_copy_of_a_claim_after_its_release_is_refused() {
    let world = World::new();
    world.fates.next(Verb::Claim, Fate::Again);
    world.run(Answer::NoEffect(StoredResponse::new(503, "later"))).await.unwrap();
    world.fates.purge_expired(1_000).await.unwrap();
    world.fates.deliver_kept().await.expect("a copy was kept");
    assert_eq!(world.status().await, Status::Released, "a claim that nobody works on blocks the key");
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)));
}

/// A copy of an old checkpoint arrives after a newer one: its number gives it away.
#[tokio::test]
async fn a_late_copy_of_an_old_checkpoint_changes_nothing() {
    let world = World::under(Policy::Rerun);
    world.fates.next(Verb::Renew, Fate::Again);
    let started = world.start().await;
    started.attempt.save_checkpoint("before the charge").await.unwrap();
    started.attempt.save_checkpoint("charged").await.unwrap();
    world.fates.deliver_kept().await.expect("a copy was kept");
    let Status::InProgress { checkpoint } = world.status().await else { panic!("not in progress") };
    assert_eq!(checkpoint.as_deref(), Some(&b"charged"[..]), "the next attempt charges again");
    started.finish(charged()).await.unwrap();
}

/// An unanswered checkpoint is repeated under its own number only while nothing later was sent.
#[tokio::test]
async fn a_checkpoint_saved_again_after_a_later_one_has_a_new_number() {
    let world = World::under(Policy::Rerun);
    let started = world.start().await;
    world.fates.next(Verb::Renew, Fate::LoseRequest);
    world.fates.next(Verb::Renew, Fate::LoseRequest);
    assert!(started.attempt.save_checkpoint("one").await.is_err());
    started.attempt.save_checkpoint("two").await.unwrap();
    started.attempt.save_checkpoint("one").await.unwrap();
    let Status::InProgress { checkpoint } = world.status().await else { panic!("not in progress") };
    assert_eq!(checkpoint.as_deref(), Some(&b"one"[..]));
    let calls = world.fates.calls();
    let numbers: Vec<_> = calls
        .iter()
        .filter(|call| call.request.verb() == Verb::Renew)
        .filter_map(|call| call.request.revision())
        .collect();
    assert_eq!(numbers[0], numbers[1], "nothing later had been sent");
    assert!(numbers[1] < numbers[2] && numbers[2] < numbers[3], "{numbers:?}");
    started.finish(charged()).await.unwrap();
}

/// B002: between the refused claim and the next look the record goes away, once and then every time.
#[tokio::test]
async fn b002_a_record_that_vanishes_is_looked_at_again_and_never_executed_without_a_claim() {
    let world = World::new();
    let store = vanishing::Vanishing::new(1);
    let engine = onceonly::Idempotency::new(store.clone());
    let outcome = engine.run(&world.key, request(), |_| async { charged() }).await.unwrap();
    assert!(matches!(outcome, Outcome::Executed(_)));

    let store = vanishing::Vanishing::new(usize::MAX);
    let engine = onceonly::Idempotency::new(store.clone());
    let outcome =
        engine.run(&world.key, request(), |_| async { unreachable!("there is no claim") }).await.unwrap();
    assert!(matches!(outcome, Outcome::InProgress(_)), "{outcome:?}");
    assert_eq!(store.claims(), 8);
}

/// F6: the operation is bound to its request from the first moment, also while its claim's reply is on the way.
#[tokio::test]
async fn another_request_is_refused_while_the_claim_is_on_its_way() {
    let world = World::new();
    let gate = world.fates.hold_next_reply(Verb::Claim);
    let caller = tokio::spawn({
        let world = world.clone();
        async move { world.run(charged()).await }
    });
    soon(gate.arrived()).await;
    let refused = world.engine.run(&world.key, another_request(), |_| async { charged() }).await.unwrap();
    assert!(matches!(refused, Outcome::HashMismatch(_)));
    gate.open();
    assert!(matches!(caller.await.unwrap().unwrap(), Outcome::Executed(_)));
}

/// The store is unreachable for longer than a caller waits. It is told, and the claim, should it have landed, is given
/// back.
#[tokio::test(start_paused = true)]
async fn a_caller_is_told_that_the_store_is_unreachable_and_no_claim_stays_behind() {
    let world = World::new();
    world.fates.next(Verb::Claim, Fate::LoseReply);
    world.fates.always(Verb::Claim, Fate::LoseRequest);
    let error = world.run(charged()).await.unwrap_err();
    assert!(matches!(error, RunError::Store(_)), "{error:?}");
    assert_eq!(world.summary().await.state, RecordState::InProgress, "the claim has landed");
    world.fates.heal();
    until(async || world.status().await == Status::Released).await;
    assert_eq!(world.executions(), 0);
}

/// A store in which every claim is refused by a record that is gone at the next look.
mod vanishing {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use async_trait::async_trait;
    use onceonly::{
        ClaimOutcome, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, RecordKey, Release,
        ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, Token,
    };
    use onceonly_memory::MemoryStore;

    #[derive(Clone)]
    pub(super) struct Vanishing {
        store: MemoryStore,
        times: usize,
        claims: Arc<AtomicUsize>,
    }

    impl Vanishing {
        pub(super) fn new(times: usize) -> Self {
            Self { store: MemoryStore::new(), times, claims: Arc::default() }
        }

        pub(super) fn claims(&self) -> usize {
            self.claims.load(Ordering::SeqCst)
        }
    }

    #[async_trait]
    impl KeyStore for Vanishing {
        fn name(&self) -> &'static str {
            "vanishing"
        }

        async fn claim(
            &self,
            key: &RecordKey,
            claim: &NewClaim,
            expected: Expected,
        ) -> Result<ClaimOutcome, StoreError> {
            if self.claims.fetch_add(1, Ordering::SeqCst) < self.times {
                return Ok(ClaimOutcome::Vacant);
            }
            self.store.claim(key, claim, expected).await
        }

        async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
            self.store.load(key).await
        }

        async fn renew(
            &self,
            key: &RecordKey,
            token: Token,
            renewal: &Renewal,
        ) -> Result<RenewOutcome, StoreError> {
            self.store.renew(key, token, renewal).await
        }

        async fn complete(
            &self,
            key: &RecordKey,
            token: Token,
            completion: &Completion,
        ) -> Result<CompleteOutcome, StoreError> {
            self.store.complete(key, token, completion).await
        }

        async fn release(
            &self,
            key: &RecordKey,
            token: Token,
            release: &Release,
        ) -> Result<ReleaseOutcome, StoreError> {
            self.store.release(key, token, release).await
        }

        async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
            self.store.purge_expired(limit).await
        }
    }
}
