//! A row that somebody else changed is an error, never an absence, never run and never overwritten.

use onceonly::{
    ClaimOutcome, Completion, Expected, KeyStore, LeaseChange, RecordKey, Release, Renewal, Revision, Scope,
    Status, StoreError, StoreErrorKind, Version,
};
use onceonly_sqlite::SqliteStore;

use crate::support::{self, Database, LEASE, damage};

/// What every verb says about the record.
async fn every_verb(store: &SqliteStore, key: &RecordKey) -> Vec<(&'static str, Result<(), StoreError>)> {
    let token = support::token(1);
    let exactly = |revision| Expected::Exactly(Version { token, revision: Revision::from_number(revision) });
    let renewal = Renewal {
        revision: Revision::from_number(9),
        lease: LeaseChange::Extend(support::span(LEASE)),
        checkpoint: None,
    };
    let completion = Completion { revision: Revision::from_number(9), ..support::completion(b"other") };
    let release = Release { revision: Revision::from_number(9), keep: support::span(LEASE) };
    let claim = support::new_claim(7);
    vec![
        ("load", store.load(key).await.map(drop)),
        ("claim expecting absence", store.claim(key, &claim, Expected::Absent).await.map(drop)),
        ("claim expecting the claim", store.claim(key, &claim, exactly(1)).await.map(drop)),
        ("claim expecting the result", store.claim(key, &claim, exactly(2)).await.map(drop)),
        ("renew", store.renew(key, token, &renewal).await.map(drop)),
        ("complete", store.complete(key, token, &completion).await.map(drop)),
        ("release", store.release(key, token, &release).await.map(drop)),
    ]
}

/// Damages the record of `key` as `way` says, on a store whose looks go through the writer, and finds that out.
async fn assert_corrupt(store: &SqliteStore, database: &Database, key: &RecordKey, way: &str) {
    let raw = database.raw();
    damage::damage(&raw, key, way).unwrap();
    let before = damage::row(&raw, key).unwrap();
    for (verb, answer) in every_verb(store, key).await {
        let error = answer.expect_err(&format!("{verb} after {way}"));
        assert_eq!(error.kind(), StoreErrorKind::Corrupt, "{verb} after {way}: {error}");
        let source = std::error::Error::source(&error).expect("the error says which record").to_string();
        assert!(source.starts_with(&format!("{key:?}: ")), "{source}");
    }
    assert_eq!(before, damage::row(&raw, key).unwrap(), "overwritten after {way}");
}

/// What the readers see is in the conformance suite.
#[tokio::test]
async fn the_writer_sees_what_the_readers_see() {
    let database = Database::new();
    // Without readers every look goes through the writer.
    let store = database.open_with(SqliteStore::options().readers(0));
    for stage in ["in progress", "completed"] {
        for number in 0.. {
            let key = support::key(&format!("{stage} {number}"));
            support::claim(&store, &key, 1).await;
            if stage == "completed" {
                store.complete(&key, support::token(1), &support::completion(b"done")).await.unwrap();
            }
            let ways = damage::ways(&database.raw(), &key).unwrap();
            let Some(way) = ways.get(number) else { break };
            assert_corrupt(&store, &database, &key, way).await;
        }
    }
}

#[tokio::test]
async fn checks_keep_most_of_it_out() {
    let (database, key) = (Database::new(), support::key("checked"));
    support::claim(&database.open(), &key, 1).await;
    let raw = database.raw();
    let stopped =
        ["token = x''", "status = 3", "status = 1", "attempt = -1", "revision = 4294967296", "code = 200"];
    for change in stopped {
        raw.execute(&format!("UPDATE onceonly_records SET {change}"), []).expect_err(change);
    }
    // B091, B140: no text where bytes or numbers belong, however much it looks like them.
    for change in ["key = 'text'", "lease_until = '2038-01-19 03:14:07'", "expires_at = CURRENT_TIMESTAMP"] {
        raw.execute(&format!("UPDATE onceonly_records SET {change}"), []).expect_err(change);
    }
}

#[tokio::test]
async fn times_of_any_size_are_read_and_compared() {
    for time in [i64::MIN, -1, 0, 253_402_300_799_000_000, i64::MAX] {
        let (database, key) = (Database::new(), support::key("absurd"));
        let store = database.open_with(SqliteStore::options().clock(support::clock()));
        support::claim(&store, &key, 1).await;
        let everything = format!(
            "created_at = {time}, lease_until = {time}, expires_at = {time}, unresolved_until = {time}, sweep_at = {time}"
        );
        damage::damage(&database.raw(), &key, &everything).unwrap();
        for (verb, answer) in every_verb(&store, &key).await {
            answer.unwrap_or_else(|error| panic!("{verb} at {time}: {error}"));
        }
        store.purge_expired(10).await.unwrap();
    }
}

#[tokio::test]
async fn a_numbers_look_does_not_make_two_keys_one() {
    // B140.
    let store = Database::new().open();
    let names = ["007", "7", "7.0", "1e2", "100", "0x10", "16", "null", "NULL", "true", "1"];
    for (number, name) in (1..).zip(names) {
        support::claim(&store, &support::key(name), number).await;
    }
    for (number, name) in (1..).zip(names) {
        let record = store.load(&support::key(name)).await.unwrap().expect(name).record;
        assert_eq!(record.version.token, support::token(number), "{name}");
    }
}

#[tokio::test]
async fn bytes_come_back_as_they_were_given() {
    // B065, B071.
    let store = Database::new().open();
    let all: Vec<u8> = (0..=255).collect();
    for (number, body) in (1..).zip([&b""[..], b"\0", &all, br#"{"b":1.0, "a":1,"a":2}"#, b"\xff\xfe"]) {
        let key = support::key(&format!("body {number}"));
        support::claim(&store, &key, number).await;
        let completion = support::completion(body);
        store.complete(&key, support::token(number), &completion).await.unwrap();
        let again = store.claim(&key, &support::new_claim(9), Expected::Absent).await.unwrap();
        let ClaimOutcome::Occupied(snapshot) = again else { panic!("occupied, not {again:?}") };
        assert_eq!(snapshot.record.status, Status::Completed(completion.result));
    }
}

#[tokio::test]
async fn messages_hold_no_keys() {
    let database = Database::new();
    let store = database.open();
    let secret = RecordKey::new(Scope::named("SECRET-SCOPE").unwrap(), "SECRET-KEY-123".parse().unwrap());
    let mut claim = support::new_claim(1);
    claim.checkpoint = Some("SECRET-BODY".into());
    store.claim(&secret, &claim, Expected::Absent).await.unwrap();
    let raw = database.raw();
    raw.execute_batch("PRAGMA ignore_check_constraints = ON; UPDATE onceonly_records SET token = x'00'")
        .unwrap();
    let corrupt = store.load(&secret).await.unwrap_err();
    raw.execute_batch("DROP TABLE onceonly_records").unwrap();
    let rejected = store.claim(&secret, &claim, Expected::Absent).await.unwrap_err();
    for error in [corrupt, rejected] {
        let source = std::error::Error::source(&error).map(ToString::to_string);
        let shown = format!("{error} {error:?} {source:?} {store:?}");
        assert!(!shown.contains("SECRET"), "{shown}");
    }
}
