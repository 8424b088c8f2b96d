//! Puts together what runs of the suite have left: see [`command_line::USAGE`].

mod command_line;
mod markers;
mod sample;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use onceonly_conformance::report::{self, Report};
use onceonly_conformance::soak_summary;

use crate::command_line::{Command, Table, Target, USAGE};
use crate::markers::{Marked, MissingMarkers};

fn main() -> ExitCode {
    let command = match command_line::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("{error}\n\n{USAGE}");
            return UNUSABLE.into();
        }
    };
    carry_out(command).unwrap_or_else(|problem| {
        eprintln!("{problem}");
        UNUSABLE.into()
    })
}

fn carry_out(command: Command) -> Result<ExitCode, Problem> {
    match command {
        Command::Help => print!("{USAGE}"),
        Command::Report { folder } => {
            let reports = report::read_folder(folder)?;
            print!("{}", report::document(&reports));
            return Ok(status(reports.iter().all(Report::is_all_held)));
        }
        Command::JUnit { folder } => print!("{}", report::junit(&report::read_folder(folder)?)),
        Command::Table(Table { folder, stores, target }) => {
            let reports = chosen(report::read_folder(folder)?, &stores)?;
            return put(&report::table(&reports), &target);
        }
        Command::Soak { log, target } => {
            let summary =
                soak_summary(&read(&log)?).map_err(|problem| Problem::Log { path: log, problem })?;
            return put(&summary, &target);
        }
        Command::Try { fault, arguments } => return Ok(sample::run(fault, arguments)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the table, writes it between the markers of a file, or compares it with what stands there.
fn put(table: &str, target: &Target) -> Result<ExitCode, Problem> {
    match target {
        Target::Output => print!("{table}"),
        Target::Write(path) => {
            let text = read(path)?;
            let new = marked(path, &text)?.with(table);
            fs::write(path, new).map_err(|error| Problem::File { path: path.clone(), error })?;
        }
        Target::Check(path) => {
            let text = read(path)?;
            let marked = marked(path, &text)?;
            if marked.inside() != table {
                println!(
                    "{} does not show what the runs have come to, which is\n\n{table}\n\
                     `--write` in place of `--check` puts it there",
                    path.display()
                );
                return Ok(status(false));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The reports of the stores that were named, in that order; all if none was.
fn chosen(reports: Vec<Report>, stores: &[String]) -> Result<Vec<Report>, Problem> {
    if stores.is_empty() {
        return Ok(reports);
    }
    let named = |store: &String| {
        let found = reports.iter().find(|report| report.store == *store);
        found.cloned().ok_or_else(|| Problem::NoStore(store.clone()))
    };
    stores.iter().map(named).collect()
}

fn read(path: &Path) -> Result<String, Problem> {
    fs::read_to_string(path).map_err(|error| Problem::File { path: path.to_owned(), error })
}

fn marked<'a>(path: &Path, text: &'a str) -> Result<Marked<'a>, Problem> {
    Marked::find(text).map_err(|error| Problem::Markers { path: path.to_owned(), error })
}

fn status(good: bool) -> ExitCode {
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Why a command cannot be carried out.
#[derive(Debug, thiserror::Error)]
enum Problem {
    #[error(transparent)]
    Reports(#[from] report::ReadError),
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: std::io::Error },
    #[error("{}: {error}", path.display())]
    Markers { path: PathBuf, error: MissingMarkers },
    #[error("{}: {problem}", path.display())]
    Log { path: PathBuf, problem: String },
    #[error("there is no report of a store called {0:?}")]
    NoStore(String),
}

/// The exit status of a command that cannot be carried out.
const UNUSABLE: u8 = 2;
