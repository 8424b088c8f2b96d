//! Work that may block its thread for ever.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Does `work` on a thread of its own and waits for it, so that work that blocks its thread is found out too. That thread
/// is then left behind: nothing can stop it.
pub(crate) fn watched<T: Send + 'static>(
    name: &str,
    patience: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Unfinished> {
    let (sender, receiver) = mpsc::sync_channel(1);
    let running = thread::Builder::new().name(name.to_owned()).spawn(move || {
        // The receiver is gone if the time was up; nobody needs the outcome then.
        let _ = sender.send(work());
    });
    running.map_err(Unfinished::NoThread)?;
    receiver.recv_timeout(patience).map_err(|error| match error {
        RecvTimeoutError::Timeout => Unfinished::Blocked,
        RecvTimeoutError::Disconnected => Unfinished::Panicked,
    })
}

/// Why work has no outcome.
pub(crate) enum Unfinished {
    /// The system gave no thread.
    NoThread(io::Error),
    /// It was not over in time.
    Blocked,
    /// It panicked.
    Panicked,
}
