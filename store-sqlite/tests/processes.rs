//! Real processes on one file.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;
use std::{env, fs};

use onceonly::{ClaimOutcome, CompleteOutcome, Expected, KeyStore, Status, StoreErrorKind, Token, Version};
use onceonly_sqlite::SqliteStore;

use crate::support::{self, Child, Database};

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime can be made")
        .block_on(future)
}

fn childs_store() -> SqliteStore {
    SqliteStore::open(support::directory().join("records.db")).expect("the store opens")
}

/// B001: fifty callers in each of four processes, all after the same key, and then all after the next one.
#[test]
fn each_key_is_granted_to_one_process() {
    const KEYS: usize = 100;
    if support::role().is_some() {
        let store = SqliteStore::options().busy_timeout(support::PATIENCE);
        let store = store.open(support::directory().join("records.db")).expect("the store opens");
        support::tell("ready");
        support::wait_for_parent();
        let granted = (0..KEYS).flat_map(|number| block_on(fifty_claims(&store, number)));
        return support::tell(&granted.map(|number| number.to_string()).collect::<Vec<_>>().join(","));
    }
    let database = Database::new();
    let start =
        |_| Child::start("processes::each_key_is_granted_to_one_process", "claimer", database.directory());
    let mut children: Vec<_> = (0..4).map(start).collect();
    for child in &mut children {
        assert_eq!(child.hear(), "ready");
    }
    children.iter_mut().for_each(Child::go_on);
    let told: Vec<_> = children.iter_mut().map(Child::hear).collect();
    let mut granted: Vec<usize> =
        told.iter().flat_map(|told| told.split(',')).filter_map(|number| number.parse().ok()).collect();
    granted.sort_unstable();
    assert!(granted.into_iter().eq(0..KEYS), "{told:?}");
}

/// The number, once for each of fifty callers at once that was granted its key.
async fn fifty_claims(store: &SqliteStore, number: usize) -> Vec<usize> {
    let barrier = Arc::new(tokio::sync::Barrier::new(50));
    let callers: Vec<_> = (0..50)
        .map(|_| {
            let (store, barrier) = (store.clone(), Arc::clone(&barrier));
            tokio::spawn(async move {
                let mut claim = support::new_claim(1);
                claim.token = Token::random();
                barrier.wait().await;
                store.claim(&support::key(&number.to_string()), &claim, Expected::Absent).await
            })
        })
        .collect();
    let mut granted = Vec::new();
    for caller in callers {
        if let ClaimOutcome::Claimed(_) = caller.await.unwrap().expect("no busy error gets out") {
            granted.push(number);
        }
    }
    granted
}

#[test]
fn a_killed_holder_leaves_a_claim_that_can_be_taken_over() {
    if support::role().is_some() {
        block_on(support::claim(&childs_store(), &support::key("killed"), 1));
        support::tell("claimed");
        support::wait_for_parent();
        unreachable!("the parent kills this process");
    }
    let database = Database::new();
    let mut child = Child::start(
        "processes::a_killed_holder_leaves_a_claim_that_can_be_taken_over",
        "holder",
        database.directory(),
    );
    assert_eq!(child.hear(), "claimed");
    assert!(!child.kill().success());

    let store = database.open();
    let key = support::key("killed");
    let record =
        block_on(store.load(&key)).unwrap().expect("an acknowledged claim survives its process").record;
    assert_eq!(record.status, Status::InProgress { checkpoint: None });
    let version = record.version;
    assert_eq!(version, Version { token: support::token(1), ..version });
    let takeover = block_on(store.claim(&key, &support::new_claim(2), Expected::Exactly(version))).unwrap();
    assert!(matches!(takeover, ClaimOutcome::Claimed(_)), "{takeover:?}");
    let completion = support::completion(b"done");
    let late = block_on(store.complete(&key, support::token(1), &completion)).unwrap();
    assert!(matches!(late, CompleteOutcome::NotHeld), "{late:?}");
    let check: String = database.raw().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

#[test]
fn a_killed_process_gives_its_lock_back() {
    if support::role().is_some() {
        let raw = rusqlite::Connection::open(support::directory().join("records.db")).unwrap();
        raw.execute_batch("BEGIN IMMEDIATE; DELETE FROM onceonly_records").unwrap();
        support::tell("locked");
        support::wait_for_parent();
        unreachable!("the parent kills this process");
    }
    let database = Database::new();
    let store = database.open_with(SqliteStore::options().busy_timeout(support::PATIENCE));
    block_on(support::claim(&store, &support::key("kept"), 1));
    let mut child =
        Child::start("processes::a_killed_process_gives_its_lock_back", "locker", database.directory());
    assert_eq!(child.hear(), "locked");
    let (key, claim) = (support::key("waits"), support::new_claim(1));
    let mut call = store.claim(&key, &claim, Expected::Absent);
    assert!(support::poll_once(&mut call).is_pending());
    child.kill();
    assert!(matches!(block_on(call), Ok(ClaimOutcome::Claimed(_))));
    assert!(block_on(store.load(&support::key("kept"))).unwrap().is_some(), "half a transaction is seen");
}

#[test]
fn a_disk_that_is_full_at_the_commit_loses_nothing() {
    if support::role().is_some() {
        return fill_up();
    }
    let database = Database::new();
    // A limit on the size of files, at which writing fails instead of ending the process.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 1024; exec \"$@\"", "sh"]).arg(env::current_exe().unwrap());
    let test = "processes::a_disk_that_is_full_at_the_commit_loses_nothing";
    let mut child = Child::start_with(shell, test, "writer", database.directory());
    let claimed: usize = child.hear().parse().expect("the child tells how many claims were answered");
    assert!(claimed > 10, "{claimed}");
    assert_eq!(child.hear(), "usable");
    child.kill();

    let store = database.open();
    for number in 0..claimed {
        let found = block_on(store.load(&support::key(&number.to_string()))).unwrap();
        assert!(found.is_some(), "claim {number} of {claimed} is gone");
    }
    let check: String = database.raw().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    block_on(support::claim(&store, &support::key("afterwards"), 1));
}

/// The child's part: claims until the log cannot grow any more.
fn fill_up() {
    let store = childs_store();
    let mut claimed = 0;
    let error = loop {
        let key = support::key(&claimed.to_string());
        match block_on(store.claim(&key, &support::new_claim(1), Expected::Absent)) {
            Ok(_) => claimed += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    support::tell(&claimed.to_string());
    // Neither the reader nor the writer is stuck: both answer, each in its way.
    assert!(block_on(store.load(&support::key("0"))).unwrap().is_some());
    assert!(block_on(store.load(&support::key(&claimed.to_string()))).unwrap().is_none());
    let again = block_on(support::try_claim(&store, "another")).unwrap_err();
    assert_eq!(again.kind(), StoreErrorKind::Unavailable, "{again}");
    support::tell("usable");
    support::wait_for_parent();
}

#[test]
fn a_file_without_the_right_to_write_is_refused() {
    if support::role().is_some() {
        let error = SqliteStore::open(support::directory().join("records.db")).expect_err("it is read-only");
        return support::tell(&format!("{:?}: {error}", error.kind()));
    }
    let database = Database::new();
    drop(database.open());
    support::wait_until(|| !database.log_path().exists());
    let binary = database.directory().join("test-binary");
    fs::copy(env::current_exe().unwrap(), &binary).unwrap();
    let mut command = Command::new(&binary);
    if fs::metadata(database.directory()).unwrap().uid() == 0 {
        // No permission binds root, so the child is somebody else: the user that owns nothing.
        command.uid(65534).gid(65534);
    }
    fs::set_permissions(database.path(), fs::Permissions::from_mode(0o444)).unwrap();
    fs::set_permissions(database.directory(), fs::Permissions::from_mode(0o555)).unwrap();
    let test = "processes::a_file_without_the_right_to_write_is_refused";
    let told = Child::start_with(command, test, "reader", database.directory()).hear();
    // Otherwise it cannot be deleted.
    fs::set_permissions(database.directory(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(told.starts_with("Rejected") && told.contains("read-only"), "{told}");
}
