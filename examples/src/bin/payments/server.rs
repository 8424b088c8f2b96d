//! Connections: accepted, served within time limits, finished.
//!
//! `axum::serve` would do but for the time limits: it gives hyper no timer, and then a client that sends half a head
//! keeps its connection for ever.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::Response;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;

/// Serves the connections that it accepts. The body's time limit is that of `message::read`.
#[derive(Debug)]
pub(crate) struct Server {
    http: http1::Builder,
    router: Router,
    connections: GracefulShutdown,
    requests: Requests,
}

impl Server {
    /// A server of what `router` routes.
    pub(crate) fn new(router: Router) -> Self {
        let requests = Requests::default();
        let counted = middleware::from_fn_with_state(requests.clone(), Requests::count);
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new()).header_read_timeout(HEAD_WAIT_MAX);
        Self { http, router: router.layer(counted), connections: GracefulShutdown::new(), requests }
    }

    /// Accepts and serves until the future is dropped; then no new connection is accepted, and those that were run on.
    pub(crate) async fn accept(&self, listener: &TcpListener) {
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) if of_one_connection(&error) => continue,
                // Too many open files, for instance. Asking again at once would only keep a core busy.
                Err(error) => {
                    eprintln!("payments: cannot accept a connection: {error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let service = TowerToHyperService::new(self.router.clone());
            let connection = self.http.serve_connection(TokioIo::new(stream), service);
            let watched = self.connections.watch(connection);
            tokio::spawn(async move {
                // Whatever breaks a connection is between it and its client.
                let _ = watched.await;
            });
        }
    }

    /// How many requests are being answered.
    pub(crate) fn requests(&self) -> usize {
        self.requests.0.load(Ordering::Relaxed)
    }

    /// Closes idle connections, answers the requests of the others, and waits until all are closed.
    pub(crate) async fn finish(self) {
        self.connections.shutdown().await;
    }
}

/// The number of requests that are being answered.
#[derive(Clone, Debug, Default)]
struct Requests(Arc<AtomicUsize>);

impl Requests {
    async fn count(State(requests): State<Self>, request: Request, next: Next) -> Response {
        let _answered = requests.enter();
        next.run(request).await
    }

    /// Counts one more, until what it returns is dropped: also if the client hangs up.
    fn enter(&self) -> Answering {
        self.0.fetch_add(1, Ordering::Relaxed);
        Answering(self.clone())
    }
}

struct Answering(Requests);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

fn of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

const HEAD_WAIT_MAX: Duration = Duration::from_secs(30);
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);
