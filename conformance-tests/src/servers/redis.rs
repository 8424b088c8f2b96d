//! Redis.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Signal;

use super::clock::SteeredClock;
use super::port;
use super::program::Wanted;
use super::server::{Invocation, Server};
use crate::fixture::FixtureError;

/// How a Redis server is to be set up.
///
/// The binary is `redis-server` in the folder that `ONCEONLY_REDIS_BIN` names, else on the path. Unless told otherwise
/// it keeps nothing: `save` is empty, and there is no append-only file.
#[derive(Clone, Debug, Default)]
pub struct RedisConfig {
    settings: BTreeMap<String, String>,
    clock: Option<SteeredClock>,
    primary: Option<SocketAddr>,
}

/// A private Redis server. Dropping it ends it and removes its data.
#[derive(Debug)]
pub struct Redis {
    binary: PathBuf,
    settings: BTreeMap<String, String>,
    port: u16,
    server: Server,
}

impl RedisConfig {
    /// A server of its own, empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// A replica of the server at `primary`; the address may be that of a [`Pump`](super::Pump). It has all that its
    /// primary has when it is started.
    pub fn replica_of(primary: SocketAddr) -> Self {
        Self { primary: Some(primary), ..Self::default() }
    }

    /// A setting as in `redis.conf`.
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

    /// Starts the server, and returns once it answers.
    ///
    /// # Errors
    /// If Redis is not installed, or does not start; the message holds the end of the log.
    pub fn start(self) -> Result<Redis, FixtureError> {
        let wanted = Wanted {
            program: "redis-server",
            variable: "ONCEONLY_REDIS_BIN",
            packages: "on Debian `apt-get install redis-server`, on macOS `brew install redis`",
        };
        let binary = wanted.folder(Vec::new())?.join(wanted.program);
        let server = Server::new("redis", "KILL", self.clock)?;
        let mut settings = BTreeMap::from([("save".to_owned(), "\"\"".to_owned())]);
        if let Some(primary) = self.primary {
            settings.insert("replicaof".to_owned(), format!("{} {}", primary.ip(), primary.port()));
        }
        settings.extend(self.settings);
        let mut redis = Redis { binary, settings, port: 0, server };
        port::find(|port| {
            redis.port = port;
            redis.restart()
        })?;
        Ok(redis)
    }
}

impl Redis {
    /// Where it listens. Stays the same when it is restarted.
    pub fn address(&self) -> SocketAddr {
        port::address(self.port)
    }

    /// For drivers.
    pub fn url(&self) -> String {
        format!("redis://{}/", self.address())
    }

    /// Everything that the server has said.
    pub fn log(&self) -> Result<String, FixtureError> {
        self.server.log().text()
    }

    /// The file that it says it to.
    pub fn log_path(&self) -> &Path {
        self.server.log().path()
    }

    /// Gives the server a command, words parted by blanks, and returns its answer as it comes: a line behind its sign
    /// such as `+OK`, or a string of bytes.
    ///
    /// # Errors
    /// If the server does not answer within some seconds.
    pub fn command(&self, command: &str) -> Result<String, FixtureError> {
        Ok(ask(self.address(), command)?)
    }

    /// Kills the server, and the child that writes its snapshot if there is one, and returns when they are gone.
    pub fn kill(&mut self) -> Result<(), FixtureError> {
        self.server.kill()
    }

    /// Stops the server where it is. Connections stay, and nothing answers.
    pub fn pause(&mut self) -> Result<(), FixtureError> {
        self.server.pause()
    }

    /// Ends a pause.
    pub fn resume(&mut self) -> Result<(), FixtureError> {
        self.server.resume()
    }

    /// Shuts the server down in order: it first writes what its settings ask for.
    pub fn stop(&mut self) -> Result<(), FixtureError> {
        self.server.stop(Signal::TERM)
    }

    /// Starts the server again, on the same port and with what it has kept, after shutting it down if it runs. Returns
    /// once it answers, and if it is a replica, once it is linked to its primary.
    pub fn restart(&mut self) -> Result<(), FixtureError> {
        if self.server.is_running() {
            self.stop()?;
        }
        let config = self.write_settings()?;
        let invocation = Invocation { program: self.binary.clone(), arguments: vec![config] };
        let address = self.address();
        let is_replica = self.settings.contains_key("replicaof");
        self.server.start(&invocation, || {
            let is_linked = || {
                let replication = ask(address, "INFO replication").unwrap_or_default();
                replication.contains("master_link_status:up")
            };
            ask(address, "PING").is_ok_and(|answer| answer == "+PONG") && (!is_replica || is_linked())
        })
    }

    /// Makes a primary of this replica, also for when it is restarted.
    pub fn promote(&mut self) -> Result<(), FixtureError> {
        self.settings.remove("replicaof");
        let answer = self.command("REPLICAOF NO ONE")?;
        if answer != "+OK" {
            return Err(self.server.error(format!("REPLICAOF NO ONE answered {answer}")));
        }
        Ok(())
    }

    fn write_settings(&self) -> Result<String, FixtureError> {
        let folder = self.server.folder();
        let mut text = format!("bind 127.0.0.1\nport {}\ndir \"{}\"\n", self.port, folder.path().display());
        // A replica is linked at once, and not after the five seconds in which others might join it.
        text.push_str("repl-diskless-sync-delay 0\n");
        for (setting, value) in &self.settings {
            // Writing to a string does not fail.
            let _ = writeln!(text, "{setting} {value}");
        }
        let path = folder.path().join("redis.conf");
        fs::write(&path, text)?;
        folder.own(&path)?;
        Ok(path.display().to_string())
    }
}

/// Sends a command as a line, which Redis takes from people too, and reads an answer of one line or one string.
fn ask(address: SocketAddr, command: &str) -> io::Result<String> {
    let limit = Duration::from_secs(5);
    let stream = TcpStream::connect_timeout(&address, limit)?;
    stream.set_read_timeout(Some(limit))?;
    (&stream).write_all(format!("{command}\r\n").as_bytes())?;
    let mut answer = BufReader::new(&stream);
    let mut line = String::new();
    answer.read_line(&mut line)?;
    let line = line.trim_end().to_owned();
    let Some(length) = line.strip_prefix('$').and_then(|length| length.parse().ok()) else { return Ok(line) };
    let mut bytes = vec![0; length];
    answer.read_exact(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
