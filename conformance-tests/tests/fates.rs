//! Calls meet the fate that was given, the store sees what it should, and the record of calls is true.

use std::time::Duration;

use onceonly::{
    ClaimOutcome, CompleteOutcome, Completion, Expected, Fingerprint, IdempotencyKey, KeyStore, LeaseChange,
    ManualClock, NewClaim, RecordKey, Release, ReleaseOutcome, RenewOutcome, Renewal, Revision, Scope, Span,
    Status, StoreErrorKind, StoredResponse, StoredResult, Timestamp, Token,
};
use onceonly_conformance::{Answer, Fate, Fates, Polled, ReferenceStore, Request, Verb, poll_times};

#[tokio::test]
async fn without_a_script_calls_pass_and_are_recorded_in_order() {
    let (fates, store) = pair();
    let key = key("a");

    assert!(matches!(fates.claim(&key, &claim(1), Expected::Absent).await, Ok(ClaimOutcome::Claimed(_))));
    assert_eq!(fates.load(&key).await.unwrap(), store.load(&key).await.unwrap());
    let renewed = fates.renew(&key, token(1), &renewal(2)).await.unwrap();
    assert!(matches!(renewed, RenewOutcome::Applied(_)));
    let completed = fates.complete(&key, token(1), &completion(3)).await.unwrap();
    assert!(matches!(completed, CompleteOutcome::Applied(_)));
    let released = fates.release(&key, token(1), &release(4)).await.unwrap();
    assert_eq!(released, ReleaseOutcome::NotHeld);
    assert_eq!(fates.purge_expired(7).await.unwrap(), 0);
    assert_eq!(fates.claim_many(&[]).await.len(), 0);

    let calls = fates.calls();
    assert_eq!(
        calls.iter().map(|call| call.request.verb()).collect::<Vec<_>>(),
        [
            Verb::Claim,
            Verb::Load,
            Verb::Renew,
            Verb::Complete,
            Verb::Release,
            Verb::PurgeExpired,
            Verb::ClaimMany
        ]
    );
    let revisions: Vec<u32> =
        calls.iter().filter_map(|call| call.request.revision()).map(Revision::number).collect();
    assert_eq!(revisions, [1, 2, 3, 4]);
    assert_eq!(calls.iter().filter(|call| call.request.token() == Some(token(1))).count(), 4);
    assert_eq!(calls.iter().filter(|call| call.request.key() == Some(&key)).count(), 5);
    assert!(calls.iter().all(|call| call.over && call.overlaps.is_none()));
}

#[tokio::test]
async fn a_lost_request_has_no_effect_and_its_outcome_is_unknown_to_the_caller() {
    let (fates, store) = pair();
    fates.next(Verb::Claim, Fate::LoseRequest);

    let answer = fates.claim(&key("a"), &claim(1), Expected::Absent).await;

    assert_eq!(answer.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert!(store.is_empty());
}

#[tokio::test]
async fn a_lost_reply_has_its_effect_and_its_outcome_is_unknown_to_the_caller() {
    let (fates, store) = pair();
    fates.next(Verb::Claim, Fate::LoseReply);

    let answer = fates.claim(&key("a"), &claim(1), Expected::Absent).await;

    assert_eq!(answer.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert_eq!(store.load(&key("a")).await.unwrap().unwrap().record.version.token, token(1));
}

#[tokio::test]
async fn a_call_fails_with_the_kind_that_was_asked_for() {
    let (fates, store) = pair();
    for kind in [StoreErrorKind::Corrupt, StoreErrorKind::Rejected, StoreErrorKind::Other] {
        for verb in Verb::ALL {
            fates.next(verb, Fate::Fail(kind));
        }
        for request in one_of_each() {
            let answer = request.deliver(&fates).await;
            assert_eq!(answer.error().expect("the call was told to fail").kind(), kind, "{request:?}");
        }
    }
    assert!(store.is_empty());
}

#[tokio::test]
async fn a_late_request_reaches_the_store_when_it_is_delivered() {
    let (fates, store) = pair();
    fates.next(Verb::Claim, Fate::Late);

    let answer = fates.claim(&key("a"), &claim(1), Expected::Absent).await;
    assert_eq!(answer.unwrap_err().kind(), StoreErrorKind::Unavailable);
    assert!(store.is_empty());

    let (request, answer) = fates.deliver_kept().await.expect("one request is kept");
    assert_eq!(request.verb(), Verb::Claim);
    assert!(matches!(answer, Answer::Claim(Ok(ClaimOutcome::Claimed(_)))));
    assert!(fates.deliver_kept().await.is_none(), "it was delivered once");
    assert_eq!(fates.count(Verb::Claim), 1, "a delivery is not a call");
}

#[tokio::test]
async fn a_copy_is_delivered_again_behind_later_calls() {
    let (fates, _) = pair();
    fates.next(Verb::Claim, Fate::Again);
    fates.claim(&key("a"), &claim(1), Expected::Absent).await.unwrap();
    fates.release(&key("a"), token(1), &release(2)).await.unwrap();

    let (_, answer) = fates.deliver_kept().await.expect("a copy is kept");

    let Answer::Claim(Ok(ClaimOutcome::Occupied(found))) = answer else { panic!("{answer:?}") };
    assert_eq!(found.record.status, Status::Released);
}

#[tokio::test]
async fn a_call_that_is_delivered_twice_gives_the_second_answer() {
    let (fates, _) = pair();
    fates.next(Verb::Claim, Fate::Twice);

    let answer = fates.claim(&key("a"), &claim(1), Expected::Absent).await.unwrap();

    assert!(matches!(answer, ClaimOutcome::Occupied(_)), "{answer:?}");
}

#[tokio::test(start_paused = true)]
async fn a_delayed_call_is_under_way_for_as_long_as_told() {
    let (fates, store) = pair();
    fates.next(Verb::Claim, Fate::Delay(Duration::from_secs(3)));
    let began = tokio::time::Instant::now();
    let caller = spawn_claim(&fates);

    fates.arrived(Verb::Claim, 1).await;
    assert!(store.is_empty());
    assert!(matches!(caller.await.unwrap(), ClaimOutcome::Claimed(_)));

    assert_eq!(began.elapsed(), Duration::from_secs(3));
}

#[tokio::test]
async fn a_held_call_waits_before_the_store() {
    let (fates, store) = pair();
    let gate = fates.hold_next(Verb::Claim);
    let caller = spawn_claim(&fates);

    gate.arrived().await;
    assert!(store.is_empty());
    assert!(!fates.calls().iter().any(|call| call.over));
    gate.open();

    assert!(matches!(caller.await.unwrap(), ClaimOutcome::Claimed(_)));
    assert_eq!(store.len(), 1);
}

#[tokio::test]
async fn a_held_reply_waits_behind_the_store() {
    let (fates, store) = pair();
    let gate = fates.hold_next_reply(Verb::Claim);
    let caller = spawn_claim(&fates);

    gate.arrived().await;
    assert_eq!(store.len(), 1);
    assert!(!caller.is_finished());
    gate.open();

    assert!(matches!(caller.await.unwrap(), ClaimOutcome::Claimed(_)));
}

#[tokio::test]
async fn a_held_call_that_is_dropped_never_reaches_the_store_and_is_over() {
    let (fates, store) = pair();
    let gate = fates.hold_next(Verb::Claim);

    let polled = poll_times(fates.claim(&key("a"), &claim(1), Expected::Absent), 1).await;
    gate.open();

    assert!(matches!(polled, Polled::Dropped));
    fates.over(Verb::Claim, 1).await;
    assert!(store.is_empty());
}

#[tokio::test]
async fn next_comes_before_always_and_healing_ends_both() {
    let (fates, _) = pair();
    fates.always(Verb::Load, Fate::LoseRequest);
    fates.next(Verb::Load, Fate::Pass);

    assert!(fates.load(&key("a")).await.is_ok());
    assert!(fates.load(&key("a")).await.is_err());
    assert!(fates.load(&key("a")).await.is_err());
    fates.next(Verb::Load, Fate::LoseRequest);
    fates.heal();
    assert!(fates.load(&key("a")).await.is_ok());
}

#[tokio::test]
async fn a_cut_fails_every_verb() {
    let (fates, store) = pair();
    fates.cut();

    for request in one_of_each() {
        let answer = request.deliver(&fates).await;
        assert_eq!(answer.error().expect("the network is cut").kind(), StoreErrorKind::Unavailable);
    }

    assert!(store.is_empty());
}

#[tokio::test]
async fn a_waiter_learns_of_calls_that_arrive_and_of_calls_that_are_over() {
    let (fates, _) = pair();
    let gate = fates.hold_next(Verb::Claim);
    let arrived = tokio::spawn({
        let fates = fates.clone();
        async move { fates.arrived(Verb::Claim, 1).await }
    });
    let over = tokio::spawn({
        let fates = fates.clone();
        async move { fates.over(Verb::Claim, 1).await }
    });

    let caller = spawn_claim(&fates);
    arrived.await.unwrap();
    assert!(!over.is_finished());
    gate.open();
    over.await.unwrap();
    caller.await.unwrap();
}

#[tokio::test]
async fn two_writes_of_one_claim_in_flight_are_reported() {
    let (fates, _) = pair();
    let gate = fates.hold_next(Verb::Claim);
    let caller = spawn_claim(&fates);
    gate.arrived().await;

    fates.renew(&key("a"), token(1), &renewal(2)).await.unwrap();
    fates.renew(&key("a"), token(2), &renewal(2)).await.unwrap();
    gate.open();
    caller.await.unwrap();
    fates.renew(&key("a"), token(1), &renewal(2)).await.unwrap();

    let overlaps: Vec<Option<usize>> = fates.calls().iter().map(|call| call.overlaps).collect();
    assert_eq!(overlaps, [None, Some(0), None, None]);
}

fn pair() -> (Fates, ReferenceStore) {
    let store = ReferenceStore::new(ManualClock::starting_at(Timestamp::from_micros(1_000_000)));
    (Fates::around(store.clone()), store)
}

fn spawn_claim(fates: &Fates) -> tokio::task::JoinHandle<ClaimOutcome> {
    let fates = fates.clone();
    tokio::spawn(async move { fates.claim(&key("a"), &claim(1), Expected::Absent).await.unwrap() })
}

fn one_of_each() -> Vec<Request> {
    let key = key("a");
    vec![
        Request::Claim { key: key.clone(), claim: claim(1), expected: Expected::Absent },
        Request::Load { key: key.clone() },
        Request::Renew { key: key.clone(), token: token(1), renewal: renewal(2) },
        Request::Complete { key: key.clone(), token: token(1), completion: completion(2) },
        Request::Release { key: key.clone(), token: token(1), release: release(2) },
        Request::PurgeExpired { limit: 1 },
        Request::ClaimMany {
            claims: vec![onceonly::ClaimRequest { key, claim: claim(1), expected: Expected::Absent }],
        },
    ]
}

fn key(name: &str) -> RecordKey {
    RecordKey::new(Scope::global(), IdempotencyKey::new(name).unwrap())
}

const fn token(number: u8) -> Token {
    Token::from_bytes([number; 16])
}

fn claim(number: u8) -> NewClaim {
    NewClaim {
        token: token(number),
        fingerprint: Fingerprint::builder().part("body", "charge").finish(),
        attempt: 1,
        checkpoint: None,
        lease: seconds(60),
        keep: seconds(600),
        keep_unresolved: seconds(6_000),
    }
}

fn renewal(revision: u32) -> Renewal {
    Renewal {
        revision: Revision::from_number(revision),
        lease: LeaseChange::Extend(seconds(60)),
        checkpoint: None,
    }
}

fn completion(revision: u32) -> Completion {
    Completion {
        revision: Revision::from_number(revision),
        result: StoredResult::Retained(StoredResponse::new(201, "charged")),
        retention: seconds(600),
    }
}

fn release(revision: u32) -> Release {
    Release { revision: Revision::from_number(revision), keep: seconds(900) }
}

fn seconds(seconds: u64) -> Span {
    Span::new(Duration::from_secs(seconds)).unwrap()
}
