//! What was answered is there after the process has ended without a chance to clean up.

use std::env;
use std::path::Path;
use std::process::{self, Command};

use onceonly::{ClaimOutcome, CompleteOutcome, Expected, Status};

use crate::support::{Backend, Fjall, Redb, claim, completion, key};

#[test]
fn what_redb_answered_survives_a_crash() {
    survives_a_crash::<Redb>("crash::what_redb_answered_survives_a_crash");
}

#[test]
fn what_fjall_answered_survives_a_crash() {
    survives_a_crash::<Fjall>("crash::what_fjall_answered_survives_a_crash");
}

/// Runs the test `name` once more, in a process that ends in the middle.
fn survives_a_crash<B: Backend>(name: &str) {
    if let Some(folder) = env::var_os(FOLDER) {
        write_and_crash::<B>(Path::new(&folder));
    }
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(FOLDER, folder.path())
        .output()
        .unwrap();
    assert_eq!(child.status.code(), Some(CRASHED), "{}", String::from_utf8_lossy(&child.stderr));

    let found = block_on(async {
        let store = B::open(folder.path()).unwrap();
        [store.load(&key("claimed")).await.unwrap(), store.load(&key("completed")).await.unwrap()]
    });
    let [claimed, completed] = found.map(|found| found.map(|found| found.record.status));
    assert_eq!(claimed, Some(Status::InProgress { checkpoint: None }));
    assert_eq!(completed, Some(Status::Completed(completion("charged").result)));
}

/// Ends the process the moment after the last answer: nothing is flushed, closed or dropped.
fn write_and_crash<B: Backend>(folder: &Path) -> ! {
    block_on(async {
        let store = B::open(folder).unwrap();
        let (first, second) = (claim(), claim());
        let granted = store.claim(&key("completed"), &first, Expected::Absent).await.unwrap();
        assert!(matches!(granted, ClaimOutcome::Claimed(_)));
        let stored = store.complete(&key("completed"), first.token, &completion("charged")).await.unwrap();
        assert!(matches!(stored, CompleteOutcome::Applied(_)));
        let granted = store.claim(&key("claimed"), &second, Expected::Absent).await.unwrap();
        assert!(matches!(granted, ClaimOutcome::Claimed(_)));
        process::exit(CRASHED)
    })
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

const FOLDER: &str = "ONCEONLY_EXAMPLES_TEST_FOLDER";

/// An exit status that neither success nor a panic has.
const CRASHED: i32 = 42;
