//! What the program is told.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};
use onceonly_conformance::Fault;

/// What `--help` prints.
pub(crate) const USAGE: &str = "\
Puts together the reports that runs of the conformance suite have left in a folder.

Usage: onceonly-conformance COMMAND

Commands:
  report FOLDER           print all that they say, as Markdown
  table FOLDER [OPTIONS]  print how many cases of each clause hold, a column for each store
      --store NAME          only this store; several, in the order of the options
      --write FILE          put it into FILE instead, between the lines
                            `<!-- conformance: begin -->` and `<!-- conformance: end -->`
      --check FILE          compare it with what stands there
  junit FOLDER            print them as JUnit
  soak LOG [OPTIONS]      print what many runs have come to, which are logged in the file that ONCEONLY_SOAK names
      --write FILE          put it into FILE instead, as above
  try FAULT [ARGUMENTS]   run the suite over a store that has the planted fault of this number, or `none`,
                          with the arguments of a test: to see what a failure looks like

A run leaves its report in the folder that ONCEONLY_REPORT names.

Exit status: 0 if all is well; 1 if `report` finds a store of which not every case held, `--check` finds a difference,
or a case of `try` failed; 2 if the command makes no sense, or a file cannot be read.
";

/// What to do.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Print [`USAGE`].
    Help,
    /// Print all that the reports say.
    Report { folder: PathBuf },
    /// The table of clauses.
    Table(Table),
    /// Print the reports as JUnit.
    JUnit { folder: PathBuf },
    /// The table of many runs.
    Soak { log: PathBuf, target: Target },
    /// Run the suite over a store of its own.
    Try { fault: Option<Fault>, arguments: Vec<OsString> },
}

/// Which table, and where to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Table {
    /// Where the reports are.
    pub(crate) folder: PathBuf,
    /// Of which stores; of all if none is named.
    pub(crate) stores: Vec<String>,
    /// Where to.
    pub(crate) target: Target,
}

/// Where the table goes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The standard output.
    Output,
    /// Between the markers of this file.
    Write(PathBuf),
    /// It is compared with what stands between the markers of this file.
    Check(PathBuf),
}

/// The command line cannot be understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidCommandLine {
    #[error(transparent)]
    Syntax(#[from] lexopt::Error),
    #[error("a command is missing")]
    NoCommand,
    #[error("there is no command {0:?}")]
    UnknownCommand(String),
    #[error("the folder of the reports is missing")]
    NoFolder,
    #[error("the log of the runs is missing")]
    NoLog,
    #[error("`--write` and `--check`: one of them, once")]
    TwoTargets,
    #[error("`try` wants the number of a planted fault, or `none`")]
    NoFault,
    #[error("there is no planted fault {0:?}")]
    UnknownFault(String),
}

/// Reads the arguments that follow the program's name.
///
/// # Errors
/// [`InvalidCommandLine`]
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString, IntoIter: 'static>,
) -> Result<Command, InvalidCommandLine> {
    let mut parser = Parser::from_args(arguments);
    let command = match parser.next()? {
        None => return Err(InvalidCommandLine::NoCommand),
        Some(Arg::Long("help") | Arg::Short('h')) => return Ok(Command::Help),
        Some(Arg::Value(command)) => command.string()?,
        Some(other) => return Err(other.unexpected().into()),
    };
    match command.as_str() {
        "report" => Ok(Command::Report { folder: only_folder(parser)? }),
        "junit" => Ok(Command::JUnit { folder: only_folder(parser)? }),
        "table" => table(parser),
        "soak" => soak(parser),
        "try" => Ok(Command::Try { fault: fault(&mut parser)?, arguments: parser.raw_args()?.collect() }),
        _ => Err(InvalidCommandLine::UnknownCommand(command)),
    }
}

fn only_folder(mut parser: Parser) -> Result<PathBuf, InvalidCommandLine> {
    let mut folder = None;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Value(value) if folder.is_none() => folder = Some(value.into()),
            _ => return Err(argument.unexpected().into()),
        }
    }
    folder.ok_or(InvalidCommandLine::NoFolder)
}

fn table(mut parser: Parser) -> Result<Command, InvalidCommandLine> {
    let (mut folder, mut stores, mut targets) = (None, Vec::new(), Vec::new());
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("store") => stores.push(parser.value()?.string()?),
            Arg::Long("write") => targets.push(Target::Write(parser.value()?.into())),
            Arg::Long("check") => targets.push(Target::Check(parser.value()?.into())),
            Arg::Value(value) if folder.is_none() => folder = Some(value.into()),
            _ => return Err(argument.unexpected().into()),
        }
    }
    let target = only(targets)?;
    let folder = folder.ok_or(InvalidCommandLine::NoFolder)?;
    Ok(Command::Table(Table { folder, stores, target }))
}

fn soak(mut parser: Parser) -> Result<Command, InvalidCommandLine> {
    let (mut log, mut targets) = (None, Vec::new());
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("write") => targets.push(Target::Write(parser.value()?.into())),
            Arg::Value(value) if log.is_none() => log = Some(value.into()),
            _ => return Err(argument.unexpected().into()),
        }
    }
    let target = only(targets)?;
    Ok(Command::Soak { log: log.ok_or(InvalidCommandLine::NoLog)?, target })
}

fn only(mut targets: Vec<Target>) -> Result<Target, InvalidCommandLine> {
    let target = targets.pop().unwrap_or(Target::Output);
    if targets.is_empty() { Ok(target) } else { Err(InvalidCommandLine::TwoTargets) }
}

/// The planted fault of the number that comes next; none for `none`.
fn fault(parser: &mut Parser) -> Result<Option<Fault>, InvalidCommandLine> {
    let number = match parser.next()? {
        Some(Arg::Value(number)) => number.string()?,
        _ => return Err(InvalidCommandLine::NoFault),
    };
    if number == "none" {
        return Ok(None);
    }
    let fault = Fault::ALL.iter().find(|fault| fault.info().number.to_string() == number);
    fault.copied().map(Some).ok_or(InvalidCommandLine::UnknownFault(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &str) -> Result<Command, String> {
        let arguments: Vec<OsString> = arguments.split_whitespace().map(OsString::from).collect();
        parse(arguments).map_err(|error| error.to_string())
    }

    #[test]
    fn a_table_goes_where_it_is_told() {
        let table = |stores: &[&str], target| {
            let stores = stores.iter().map(|store| (*store).to_owned()).collect();
            Ok(Command::Table(Table { folder: "reports".into(), stores, target }))
        };

        assert_eq!(parsed("table reports"), table(&[], Target::Output));
        assert_eq!(
            parsed("table --store memory reports --store sqlite --check README.md"),
            table(&["memory", "sqlite"], Target::Check("README.md".into()))
        );
        assert_eq!(parsed("table reports --write=a.md"), table(&[], Target::Write("a.md".into())));
    }

    #[test]
    fn the_log_of_many_runs_is_told_of_too() {
        let soak = |target| Ok(Command::Soak { log: "soak.log".into(), target });

        assert_eq!(parsed("soak soak.log"), soak(Target::Output));
        assert_eq!(parsed("soak --write SOAK.md soak.log"), soak(Target::Write("SOAK.md".into())));
    }

    #[test]
    fn a_fault_is_tried_with_the_arguments_of_a_test() {
        assert_eq!(parsed("try none"), Ok(Command::Try { fault: None, arguments: Vec::new() }));
        assert_eq!(
            parsed("try 16 --exact claim::a_fresh_key_is_granted"),
            Ok(Command::Try {
                fault: Some(Fault::CompleteByFormerHolder),
                arguments: vec!["--exact".into(), "claim::a_fresh_key_is_granted".into()],
            })
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_what_is_wrong() {
        for (arguments, complaint) in [
            ("", "a command is missing"),
            ("reports", "no command \"reports\""),
            ("report", "folder of the reports is missing"),
            ("report a b", "unexpected argument \"b\""),
            ("report a --check b", "invalid option '--check'"),
            ("table a --check b --write b", "one of them, once"),
            ("table a --write", "missing argument"),
            ("soak", "the log of the runs is missing"),
            ("soak a b", "unexpected argument \"b\""),
            ("soak a --store b", "invalid option '--store'"),
            ("try", "wants the number"),
            ("try 9999", "no planted fault \"9999\""),
        ] {
            let error = parsed(arguments).expect_err(arguments);
            assert!(error.contains(complaint), "{arguments:?} is refused with {error:?}");
        }
    }
}
