//! The suite: its cases, and how one of them is run against a store.

use std::fmt;
use std::future::Future;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::runtime;

use crate::case::Case;
use crate::cases::CASES;
use crate::clause::Clause;
use crate::declaration::Declaration;
use crate::evidence::{Evidence, Outcome};
use crate::failure::{Again, Failure, FailureKind, Symptom};
use crate::fixture::{Fixture, FixtureError};
use crate::process::StartCommand;
use crate::random;
use crate::verdict::Left;
use crate::watched::{Unfinished, watched};

/// All cases, bound to one kind of store.
#[derive(Clone)]
pub struct Suite {
    declaration: Declaration,
    open: Arc<dyn Fn() -> Opening + Send + Sync>,
    start: Option<StartCommand>,
    bound: Duration,
    seed: Option<u64>,
    again: Arc<Again>,
}

type Opening = Pin<Box<dyn Future<Output = Result<Box<dyn Fixture>, FixtureError>> + Send>>;

/// What a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CaseInfo {
    /// File and function, such as `claim::a_fresh_key_is_granted`.
    pub name: &'static str,
    /// Its stable id, such as `B1`.
    pub id: &'static str,
    /// The clause of the contract that it tests.
    pub clause: Clause,
    /// How its verdict may depend on the machine.
    pub flake: Flake,
    /// The behaviour in a sentence.
    pub sentence: &'static str,
}

/// How the verdict of a case may depend on the machine. No case ever accuses a store that is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(clippy::exhaustive_enums, reason = "whoever repeats cases must know which can differ")]
pub enum Flake {
    /// Not at all.
    Never,
    /// On a clock that runs, a deadline may pass too early: the attempt is void, and repeated with longer spans.
    Window,
    /// It races: it may miss a fault that is there.
    Race,
    /// It waits for something outside of the store, such as a process or a lock.
    Control,
}

/// A case, and how it is run.
pub(crate) struct RegisteredCase {
    pub(crate) info: CaseInfo,
    pub(crate) run: for<'a> fn(&'a Case) -> Pin<Box<dyn Future<Output = ()> + 'a>>,
}

impl Suite {
    /// The suite over places that `F` opens.
    pub fn of<F: Fixture>() -> Self {
        Self::new(F::declare(), F::open)
    }

    /// The suite over places that `open` opens: for a store with variants, one suite each.
    pub fn new<F, O, R>(declaration: Declaration, open: O) -> Self
    where
        F: Fixture,
        O: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<F, FixtureError>> + Send + 'static,
    {
        let open = Arc::new(move || {
            let opening = open();
            Box::pin(async move { Ok(Box::new(opening.await?) as Box<dyn Fixture>) }) as Opening
        });
        Self { declaration, open, start: None, bound: BOUND, seed: None, again: Arc::default() }
    }

    /// Other processes are started with what `command` makes: a program that calls
    /// [`serve_as_process`](crate::serve_as_process), with the fixture of this suite, before it does anything else.
    /// [`main!`](crate::main) starts itself. Without this, cases that need another process are not claimed.
    #[must_use]
    pub fn with_processes(
        mut self,
        command: impl Fn() -> io::Result<Command> + Send + Sync + 'static,
    ) -> Self {
        self.start = Some(Arc::new(command));
        self
    }

    /// How long one attempt at a case may take before it counts as stuck. Three minutes unless told otherwise.
    #[must_use]
    pub const fn with_bound(mut self, bound: Duration) -> Self {
        self.bound = bound;
        self
    }

    /// The seed of all random choices. Otherwise each [`run`](Self::run) takes that of `ONCEONLY_SEED`, or one of the
    /// operating system's.
    #[must_use]
    pub const fn with_seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// A shell command that runs this suite and understands the arguments of a test, such as `--exact` and a name. The
    /// report of a failure says with it how to see the failure again.
    #[must_use]
    pub fn with_command(mut self, command: &str) -> Self {
        Arc::make_mut(&mut self.again).command = Some(command.to_owned());
        self
    }

    /// The file that a failure's report points to.
    pub(crate) fn reported_in(mut self, file: PathBuf) -> Self {
        Arc::make_mut(&mut self.again).report = Some(file);
        self
    }

    /// The seed that it was given.
    pub(crate) const fn seed(&self) -> Option<u64> {
        self.seed
    }

    /// Every case, in the order of the catalogue.
    pub fn cases() -> impl ExactSizeIterator<Item = CaseInfo> {
        CASES.iter().map(|case| case.info)
    }

    /// What the store says of itself.
    pub const fn declaration(&self) -> &Declaration {
        &self.declaration
    }

    /// Runs one case on a place of its own, on a runtime of its own.
    ///
    /// A case that could not be brought about, because the machine was too slow or the callers never met, is tried
    /// again with longer spans and more rounds, four times in all.
    ///
    /// # Errors
    /// [`Failure`], whose `Display` is the report.
    ///
    /// # Panics
    /// If there is no case called `name`, or the seed is that of `ONCEONLY_SEED` and this is set to something that is no
    /// number.
    pub fn run(&self, name: &str) -> Result<Outcome, Failure> {
        let case = CASES.iter().find(|case| case.info.name == name);
        let case = case.unwrap_or_else(|| panic!("there is no case called {name:?}"));
        let seed = self.seed.unwrap_or_else(random::seed);
        let mut outcome = self.attempt(case, 1, seed);
        for scale in [2, 4, 8] {
            match &outcome {
                Err(failure) if failure.kind == FailureKind::Inconclusive => {
                    outcome = self.attempt(case, scale, seed);
                }
                _ => break,
            }
        }
        outcome
    }

    /// Runs the case on a thread of its own.
    fn attempt(&self, case: &'static RegisteredCase, scale: u32, seed: u64) -> Result<Outcome, Failure> {
        let attempt = Attempt { suite: self.clone(), case, scale, seed };
        // Opening and the case itself each have their bound.
        let patience = self.bound * 3;
        let left = match watched(case.info.name, patience, move || attempt.run()) {
            Ok(outcome) => return outcome,
            Err(Unfinished::NoThread(error)) => Left::SetUp(format!("no thread: {error}")),
            Err(Unfinished::Panicked) => Left::SetUp("the case's thread ended early".to_owned()),
            Err(Unfinished::Blocked) => Left::Broken {
                message: format!("a call has blocked its thread for {patience:?}; it was left there"),
                clause: Some(Clause::Bounded),
            },
        };
        Err(self.failure(case, seed, Seen::nothing(scale), left))
    }

    /// What the fixture tells of versions and settings, in a place that is opened for it.
    pub(crate) fn environment(&self) -> Result<Vec<(&'static str, String)>, FixtureError> {
        let suite = self.clone();
        let asked = watched("environment", self.bound * 3, move || {
            let runtime = runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
            runtime.block_on(async {
                let fixture = (suite.open)().await?;
                let told = fixture.environment().await;
                fixture.close().await?;
                told
            })
        });
        asked.unwrap_or_else(|_| Err(FixtureError::new("the fixture gave no answer")))
    }

    fn failure(&self, case: &'static RegisteredCase, seed: u64, seen: Seen, left: Left) -> Failure {
        let symptom = match left {
            Left::CallFailed(_) => Symptom::Error,
            _ => Symptom::Behaviour,
        };
        let (kind, message, clause) = match left {
            Left::Broken { message, clause } => (FailureKind::Broken, message, clause),
            Left::CallFailed(message) => (FailureKind::Broken, message, None),
            Left::Inconclusive(message) => (FailureKind::Inconclusive, message, None),
            Left::SetUp(message) => (FailureKind::SetUp, message, None),
            Left::NotClaimed(reason) => {
                unreachable!("a case that is not claimed does not fail: {reason}")
            }
        };
        let clause = clause.unwrap_or(case.info.clause);
        let Seen { step, evidence } = seen;
        let (store, again) = (self.declaration.name, Arc::clone(&self.again));
        Failure { case: &case.info, clause, kind, symptom, step, message, evidence, seed, store, again }
    }
}

impl fmt::Debug for Suite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Suite").field("declaration", &self.declaration).finish_non_exhaustive()
    }
}

/// How far a case had come when it failed.
struct Seen {
    step: &'static str,
    evidence: Evidence,
}

impl Seen {
    /// The case itself was not reached.
    fn nothing(scale: u32) -> Self {
        Self { step: "", evidence: Evidence::of_attempt(scale) }
    }

    fn of(case: &Case) -> Self {
        Self { step: case.last_step(), evidence: case.evidence() }
    }
}

/// One run of one case, to be moved to its thread.
struct Attempt {
    suite: Suite,
    case: &'static RegisteredCase,
    scale: u32,
    seed: u64,
}

impl Attempt {
    fn run(self) -> Result<Outcome, Failure> {
        let failure = |seen, left| self.suite.failure(self.case, self.seed, seen, left);
        let set_up = |error: FixtureError| failure(Seen::nothing(self.scale), Left::SetUp(error.to_string()));
        let runtime = runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
        let runtime = runtime.map_err(|error| set_up(error.into()))?;

        let case = runtime.block_on(self.open()).map_err(set_up)?;
        let outcome = catch_unwind(AssertUnwindSafe(|| runtime.block_on(self.bounded(&case))));
        let outcome = match outcome {
            Ok(()) => Ok(Outcome::Held(case.evidence())),
            Err(panic) => match Left::from_panic(panic) {
                Left::NotClaimed(reason) => Ok(Outcome::NotClaimed(reason)),
                left => Err(failure(Seen::of(&case), left)),
            },
        };
        // Whatever else was seen: calls may have failed because of it.
        let outcome = match case.lost_process() {
            Some(how) => Err(failure(Seen::of(&case), Left::SetUp(how))),
            None => outcome,
        };
        let closed = runtime.block_on(case.close()).map_err(set_up);
        drop(case);
        // A call that a broken store never ends must not keep the runtime.
        runtime.shutdown_background();
        outcome.and_then(|outcome| closed.map(|()| outcome))
    }

    async fn open(&self) -> Result<Case, FixtureError> {
        let opening = async {
            let fixture = (self.suite.open)().await?;
            let seed = random::of_case(self.seed, self.case.info.name);
            let Suite { declaration, bound, start, .. } = self.suite.clone();
            Case::open(declaration, fixture, self.scale, seed, bound, start).await
        };
        match tokio::time::timeout(self.suite.bound, opening).await {
            Ok(opened) => opened,
            Err(_) => Err(FixtureError::new(format!("opening takes longer than {:?}", self.suite.bound))),
        }
    }

    async fn bounded(&self, case: &Case) {
        let bound = self.suite.bound;
        if tokio::time::timeout(bound, (self.case.run)(case)).await.is_err() {
            let message = format!("the case is not over after {bound:?}: a call waits without limit");
            crate::verdict::broken_clause(Clause::Bounded, message);
        }
    }
}

/// Threads of a case's runtime: more than one, so that callers really run at the same time.
const WORKERS: usize = 4;

/// Far above what any case takes on a loaded machine.
const BOUND: Duration = Duration::from_secs(180);
