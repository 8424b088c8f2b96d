//! Everything past its time goes, nothing else does.

use std::time::Duration;

use onceonly::{
    ClaimOutcome, Completion, Expected, KeyStore, LeaseChange, NewClaim, Release, Renewal, Revision,
    StoredResponse, StoredResult, Timestamp,
};
use onceonly_sqlite::SqliteStore;

use crate::support::{self, Database};

/// Hours after the claim.
fn hours(count: u64) -> Duration {
    Duration::from_hours(count)
}

fn kept(keep: u64, keep_unresolved: u64) -> NewClaim {
    NewClaim {
        keep: support::span(hours(keep)),
        keep_unresolved: support::span(hours(keep_unresolved)),
        ..support::new_claim(1)
    }
}

fn retained(retention: u64) -> Completion {
    Completion {
        revision: Revision::from_number(2),
        result: StoredResult::Retained(StoredResponse::new(200, "done")),
        retention: support::span(hours(retention)),
    }
}

/// What happens to a record before the purge.
#[derive(Clone, Copy, Debug)]
enum Story {
    LeftAlone,
    RenewedAt(u64),
    CompletedAt(u64, u64),
    ReleasedAt(u64, u64),
}

/// When it is past its time, by the clauses of the trait.
fn end(keep: u64, keep_unresolved: u64, story: Story) -> u64 {
    match story {
        Story::LeftAlone => keep_unresolved,
        // The lease of a renewal is three hours.
        Story::RenewedAt(at) => keep_unresolved.max(at + 3),
        Story::CompletedAt(at, retention) => keep.max(at + retention),
        Story::ReleasedAt(at, keep_released) => at + keep_released,
    }
}

#[tokio::test]
async fn a_record_goes_at_its_time_and_not_before() {
    let stories = [
        Story::LeftAlone,
        Story::RenewedAt(1),
        Story::RenewedAt(9),
        Story::CompletedAt(1, 2),
        Story::CompletedAt(9, 2),
        Story::CompletedAt(9, 40),
        Story::ReleasedAt(1, 2),
        Story::ReleasedAt(9, 1),
        Story::ReleasedAt(9, 60),
    ];
    for (keep, keep_unresolved) in [(5, 10), (10, 10), (5, 40), (40, 10)] {
        for story in stories {
            for sweeps_every in [1, 7, 1000] {
                check(keep, keep_unresolved, story, sweeps_every).await;
            }
        }
    }
}

/// Goes through the story hour by hour, purging now and then, and looks at both sides of the end.
async fn check(keep: u64, keep_unresolved: u64, story: Story, sweeps_every: u64) {
    let clock = support::clock();
    let store = SqliteStore::options().clock(clock.clone()).in_memory().unwrap();
    let (key, token) = (support::key("story"), support::token(1));
    store.claim(&key, &kept(keep, keep_unresolved), Expected::Absent).await.unwrap();
    let end = end(keep, keep_unresolved, story);
    let told = format!("{story:?}, kept {keep} and {keep_unresolved}, purged every {sweeps_every}");
    for hour in 0..end {
        match story {
            Story::RenewedAt(at) if at == hour => {
                let lease = LeaseChange::Extend(support::span(hours(3)));
                let renewal = Renewal { revision: Revision::from_number(2), lease, checkpoint: None };
                store.renew(&key, token, &renewal).await.unwrap();
            }
            Story::CompletedAt(at, retention) if at == hour => {
                store.complete(&key, token, &retained(retention)).await.unwrap();
            }
            Story::ReleasedAt(at, keep) if at == hour => {
                let release =
                    Release { revision: Revision::from_number(2), keep: support::span(hours(keep)) };
                store.release(&key, token, &release).await.unwrap();
            }
            _ => {}
        }
        if hour % sweeps_every == 0 {
            assert_eq!(store.purge_expired(10).await.unwrap(), 0, "{told}: gone at {hour}");
        }
        clock.advance(hours(1));
    }
    clock.set(Timestamp::from_micros(clock_micros(end) - 1));
    assert_eq!(store.purge_expired(10).await.unwrap(), 0, "{told}: gone before {end}");
    clock.set(Timestamp::from_micros(clock_micros(end)));
    assert_eq!(store.purge_expired(10).await.unwrap(), 1, "{told}: still there at {end}");
    assert!(store.load(&key).await.unwrap().is_none());
}

fn clock_micros(hour: u64) -> i64 {
    support::START.plus(support::span(hours(hour))).as_micros()
}

#[tokio::test]
async fn a_limit_is_kept_and_the_counts_add_up() {
    for limit in [1, 7, 255, 256, 257, 5000] {
        let clock = support::clock();
        let store = SqliteStore::options().clock(clock.clone()).in_memory().unwrap();
        // Half of them are looked at first and live on.
        for number in 0..600 {
            let claim = kept(1, if number % 2 == 0 { 2 } else { 50 });
            store.claim(&support::key(&number.to_string()), &claim, Expected::Absent).await.unwrap();
        }
        clock.advance(hours(2));
        let mut counts = Vec::new();
        loop {
            let count = store.purge_expired(limit).await.unwrap();
            assert!(count <= u64::from(limit));
            if count == 0 {
                break;
            }
            counts.push(count);
        }
        assert_eq!(counts.iter().sum::<u64>(), 300, "limit {limit}: {counts:?}");
        assert!(
            counts.split_last().is_some_and(|(_, full)| full.iter().all(|count| *count == u64::from(limit)))
        );
        assert_eq!(store.purge_expired(0).await.unwrap(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn purgers_on_several_handles_share_the_work() {
    let (database, clock) = (Database::new(), support::clock());
    let options = || SqliteStore::options().clock(clock.clone());
    let store = database.open_with(options());
    for number in 0..1000 {
        support::claim(&store, &support::key(&number.to_string()), 1).await;
    }
    clock.advance(support::KEEP_UNRESOLVED);
    let purgers: Vec<_> = (0..8)
        .map(|_| {
            let store = database.open_with(options());
            tokio::spawn(async move {
                let mut sum = 0;
                while let count @ 1.. = store.purge_expired(50).await.unwrap() {
                    sum += count;
                }
                sum
            })
        })
        .collect();
    let mut sum = 0;
    for purger in purgers {
        sum += purger.await.unwrap();
    }
    assert_eq!(sum, 1000);
}

#[tokio::test]
async fn a_poisoned_row_does_not_stop_the_others() {
    // B100.
    let (database, clock) = (Database::new(), support::clock());
    let store = database.open_with(SqliteStore::options().clock(clock.clone()));
    for number in 0..20 {
        support::claim(&store, &support::key(&number.to_string()), 1).await;
    }
    database
        .raw()
        .execute_batch(
            "PRAGMA ignore_check_constraints = ON;
             UPDATE onceonly_records SET status = 9 WHERE rowid IN (1, 7);
             UPDATE onceonly_records SET sweep_at = 253402300799000000, unresolved_until = 253402300799000000
             WHERE rowid = 3;
             UPDATE onceonly_records SET fingerprint = x'' WHERE rowid = 5",
        )
        .unwrap();
    clock.advance(support::KEEP_UNRESOLVED);
    let mut sum = 0;
    while let count @ 1.. = store.purge_expired(4).await.unwrap() {
        sum += count;
    }
    assert_eq!(sum, 17);
    let left: String = database
        .raw()
        .query_row("SELECT group_concat(rowid ORDER BY rowid) FROM onceonly_records", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, "1,3,7");
}

#[tokio::test]
async fn a_record_that_lives_on_is_not_looked_at_again_before_its_time() {
    // Otherwise every purge would go through all parked keys of the last month.
    let (database, clock) = (Database::new(), support::clock());
    let store = database.open_with(SqliteStore::options().clock(clock.clone()));
    store.claim(&support::key("parked"), &kept(1, 50), Expected::Absent).await.unwrap();
    clock.advance(hours(2));
    assert_eq!(store.purge_expired(10).await.unwrap(), 0);
    let (looked_at, end): (i64, i64) = database
        .raw()
        .query_row("SELECT sweep_at, unresolved_until FROM onceonly_records", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(looked_at, end);
}

#[tokio::test]
async fn a_claim_touches_its_own_key_only() {
    // B098: what others left behind is the purge's business.
    let (database, clock) = (Database::new(), support::clock());
    let store = database.open_with(SqliteStore::options().clock(clock.clone()));
    for number in 0..500 {
        support::claim(&store, &support::key(&number.to_string()), 1).await;
    }
    clock.advance(support::KEEP_UNRESOLVED * 2);
    let raw = database.raw();
    let others = || -> String {
        let sql = "SELECT group_concat(concat_ws('|', rowid, quote(token), status, revision, sweep_at)) \
                   FROM onceonly_records WHERE key NOT IN (CAST('7' AS BLOB), CAST('new' AS BLOB))";
        raw.query_row(sql, [], |row| row.get(0)).unwrap()
    };
    let before = others();
    support::claim(&store, &support::key("new"), 2).await;
    let old = store.load(&support::key("7")).await.unwrap().unwrap().record.version;
    let again =
        store.claim(&support::key("7"), &support::new_claim(2), Expected::Exactly(old)).await.unwrap();
    assert!(matches!(again, ClaimOutcome::Claimed(_)));
    assert_eq!(before, others());
}

#[tokio::test]
async fn a_purge_looks_through_the_index() {
    // A table scan would hold the write lock for as long as the table is large.
    let database = Database::new();
    database.open();
    let plan: String = database
        .raw()
        .query_row(
            &format!(
                "EXPLAIN QUERY PLAN {}",
                include_str!("../src/sql/sweep.sql").replace("{table}", "onceonly_records")
            ),
            [0, 0, 0, 10],
            |row| row.get(3),
        )
        .unwrap();
    assert!(plan.contains("USING INDEX onceonly_records_sweep_at"), "{plan}");
}
