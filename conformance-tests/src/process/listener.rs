//! Hears another process until it has ended, and judges its end.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::process::{Child, ChildStdout};
use std::sync::{Arc, Mutex};

use super::link::{Course, Link};
use super::{Lost, lock};

/// Listens to a process on a thread of its own until it has ended.
pub(super) struct Listener {
    pub(super) link: Arc<Link>,
    pub(super) child: Arc<Mutex<Child>>,
    /// Its standard error.
    pub(super) errors: File,
    pub(super) lost: Lost,
}

impl Listener {
    pub(super) fn listen(self, output: ChildStdout) {
        let garbage = self.hear_all(output);
        let status = {
            let mut child = lock(&self.child);
            if garbage.is_some() {
                let _ = child.kill();
            }
            child.wait()
        };
        let course = self.link.ended();
        let how = match (garbage, status) {
            (Some(line), _) => format!("said what is no answer of a call: {line:?}"),
            (None, Ok(status)) if course == Course::Kill || course == Course::End && status.success() => {
                return;
            }
            (None, Ok(status)) => format!("has ended by itself, {status}"),
            (None, Err(error)) => format!("cannot be waited for: {error}"),
        };
        let errors = standard_error(self.errors);
        self.lost.note(format!("another process {how}\n{errors}"));
    }

    /// Hears the process until its output ends; if it says what it cannot, that is where listening ends.
    fn hear_all(&self, output: ChildStdout) -> Option<String> {
        let mut output = BufReader::new(output);
        let mut line = Vec::new();
        loop {
            line.clear();
            let read = output.read_until(b'\n', &mut line);
            // A last line that is cut off belongs to a process that was killed while it wrote.
            if read.is_err() || line.last() != Some(&b'\n') {
                return None;
            }
            let heard = serde_json::from_slice(&line).is_ok_and(|word| self.link.hear(word));
            if !heard {
                return Some(String::from_utf8_lossy(&line).chars().take(SHOWN).collect());
            }
        }
    }
}

/// The end of what a process wrote to its standard error.
fn standard_error(mut file: File) -> String {
    let mut bytes = Vec::new();
    if let Err(error) = file.rewind().and_then(|()| file.read_to_end(&mut bytes)) {
        return format!("its standard error cannot be read: {error}");
    }
    let start = bytes.len().saturating_sub(SHOWN);
    format!("its standard error ends with:\n{}", String::from_utf8_lossy(&bytes[start..]))
}

/// How many characters of what a process wrote are shown.
const SHOWN: usize = 2_000;
