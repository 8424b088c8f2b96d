//! Another process: the test binary once more, running the same test in another role.

use std::io::{self, BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{self, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Instant;
use std::{env, thread};

/// A child process that runs one of the tests. It is killed when it is dropped.
pub(crate) struct Child {
    process: process::Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

/// What this process is to do in the test `test`; `None` in the process that the tests were started in.
pub(crate) fn role() -> Option<String> {
    env::var(ROLE).ok()
}

/// Tells the parent something.
pub(crate) fn tell(word: &str) {
    // A line of its own, whatever the test harness has begun to print.
    println!("\n{MARK}{word}");
}

/// Waits until the parent says to go on.
pub(crate) fn wait_for_parent() {
    let mut line = String::new();
    io::stdin().read_line(&mut line).expect("the parent is there");
}

impl Child {
    /// Starts the test called `test` (its path within this binary) as `role`, with the database in `directory`.
    pub(crate) fn start(test: &str, role: &str, directory: &Path) -> Self {
        let binary = env::current_exe().expect("the test binary has a path");
        Self::start_with(Command::new(binary), test, role, directory)
    }

    /// The same with a command that runs the test binary in some other way.
    pub(crate) fn start_with(mut command: Command, test: &str, role: &str, directory: &Path) -> Self {
        command
            .args(["--exact", test, "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(DIRECTORY, directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = spawn(&mut command).expect("the child starts");
        let input = process.stdin.take().expect("the input is piped");
        let output = BufReader::new(process.stdout.take().expect("the output is piped")).lines();
        Self { process, input, output }
    }

    /// The next word that the child tells.
    pub(crate) fn hear(&mut self) -> String {
        for line in self.output.by_ref() {
            let line = line.expect("the child's output is text");
            if let Some(word) = line.strip_prefix(MARK) {
                return word.to_owned();
            }
        }
        panic!("the child ended without a word");
    }

    pub(crate) fn go_on(&mut self) {
        self.input.write_all(b"\n").expect("the child listens");
    }

    /// Ends it as a crash would: nothing is cleaned up.
    pub(crate) fn kill(&mut self) -> ExitStatus {
        self.process.kill().expect("the child runs");
        self.process.wait().expect("the child ends")
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Starts a program that may just have been written. A child that another test forks at that moment has the file open
/// for writing until it becomes a program of its own.
fn spawn(command: &mut Command) -> io::Result<process::Child> {
    let given_up = Instant::now() + super::PATIENCE;
    loop {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && Instant::now() < given_up => {
                thread::yield_now();
            }
            started => return started,
        }
    }
}

/// The directory that the parent gave the child.
pub(crate) fn directory() -> PathBuf {
    env::var_os(DIRECTORY).expect("a child is given a directory").into()
}

const ROLE: &str = "ONCEONLY_SQLITE_TEST_ROLE";
const DIRECTORY: &str = "ONCEONLY_SQLITE_TEST_DIRECTORY";
const MARK: &str = "told: ";
