//! The write-ahead log does not grow without bound. B139.

use onceonly::KeyStore;
use onceonly_sqlite::{SqliteStore, Synchronous};

use crate::support::{self, Database};

/// Completes `count` operations whose results take some twenty pages each.
async fn write(stores: &[SqliteStore], first: usize, count: usize) {
    let completion = support::completion(&vec![b'x'; 64 * 1024]);
    let mut workers = tokio::task::JoinSet::new();
    for worker in 0..8 {
        let (store, completion) = (stores[worker % stores.len()].clone(), completion.clone());
        workers.spawn(async move {
            for number in (first..first + count).filter(|number| number % 8 == worker) {
                let key = support::key(&number.to_string());
                support::claim(&store, &key, 1).await;
                store.complete(&key, support::token(1), &completion).await.unwrap();
            }
        });
    }
    workers.join_all().await;
}

fn log_bytes(database: &Database) -> u64 {
    std::fs::metadata(database.log_path()).map_or(0, |log| log.len())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_starts_over_under_load() {
    let database = Database::new();
    let store = database.open_with(SqliteStore::options().synchronous(Synchronous::Normal));
    // Some 260 MiB in all.
    write(&[store], 0, 4000).await;
    assert!(log_bytes(&database) < 130 * MIB, "{}", log_bytes(&database));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_starts_over_although_two_write() {
    let database = Database::new();
    let open = || database.open_with(SqliteStore::options().synchronous(Synchronous::Normal));
    let stores = [open(), open()];
    write(&stores, 0, 4000).await;
    // The other one's commits may come between twice or thrice, but not for ever.
    assert!(log_bytes(&database) < 200 * MIB, "{}", log_bytes(&database));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_log_shrinks_when_a_long_reader_ends() {
    let database = Database::new();
    let store = [database.open_with(SqliteStore::options().synchronous(Synchronous::Normal))];
    let reader = database.raw();
    reader.execute_batch("BEGIN; SELECT count(*) FROM onceonly_records").unwrap();
    write(&store, 0, 1500).await;
    assert!(log_bytes(&database) > 80 * MIB, "the reader should keep the log: {}", log_bytes(&database));
    reader.execute_batch("COMMIT").unwrap();
    for round in 0..20 {
        write(&store, 1500 + 200 * round, 200).await;
        if log_bytes(&database) <= 65 * MIB {
            return;
        }
    }
    panic!("the log stays at {}", log_bytes(&database));
}

const MIB: u64 = 1024 * 1024;
