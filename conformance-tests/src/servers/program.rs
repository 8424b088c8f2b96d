//! Where the servers' programs are.

use std::env;
use std::path::{Path, PathBuf};

use crate::fixture::FixtureError;

/// A program that is to be looked for, and what to do if it is not there.
pub(super) struct Wanted {
    pub(super) program: &'static str,
    /// The variable that names the folder it is in.
    pub(super) variable: &'static str,
    /// Which packages bring it.
    pub(super) packages: &'static str,
}

impl Wanted {
    /// The folder that the program is in: the one that the variable names, else the first of `usual` that has it, else
    /// the first on the path.
    pub(super) fn folder(&self, usual: Vec<PathBuf>) -> Result<PathBuf, FixtureError> {
        if let Some(named) = env::var_os(self.variable).map(PathBuf::from) {
            return if self.is_in(&named) { Ok(named) } else { Err(self.missing(&named)) };
        }
        let path = env::var_os("PATH").unwrap_or_default();
        let mut folders = usual.into_iter().chain(env::split_paths(&path));
        folders.find(|folder| self.is_in(folder)).ok_or_else(|| {
            let Self { program, variable, packages } = self;
            FixtureError::new(format!(
                "{program} is not installed: {packages}; or set {variable} to the folder it is in"
            ))
        })
    }

    fn is_in(&self, folder: &Path) -> bool {
        folder.join(self.program).is_file()
    }

    fn missing(&self, named: &Path) -> FixtureError {
        let Self { program, variable, .. } = self;
        FixtureError::new(format!("{variable} is set to {}, where there is no {program}", named.display()))
    }
}

/// Whether a program can be run by its name.
pub(super) fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
