//! `claim_many`: a batch is its items, one after the other.

use onceonly::{ClaimOutcome, ClaimRequest, Expected, RecordKey};

use crate::case::{Case, completion, end_of_lease, fingerprint, response, seconds, version};
use crate::compare::{check_same_record, claimed_record};
use crate::race::Contender;
use crate::verdict::{broken, check, check_eq};

pub(super) async fn an_empty_batch_has_no_answers(case: &Case) {
    check_eq!(case.store().claim_many(&[]).await.len(), 0, "the answers to an empty batch");
}

pub(super) async fn answers_come_in_the_order_of_the_items(case: &Case) {
    let store = case.store();
    for count in [1, 2, 100] {
        let requests: Vec<_> = (0..count)
            .map(|item| absent(case, &case.key(&format!("{count} items, number {}", (item * 7) % count))))
            .collect();
        for request in requests.iter().step_by(3) {
            store.claimed(&request.key, &case.claim()).await;
        }

        let outcomes = store.claim_many(&requests).await;

        for (item, (outcome, request)) in outcomes.iter().zip(&requests).enumerate() {
            let record = store.record(&request.key).await;
            match outcome {
                ClaimOutcome::Claimed(_) if item % 3 != 0 => {
                    check_eq!(record.version.token, request.claim.token, "item {item}: who holds its key");
                }
                ClaimOutcome::Occupied(shown) if item % 3 == 0 => {
                    check_same_record(
                        &shown.record,
                        &record,
                        &format!("item {item} was shown another record"),
                    );
                }
                other => {
                    broken(format!("item {item} of {count} was answered {other:?}, which is not its own"))
                }
            }
        }
    }
}

pub(super) async fn a_second_item_of_the_same_key_sees_the_first(case: &Case) {
    let (store, key) = (case.store(), case.key("a"));
    let (first, second) = (absent(case, &key), absent(case, &key));
    let other = absent(case, &case.key("b"));

    let outcomes = store.claim_many(&[first.clone(), other, second]).await;

    check!(
        matches!(outcomes[0], ClaimOutcome::Claimed(_)),
        "the first of two was answered {:?}",
        outcomes[0]
    );
    check!(matches!(outcomes[1], ClaimOutcome::Claimed(_)), "the other key was answered {:?}", outcomes[1]);
    let ClaimOutcome::Occupied(shown) = &outcomes[2] else {
        broken(format!(
            "the second of two claims of one key was answered {:?}, due was Occupied",
            outcomes[2]
        ));
    };
    check_eq!(shown.record.version.token, first.claim.token, "whom the second of two was shown");
}

pub(super) async fn a_batch_answers_as_single_claims_do(case: &Case) {
    let store = case.store();
    let (held, done) = (case.key("held"), case.key("done"));
    let (holder, finisher) = (case.claim(), case.claim());
    store.claimed(&held, &holder).await;
    store.claimed(&done, &finisher).await;
    store.completed(&done, finisher.token, &completion(2, response("done"))).await;
    let exactly =
        |key: &RecordKey, version| ClaimRequest { expected: Expected::Exactly(version), ..absent(case, key) };
    let requests = [
        absent(case, &case.key("fresh")),
        absent(case, &held),
        absent(case, &done),
        exactly(&case.key("gone"), version(holder.token, 1)),
        exactly(&held, version(holder.token, 2)),
        exactly(&held, version(holder.token, 1)),
        ClaimRequest { key: done.clone(), claim: finisher.clone(), expected: Expected::Absent },
    ];

    let outcomes = store.claim_many(&requests).await;

    let kinds: Vec<_> = outcomes.iter().map(kind).collect();
    let due = ["claimed", "occupied", "occupied", "vacant", "occupied", "claimed", "occupied"];
    check_eq!(kinds, due, "the answers to a mixed batch");
    check_eq!(store.load(&case.key("gone")).await, None, "what a refused item leaves");
}

pub(super) async fn a_large_mixed_batch_answers_as_single_claims_do(case: &Case) {
    let store = case.store();
    let (mut requests, mut due) = (Vec::new(), Vec::new());
    for number in 0..120 {
        let key = case.key(&format!("item {number}"));
        let holder = case.claim();
        let request = absent(case, &key);
        let exactly = Expected::Exactly(version(holder.token, 1));
        if number % 4 != 0 {
            store.claimed(&key, &holder).await;
        }
        let (expected, answer) = match number % 8 {
            0 => (Expected::Absent, "claimed"),
            4 => (exactly, "vacant"),
            1 | 5 => (Expected::Absent, "occupied"),
            2 => (Expected::Exactly(version(holder.token, 2)), "occupied"),
            _ => (exactly, "claimed"),
        };
        requests.push(ClaimRequest { expected, ..request });
        due.push(answer);
    }

    let outcomes = store.claim_many(&requests).await;

    for (number, (outcome, due)) in outcomes.iter().zip(&due).enumerate() {
        check_eq!(kind(outcome), *due, "the answer to item {number} of a mixed batch of 120");
        let holder = store.load(&requests[number].key).await.map(|found| found.record.version.token);
        let is_taker = holder == Some(requests[number].claim.token);
        check_eq!(is_taker, *due == "claimed", "whether item {number} holds its key");
    }
}

pub(super) async fn each_item_is_stamped_with_its_own_deadlines(case: &Case) {
    let store = case.store();
    let requests: Vec<_> = (0..20)
        .map(|number| {
            let mut request = absent(case, &case.key(&format!("item {number}")));
            request.claim.lease = seconds(60 + number);
            request.claim.keep = seconds(3_600 + 60 * number);
            request
        })
        .collect();

    let outcomes = store.claim_many(&requests).await;

    for (number, (outcome, request)) in outcomes.iter().zip(&requests).enumerate() {
        let ClaimOutcome::Claimed(stamp) = outcome else {
            broken(format!("item {number}, a fresh key, was answered {outcome:?}"));
        };
        let found = store.record(&request.key).await;
        check_eq!(stamp.lease_until, found.lease_until, "the lease in the stamp of item {number}");
        check_eq!(stamp.expires_at, found.expires_at, "the retention in the stamp of item {number}");
        check!(
            case.is_deadline(stamp.lease_until, stamp.now, request.claim.lease)
                && case.is_deadline(stamp.expires_at, stamp.now, request.claim.keep),
            "the deadlines of item {number} are not the spans that it asked for: {stamp:?}"
        );
    }
}

pub(super) async fn each_item_is_stored_as_it_was_given(case: &Case) {
    let store = case.store();
    let mut requests = Vec::new();
    for number in 0..6 {
        let (key, displaced) = (case.key(&format!("item {number}")), case.claim());
        let mut request = absent(case, &key);
        if number % 2 == 1 {
            store.claimed(&key, &displaced).await;
            request.expected = Expected::Exactly(version(displaced.token, 1));
        }
        request.claim.fingerprint = fingerprint(&format!("charge {number}"));
        request.claim.attempt = 1 + number;
        request.claim.checkpoint = (number % 3 > 0).then(|| format!("half-way {number}").into());
        request.claim.keep_unresolved = seconds(7_200 + 60 * u64::from(number));
        requests.push(request);
    }

    let outcomes = store.claim_many(&requests).await;

    for (number, (outcome, request)) in outcomes.iter().zip(&requests).enumerate() {
        let ClaimOutcome::Claimed(stamp) = outcome else {
            broken(format!("item {number} was answered {outcome:?}, due was Claimed"));
        };
        let found = store.record(&request.key).await;
        let due = claimed_record(&request.claim, *stamp, found.unresolved_until);
        check_same_record(
            &found,
            &due,
            &format!("what is stored of item {number} is not what it has brought"),
        );
        check!(
            case.is_deadline(found.unresolved_until, stamp.now, request.claim.keep_unresolved),
            "item {number} is remembered until {:?}, due was {:?} after {:?}",
            found.unresolved_until,
            request.claim.keep_unresolved,
            stamp.now
        );
    }
}

pub(super) async fn batches_of_takeovers_grant_each_key_once(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds() / 4);
    while let Some(round) = race.next_round() {
        let mut abandoned = Vec::new();
        for item in 0..4 {
            let (key, claim) = (case.key(&format!("round {round}, item {item}")), case.claim());
            case.store().claimed(&key, &claim).await;
            case.store().renewed(&key, claim.token, &end_of_lease(2)).await;
            abandoned.push((key, Expected::Exactly(version(claim.token, 2))));
        }
        let contenders = handles.iter().map(|handle| {
            let items = abandoned.iter();
            let requests: Vec<_> = items
                .map(|(key, expected)| ClaimRequest { expected: *expected, ..absent(case, key) })
                .collect();
            let handle = handle.clone();
            let contender: Contender<_> = Box::pin(async move {
                let outcomes = handle.claim_many(&requests).await;
                let granted = outcomes.iter().map(|outcome| matches!(outcome, ClaimOutcome::Claimed(_)));
                granted.collect::<Vec<_>>()
            });
            contender
        });
        let answers = race.round(contenders.collect()).await;
        for item in 0..abandoned.len() {
            let granted = answers.iter().filter(|granted| granted[item]).count();
            check_eq!(granted, 1, "round {round}: how many of 8 batches were granted item {item}");
        }
    }
    race.check_overlap();
}

pub(super) async fn a_thousand_items_are_one_batch(case: &Case) {
    let requests: Vec<_> = (0..1_000).map(|item| absent(case, &case.key(&format!("item {item}")))).collect();

    let outcomes = case.store().claim_many(&requests).await;

    let claimed = outcomes.iter().filter(|outcome| matches!(outcome, ClaimOutcome::Claimed(_))).count();
    check_eq!(claimed, 1_000, "how many of a thousand fresh keys were granted");
    for request in requests.iter().step_by(99) {
        let token = case.store().record(&request.key).await.version.token;
        check_eq!(token, request.claim.token, "who holds a key of the batch");
    }
}

pub(super) async fn batches_in_opposite_order_do_not_block_each_other(case: &Case) {
    let handles = case.handles(8).await;
    let mut race = case.race(case.rounds() / 16);
    while let Some(round) = race.next_round() {
        let keys: Vec<_> = (0..50).map(|item| case.key(&format!("round {round}, item {item}"))).collect();
        let contenders = handles.iter().enumerate().map(|(place, handle)| {
            let mut requests: Vec<_> = keys.iter().map(|key| absent(case, key)).collect();
            if place % 2 == 1 {
                requests.reverse();
            }
            let handle = handle.clone();
            let contender: Contender<_> = Box::pin(async move {
                let outcomes = handle.claim_many(&requests).await;
                outcomes.iter().filter(|outcome| matches!(outcome, ClaimOutcome::Claimed(_))).count()
            });
            contender
        });
        let granted: usize = race.round(contenders.collect()).await.into_iter().sum();
        check_eq!(
            granted,
            keys.len(),
            "round {round}: how many claims eight batches over 50 keys were granted"
        );
    }
    race.check_overlap();
}

fn absent(case: &Case, key: &RecordKey) -> ClaimRequest {
    ClaimRequest { key: key.clone(), claim: case.claim(), expected: Expected::Absent }
}

const fn kind(outcome: &ClaimOutcome) -> &'static str {
    match outcome {
        ClaimOutcome::Claimed(_) => "claimed",
        ClaimOutcome::Occupied(_) => "occupied",
        ClaimOutcome::Vacant => "vacant",
    }
}
