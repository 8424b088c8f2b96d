//! What stands between a client and a server, and loses what it is told to.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tokio::sync::watch;

use self::state::State;
use super::port;
use crate::fixture::FixtureError;

mod carry;
mod doors;
mod state;

/// Carries bytes between clients and a server over the loopback interface, and knows nothing of what they mean.
///
/// It runs on a thread of its own. Dropping it closes its connections.
///
/// ```
/// use std::net::TcpListener;
///
/// use onceonly_conformance::servers::{Pump, Traffic};
///
/// # async fn test() -> Result<(), onceonly_conformance::FixtureError> {
/// let server = TcpListener::bind("127.0.0.1:0")?;
/// let pump = Pump::to(server.local_addr()?)?;
/// // The client connects to `pump.address()`. Its next call has an effect, and no answer:
/// pump.set_traffic(Traffic::HoldReplies);
/// // ... the client sends ...
/// pump.held().await;
/// pump.reset_all().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Pump {
    address: SocketAddr,
    state: Arc<watch::Sender<State>>,
    thread: Option<JoinHandle<()>>,
}

/// What becomes of clients that connect from now on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a test chooses one")]
pub enum Arrivals {
    /// They reach the server. If that takes no connections, theirs is made and then reset.
    Accept,
    /// Nobody listens: the system refuses them at once.
    Refuse,
    /// Their connection is made, and then nothing comes back and nothing is read.
    Ignore,
}

/// What becomes of bytes, on all connections.
///
/// A packet is what one read has brought, in either direction: as a rule what its sender has written at once. Packets and
/// bytes are counted from when the traffic was set, over all connections. A reset discards what was held, and both sides
/// see it unless it says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a test chooses one")]
pub enum Traffic {
    /// Everything passes, and what was held too.
    Forward,
    /// Requests are lost. The connection is of no use afterwards.
    DropRequests,
    /// Replies stay in the pump.
    HoldReplies,
    /// The next request passes, and its client's connection is reset at once: the request may or may not take effect.
    /// Then everything passes.
    ResetBehindRequest,
    /// So many bytes of replies pass, and then the connection is reset. Then everything passes.
    CutReplyAt(u64),
    /// Instead of the packet with this number, counted from 1, there comes a reset. Then everything passes.
    CutAtPacket(u64),
    /// The packet with this number, counted from 1, stays in the pump, as do all behind it.
    HoldAtPacket(u64),
    /// Each request waits for so long before it passes, and those behind it wait for it.
    DelayRequests(Duration),
    /// Each reply waits for so long before it passes, and those behind it wait for it.
    DelayReplies(Duration),
}

/// What has come to the pump since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Clients that have come, also those that were ignored or found no server.
    pub arrivals: u64,
    /// Connections that reached the server.
    pub connections: u64,
    /// Requests: all that a client sends until it is answered counts as one.
    pub requests: u64,
    /// Packets from clients.
    pub request_packets: u64,
    /// Packets from the server.
    pub reply_packets: u64,
}

impl Pump {
    /// A pump to the server at this address, that lets everything pass.
    ///
    /// # Errors
    /// If no port is free.
    pub fn to(server: SocketAddr) -> Result<Self, FixtureError> {
        let (port, listener) = port::find(|port| Ok(TcpListener::bind(port::address(port))?))?;
        let address = port::address(port);
        let state = Arc::new(watch::Sender::new(State::default()));
        let (told, tells) = mpsc::sync_channel(1);
        let shared = Arc::clone(&state);
        let run = move || match doors::open(listener) {
            Ok((runtime, listener)) => {
                let _ = told.send(Ok(()));
                runtime.block_on(doors::attend(listener, address, server, shared));
            }
            Err(error) => {
                let _ = told.send(Err(error));
            }
        };
        let thread = Some(thread::Builder::new().name("pump".to_owned()).spawn(run)?);
        tells.recv()??;
        Ok(Self { address, state, thread })
    }

    /// What clients connect to instead of the server.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Sets what becomes of new connections, and returns once it does.
    pub async fn set_arrivals(&self, arrivals: Arrivals) {
        self.state.send_modify(|state| state.arrivals_wanted = arrivals);
        self.until(|state| state.arrivals == arrivals).await;
    }

    /// Sets what becomes of every packet that comes from now on, and of those that are held.
    pub fn set_traffic(&self, traffic: Traffic) {
        self.state.send_modify(|state| state.set_traffic(traffic));
    }

    /// Waits until a packet is held, or has been since the traffic was set.
    pub async fn held(&self) {
        self.until(|state| state.has_held).await;
    }

    /// Resets every connection, and returns once that is done. Both sides see an error.
    pub async fn reset_all(&self) {
        self.end_all(Ending::Reset).await;
    }

    /// Closes every connection in order, and returns once that is done. What was held is lost.
    pub async fn close_all(&self) {
        self.end_all(Ending::Close).await;
    }

    /// What has come so far.
    pub fn counts(&self) -> Counts {
        self.state.borrow().counts
    }

    async fn end_all(&self, how: Ending) {
        self.state.send_modify(|state| state.end_all(how));
        self.until(|state| state.ending == 0).await;
    }

    async fn until(&self, reached: impl FnMut(&State) -> bool) {
        // The sender lives as long as this.
        let _ = self.state.subscribe().wait_for(reached).await;
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        self.state.send_modify(|state| state.is_closed = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Both sides are told that it ended in order.
    Close,
    /// Both sides are told that it did not.
    Reset,
    /// The client is told that it did not, and the server may still read what it was sent.
    ResetClient,
}
