//! What the server is told when it is started.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use lexopt::{Arg, Parser, ValueExt};
use onceonly::Policy;

/// What `--help` prints.
pub(crate) const USAGE: &str = "\
A payments server that charges once per idempotency key.

Usage: payments [OPTIONS]

Options:
  --listen ADDR        where to listen; port 0 takes any that is free [default: 127.0.0.1:3000]
  --store STORE        where keys and charges are kept [default: sqlite:payments.db]
                         sqlite:PATH    in the SQLite file at PATH
                         memory         in this process; forgotten when it ends
  --lease SECONDS      how long a charge may be left without a sign of life
                       before it counts as abandoned [default: 60]
  --recovery RECOVERY  what becomes of an abandoned charge [default: park]
                         park     nobody charges again; retries are told that the outcome is not known
                         rerun    the next retry charges again, under the same provider key
  --help               print this
";

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// Print [`USAGE`].
    Help,
    /// Serve.
    Serve(Options),
}

/// How to serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    /// Host and port.
    pub(crate) listen: String,
    /// Where keys and charges are kept.
    pub(crate) store: StoreUrl,
    /// How long a claim stands without renewal. Whether it is a lease that makes sense is the engine's to say.
    pub(crate) lease: Duration,
    /// What becomes of an abandoned charge.
    pub(crate) recovery: Recovery,
}

/// A store that this build knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    /// `sqlite:PATH`
    Sqlite(PathBuf),
    /// `memory`
    Memory,
}

/// What becomes of an abandoned charge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// See [`Policy::Park`].
    Park,
    /// See [`Policy::Rerun`]. Right here because the handler passes `derive_key` on to the provider.
    Rerun,
}

impl From<Recovery> for Policy {
    fn from(recovery: Recovery) -> Self {
        match recovery {
            Recovery::Park => Self::Park,
            Recovery::Rerun => Self::Rerun,
        }
    }
}

/// The command line cannot be understood.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidCommandLine {
    #[error(transparent)]
    Syntax(#[from] lexopt::Error),
    #[error(
        "the store `{scheme}:` needs the feature `{feature}`, which this release does not have yet; \
         it has `sqlite:PATH` and `memory`"
    )]
    FeatureMissing { scheme: String, feature: &'static str },
    #[error("`{0}` is no store; try `sqlite:PATH` or `memory`")]
    UnknownStore(String),
    #[error("`sqlite:` wants the path of a file behind it")]
    NoPath,
    #[error("`--lease` wants a number of seconds above zero")]
    Lease,
    #[error("`--recovery` is `park` or `rerun`")]
    Recovery,
}

/// Reads the arguments that follow the program's name.
///
/// # Errors
/// [`InvalidCommandLine`]
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString, IntoIter: 'static>,
) -> Result<Command, InvalidCommandLine> {
    let mut options = Options {
        listen: "127.0.0.1:3000".into(),
        store: StoreUrl::Sqlite("payments.db".into()),
        lease: Duration::from_secs(60),
        recovery: Recovery::Park,
    };
    let mut parser = Parser::from_args(arguments);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("listen") => options.listen = parser.value()?.string()?,
            Arg::Long("store") => options.store = store(&parser.value()?.string()?)?,
            Arg::Long("lease") => options.lease = lease(&parser.value()?.string()?)?,
            Arg::Long("recovery") => options.recovery = recovery(&parser.value()?.string()?)?,
            Arg::Long("help") | Arg::Short('h') => return Ok(Command::Help),
            _ => return Err(argument.unexpected().into()),
        }
    }
    Ok(Command::Serve(options))
}

/// The URL of a server can hold a password, so an error repeats no more than its scheme.
fn store(url: &str) -> Result<StoreUrl, InvalidCommandLine> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    match scheme {
        "memory" if rest.is_empty() => Ok(StoreUrl::Memory),
        "sqlite" if rest.is_empty() => Err(InvalidCommandLine::NoPath),
        "sqlite" => Ok(StoreUrl::Sqlite(rest.into())),
        "postgres" | "postgresql" => {
            Err(InvalidCommandLine::FeatureMissing { scheme: scheme.into(), feature: "postgres" })
        }
        "redis" | "rediss" => {
            Err(InvalidCommandLine::FeatureMissing { scheme: scheme.into(), feature: "redis" })
        }
        _ => Err(InvalidCommandLine::UnknownStore(scheme.into())),
    }
}

fn lease(seconds: &str) -> Result<Duration, InvalidCommandLine> {
    let seconds: f64 = seconds.parse().map_err(|_| InvalidCommandLine::Lease)?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(lease) if !lease.is_zero() => Ok(lease),
        _ => Err(InvalidCommandLine::Lease),
    }
}

fn recovery(name: &str) -> Result<Recovery, InvalidCommandLine> {
    match name {
        "park" => Ok(Recovery::Park),
        "rerun" => Ok(Recovery::Rerun),
        _ => Err(InvalidCommandLine::Recovery),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Result<Options, InvalidCommandLine> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        match parse(arguments)? {
            Command::Serve(options) => Ok(options),
            Command::Help => panic!("no help was asked for"),
        }
    }

    fn refusal(arguments: &[&str]) -> String {
        options(arguments).expect_err("the arguments make no sense").to_string()
    }

    #[test]
    fn the_defaults_are_those_of_the_usage() {
        let Options { listen, store, lease, recovery } = options(&[]).unwrap();
        let StoreUrl::Sqlite(path) = store else { panic!("{store:?}") };
        assert!(USAGE.contains(&format!("[default: {listen}]")));
        assert!(USAGE.contains(&format!("[default: sqlite:{}]", path.display())));
        assert!(USAGE.contains(&format!("[default: {}]", lease.as_secs())));
        assert!(USAGE.contains(&format!("[default: {recovery:?}]").to_lowercase()));
    }

    #[test]
    fn every_option_is_taken_in_both_forms() {
        let expected = Options {
            listen: "127.0.0.1:0".into(),
            store: StoreUrl::Memory,
            lease: Duration::from_millis(1500),
            recovery: Recovery::Rerun,
        };
        let apart = ["--listen", "127.0.0.1:0", "--store", "memory", "--lease", "1.5", "--recovery", "rerun"];
        let joined = ["--listen=127.0.0.1:0", "--store=memory", "--lease=1.5", "--recovery=rerun"];
        assert_eq!(options(&apart).unwrap(), expected);
        assert_eq!(options(&joined).unwrap(), expected);
        let sqlite = options(&["--store", "sqlite:a:b.db"]).unwrap();
        assert_eq!(sqlite.store, StoreUrl::Sqlite("a:b.db".into()));
    }

    #[test]
    fn a_store_that_is_not_built_in_is_refused_by_the_name_of_its_feature() {
        for (url, feature) in [
            ("postgres://user:secret@host/db", "`postgres`"),
            ("postgresql://user:secret@host/db", "`postgres`"),
            ("redis://:secret@host", "`redis`"),
            ("rediss://:secret@host", "`redis`"),
        ] {
            let refusal = refusal(&["--store", url]);
            let needed = format!("needs the feature {feature}, which this release does not have yet");
            assert!(refusal.contains(&needed), "{refusal}");
            assert!(!refusal.contains("secret"), "{refusal}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for arguments in [
            &["--lease", "0"],
            &["--lease", "-1"],
            &["--lease", "NaN"],
            &["--lease", "inf"],
            &["--lease", "1e30"],
            &["--lease", "soon"],
            &["--recovery", "Park"],
            &["--store", "sqlite:"],
            &["--store", "memory:x"],
            &["--store", "mysql://host"],
            &["--lisen", "127.0.0.1:0"],
            &["stray", "--help"],
        ] {
            assert!(options(arguments).is_err(), "{arguments:?}");
        }
        assert!(options(&["--lease"]).is_err());
    }
}
