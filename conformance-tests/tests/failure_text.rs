//! The report of a failure, word for word: `tests/snapshots` holds the texts.
//!
//! After a change of wording, `ONCEONLY_SNAPSHOTS=write cargo test -p onceonly-conformance --test main failure_text`
//! writes them anew. Read the difference before you commit it: somebody who has never seen the suite must understand it.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onceonly::{
    ClaimOutcome, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, RecordKey, Release,
    ReleaseOutcome, RenewOutcome, Renewal, Snapshot, Stamp, StoreError, StoreErrorKind, Token,
};
use onceonly_conformance::{
    ClockKind, Failure, Fate, Fates, Fault, Fixture, FixtureError, Gate, PlantedPlace, Suite, Verb,
};

use crate::suite::{Place, declared};

#[test]
fn a_broken_store() {
    let failure = failure_of(Fault::CompleteByFormerHolder);
    check("broken", &failure);
    assert!(README.contains(&failure.to_string()), "the README shows another report than\n{failure}");
    check("broken_in_a_step", &failure_of(Fault::GuardByRevisionOnly));
}

#[test]
fn a_broken_store_in_a_race() {
    let suite = over(|store| Arc::new(GrantsAll(store)));
    let failure = run(suite, "claim::exclusive_across_handles");

    // How many callers met depends on the machine.
    let overlap = failure.evidence.overlap;
    let text = failure.to_string().replace(&format!("at most {overlap} calls"), "at most N calls");
    check_text("broken_in_a_race", &text);
}

#[test]
fn a_call_that_fails() {
    let suite = over(|store| {
        let fates = Fates::around(store);
        fates.always(Verb::Claim, Fate::Fail(StoreErrorKind::Rejected));
        Arc::new(fates)
    });

    check("broken_by_an_error", &run(suite, CASE));
}

#[test]
fn a_call_that_does_not_come_to_its_end() {
    let suite = over(|store| {
        let fates = Fates::around(store);
        fates.always(Verb::Claim, Fate::Hold(Gate::new()));
        Arc::new(fates)
    });

    check("broken_bounded", &run(suite.with_bound(Duration::from_millis(300)), CASE));
}

#[test]
fn a_sequence_of_the_model() {
    let failure =
        run(PlantedPlace::suite(Some(Fault::RenewShortens)), "model::random_sequences_agree_with_the_model");

    check("model", &failure);
}

#[test]
fn an_inconclusive_case() {
    let suite = over(|store| {
        let fates = Fates::around(store);
        fates.always(Verb::Claim, Fate::Fail(StoreErrorKind::Unavailable));
        Arc::new(fates)
    });

    check("inconclusive", &run(suite, CASE));
}

#[test]
fn a_set_up_that_failed() {
    let suite = Suite::new(declared(ClockKind::Manual), || async {
        Err::<Place, _>(FixtureError::new("no server at 127.0.0.1:5432; set ONCEONLY_POSTGRES_URL"))
    });

    check("set_up_failed", &run(suite, CASE));
}

const README: &str = include_str!("../README.md");

const CASE: &str = "claim::a_fresh_key_is_granted";

fn failure_of(fault: Fault) -> Failure {
    run(PlantedPlace::suite(Some(fault)), fault.info().case)
}

fn run(suite: Suite, case: &str) -> Failure {
    let suite = suite.with_seed(7341).with_command("cargo test -p mine --test conformance --");
    suite.run(case).expect_err("the store is broken")
}

fn over(alter: fn(Arc<dyn KeyStore>) -> Arc<dyn KeyStore>) -> Suite {
    Suite::new(Place::declare(), move || async move { Ok(Place::with(alter)) })
}

fn check(name: &str, failure: &Failure) {
    check_text(name, &failure.to_string());
}

fn check_text(name: &str, text: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name).with_extension("txt");
    let text = format!("{text}\n");
    if std::env::var_os("ONCEONLY_SNAPSHOTS").is_some_and(|what| what == "write") {
        fs::write(&file, text).unwrap();
        return;
    }
    let due = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    assert!(text == due, "the report differs from {}:\n\n{text}\ndue was\n\n{due}", file.display());
}

/// Answers every claim with a grant.
struct GrantsAll(Arc<dyn KeyStore>);

#[async_trait]
impl KeyStore for GrantsAll {
    fn name(&self) -> &'static str {
        "grants all"
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        Ok(match self.0.claim(key, claim, expected).await? {
            ClaimOutcome::Occupied(found) => {
                let Snapshot { record, now, .. } = *found;
                ClaimOutcome::Claimed(Stamp {
                    now,
                    lease_until: record.lease_until,
                    expires_at: record.expires_at,
                })
            }
            granted => granted,
        })
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        self.0.load(key).await
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        self.0.renew(key, token, renewal).await
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        self.0.complete(key, token, completion).await
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        self.0.release(key, token, release).await
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        self.0.purge_expired(limit).await
    }
}
