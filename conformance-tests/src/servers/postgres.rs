//! PostgreSQL.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::Signal;

use super::clock::SteeredClock;
use super::port;
use super::program::Wanted;
use super::server::{Invocation, Server};
use crate::fixture::FixtureError;

mod template;

/// How a PostgreSQL server is to be set up.
///
/// The binaries are those in the folder that `ONCEONLY_POSTGRES_BIN` names, else those of Debian's version 15, else of
/// the newest version there is, else those on the path.
///
/// Settings are PostgreSQL's own, but for `fsync`, which is off unless it is set: what a test kills are processes, and
/// the system keeps what those have written. Everybody on this host may connect, as the superuser `postgres`.
#[derive(Clone, Debug, Default)]
pub struct PostgresConfig {
    settings: BTreeMap<String, String>,
    clock: Option<SteeredClock>,
    primary: Option<SocketAddr>,
}

/// A private PostgreSQL server. Dropping it ends it and removes its data.
///
/// ```no_run
/// use onceonly_conformance::servers::PostgresConfig;
///
/// # fn test() -> Result<(), onceonly_conformance::FixtureError> {
/// let mut server = PostgresConfig::new().with("synchronous_commit", "off").start()?;
/// server.psql("CREATE TABLE kept AS SELECT 1 AS number")?;
/// server.kill()?;
/// server.restart()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Postgres {
    binaries: PathBuf,
    settings: BTreeMap<String, String>,
    port: u16,
    server: Server,
}

impl PostgresConfig {
    /// A server of its own, empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// A standby of the server at `primary`, which streams from there; the address may be that of a
    /// [`Pump`](super::Pump). It is a copy of its primary when it is started. In `synchronous_standby_names` it is called
    /// as its `cluster_name`, and `walreceiver` if it has none.
    pub fn standby_of(primary: SocketAddr) -> Self {
        Self { primary: Some(primary), ..Self::default() }
    }

    /// A setting as in `postgresql.conf`, without quotes.
    #[must_use]
    pub fn with(mut self, setting: &str, value: &str) -> Self {
        self.settings.insert(setting.to_owned(), value.to_owned());
        self
    }

    /// The server goes by `clock`.
    #[must_use]
    pub fn with_clock(mut self, clock: &SteeredClock) -> Self {
        self.clock = Some(clock.clone());
        self
    }

    /// Starts the server, and returns once it takes connections.
    ///
    /// The first server of a machine and version runs `initdb`, and the others have a copy of what that made, from the
    /// system's temporary folder.
    ///
    /// # Errors
    /// If PostgreSQL is not installed, or does not start; the message holds the end of the log.
    pub fn start(self) -> Result<Postgres, FixtureError> {
        let binaries = binaries()?;
        // An immediate shutdown: the postmaster takes all its processes with it.
        let server = Server::new("postgres", "QUIT", self.clock)?;
        let mut settings = BTreeMap::from([("fsync".to_owned(), "off".to_owned())]);
        match self.primary {
            None => template::copy_into(&server, &binaries)?,
            Some(primary) => {
                let primary = format!("host={} port={} user=postgres", primary.ip(), primary.port());
                copy_from(&server, &binaries, &primary)?;
                settings.insert("primary_conninfo".to_owned(), primary);
            }
        }
        settings.extend(self.settings);
        let mut postgres = Postgres { binaries, settings, port: 0, server };
        port::find(|port| {
            postgres.port = port;
            postgres.restart()
        })?;
        Ok(postgres)
    }
}

impl Postgres {
    /// Where it listens. Stays the same when it is restarted.
    pub fn address(&self) -> SocketAddr {
        port::address(self.port)
    }

    /// For drivers: the superuser and the database `postgres`, by TCP.
    pub fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.address())
    }

    /// The folder of its Unix socket, which drivers take as the name of the host. The socket is called after the port.
    pub fn socket_folder(&self) -> &Path {
        self.server.folder().path()
    }

    /// Everything that the server has said.
    pub fn log(&self) -> Result<String, FixtureError> {
        self.server.log().text()
    }

    /// The file that it says it to.
    pub fn log_path(&self) -> &Path {
        self.server.log().path()
    }

    /// One of PostgreSQL's programs, in the server's own version.
    pub fn program(&self, name: &str) -> PathBuf {
        self.binaries.join(name)
    }

    /// Runs statements by `psql`, and returns what they answer: columns parted by `|`, a row a line.
    ///
    /// # Errors
    /// The first statement that fails, with what the server said.
    pub fn psql(&self, statements: &str) -> Result<String, FixtureError> {
        let mut psql = Command::new(self.program("psql"));
        psql.args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--set=ON_ERROR_STOP=1"]);
        let output = psql.arg(self.url()).args(["--command", statements]).output();
        let output = output.map_err(|error| FixtureError::new(format!("failed to run psql: {error}")))?;
        if !output.status.success() {
            return Err(FixtureError::new(String::from_utf8_lossy(&output.stderr).trim_end()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned())
    }

    /// Changes a setting. Sessions go by it from their next statement on, or the one after; a setting that PostgreSQL
    /// reads only at its start from the next [`restart`](Self::restart) on.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn set(&mut self, setting: &str, value: &str) -> Result<(), FixtureError> {
        self.settings.insert(setting.to_owned(), value.to_owned());
        self.write_settings()?;
        self.server.signal(Signal::HUP)
    }

    /// Kills the postmaster and all of its processes at once, and returns when they are gone.
    pub fn kill(&mut self) -> Result<(), FixtureError> {
        self.server.kill()?;
        self.remove_shared_memory();
        Ok(())
    }

    /// Stops every process of the server where it is. Connections stay, and nothing answers.
    pub fn pause(&mut self) -> Result<(), FixtureError> {
        self.server.pause()
    }

    /// Ends a pause.
    pub fn resume(&mut self) -> Result<(), FixtureError> {
        self.server.resume()
    }

    /// Ends every session, and shuts the server down in order.
    pub fn stop(&mut self) -> Result<(), FixtureError> {
        self.server.stop(Signal::INT)
    }

    /// Starts the server again, on the same port and data, after shutting it down if it runs. Returns once it takes
    /// connections; behind a kill that is after recovery.
    pub fn restart(&mut self) -> Result<(), FixtureError> {
        if self.server.is_running() {
            self.stop()?;
        }
        self.write_settings()?;
        let data = self.data().display().to_string();
        let config = format!("config_file={}", self.config().display());
        let invocation = Invocation {
            program: self.program("postgres"),
            arguments: vec!["-D".to_owned(), data, "-c".to_owned(), config],
        };
        let address = self.address();
        self.server.start(&invocation, || takes_connections(address).unwrap_or(false))
    }

    /// Makes a primary of this standby, and returns when it takes writes.
    pub fn promote(&self) -> Result<(), FixtureError> {
        let data = self.data().display().to_string();
        self.server.run(&self.program("pg_ctl"), &["promote", "--wait", "-D", &data])
    }

    fn data(&self) -> PathBuf {
        data(&self.server)
    }

    /// Beside the data, so that a standby does not get that of its primary.
    fn config(&self) -> PathBuf {
        self.server.folder().path().join("postgresql.conf")
    }

    fn write_settings(&self) -> Result<(), FixtureError> {
        let mut text = String::new();
        let port = self.port.to_string();
        let folder = format!("\"{}\"", self.socket_folder().display());
        let own = [
            ("listen_addresses", "127.0.0.1"),
            ("port", port.as_str()),
            ("unix_socket_directories", folder.as_str()),
            // In the data folder, and so gone with it. The default is in a place that a kill does not clear.
            ("dynamic_shared_memory_type", "mmap"),
        ];
        let set = self.settings.iter().map(|(setting, value)| (setting.as_str(), value.as_str()));
        for (setting, value) in own.into_iter().chain(set) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{setting} = '{}'", value.replace('\'', "''"));
        }
        // A server that was told of an earlier change may be reading.
        let new = self.config().with_extension("new");
        fs::write(&new, text)?;
        self.server.folder().own(&new)?;
        Ok(fs::rename(new, self.config())?)
    }

    /// A postmaster that was killed leaves a small segment of shared memory behind, of which there can be few. The next
    /// start removes it; there may be none.
    fn remove_shared_memory(&self) {
        let noted = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        // The seventh line holds the key and the id of the segment.
        if let Some(id) = noted.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)) {
            let _ = Command::new("ipcrm").args(["-m", id]).output();
        }
    }
}

fn data(server: &Server) -> PathBuf {
    server.folder().path().join("data")
}

fn binaries() -> Result<PathBuf, FixtureError> {
    let wanted = Wanted {
        program: "postgres",
        variable: "ONCEONLY_POSTGRES_BIN",
        packages: "on Debian `apt-get install postgresql`, on macOS `brew install postgresql@15`",
    };
    wanted.folder(versions_in(Path::new("/usr/lib/postgresql")))
}

/// Debian has each version in a folder of its own, and none of them on the path.
fn versions_in(root: &Path) -> Vec<PathBuf> {
    let version = |name: std::ffi::OsString| name.to_str()?.parse::<u32>().ok();
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut versions = entries.filter_map(|entry| version(entry.file_name())).collect::<Vec<_>>();
    versions.sort_by_key(|&version| std::cmp::Reverse((version == PREFERRED, version)));
    versions.into_iter().map(|version| root.join(version.to_string()).join("bin")).collect()
}

/// Copies the data of a primary that runs, for a standby.
fn copy_from(server: &Server, binaries: &Path, primary: &str) -> Result<(), FixtureError> {
    let data = data(server);
    let data_name = data.display().to_string();
    let mut arguments = vec!["--dbname", primary, "--pgdata", &data_name];
    arguments.extend(["--checkpoint=fast", "--wal-method=stream", "--no-sync"]);
    server.run(&binaries.join("pg_basebackup"), &arguments)?;
    let signal = data.join("standby.signal");
    fs::write(&signal, "")?;
    server.folder().own(&signal)
}

/// Opens a session and leaves it. A server that is not ready says so with an error, and one that is asks for nothing.
fn takes_connections(address: SocketAddr) -> io::Result<bool> {
    let limit = Duration::from_secs(5);
    let mut stream = TcpStream::connect_timeout(&address, limit)?;
    stream.set_read_timeout(Some(limit))?;
    let parameters = b"user\0postgres\0database\0postgres\0\0";
    // Its own length in bytes, and version 3.0 of the protocol.
    let length = u32::try_from(8 + parameters.len()).unwrap_or_default();
    let mut startup = [length.to_be_bytes(), 0x0003_0000_u32.to_be_bytes()].concat();
    startup.extend_from_slice(parameters);
    stream.write_all(&startup)?;
    let mut kind = [0];
    stream.read_exact(&mut kind)?;
    let is_ready = kind == *b"R";
    if is_ready {
        stream.write_all(b"X\0\0\0\x04")?;
    }
    Ok(is_ready)
}

/// The version that is tested by default.
const PREFERRED: u32 = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_that_is_tested_comes_first_and_the_newest_behind_it() {
        let root = tempfile::tempdir().unwrap();
        for version in ["9.6", "14", "15", "common", "18", "16"] {
            fs::create_dir_all(root.path().join(version)).unwrap();
        }

        let found = versions_in(root.path());

        assert_eq!(found, ["15", "18", "16", "14"].map(|version| root.path().join(version).join("bin")));
    }
}
