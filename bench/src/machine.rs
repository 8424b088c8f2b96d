//! Where and with what was measured. A figure without this says nothing.

use std::process::Command;
use std::thread::available_parallelism;

use serde::Serialize;

/// The machine, and the versions of what runs on it.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    system: String,
    processor: String,
    cores: usize,
    rust: String,
    commit: String,
    versions: Vec<Version>,
}

#[derive(Debug, Serialize)]
struct Version {
    package: &'static str,
    version: String,
}

impl Machine {
    /// Looks about. What cannot be found out is called unknown.
    pub(crate) fn look() -> Self {
        let mut versions = vec![Version { package: "onceonly", version: env!("CARGO_PKG_VERSION").into() }];
        versions.extend(
            COMPARED
                .iter()
                .map(|package| Version { package, version: locked(LOCK, package).unwrap_or_else(unknown) }),
        );
        versions.push(Version { package: "SQLite", version: rusqlite::version().into() });
        Self {
            system: output("uname", &["-srm"]),
            processor: processor(),
            cores: available_parallelism().map_or(1, usize::from),
            rust: output("rustc", &["--version"]),
            commit: output("git", &["describe", "--always", "--dirty"]),
            versions,
        }
    }

    /// Names and values, for people.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let versions: Vec<String> =
            self.versions.iter().map(|Version { package, version }| format!("{package} {version}")).collect();
        vec![
            ("system", self.system.clone()),
            ("processor", format!("{}, {} cores", self.processor, self.cores)),
            ("rust", self.rust.clone()),
            ("commit", self.commit.clone()),
            ("versions", versions.join(", ")),
        ]
    }
}

fn processor() -> String {
    let linux = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(": ").map(|(_, name)| name.to_owned())
    });
    linux.unwrap_or_else(|| output("sysctl", &["-n", "machdep.cpu.brand_string"]))
}

/// What a program prints.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success());
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok());
    text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).unwrap_or_else(unknown)
}

/// The version of a package in a lock file.
fn locked(lock: &str, package: &str) -> Option<String> {
    let (_, entry) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    entry.split_once('"').map(|(version, _)| version.to_owned())
}

fn unknown() -> String {
    "unknown".into()
}

/// The lock file that this program was built with.
const LOCK: &str = include_str!("../../Cargo.lock");

/// Packages whose version bears on a figure.
const COMPARED: [&str; 6] = ["dashmap", "hashbrown", "parking_lot", "rusqlite", "sha2", "tokio"];

#[cfg(test)]
mod tests {
    use super::{COMPARED, LOCK, locked};

    #[test]
    fn the_lock_file_names_every_package_that_is_compared() {
        for package in COMPARED {
            assert!(locked(LOCK, package).is_some(), "{package} is not in the lock file");
        }
        assert_eq!(locked("name = \"a\"\nversion = \"1.2.3\"\n", "a").as_deref(), Some("1.2.3"));
        assert_eq!(locked("name = \"ab\"\nversion = \"1.2.3\"\n", "a"), None);
    }
}
