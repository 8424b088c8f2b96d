//! One run of the suite against a store: the cases that the command line asks for, and what has come of them.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use chrono::{DateTime, SecondsFormat, Utc};
use onceonly::IdempotencyKey;

use crate::failure::Failure;
use crate::random;
use crate::report::{CaseReport, Declared, Destination, FORMAT, Fact, Report};
use crate::suite::{CaseInfo, Suite};

/// A run that is under way.
pub(crate) struct Run {
    suite: Suite,
    seed: u64,
    /// The version of what is tested.
    versions: Vec<Fact>,
    destination: Option<Destination>,
    started: SystemTime,
    began: Instant,
    cases: Mutex<Vec<CaseReport>>,
}

impl Run {
    /// Begins a run, with one seed for all of its cases.
    pub(crate) fn begin(suite: Suite, versions: Vec<Fact>) -> io::Result<Self> {
        let seed = suite.seed().unwrap_or_else(random::seed);
        Ok(Self {
            destination: Destination::from_environment(suite.declaration().name)?,
            suite: suite.with_seed(seed),
            seed,
            versions,
            started: SystemTime::now(),
            began: Instant::now(),
            cases: Mutex::default(),
        })
    }

    /// The seed of every case.
    pub(crate) const fn seed(&self) -> u64 {
        self.seed
    }

    /// Runs a case, and keeps what has come of it.
    pub(crate) fn case(&self, case: &CaseInfo) -> Result<(), Failure> {
        let suite = match &self.destination {
            Some(destination) => self.suite.clone().reported_in(destination.file_of(case.name)),
            None => self.suite.clone(),
        };
        let began = Instant::now();
        let ended = suite.run(case.name);
        self.lock().push(CaseReport::of(case, self.seed, milliseconds(began.elapsed()), &ended));
        ended.map(|_| ())
    }

    /// What has come of it so far.
    pub(crate) fn report(&self) -> Report {
        let mut cases = self.lock().clone();
        cases.sort_by_cached_key(|report| Suite::cases().position(|case| case.name == report.name));
        let run = self.destination.as_ref().and_then(Destination::run);
        Report {
            format: FORMAT,
            store: self.suite.declaration().name.to_owned(),
            run: run.map_or_else(|| IdempotencyKey::generate().as_str().to_owned(), str::to_owned),
            started: DateTime::<Utc>::from(self.started).to_rfc3339_opts(SecondsFormat::Millis, true),
            duration_ms: milliseconds(self.began.elapsed()),
            declared: Declared::from(self.suite.declaration()),
            environment: Vec::new(),
            cases_listed: Suite::cases().len(),
            cases,
        }
    }

    /// Leaves the report where the environment asks for it, if it does, and says where that is.
    pub(crate) fn leave(&self, report: Report) -> io::Result<Option<PathBuf>> {
        let Some(destination) = &self.destination else { return Ok(None) };
        let environment = self.environment();
        destination.write(&Report { environment, ..report }).map(Some)
    }

    /// Versions and settings. The store's own are asked for in a place that is opened for it.
    fn environment(&self) -> Vec<Fact> {
        let fact = |name: &str, value: String| Fact { name: name.to_owned(), value };
        let mut facts = self.versions.clone();
        facts.push(fact(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION").to_owned()));
        facts.push(fact("rustc", env!("ONCEONLY_RUSTC").to_owned()));
        facts.push(fact("target", env!("ONCEONLY_TARGET").to_owned()));
        match self.suite.environment() {
            Ok(told) => facts.extend(told.into_iter().map(|(name, value)| fact(name, value))),
            Err(error) => facts.push(fact("the store's own", format!("not known: {error}"))),
        }
        facts
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CaseReport>> {
        self.cases.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use async_trait::async_trait;
    use onceonly::{KeyStore, SystemClock};

    use super::*;
    use crate::declaration::{ClockKind, Declaration, Durability, Processes};
    use crate::fixture::{Fixture, FixtureError, StoreClock};
    use crate::reference::ReferenceStore;

    /// A fixture that cannot tell its environment.
    struct Silent;

    #[async_trait]
    impl Fixture for Silent {
        fn declare() -> Declaration {
            Declaration::new("silent", ClockKind::System, Durability::Handle, Processes::One)
        }

        async fn open() -> Result<Self, FixtureError> {
            Ok(Self)
        }

        async fn handle(&self) -> Result<Arc<dyn KeyStore>, FixtureError> {
            Ok(Arc::new(ReferenceStore::new(SystemClock)))
        }

        fn clock(&self) -> StoreClock {
            StoreClock::System
        }

        async fn environment(&self) -> Result<Vec<(&'static str, String)>, FixtureError> {
            Err(FixtureError::new("the server does not say"))
        }
    }

    #[test]
    fn an_environment_that_cannot_be_told_does_not_cost_the_report() {
        let tested = Fact { name: "mine".to_owned(), value: "1.2.3".to_owned() };
        let run = Run::begin(Suite::of::<Silent>(), vec![tested.clone()]).unwrap();

        let facts = run.environment();

        assert_eq!(facts[0], tested);
        assert_eq!(facts.last().unwrap().value, "not known: the server does not say");
    }
}
