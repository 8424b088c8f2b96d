//! Serving, and the end of it.

use std::io;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// Serves until the process is asked to stop (SIGTERM, or an interrupt from the keyboard), then takes no new
/// connections and lets the requests that are under way finish, for a bounded time.
///
/// # Errors
/// If signals cannot be waited for, or the listener fails.
pub(crate) async fn serve_until_asked_to_stop(listener: TcpListener, router: Router) -> io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (stop, stopped) = oneshot::channel::<()>();
    let stopped = async {
        // An error says that the sender was dropped, which is how it is told.
        let _ = stopped.await;
    };
    let mut server =
        tokio::spawn(axum::serve(listener, router).with_graceful_shutdown(stopped).into_future());
    tokio::select! {
        ended = &mut server => return ended?,
        () = asked(&mut terminate) => {}
        () = asked(&mut interrupt) => {}
    }
    drop(stop);
    match timeout(REQUESTS_WAIT_MAX, &mut server).await {
        Ok(ended) => ended?,
        Err(_) => {
            server.abort();
            Ok(())
        }
    }
}

async fn asked(signal: &mut Signal) {
    if signal.recv().await.is_none() {
        // The signal can no longer be received, which is not the same as receiving it.
        std::future::pending::<()>().await;
    }
}

const REQUESTS_WAIT_MAX: Duration = Duration::from_secs(30);
