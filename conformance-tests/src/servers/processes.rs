//! The system's processes.

use std::fs;
use std::process::Command;

use crate::fixture::FixtureError;

/// Every process there is, at one time or nearly so.
#[derive(Debug)]
pub(super) struct Processes(Vec<Process>);

#[derive(Debug, PartialEq, Eq)]
struct Process {
    id: u32,
    parent: u32,
    /// A letter: `T` if stopped, `Z` if it has ended and its parent has not looked yet.
    state: char,
}

impl Processes {
    pub(super) fn look() -> Result<Self, FixtureError> {
        let found = if cfg!(target_os = "linux") { in_proc() } else { by_ps() };
        found.map(Self)
    }

    /// `root`, its children, and theirs: each behind its parent.
    pub(super) fn family(&self, root: u32) -> Vec<u32> {
        let mut family = vec![root];
        let mut seen = 0;
        while let Some(&parent) = family.get(seen) {
            family.extend(self.0.iter().filter(|process| process.parent == parent).map(|process| process.id));
            seen += 1;
        }
        family
    }

    /// Whether the process has ended.
    pub(super) fn is_over(&self, id: u32) -> bool {
        matches!(self.state(id), None | Some('Z' | 'X'))
    }

    /// Whether the process is stopped, or has ended.
    pub(super) fn is_still(&self, id: u32) -> bool {
        self.is_over(id) || self.state(id) == Some('T')
    }

    fn state(&self, id: u32) -> Option<char> {
        self.0.iter().find(|process| process.id == id).map(|process| process.state)
    }
}

/// Linux, where `ps` is not always installed.
fn in_proc() -> Result<Vec<Process>, FixtureError> {
    let mut processes = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(id) = name.to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // It may have ended since.
        let Ok(stat) = fs::read_to_string(format!("/proc/{id}/stat")) else { continue };
        processes.extend(from_stat(id, &stat));
    }
    Ok(processes)
}

/// `id (name) state parent ...`; the name may hold blanks and brackets.
fn from_stat(id: u32, stat: &str) -> Option<Process> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some(Process { id, parent: fields.next()?.parse().ok()?, state })
}

fn by_ps() -> Result<Vec<Process>, FixtureError> {
    let listed = Command::new("ps").args(["-A", "-o", "pid=,ppid=,state="]).output();
    let listed = listed.map_err(|error| FixtureError::new(format!("failed to run ps: {error}")))?;
    Ok(String::from_utf8_lossy(&listed.stdout).lines().filter_map(from_line).collect())
}

fn from_line(line: &str) -> Option<Process> {
    let mut fields = line.split_whitespace();
    let mut number = || fields.next()?.parse().ok();
    Some(Process { id: number()?, parent: number()?, state: fields.next()?.chars().next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_is_a_process_with_all_that_descend_from_it() {
        let process = |id, parent| Process { id, parent, state: 'S' };
        let processes =
            Processes(vec![process(7, 3), process(2, 1), process(3, 2), process(9, 1), process(4, 2)]);

        assert_eq!(processes.family(2), [2, 3, 4, 7]);
    }

    #[test]
    fn a_name_with_brackets_and_blanks_is_no_field() {
        let process = from_stat(42, "42 (a) Z 1) T 17 42 42 0 -1").unwrap();

        assert_eq!(process, Process { id: 42, parent: 17, state: 'T' });
    }

    #[test]
    fn a_line_of_ps_holds_a_process() {
        assert_eq!(from_line("   42     17 Ss+"), Some(Process { id: 42, parent: 17, state: 'S' }));
    }
}
