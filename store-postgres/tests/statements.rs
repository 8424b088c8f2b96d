//! What the server sees of the verbs.

use std::collections::HashSet;

use onceonly::{
    ClaimOutcome, ClaimRequest, CompleteOutcome, Expected, KeyStore, LeaseChange, Renewal, Revision,
};
use onceonly_conformance::servers::Postgres;
use onceonly_postgres::PostgresStore;

use crate::support::{self, Table, completion, key, new_claim, token, with_server};

#[tokio::test]
async fn every_verb_is_one_statement_that_commits_by_itself() {
    let table = Table::migrated().await;
    let store = table.options().lanes(1).connect(&table.url).await.unwrap();
    let (held, given_back) = (key("held"), key("given back"));
    // Opens the connections.
    store.load(&held).await.unwrap();
    store.purge_expired(1).await.unwrap();
    let renewal = Renewal {
        revision: Revision::from_number(2),
        lease: LeaseChange::Extend(support::span(60)),
        checkpoint: Some("half-way".into()),
    };

    assert_eq!(seen(&table, store.claim(&held, &new_claim(token(1)), Expected::Absent)).await, 1, "fresh");
    assert_eq!(seen(&table, store.claim(&held, &new_claim(token(2)), Expected::Absent)).await, 1, "conflict");
    assert_eq!(seen(&table, store.load(&held)).await, 1, "load");
    assert_eq!(seen(&table, store.renew(&held, token(1), &renewal)).await, 1, "renew");
    assert_eq!(seen(&table, store.complete(&held, token(1), &completion("done"))).await, 1, "complete");
    assert_eq!(seen(&table, store.claim(&held, &new_claim(token(2)), Expected::Absent)).await, 1, "replay");
    store.claim(&given_back, &new_claim(token(3)), Expected::Absent).await.unwrap();
    assert_eq!(seen(&table, store.release(&given_back, token(3), &support::release())).await, 1, "release");
    assert_eq!(seen(&table, store.purge_expired(100)).await, 1, "purge");
}

#[tokio::test]
async fn a_batch_is_one_statement() {
    let table = Table::migrated().await;
    let store = table.options().lanes(1).connect(&table.url).await.unwrap();
    store.load(&key("opens the connection")).await.unwrap();
    let claims = claims(200);

    assert_eq!(seen(&table, store.claim_many(&claims)).await, 1, "two hundred fresh keys");
    let statements = seen(&table, completed(&store, &claims)).await;
    assert!(statements <= 20, "{statements} statements for two hundred completions of concurrent callers");
}

#[tokio::test]
async fn a_replay_writes_nothing() {
    let table = Table::migrated().await;
    let store = table.store().await;
    let claims = claims(50);
    store.claim_many(&claims).await;
    completed(&store, &claims).await;

    for _ in 0..20 {
        for outcome in store.claim_many(&claims).await {
            assert!(matches!(outcome.unwrap(), ClaimOutcome::Occupied(_)));
        }
    }

    let changed =
        "SELECT n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_user_tables WHERE relname = '{table}'";
    assert_eq!(
        settled(&table, changed, 100).await,
        100,
        "50 claims and 50 completions, and nothing for the replays"
    );
}

#[tokio::test]
async fn no_row_is_read_by_a_scan_while_the_table_grows_from_nothing() {
    let table = Table::migrated().await;
    let store = table.store().await;
    for round in 0..20 {
        let claims: Vec<ClaimRequest> =
            (0..100).map(|number| request(&format!("{round} {number}"))).collect();
        store.claim_many(&claims).await;
        completed(&store, &claims).await;
        store.claim(&key(&format!("{round}")), &new_claim(token(1)), Expected::Absent).await.unwrap();
        store.complete(&key(&format!("{round}")), token(1), &completion("done")).await.unwrap();
        store.purge_expired(10).await.unwrap();
    }

    let inserted = "SELECT n_tup_ins FROM pg_stat_user_tables WHERE relname = '{table}'";
    assert_eq!(settled(&table, inserted, 2_020).await, 2_020);
    let scanned = "SELECT coalesce(seq_tup_read, 0) FROM pg_stat_user_tables WHERE relname = '{table}'";
    assert_eq!(table.number(scanned).await, 0);
    let moved = "SELECT n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = '{table}'";
    let moved = table.number(moved).await;
    assert!(
        moved <= 20,
        "{moved} of 2,020 completions moved their row to another page, and so touched every index"
    );
}

fn claims(count: usize) -> Vec<ClaimRequest> {
    (0..count).map(|number| request(&format!("key {number}"))).collect()
}

fn request(name: &str) -> ClaimRequest {
    ClaimRequest { key: key(name), claim: new_claim(token(1)), expected: Expected::Absent }
}

/// Completes all of them at the same time.
async fn completed(store: &PostgresStore, claims: &[ClaimRequest]) {
    let mut calls = tokio::task::JoinSet::new();
    for ClaimRequest { key, claim, .. } in claims.iter().cloned() {
        let store = store.clone();
        calls.spawn(async move { store.complete(&key, claim.token, &completion("done")).await });
    }
    while let Some(outcome) = calls.join_next().await {
        assert!(matches!(outcome.unwrap().unwrap(), CompleteOutcome::Applied(_)));
    }
}

/// How many statements about the table the server has seen while `call` was carried out, those included that only open or
/// close a transaction on the same connections.
async fn seen<T>(table: &Table, call: impl Future<Output = T>) -> usize {
    let before = logged(table);
    call.await;
    let log = logged(table);
    let new = log[before.len()..].lines();
    let statements: Vec<&str> =
        new.filter(|line| line.contains("execute ") || line.contains("statement: ")).collect();
    let about = |line: &&&str| line.contains(&table.name);
    let processes: HashSet<&str> = statements.iter().filter(about).map(|line| process(line)).collect();
    let transactions = ["BEGIN", "COMMIT", "ROLLBACK"];
    let bounds = |line: &&&str| {
        processes.contains(process(line))
            && transactions.iter().any(|word| line.ends_with(&format!(": {word}")))
    };
    statements.iter().filter(about).count() + statements.iter().filter(bounds).count()
}

/// The number of the server's process that a line of its log is of: the other tests use the same server.
fn process(line: &str) -> &str {
    line.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(process, _)| process)
}

/// The log, with each statement on one line.
fn logged(_: &Table) -> String {
    with_server(Postgres::log).unwrap().replace("\n\t", " ")
}

/// Waits until the server's statistics have caught up with what is due, or are past it.
async fn settled(table: &Table, statement: &str, due: i64) -> i64 {
    loop {
        let found = table.number(statement).await;
        if found >= due {
            return found;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
