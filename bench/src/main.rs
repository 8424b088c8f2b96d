//! Measures Onceonly beside the plain thing that it could be compared with. How to read it: `README.md`.

mod engine;
mod fingerprint;
mod load;
mod machine;
mod memory;
mod report;
mod runner;
mod sqlite;
mod statistics;

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use clap::Parser;

use crate::machine::Machine;
use crate::report::{Report, section};
use crate::runner::{Comparison, Failure};

/// Measures Onceonly beside the plain thing that it could be compared with.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only comparisons whose name contains this, such as "memory" or "sqlite FULL".
    filter: Option<String>,
    /// How often each variant runs; the variants of a comparison take turns.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// For how long each variant runs each time.
    #[arg(long, default_value = "1", value_parser = seconds)]
    seconds: Duration,
    /// Where database files are made for the time of a run. A disk, not a file system in memory; the folder of this
    /// program unless given.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Where to write the measurements as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Where to write the measurements as Markdown; they are printed in any case.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let folder = match &arguments.folder {
        Some(folder) => folder.clone(),
        None => env::current_exe()?.parent().ok_or("this program is in no folder")?.to_owned(),
    };
    let wanted = |comparison: &Comparison| match &arguments.filter {
        Some(filter) => comparison.name.contains(filter),
        None => true,
    };
    let comparisons: Vec<Comparison> = all(&folder)?.into_iter().filter(wanted).collect();
    if comparisons.is_empty() {
        let names: Vec<String> = all(&folder)?.into_iter().map(|comparison| comparison.name).collect();
        return Err(format!("no comparison has that in its name; there are:\n{}", names.join("\n")).into());
    }

    let rounds = usize::from(arguments.rounds);
    let seconds = arguments.seconds.as_secs_f64();
    let mut report = Report { machine: Machine::look(), rounds, seconds, comparisons: Vec::new() };
    print!("{}", report.markdown_head());
    for comparison in comparisons {
        let measured = runner::run(comparison, rounds, arguments.seconds)?;
        print!("{}", section(&measured));
        report.comparisons.push(measured);
    }
    if let Some(file) = arguments.markdown {
        fs::write(file, report.markdown())?;
    }
    if let Some(file) = arguments.json {
        fs::write(file, serde_json::to_vec_pretty(&report)?)?;
    }
    Ok(())
}

/// A store adds its file above and its line here.
fn all(folder: &Path) -> Result<Vec<Comparison>, Failure> {
    let comparisons = [
        fingerprint::comparisons(),
        memory::comparisons(),
        engine::comparisons(),
        sqlite::comparisons(folder)?,
    ];
    Ok(comparisons.into_iter().flatten().collect())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("must be more than zero".into()),
    }
}
