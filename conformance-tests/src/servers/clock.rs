//! The clock of a server, shown to it by a test.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use onceonly::{Clock, SystemClock, Timestamp};

use super::folder::Folder;
use super::program::is_on_path;
use crate::clock::ClockControl;
use crate::fixture::FixtureError;

/// The real-time clock of the servers that it is given to. Clones are the same clock.
///
/// A small library in C, compiled when this is made and preloaded into the server, answers `clock_gettime` for the
/// real-time clocks, `gettimeofday` and `time` from a file that the two share. A server that asks for the time sees what
/// was shown last; no call sees a part of it.
///
/// Monotonic clocks are the host's, and so the server's own waits go on while the clock stands still. What it waits for
/// by the real-time clock does not end then: `pg_sleep` in PostgreSQL, the time limits of `WAIT` and of blocking commands
/// in Redis. PostgreSQL's `lock_timeout`, `statement_timeout` and `deadlock_timeout` end in time all the same, since the
/// library lets time pass for the handler of their alarm.
#[derive(Clone)]
pub struct SteeredClock(Arc<Inner>);

/// What a server's clock shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a clock runs, is wrong, or stands still")]
pub enum ServerClock {
    /// The host's time.
    Real,
    /// The host's time and so many microseconds.
    Offset(i64),
    /// Always the same time.
    Frozen(Timestamp),
}

/// Why a server's clock cannot be steered on this machine. Its `Display` says what is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAvailable(&'static str);

struct Inner {
    folder: Folder,
    shared: Mutex<Shared>,
}

/// The file as it was written last.
struct Shared {
    file: File,
    shows: ServerClock,
    turn: u8,
}

impl SteeredClock {
    /// Whether this machine can do it: Linux with a C compiler. Elsewhere a store is declared to be on a clock that runs.
    ///
    /// # Errors
    /// [`NotAvailable`], with what is missing.
    pub fn availability() -> Result<(), NotAvailable> {
        if !cfg!(all(target_os = "linux", target_pointer_width = "64")) {
            return Err(NotAvailable("a server's clock is steered on Linux with 64 bits only"));
        }
        if !is_on_path(COMPILER) {
            return Err(NotAvailable("a server's clock is steered by a library in C, and there is no cc"));
        }
        Ok(())
    }

    /// A clock that shows the host's time until it is told otherwise.
    ///
    /// # Errors
    /// If it is [not available](Self::availability), or the compiler fails.
    pub fn new() -> Result<Self, FixtureError> {
        Self::availability()?;
        let folder = Folder::create("clock")?;
        compile(&folder)?;
        let file = File::create_new(folder.path().join(FILE))?;
        file.write_all_at(&[0; SIZE], 0)?;
        let shared = Mutex::new(Shared { file, shows: ServerClock::Real, turn: 0 });
        Ok(Self(Arc::new(Inner { folder, shared })))
    }

    /// Shows this from here on, to servers that run and to those that are yet to start.
    ///
    /// # Errors
    /// If the time is beyond some 73,000 years from 1970, or the file cannot be written.
    pub fn show(&self, what: ServerClock) -> Result<(), FixtureError> {
        Ok(self.lock().show(what)?)
    }

    /// Moves the clock by so many microseconds, back if negative: to another time at which it stands still, or by a
    /// step if it runs.
    ///
    /// # Errors
    /// As [`show`](Self::show).
    pub fn step(&self, micros: i64) -> Result<(), FixtureError> {
        let mut shared = self.lock();
        let stepped = match shared.shows {
            ServerClock::Real => ServerClock::Offset(micros),
            ServerClock::Offset(offset) => ServerClock::Offset(offset.saturating_add(micros)),
            ServerClock::Frozen(at) => {
                ServerClock::Frozen(Timestamp::from_micros(at.as_micros().saturating_add(micros)))
            }
        };
        Ok(shared.show(stepped)?)
    }

    /// The time that the clock shows.
    pub fn now(&self) -> Timestamp {
        match self.lock().shows {
            ServerClock::Real => SystemClock.now(),
            ServerClock::Offset(micros) => {
                Timestamp::from_micros(SystemClock.now().as_micros().saturating_add(micros))
            }
            ServerClock::Frozen(at) => at,
        }
    }

    /// Gives this clock to the program that `command` starts, and to its children. The clock must outlive them.
    pub fn preload(&self, command: &mut Command) {
        let folder = self.0.folder.path();
        command.env("LD_PRELOAD", folder.join(LIBRARY)).env("ONCEONLY_CLOCK", folder.join(FILE));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Shared> {
        self.0.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl ClockControl for SteeredClock {
    fn now(&self) -> Timestamp {
        Self::now(self)
    }

    async fn set(&self, now: Timestamp) -> Result<(), FixtureError> {
        self.show(ServerClock::Frozen(now))
    }
}

impl Shared {
    /// The word that is not in use is written first, and then the turn, one byte, which puts it in use. Whoever reads a
    /// word looks at the turn before and after, so that it never has a word that is half written.
    fn show(&mut self, what: ServerClock) -> io::Result<()> {
        let (value, kind) = match what {
            ServerClock::Real => (0, 0),
            ServerClock::Offset(micros) => (micros, 1),
            ServerClock::Frozen(at) => (at.as_micros(), 2),
        };
        let word = value.checked_mul(4).ok_or(io::ErrorKind::InvalidInput)? | kind;
        let turn = self.turn.wrapping_add(1);
        self.file.write_all_at(&word.to_ne_bytes(), u64::from(turn % 2) * 8)?;
        self.file.write_all_at(&[turn], 16)?;
        (self.turn, self.shows) = (turn, what);
        Ok(())
    }
}

fn compile(folder: &Folder) -> Result<(), FixtureError> {
    let mut command = Command::new(COMPILER);
    command.args(["-O2", "-shared", "-fPIC", "-x", "c", "-", "-o"]).arg(folder.path().join(LIBRARY));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut compiler = command.spawn()?;
    if let Some(mut source) = compiler.stdin.take() {
        source.write_all(SOURCE.as_bytes())?;
    }
    let output = compiler.wait_with_output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(FixtureError::new(format!("{COMPILER} failed on the clock's library: {said}")));
    }
    Ok(())
}

impl fmt::Debug for SteeredClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SteeredClock").field(&self.lock().shows).finish()
    }
}

impl fmt::Display for NotAvailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl std::error::Error for NotAvailable {}

const COMPILER: &str = "cc";
const SOURCE: &str = include_str!("clock.c");
const LIBRARY: &str = "clock.so";
const FILE: &str = "clock";

/// `struct steering`, padded as in C.
const SIZE: usize = 24;
