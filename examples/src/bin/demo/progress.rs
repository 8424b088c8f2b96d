//! How far a run has come.

use std::io::{self, IsTerminal, Write};

/// A bar on the standard error output. Where that is no terminal, nothing is drawn.
#[derive(Debug)]
pub(crate) struct Progress {
    label: &'static str,
    total: usize,
    done: usize,
    draws: bool,
}

impl Progress {
    /// An empty bar.
    pub(crate) fn new(label: &'static str, total: usize) -> Self {
        let progress = Self { label, total, done: 0, draws: io::stderr().is_terminal() };
        progress.draw();
        progress
    }

    /// One more is done.
    pub(crate) fn advance(&mut self) {
        self.done += 1;
        self.draw();
    }

    fn draw(&self) {
        if !self.draws {
            return;
        }
        let Self { label, total, done, .. } = self;
        let filled = WIDTH * done / total.max(&1);
        let end = if done == total { "\n" } else { "" };
        // A terminal that went away does not matter.
        let _ =
            write!(io::stderr(), "\r{label:<17}[{:<WIDTH$}] {done:>3} of {total}{end}", "#".repeat(filled));
    }
}

const WIDTH: usize = 40;
