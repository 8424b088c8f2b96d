//! The instruments for tests on real servers: that they do what they say.

use std::any::type_name_of_val;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

#[cfg(target_os = "linux")]
mod clock;
mod endings;
mod postgres;
mod pump;
mod redis;

/// Waits until `reached` says so, and panics if that does not come.
fn eventually(what: &str, mut reached: impl FnMut() -> bool) {
    let started = Instant::now();
    while !reached() {
        assert!(started.elapsed() < PATIENCE, "waited {PATIENCE:?} until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// A command that runs this one test in another process, for what happens to a process as a whole. There
/// [`is_the_other`] holds.
fn another<F: Fn()>(test: F) -> Command {
    let path = type_name_of_val(&test);
    let name = path.split_once("::").map_or(path, |(_, name)| name);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--nocapture"]).env(OTHER, "yes");
    command
}

fn is_the_other() -> bool {
    std::env::var_os(OTHER).is_some()
}

/// Runs it to its end.
fn passes_in_another(command: &mut Command) {
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

const OTHER: &str = "ONCEONLY_OTHER_PROCESS";

/// Far above what anything here takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
