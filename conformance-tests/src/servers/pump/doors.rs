//! Where clients arrive.

use std::future::pending;
use std::io;
use std::net::{SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use super::Arrivals;
use super::carry::carry;
use super::state::State;

/// A runtime of the pump's own, with its listener.
pub(super) fn open(listener: StdListener) -> io::Result<(Runtime, TcpListener)> {
    listener.set_nonblocking(true)?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let context = runtime.enter();
    let listener = TcpListener::from_std(listener)?;
    drop(context);
    Ok((runtime, listener))
}

/// Attends to arrivals until the pump is closed.
pub(super) async fn attend(
    listener: TcpListener,
    address: SocketAddr,
    server: SocketAddr,
    state: Arc<watch::Sender<State>>,
) {
    let mut told = state.subscribe();
    let mut doors =
        Doors { address, arrivals: Arrivals::Accept, listener: Some(listener), ignored: Vec::new() };
    loop {
        let (wanted, is_closed) = {
            let state = told.borrow_and_update();
            (state.arrivals_wanted, state.is_closed)
        };
        if is_closed {
            return;
        }
        doors.set(wanted).await;
        state.send_if_modified(|state| {
            let is_new = state.arrivals != wanted;
            state.arrivals = wanted;
            is_new
        });
        tokio::select! {
            client = doors.arrival() => {
                match wanted {
                    Arrivals::Accept => drop(tokio::spawn(carry(client, server, Arc::clone(&state)))),
                    Arrivals::Refuse | Arrivals::Ignore => doors.ignored.push(client),
                }
                state.send_modify(|state| state.counts.arrivals += 1);
            }
            changed = told.changed() => if changed.is_err() { return },
        }
    }
}

struct Doors {
    address: SocketAddr,
    arrivals: Arrivals,
    listener: Option<TcpListener>,
    ignored: Vec<TcpStream>,
}

impl Doors {
    async fn set(&mut self, arrivals: Arrivals) {
        if arrivals == self.arrivals {
            return;
        }
        // Those whose connection the system has made, and whom nobody has seen yet, are reset by this.
        if arrivals == Arrivals::Refuse || self.arrivals == Arrivals::Ignore {
            self.listener = None;
        }
        self.ignored.clear();
        self.arrivals = arrivals;
        while arrivals != Arrivals::Refuse && self.listener.is_none() {
            match TcpListener::bind(self.address).await {
                Ok(listener) => self.listener = Some(listener),
                // The port was taken while nobody listened there.
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }

    async fn arrival(&self) -> TcpStream {
        let Some(listener) = &self.listener else { return pending().await };
        loop {
            match listener.accept().await {
                Ok((client, _)) => return client,
                // It is gone already, or the process is out of file descriptors.
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    }
}

const PAUSE: Duration = Duration::from_millis(10);
