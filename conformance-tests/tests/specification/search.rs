//! One search, and its report in words.
//!
//! With `ONCEONLY_DEPTH=deep` in the environment the runs that must hold are searched within wider bounds.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use stateright::{Checker, HasDiscoveries, Model, Property};

use super::properties::{Promise, to_the_end};
use super::runs::{Outcome, Run};
use super::words::told;
use super::world::{Action, World};

impl Model for Run {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World::new(&self.bounds)]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        world.actions(&self.bounds, actions);
    }

    fn next_state(&self, world: &World, action: Action) -> Option<World> {
        let mut next = world.clone();
        next.happen(action, &self.bounds).then_some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties: Vec<_> = self.promises.iter().map(|promise| promise.property()).collect();
        if let Outcome::Holds(reached) = self.expected {
            properties.extend(reached.iter().map(|reached| reached.property()));
            properties.push(to_the_end());
        }
        properties
    }
}

/// Searches each run and checks what came of it.
///
/// # Panics
/// If any came out otherwise than expected; the message tells each unexpected trace in words.
pub(crate) fn search_all(runs: &[Run]) {
    let deep = std::env::var("ONCEONLY_DEPTH").is_ok_and(|depth| depth == "deep");
    let mut wrong = String::new();
    for run in runs {
        let mut run = *run;
        if deep && matches!(run.expected, Outcome::Holds(_)) {
            run.bounds = run.bounds.deeper();
        }
        if let Err(report) = search(run, if deep { DEEP_LIMIT } else { LIMIT }) {
            writeln!(wrong, "\n{report}").expect("a string takes everything");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn search(run: Run, limit: Duration) -> Result<(), String> {
    let started = Instant::now();
    // Breadth first on one thread: what is found first is a shortest trace. The tests run beside each other.
    let checker =
        run.checker().threads(1).timeout(limit).finish_when(HasDiscoveries::AnyFailures).spawn_bfs();
    let checker = checker.join();
    let took = started.elapsed();
    println!(
        "{}: {} states, depth {}, {:.1} s",
        run.name,
        checker.unique_state_count(),
        checker.max_depth(),
        took.as_secs_f32()
    );
    let found = checker.discoveries();
    let broken: Vec<Promise> =
        run.promises.iter().copied().filter(|promise| found.contains_key(promise.words())).collect();
    let trace = |promise: Promise| told(&run.bounds, found[promise.words()].clone().into_vec());
    match run.expected {
        Outcome::Breaks(promise) if broken == [promise] => {
            println!("  found that it is not so that {}:\n{}", promise.words(), trace(promise));
            Ok(())
        }
        Outcome::Breaks(promise) => {
            Err(format!("{}: no trace breaks the promise that {}", run.name, promise.words()))
        }
        Outcome::Holds(_) if !broken.is_empty() => {
            let mut report = format!("{}: promises were broken", run.name);
            for promise in broken {
                write!(report, "\nnot so: {}\n{}", promise.words(), trace(promise))
                    .expect("a string takes everything");
            }
            Err(report)
        }
        Outcome::Holds(_) if !checker.is_done() || took >= limit => {
            Err(format!("{}: not searched to its end within {} s", run.name, limit.as_secs()))
        }
        Outcome::Holds(reached) => {
            let missed: Vec<_> = reached
                .iter()
                .map(|reached| reached.words())
                .filter(|words| !found.contains_key(words))
                .collect();
            if missed.is_empty() {
                return Ok(());
            }
            Err(format!("{}: proves nothing, since it never {}", run.name, missed.join(", ")))
        }
    }
}

/// A run that takes longer is a mistake in its bounds, or a machine that is busy beyond use.
const LIMIT: Duration = Duration::from_secs(600);
const DEEP_LIMIT: Duration = Duration::from_secs(3600);
