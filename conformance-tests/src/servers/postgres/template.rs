//! What `initdb` makes, once.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use super::data;
use crate::fixture::FixtureError;
use crate::servers::folder;
use crate::servers::server::Server;

/// Gives `server` an empty cluster: a copy of the one that the first server of this version left for the others.
pub(super) fn copy_into(server: &Server, binaries: &Path) -> Result<(), FixtureError> {
    let templates = folder::lasting("postgres")?;
    let lock = File::create(templates.join("lock"))?;
    // Whoever comes first makes the template, and the others wait for it. Given back when the file is closed.
    lock.lock()?;
    let template = templates.join(name(binaries)?);
    if !is_fresh(&template) {
        make(server, binaries, &template)?;
    }
    let copied = output(Command::new("cp").arg("-Rp").arg(&template).arg(data(server)))?;
    if copied.status.success() {
        return Ok(());
    }
    Err(FixtureError::new(String::from_utf8_lossy(&copied.stderr)))
}

/// It is made in the server's own folder, so that one that was not finished is cleared away with that.
fn make(server: &Server, binaries: &Path, template: &Path) -> Result<(), FixtureError> {
    if template.exists() {
        fs::remove_dir_all(template)?;
    }
    let made = server.folder().path().join("template");
    let made_name = made.display().to_string();
    let mut arguments = vec!["--pgdata", &made_name, "--username=postgres", "--auth=trust", "--no-sync"];
    arguments.extend(["--encoding=UTF8", "--locale=C"]);
    server.run(&binaries.join("initdb"), &arguments)?;
    Ok(fs::rename(made, template)?)
}

/// Some systems clear the temporary folder of files that nobody has used for days, one by one.
fn is_fresh(template: &Path) -> bool {
    let age = || SystemTime::now().duration_since(fs::metadata(template).ok()?.modified().ok()?).ok();
    age().is_some_and(|age| age < KEPT)
}

/// The version, as words that a file may be called by.
fn name(binaries: &Path) -> Result<PathBuf, FixtureError> {
    let said = output(Command::new(binaries.join("postgres")).arg("--version"))?;
    let version = String::from_utf8_lossy(&said.stdout).into_owned();
    let words = version.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '.');
    Ok(words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-").into())
}

fn output(command: &mut Command) -> Result<Output, FixtureError> {
    let program = command.get_program().to_owned();
    command
        .output()
        .map_err(|error| FixtureError::new(format!("failed to run {}: {error}", program.display())))
}

const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_of_yesterday_is_made_anew() {
        let template = tempfile::tempdir().unwrap();
        assert!(is_fresh(template.path()));

        let yesterday = SystemTime::now() - KEPT - Duration::from_secs(60);
        File::open(template.path()).unwrap().set_modified(yesterday).unwrap();

        assert!(!is_fresh(template.path()));
        assert!(!is_fresh(&template.path().join("missing")));
    }
}
