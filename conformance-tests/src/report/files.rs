//! Where reports are left, and how they are found again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use super::{InvalidReport, Report, junit};
use crate::suite::Suite;

/// Where a run leaves its report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    folder: PathBuf,
    store: String,
    layout: Layout,
}

/// How a report is spread over files.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Layout {
    /// One file, and one of JUnit beside it.
    Whole,
    /// A file for each case, as parts of the run with this id: other processes run the other cases.
    Parts { run: String },
}

impl Destination {
    /// What the environment asks for, if anything.
    pub(crate) fn from_environment(store: &str) -> io::Result<Option<Self>> {
        let Some(folder) = env::var_os(FOLDER) else { return Ok(None) };
        // Absolute, so that a failure's report names a file that can be opened from anywhere.
        let folder = std::path::absolute(folder)?;
        let layout = env::var(NEXTEST_RUN).map_or(Layout::Whole, |run| Layout::Parts { run });
        Ok(Some(Self { folder, store: file_name(store), layout }))
    }

    /// The id of the run that this process is part of, if there are others.
    pub(crate) fn run(&self) -> Option<&str> {
        match &self.layout {
            Layout::Whole => None,
            Layout::Parts { run } => Some(run),
        }
    }

    /// The file that will tell about a case.
    pub(crate) fn file_of(&self, case: &str) -> PathBuf {
        match self.layout {
            Layout::Whole => self.folder.join(&self.store).with_extension("json"),
            Layout::Parts { .. } => {
                self.folder.join(&self.store).join(file_name(case)).with_extension("json")
            }
        }
    }

    /// Writes what there is to write. Says where.
    pub(crate) fn write(&self, report: &Report) -> io::Result<PathBuf> {
        match self.layout {
            Layout::Whole => {
                let file = self.folder.join(&self.store).with_extension("json");
                put(&file, &report.to_json())?;
                put(&file.with_extension("xml"), &junit(std::slice::from_ref(report)))?;
                Ok(file)
            }
            Layout::Parts { .. } => {
                for case in &report.cases {
                    let part = Report { cases: vec![case.clone()], ..report.clone() };
                    put(&self.file_of(&case.name), &part.to_json())?;
                }
                Ok(self.folder.join(&self.store))
            }
        }
    }
}

/// The reports in `folder`, by the names of their stores: of each store the run that began last.
///
/// # Errors
/// [`ReadError`], which names the file. A folder without reports is an error too: it was not what was meant.
pub fn read_folder(folder: impl AsRef<Path>) -> Result<Vec<Report>, ReadError> {
    let folder = folder.as_ref();
    let mut runs: BTreeMap<(String, String), Report> = BTreeMap::new();
    for file in report_files(folder)? {
        let part = read(&file)?;
        match runs.get_mut(&(part.store.clone(), part.run.clone())) {
            Some(run) => join(run, part),
            None => {
                runs.insert((part.store.clone(), part.run.clone()), part);
            }
        }
    }
    let mut latest: BTreeMap<String, Report> = BTreeMap::new();
    for run in runs.into_values() {
        match latest.get(&run.store) {
            Some(later) if run.started < later.started => {}
            _ => {
                latest.insert(run.store.clone(), run);
            }
        }
    }
    if latest.is_empty() {
        return Err(ReadError::Empty { folder: folder.to_owned() });
    }
    Ok(latest.into_values().map(in_order).collect())
}

/// Why reports could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A file or folder cannot be read.
    #[error("{}: {source}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is no report, or one of a later release.
    #[error("{}: {source}", path.display())]
    Invalid {
        /// Which.
        path: PathBuf,
        /// Why.
        source: InvalidReport,
    },
    /// There is none.
    #[error(
        "{}: no reports here; {FOLDER}={} cargo test --test conformance leaves them",
        folder.display(),
        folder.display()
    )]
    Empty {
        /// Where there is none.
        folder: PathBuf,
    },
}

fn read(path: &Path) -> Result<Report, ReadError> {
    let text = fs::read_to_string(path).map_err(|source| unreadable(path, source))?;
    Report::from_json(&text).map_err(|source| ReadError::Invalid { path: path.to_owned(), source })
}

/// Adds a part of the same run.
fn join(run: &mut Report, part: Report) {
    run.duration_ms += part.duration_ms;
    if part.started < run.started {
        run.started = part.started;
    }
    run.cases.extend(part.cases);
}

/// Puts the cases in the order of the catalogue.
fn in_order(mut report: Report) -> Report {
    let place = |name: &str| Suite::cases().position(|case| case.name == name);
    // One that this release does not have comes behind the others.
    report.cases.sort_by_cached_key(|case| (place(&case.name).unwrap_or(usize::MAX), case.name.clone()));
    report
}

/// The JSON files in `folder` and in the folders of its stores.
fn report_files(folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let mut files = Vec::new();
    for path in entries(folder)? {
        if path.is_dir() {
            files.extend(entries(&path)?);
        } else {
            files.push(path);
        }
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    Ok(files)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let listed = fs::read_dir(folder).and_then(|entries| entries.map(|entry| Ok(entry?.path())).collect());
    listed.map_err(|source| unreadable(folder, source))
}

fn unreadable(path: &Path, source: io::Error) -> ReadError {
    ReadError::Unreadable { path: path.to_owned(), source }
}

/// Writes a file so that whoever reads it at the same time sees all of it or what was there before.
fn put(path: &Path, text: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = path.with_extension("unfinished");
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, path)
}

fn file_name(name: &str) -> String {
    name.chars()
        .map(|letter| if letter.is_ascii_alphanumeric() || "-_".contains(letter) { letter } else { '-' })
        .collect()
}

/// The folder for reports. None are written without it.
const FOLDER: &str = "ONCEONLY_REPORT";
/// Set by nextest in the processes of its tests, each of which runs one: the id of the run that they are part of.
const NEXTEST_RUN: &str = "NEXTEST_RUN_ID";
