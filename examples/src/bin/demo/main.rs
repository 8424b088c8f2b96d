//! `cargo run -p onceonly-examples --bin demo`: the same bad network twice, without and with Onceonly.
//!
//! Clients want operations done and retry until they hear that they were. Requests and replies get lost or arrive
//! twice, buttons are pressed twice, handlers are slow, and the worker process is killed in mid-charge. At the end the
//! charges are counted by SQL.
//!
//! `worker.rs` is the side that uses Onceonly.

mod client;
mod ledger;
mod plan;
mod progress;
mod random;
mod report;
mod wire;
mod worker;
mod workplace;

use std::collections::HashSet;
use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::{env, fs, process};

use client::{Counters, Network};
use lexopt::{Arg, Parser, ValueExt};
use plan::Operation;
use progress::Progress;
use report::{Report, Tally};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use worker::{Incarnation, Protection};

const USAGE: &str = "\
Plays the same bad network twice, without and with Onceonly, and counts the charges.

Usage: demo [--seed N]

Exit status: 0 if with Onceonly every operation was charged once and without it some were not; else 1.
";

/// How many operations are wanted at the same time.
const AT_ONCE: usize = 16;

enum Command {
    Help,
    Play {
        seed: u64,
    },
    /// What `Play` starts, and kills.
    Work {
        database: PathBuf,
        protection: Protection,
        incarnation: Incarnation,
    },
}

fn main() -> ExitCode {
    let command = match parse(env::args_os().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("demo: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match carry_out(command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("demo: {}", onceonly_examples::chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: impl IntoIterator<Item = OsString, IntoIter: 'static>) -> Result<Command, lexopt::Error> {
    let mut parser = Parser::from_args(arguments);
    let mut seed = 1;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("seed") => seed = parser.value()?.parse()?,
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            Arg::Value(word) if word == "worker" => {
                let protection =
                    if parser.value()? == "with" { Protection::With } else { Protection::Without };
                let incarnation = Incarnation(parser.value()?.parse()?);
                return Ok(Command::Work { database: parser.value()?.into(), protection, incarnation });
            }
            _ => return Err(argument.unexpected()),
        }
    }
    Ok(Command::Play { seed })
}

fn carry_out(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match command {
        Command::Help => print!("{USAGE}"),
        Command::Work { database, protection, incarnation } => {
            runtime.block_on(worker::work(&database, protection, incarnation))?;
        }
        Command::Play { seed } => return runtime.block_on(play(seed)),
    }
    Ok(ExitCode::SUCCESS)
}

async fn play(seed: u64) -> Result<ExitCode, Box<dyn Error>> {
    let folder = env::temp_dir().join(format!("onceonly-demo-{}", process::id()));
    fs::create_dir(&folder)?;
    let operations = plan::operations(seed);
    println!("{} operations over a bad network, seed {seed}", operations.len());

    let without = run(seed, operations.clone(), &folder.join("without.db"), Protection::Without).await?;
    let with = run(seed, operations, &folder.join("with.db"), Protection::With).await?;
    let report = Report { without, with };
    println!("\n{report}");
    match report.failure() {
        None => {
            fs::remove_dir_all(&folder)?;
            Ok(ExitCode::SUCCESS)
        }
        Some(failure) => {
            println!("FAILED: {failure}.\nThe databases are in {}", folder.display());
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Plays the network of `seed` once.
async fn run(
    seed: u64,
    operations: Vec<Operation>,
    database: &Path,
    protection: Protection,
) -> Result<Tally, Box<dyn Error>> {
    let wanted = operations.len();
    let ledger = ledger::open(database, &operations)?;
    let (workplace, calls) = mpsc::channel(AT_ONCE);
    let workers = tokio::spawn(workplace::run(database.to_owned(), protection, calls));
    let counters = Arc::new(Counters::default());
    let network = Network { seed, workplace, counters: Arc::clone(&counters) };

    let turnstile = Arc::new(Semaphore::new(AT_ONCE));
    let mut clients = JoinSet::new();
    for operation in operations {
        let (network, turnstile) = (network.clone(), Arc::clone(&turnstile));
        clients.spawn(async move {
            let _turn = turnstile.acquire().await.expect("the turnstile is never closed");
            client::want(&network, &operation).await
        });
    }
    drop(network);

    let label = match protection {
        Protection::Without => "without Onceonly",
        Protection::With => "with Onceonly",
    };
    let mut progress = Progress::new(label, wanted);
    let mut contradictions = 0;
    while let Some(told) = clients.join_next().await {
        let charges: HashSet<String> = told?.into_iter().collect();
        contradictions += u64::from(charges.len() > 1);
        progress.advance();
    }
    // Handlers whose clients have gone still run. They are waited for: their charges count.
    let killed = workers.await??;
    Ok(Tally {
        wanted: wanted as u64,
        attempts: counters.attempts.load(Ordering::Relaxed),
        killed: killed.into(),
        contradictions,
        effects: ledger::count(&ledger)?,
    })
}
