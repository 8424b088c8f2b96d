//! The processes of one server, of whatever kind.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use super::clock::SteeredClock;
use super::folder::Folder;
use super::log::Log;
use super::processes::Processes;
use crate::fixture::FixtureError;

/// A server in a folder of its own, running or not. Dropping it ends it.
#[derive(Debug)]
pub(super) struct Server {
    name: &'static str,
    /// The name of the signal that ends it at once, with all its processes.
    end_signal: &'static str,
    folder: Folder,
    log: Log,
    clock: Option<SteeredClock>,
    running: Option<Child>,
    paused: bool,
}

/// What a server is started with.
pub(super) struct Invocation {
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
}

impl Server {
    pub(super) fn new(
        name: &'static str,
        end_signal: &'static str,
        clock: Option<SteeredClock>,
    ) -> Result<Self, FixtureError> {
        let (folder, log) = (Folder::create(name)?, Log::create(name)?);
        Ok(Self { name, end_signal, folder, log, clock, running: None, paused: false })
    }

    pub(super) const fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(super) const fn log(&self) -> &Log {
        &self.log
    }

    pub(super) const fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// Starts the server, and returns when `ready` says that it is.
    pub(super) fn start(
        &mut self,
        invocation: &Invocation,
        ready: impl FnMut() -> bool,
    ) -> Result<(), FixtureError> {
        let mut command = self.folder.command(self.end_signal, &invocation.program);
        command.args(&invocation.arguments).stdout(self.log.append()?).stderr(self.log.append()?);
        if let Some(clock) = &self.clock {
            clock.preload(&mut command);
        }
        self.running = Some(spawn(&mut command)?);
        self.paused = false;
        self.await_ready(ready)
    }

    /// Runs a program in the server's folder to its end. What it says goes to the log.
    pub(super) fn run(&self, program: &Path, arguments: &[&str]) -> Result<(), FixtureError> {
        let mut command = self.folder.command("KILL", program);
        command.args(arguments).stdout(self.log.append()?).stderr(self.log.append()?);
        let mut child = spawn(&mut command)?;
        let status = child.wait()?;
        self.folder.forget(child.id());
        if !status.success() {
            return Err(self.error(format!("{} failed ({status})", program.display())));
        }
        Ok(())
    }

    /// Kills all processes of the server at once, and returns when they are gone.
    pub(super) fn kill(&mut self) -> Result<(), FixtureError> {
        let Some(main) = self.main() else { return Ok(()) };
        // So that it starts no process that is not seen here.
        signal(main, Signal::STOP)?;
        self.until("it stands still", || Ok(Processes::look()?.is_still(main)))?;
        let family = Processes::look()?.family(main);
        for &process in family.iter().rev() {
            signal(process, Signal::KILL)?;
        }
        self.reap()?;
        self.until("every process is gone", || {
            let now = Processes::look()?;
            Ok(family.iter().all(|&process| now.is_over(process)))
        })
    }

    /// Stops all processes of the server where they are, and returns when they stand still.
    pub(super) fn pause(&mut self) -> Result<(), FixtureError> {
        let Some(main) = self.main() else { return Err(self.error("it does not run".to_owned())) };
        self.paused = true;
        signal(main, Signal::STOP)?;
        self.until("every process stands still", || {
            // Those that were just being started are seen in the next round.
            let now = Processes::look()?;
            let moving = now.family(main).into_iter().filter(|&process| !now.is_still(process));
            let moving =
                moving.map(|process| signal(process, Signal::STOP)).collect::<Result<Vec<_>, _>>()?;
            Ok(moving.is_empty())
        })
    }

    /// Lets the processes go on.
    pub(super) fn resume(&mut self) -> Result<(), FixtureError> {
        let Some(main) = self.main() else { return Err(self.error("it does not run".to_owned())) };
        self.paused = false;
        for &process in Processes::look()?.family(main).iter().rev() {
            signal(process, Signal::CONT)?;
        }
        Ok(())
    }

    /// Asks the server to end in the way that `how` means to it, and waits for that.
    pub(super) fn stop(&mut self, how: Signal) -> Result<(), FixtureError> {
        if self.paused {
            self.resume()?;
        }
        self.signal(how)?;
        let started = Instant::now();
        while self.ended()?.is_none() {
            self.check_patience(started, "it has stopped")?;
        }
        Ok(())
    }

    /// Sends a signal to the main process, if the server runs.
    pub(super) fn signal(&self, which: Signal) -> Result<(), FixtureError> {
        self.main().map_or(Ok(()), |main| signal(main, which))
    }

    /// Waits until `reached` says so.
    pub(super) fn until(
        &self,
        what: &str,
        mut reached: impl FnMut() -> Result<bool, FixtureError>,
    ) -> Result<(), FixtureError> {
        let started = Instant::now();
        while !reached()? {
            self.check_patience(started, what)?;
        }
        Ok(())
    }

    fn await_ready(&mut self, mut ready: impl FnMut() -> bool) -> Result<(), FixtureError> {
        let started = Instant::now();
        while !ready() {
            if let Some(status) = self.ended()? {
                return Err(self.error(format!("it ended while it was started ({status})")));
            }
            self.check_patience(started, "it is ready")?;
        }
        Ok(())
    }

    fn check_patience(&self, started: Instant, what: &str) -> Result<(), FixtureError> {
        if PATIENCE < started.elapsed() {
            return Err(self.error(format!("waited {PATIENCE:?} until {what}")));
        }
        thread::sleep(PAUSE);
        Ok(())
    }

    /// An error that shows what the server said last.
    pub(super) fn error(&self, what: String) -> FixtureError {
        FixtureError::new(format!("{}: {what}; {}", self.name, self.log.end()))
    }

    /// How the server ended, if it has.
    fn ended(&mut self) -> Result<Option<ExitStatus>, FixtureError> {
        let Some(child) = &mut self.running else { return Ok(None) };
        let status = child.try_wait()?;
        if status.is_some() {
            self.folder.forget(child.id());
            self.running = None;
        }
        Ok(status)
    }

    /// Waits for the main process, which was sent a signal that it cannot escape.
    fn reap(&mut self) -> Result<(), FixtureError> {
        if let Some(mut child) = self.running.take() {
            self.folder.forget(child.id());
            child.wait()?;
        }
        Ok(())
    }

    fn main(&self) -> Option<u32> {
        self.running.as_ref().map(Child::id)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.paused {
            // Otherwise the guard has to wait for those that cannot hear the signal.
            let _ = self.resume();
        }
        self.folder.close();
        let Some(mut child) = self.running.take() else { return };
        while self.folder.is_guarded() {
            // The guard waits until this process has seen the end of its child.
            let _ = child.try_wait();
            thread::sleep(PAUSE);
        }
        // Should somebody have ended the guard.
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn spawn(command: &mut Command) -> Result<Child, FixtureError> {
    command.spawn().map_err(|error| FixtureError::new(format!("failed to start a shell: {error}")))
}

/// A process that has ended in the meantime is no error.
fn signal(process: u32, which: Signal) -> Result<(), FixtureError> {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    let process = process.ok_or_else(|| FixtureError::new("not a process id"))?;
    match kill_process(process, which) {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(error) => Err(FixtureError::new(format!("failed to send {which:?} to {process:?}: {error}"))),
    }
}

/// Far above what anything here takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at what is waited for.
const PAUSE: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell with two children and a grandchild, as a server with its processes.
    fn sleepers() -> (Server, Vec<u32>) {
        let mut server = Server::new("sleepers", "KILL", None).unwrap();
        let script = "sleep 1000 & sh -c 'sleep 1000 & wait' & wait".to_owned();
        let invocation = Invocation { program: "/bin/sh".into(), arguments: vec!["-c".to_owned(), script] };
        server.start(&invocation, || true).unwrap();
        let mut family = Vec::new();
        server
            .until("all are there", || {
                family = Processes::look()?.family(server.main().unwrap());
                Ok(family.len() == 4)
            })
            .unwrap();
        (server, family)
    }

    fn all(family: &[u32], hold: impl Fn(&Processes, u32) -> bool) -> bool {
        let now = Processes::look().unwrap();
        family.iter().all(|&process| hold(&now, process))
    }

    #[test]
    fn a_pause_reaches_every_process_and_ends_for_every_process() {
        let (mut server, family) = sleepers();

        server.pause().unwrap();
        assert!(all(&family, |now, process| now.is_still(process) && !now.is_over(process)));

        server.resume().unwrap();
        server.until("all go on", || Ok(all(&family, |now, process| !now.is_still(process)))).unwrap();
    }

    #[test]
    fn a_server_that_is_dropped_takes_its_processes_and_its_folder_along() {
        let (server, family) = sleepers();
        let folder = server.folder().path().to_owned();

        drop(server);

        assert!(!folder.exists());
        // The children were sent the signal together with the main process, and nobody has waited for them.
        let started = Instant::now();
        while !all(&family, Processes::is_over) {
            assert!(started.elapsed() < PATIENCE, "some of {family:?} live on");
        }
    }

    #[test]
    fn a_kill_leaves_no_process() {
        let (mut server, family) = sleepers();

        server.kill().unwrap();

        assert!(all(&family, Processes::is_over));
        assert!(!server.is_running());
    }

    #[test]
    fn a_paused_server_can_be_killed() {
        let (mut server, family) = sleepers();
        server.pause().unwrap();

        server.kill().unwrap();

        assert!(all(&family, Processes::is_over));
    }

    #[test]
    fn a_server_that_ends_while_it_starts_is_an_error_that_shows_its_log() {
        let mut server = Server::new("hasty", "KILL", None).unwrap();
        let script = "echo cannot read my settings; exit 3".to_owned();
        let invocation = Invocation { program: "/bin/sh".into(), arguments: vec!["-c".to_owned(), script] };

        let error = server.start(&invocation, || false).unwrap_err().to_string();

        assert!(error.contains("exit status: 3") && error.contains("cannot read my settings"), "{error}");
    }
}
