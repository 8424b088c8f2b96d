//! The end of the process.

use std::io;
use std::time::Duration;

use onceonly::{Drained, Idempotency};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, timeout_at};

use crate::server::Server;

/// What asks the process to stop: SIGTERM, or an interrupt from the keyboard.
#[derive(Debug)]
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// From now on these signals no longer end the process by themselves.
    ///
    /// # Errors
    /// If they cannot be waited for.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            () = received(&mut self.terminate) => {}
            () = received(&mut self.interrupt) => {}
        }
    }
}

/// Lets requests finish that are under way, and charges whose clients have gone, for [`FINISH_MAX`] in all. What does
/// not end in time is left to its lease, as after a crash.
pub(crate) async fn finish(server: Server, onceonly: &Idempotency) {
    let deadline = Instant::now() + FINISH_MAX;
    eprintln!("payments: finishing {} requests; Ctrl-C again ends at once", server.requests());
    if timeout_at(deadline, server.finish()).await.is_err() {
        eprintln!("payments: some connections are still open and are cut off");
    }
    let Drained { unfinished } = onceonly.drain(deadline.duration_since(Instant::now())).await;
    if unfinished > 0 {
        eprintln!("payments: {unfinished} charges still run and are left to their leases");
    }
}

async fn received(signal: &mut Signal) {
    if signal.recv().await.is_none() {
        // The signal can no longer be received, which is not the same as receiving it.
        std::future::pending::<()>().await;
    }
}

const FINISH_MAX: Duration = Duration::from_secs(20);
