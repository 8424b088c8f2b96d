//! Where servers live: temporary folders that go with everything that was started in them.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::account::Account;
use crate::fixture::FixtureError;

/// A temporary folder of the servers' user, and its guard: a shell that ends what was started in the folder and removes
/// it, when this is dropped or its process is gone.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    account: Account,
    guard: Child,
}

impl Folder {
    pub(super) fn create(name: &str) -> Result<Self, FixtureError> {
        let account = Account::of_servers()?;
        let path = std::env::temp_dir().join(format!("onceonly-{name}-{:08x}", getrandom::u32()?));
        create_private(&path)
            .map_err(|error| FixtureError::new(format!("failed to create {}: {error}", path.display())))?;
        let guard = guard(&path)?;
        // From here on the guard removes the folder, whatever fails.
        let folder = Self { path, account, guard };
        create_private(&folder.processes())?;
        account.owns(&folder.processes())?;
        account.owns(&folder.path)?;
        Ok(folder)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// A command that runs `program` as the servers' user, in this folder, and in an environment that holds nothing of
    /// the tests' own but where programs and libraries are. It is ended by `signal`, the name of one, when the folder
    /// goes.
    pub(super) fn command(&self, signal: &str, program: &Path) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", START, "sh"]).arg(&self.path).arg(signal).arg(program);
        command.env_clear().env("LC_ALL", "C").env("TZ", "UTC").env("HOME", &self.path);
        command.envs(std::env::vars_os().filter(|(name, _)| KEPT.iter().any(|kept| name == kept)));
        command.current_dir(&self.path).stdin(Stdio::null());
        // Of a group of its own: what is typed at a terminal is for the tests.
        command.process_group(0);
        self.account.runs(&mut command);
        command
    }

    /// Gives `path` to the servers' user.
    pub(super) fn own(&self, path: &Path) -> Result<(), FixtureError> {
        self.account.owns(path)
    }

    /// Takes a process out of the guard's care, whose number may soon be that of another: it has ended, or been sent a
    /// signal that it cannot escape.
    pub(super) fn forget(&self, process: u32) {
        // It is not there if the process ended before it had begun.
        let _ = fs::remove_file(self.processes().join(process.to_string()));
    }

    /// Has the guard begin its work. Whoever has children in the folder must look at them until it is over.
    pub(super) fn close(&mut self) {
        drop(self.guard.stdin.take());
    }

    /// Whether the guard has not come to its end yet.
    pub(super) fn is_guarded(&mut self) -> bool {
        matches!(self.guard.try_wait(), Ok(None))
    }

    fn processes(&self) -> PathBuf {
        self.path.join("processes")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.close();
        let _ = self.guard.wait();
    }
}

/// A folder in the system's temporary folder that outlives the process, the same for every process of this user.
pub(super) fn lasting(name: &str) -> Result<PathBuf, FixtureError> {
    let user = rustix::process::geteuid().as_raw();
    let path = std::env::temp_dir().join(format!("onceonly-{name}-{user}"));
    private(path, user)
}

fn private(path: PathBuf, user: u32) -> Result<PathBuf, FixtureError> {
    if let Err(error) = create_private(&path)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(FixtureError::new(format!("failed to create {}: {error}", path.display())));
    }
    // Others may write to the temporary folder too, and know this name.
    let found = fs::symlink_metadata(&path)?;
    if !found.is_dir() || found.uid() != user || found.mode() & 0o077 != 0 {
        return Err(FixtureError::new(format!("{} is not a folder of this user alone", path.display())));
    }
    Ok(path)
}

fn create_private(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

fn guard(folder: &Path) -> Result<Child, FixtureError> {
    let mut command = Command::new("sh");
    command.args(["-c", GUARD, "sh"]).arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    // Of a group of its own: it must survive what ends the tests' group.
    command.current_dir("/").process_group(0);
    command.spawn().map_err(|error| {
        let _ = fs::remove_dir(folder);
        FixtureError::new(format!("failed to start a shell: {error}"))
    })
}

/// Parts of the environment.
const KEPT: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"];

const GUARD: &str = include_str!("guard.sh");
const START: &str = include_str!("start.sh");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lasting_folder_that_others_can_write_to_is_refused() {
        let user = rustix::process::geteuid().as_raw();
        let temporary = tempfile::tempdir().unwrap();
        let open = temporary.path().join("open");
        DirBuilder::new().mode(0o755).create(&open).unwrap();
        let elsewhere = temporary.path().join("elsewhere");
        std::os::unix::fs::symlink(temporary.path(), &elsewhere).unwrap();
        let own = temporary.path().join("own");

        assert!(private(open, user).is_err());
        assert!(private(elsewhere, user).is_err());
        assert!(private(own.clone(), user).is_ok() && private(own.clone(), user).is_ok());
        assert!(private(own, user + 1).is_err());
    }

    #[test]
    fn nothing_is_started_in_a_folder_whose_guard_is_at_work() {
        let mut folder = Folder::create("closed").unwrap();
        let mut late = folder.command("KILL", Path::new("/bin/echo"));
        late.arg("started");
        folder.close();
        let _ = folder.guard.wait();
        // The guard has removed the folder; the command would have run in it.
        late.current_dir("/").stderr(Stdio::null());

        let output = late.output().unwrap();

        assert!(!output.status.success() && output.stdout.is_empty());
    }

    #[test]
    fn a_program_is_given_nothing_of_the_tests_environment_but_where_programs_are() {
        let folder = Folder::create("environment").unwrap();

        let output = folder.command("KILL", Path::new("/usr/bin/env")).output().unwrap();

        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let names = said.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name);
        let own = ["HOME", "LC_ALL", "TZ", "PWD", "OLDPWD", "SHLVL", "_"];
        let strange = names.filter(|name| !KEPT.contains(name) && !own.contains(name)).collect::<Vec<_>>();
        assert!(strange.is_empty(), "{strange:?}");
        assert!(said.contains("LC_ALL=C") && said.contains("PATH="), "{said}");
    }
}
