//! The verbs once over, in a file and in memory.

use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Expected, KeyStore, LeaseChange, ManualClock, Release,
    ReleaseOutcome, RenewOutcome, Renewal, Revision, Status, Version,
};
use onceonly_sqlite::SqliteStore;

use crate::support::{self, Database, LEASE, RETENTION};

async fn walk(store: SqliteStore, clock: ManualClock) {
    let key = support::key("walk");
    let stamp = support::claim(&store, &key, 1).await;
    assert_eq!(stamp.now, support::START);
    assert_eq!(stamp.lease_until, support::START.plus(support::span(LEASE)));

    let again = store.claim(&key, &support::new_claim(2), Expected::Absent).await.unwrap();
    let ClaimOutcome::Occupied(snapshot) = again else { panic!("occupied, not {again:?}") };
    assert_eq!(snapshot.record.version.token, support::token(1));

    let renewal = Renewal {
        revision: Revision::from_number(2),
        lease: LeaseChange::Extend(support::span(LEASE)),
        checkpoint: Some("half".into()),
    };
    clock.advance(LEASE / 2);
    let renewed = store.renew(&key, support::token(1), &renewal).await.unwrap();
    assert!(
        matches!(renewed, RenewOutcome::Applied(stamp) if stamp.lease_until > snapshot.record.lease_until)
    );

    let mut completion = support::completion(b"done");
    completion.revision = Revision::from_number(3);
    let completed = store.complete(&key, support::token(1), &completion).await.unwrap();
    assert!(matches!(completed, CompleteOutcome::Applied(_)));
    let repeated = store.complete(&key, support::token(1), &completion).await.unwrap();
    assert!(matches!(repeated, CompleteOutcome::AlreadyCompleted(_)));

    let loaded = store.load(&key).await.unwrap().expect("the record is there");
    assert_eq!(loaded.record.status, Status::Completed(completion.result));
    assert_eq!(store.purge_expired(10).await.unwrap(), 0);
    clock.advance(RETENTION * 2);
    assert_eq!(store.purge_expired(10).await.unwrap(), 1);
    assert!(store.load(&key).await.unwrap().is_none());
}

#[tokio::test]
async fn a_file_keeps_what_it_is_given() {
    let (database, clock) = (Database::new(), support::clock());
    walk(database.open_with(SqliteStore::options().clock(clock.clone())), clock).await;
}

#[tokio::test]
async fn a_database_in_memory_is_one_for_all_clones() {
    let clock = support::clock();
    let store = SqliteStore::options().clock(clock.clone()).in_memory().unwrap();
    let clone = store.clone();
    walk(store, clock).await;
    support::claim(&clone, &support::key("other"), 1).await;
    assert!(clone.clone().load(&support::key("other")).await.unwrap().is_some());
}

#[tokio::test]
async fn a_released_record_is_past_its_time_when_its_mark_is() {
    let (database, clock) = (Database::new(), support::clock());
    let store = database.open_with(SqliteStore::options().clock(clock.clone()));
    let key = support::key("released");
    support::claim(&store, &key, 1).await;
    let release = Release { revision: Revision::from_number(2), keep: support::span(LEASE) };
    for _ in 0..2 {
        assert_eq!(store.release(&key, support::token(1), &release).await.unwrap(), ReleaseOutcome::Applied);
    }
    assert_eq!(store.purge_expired(10).await.unwrap(), 0);
    clock.advance(LEASE);
    assert_eq!(store.purge_expired(10).await.unwrap(), 1);
}

#[tokio::test]
async fn the_writer_replaces_only_the_version_that_is_expected() {
    // Without readers, as in a race that a reader has not seen the end of.
    let clock = support::clock();
    let store = SqliteStore::options().clock(clock.clone()).readers(0).in_memory().unwrap();
    let key = support::key("old");
    support::claim(&store, &key, 1).await;
    clock.advance(support::KEEP_UNRESOLVED * 2);
    let version = store.load(&key).await.unwrap().expect("it is not purged").record.version;
    let later = Version { revision: Revision::from_number(2), ..version };
    let stranger = Version { token: support::token(3), ..version };
    for expected in [Expected::Absent, Expected::Exactly(later), Expected::Exactly(stranger)] {
        let refused = store.claim(&key, &support::new_claim(2), expected).await.unwrap();
        let ClaimOutcome::Occupied(snapshot) = refused else { panic!("{expected:?}: {refused:?}") };
        assert_eq!(snapshot.record.version, version);
    }
    let granted = store.claim(&key, &support::new_claim(2), Expected::Exactly(version)).await.unwrap();
    assert!(matches!(granted, ClaimOutcome::Claimed(_)));
    let gone = store.claim(&support::key("none"), &support::new_claim(2), Expected::Exactly(version)).await;
    assert!(matches!(gone, Ok(ClaimOutcome::Vacant)));
}

#[tokio::test]
async fn a_batch_answers_each_item_in_order() {
    let store = Database::new().open();
    assert!(store.claim_many(&[]).await.is_empty());
    support::claim(&store, &support::key("taken"), 9).await;
    let request = |name: &str, number| ClaimRequest {
        key: support::key(name),
        claim: support::new_claim(number),
        expected: Expected::Absent,
    };
    let mut batch = vec![request("first", 1), request("taken", 2), request("first", 3)];
    batch.extend((0..1000).map(|number| request(&format!("item {number}"), 4)));
    let answers: Vec<_> = store.claim_many(&batch).await.into_iter().map(Result::unwrap).collect();
    assert!(matches!(answers[0], ClaimOutcome::Claimed(_)));
    let holders = answers[1..3].iter().map(|answer| match answer {
        ClaimOutcome::Occupied(snapshot) => snapshot.record.version.token,
        other => panic!("occupied, not {other:?}"),
    });
    assert!(holders.eq([support::token(9), support::token(1)]), "an item does not see what was before it");
    assert!(answers[3..].iter().all(|answer| matches!(answer, ClaimOutcome::Claimed(_))));
    assert_eq!(answers.len(), 1003);
}
