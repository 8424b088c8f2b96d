//! Of all ends of a claim, the first stands.

use onceonly::{CompleteOutcome, ReleaseOutcome, Status};

use crate::explore::{at_random, exhaustively, race, race_of_two};
use crate::store::{Store, claim, key, result, second};

#[test]
fn of_deliveries_of_a_completion_one_is_applied_and_the_others_are_shown_it() {
    exhaustively(|| deliver(&["a", "b", "c"]));
    at_random(|| deliver(&["a", "b", "c", "d"]));
}

/// Each delivery brings another result, so that it can be told which one is stored.
fn deliver(texts: &[&str]) {
    let (store, key, holder) = (Store::new(), key(0), claim(0));
    store.claimed(&key, &holder);
    let outcomes = race(texts.iter().map(|text| || store.complete(&key, &holder, text)));
    let record = store.record(&key);
    let mut applied = Vec::new();
    for (text, outcome) in texts.iter().zip(&outcomes) {
        match outcome {
            CompleteOutcome::Applied(_) => applied.push(Status::Completed(result(text))),
            CompleteOutcome::AlreadyCompleted(shown) => assert_eq!(shown.record, record),
            CompleteOutcome::NotHeld => panic!("the holder was told that it does not hold the key"),
        }
    }
    assert_eq!(applied, [record.status]);
}

#[test]
fn of_completions_and_releases_one_takes_effect() {
    exhaustively(|| complete_against_release(2, 1));
    at_random(|| complete_against_release(2, 2));
}

/// One completion and one release of the holder's, each delivered several times. What took effect is acknowledged each
/// time, what did not never.
fn complete_against_release(completions: usize, releases: usize) {
    let (store, key, holder) = (Store::new(), key(0), claim(0));
    store.claimed(&key, &holder);
    let (completed, released) = race_of_two(
        (0..completions).map(|_| || store.complete(&key, &holder, "done")),
        (0..releases).map(|_| || store.release(&key, &holder)),
    );
    let record = store.record(&key);
    assert_eq!(record.version, second(&holder));
    if record.status == Status::Released {
        assert_eq!(completed, vec![CompleteOutcome::NotHeld; completions]);
        assert_eq!(released, vec![ReleaseOutcome::Applied; releases]);
    } else {
        assert_eq!(record.status, Status::Completed(result("done")));
        let applied = completed.iter().filter(|one| matches!(one, CompleteOutcome::Applied(_))).count();
        assert_eq!(applied, 1, "{completed:?}");
        assert!(!completed.contains(&CompleteOutcome::NotHeld), "{completed:?}");
        assert_eq!(released, vec![ReleaseOutcome::NotHeld; releases]);
    }
}
