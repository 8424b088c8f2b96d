//! One connection.

use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;

use super::Ending;
use super::state::{Direction, State, Verdict};

/// Carries bytes both ways until one side is done, or the pump says so.
pub(super) async fn carry(client: TcpStream, server: SocketAddr, state: Arc<watch::Sender<State>>) {
    let Ok(server) = TcpStream::connect(server).await else { return reset(client) };
    let mut generation = 0;
    state.send_modify(|state| generation = state.opened());
    // Also when the pump's runtime goes.
    let open = Open { state: &state, generation };
    let mut connection = Connection { client, server };
    let ending = open.run(&mut connection).await.unwrap_or(Ending::Reset);
    connection.end(ending);
}

struct Connection {
    client: TcpStream,
    server: TcpStream,
}

struct Open<'a> {
    state: &'a watch::Sender<State>,
    generation: u64,
}

impl Connection {
    fn end(self, ending: Ending) {
        if matches!(ending, Ending::Reset | Ending::ResetClient) {
            reset(self.client);
        }
        if ending == Ending::Reset {
            reset(self.server);
        }
    }
}

/// Closes a connection so that the other side sees an error: without lingering over what is under way.
fn reset(stream: TcpStream) {
    // It fails where the other side has been faster.
    let _ = set_socket_linger(&stream, Some(Duration::ZERO));
}

impl Open<'_> {
    async fn run(&self, connection: &mut Connection) -> io::Result<Ending> {
        connection.client.set_nodelay(true)?;
        connection.server.set_nodelay(true)?;
        let (from_client, to_client) = connection.client.split();
        let (from_server, to_server) = connection.server.split();
        let asked = AtomicBool::new(false);
        let requests =
            Flow { direction: Direction::Request, from: from_client, to: to_server, asked: &asked };
        let replies = Flow { direction: Direction::Reply, from: from_server, to: to_client, asked: &asked };
        tokio::select! {
            ending = requests.run(self.state) => ending,
            ending = replies.run(self.state) => ending,
            ending = self.told_to_end() => Ok(ending),
        }
    }

    async fn told_to_end(&self) -> Ending {
        let mut told = self.state.subscribe();
        match told.wait_for(|state| self.generation < state.generation).await {
            Ok(state) => state.how,
            Err(_) => Ending::Close,
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.state.send_modify(|state| state.closed(self.generation));
    }
}

/// One direction of a connection.
struct Flow<'a> {
    direction: Direction,
    from: ReadHalf<'a>,
    to: WriteHalf<'a>,
    /// Whether the client was the last to send.
    asked: &'a AtomicBool,
}

impl Flow<'_> {
    async fn run(mut self, state: &watch::Sender<State>) -> io::Result<Ending> {
        let mut buffer = vec![0; PACKET_BYTES_MAX];
        loop {
            let bytes = self.from.read(&mut buffer).await?;
            if bytes == 0 {
                return self.end().await;
            }
            self.count(state);
            match self.verdict(state, bytes).await {
                Verdict::Drop => {}
                Verdict::Cut(bytes, ending) => {
                    self.to.write_all(&buffer[..bytes]).await?;
                    return Ok(ending);
                }
                Verdict::Delay(delay) => {
                    tokio::time::sleep(delay).await;
                    self.to.write_all(&buffer[..bytes]).await?;
                }
                Verdict::Forward | Verdict::Hold => self.to.write_all(&buffer[..bytes]).await?,
            }
        }
    }

    /// The verdict on a packet, once it is not held any more.
    async fn verdict(&self, state: &watch::Sender<State>, bytes: usize) -> Verdict {
        let mut told = state.subscribe();
        loop {
            let mut judged = (Verdict::Hold, 0);
            state.send_if_modified(|state| {
                judged = (state.judge(self.direction, bytes), state.version);
                judged.0 == Verdict::Hold
            });
            let (verdict, version) = judged;
            // The sender is borrowed, and so not gone.
            if verdict != Verdict::Hold || told.wait_for(|state| state.version != version).await.is_err() {
                return verdict;
            }
        }
    }

    fn count(&self, state: &watch::Sender<State>) {
        let is_request = self.direction == Direction::Request;
        let asked = self.asked.swap(is_request, Ordering::Relaxed);
        // Nobody waits for a count.
        state.send_if_modified(|state| {
            let counts = &mut state.counts;
            if is_request {
                counts.request_packets += 1;
                counts.requests += u64::from(!asked);
            } else {
                counts.reply_packets += 1;
            }
            false
        });
    }

    /// The sender has no more to send. A server that is told so still answers what it was asked; behind its last reply
    /// there is nothing to wait for.
    async fn end(&mut self) -> io::Result<Ending> {
        match self.direction {
            Direction::Request => {
                self.to.shutdown().await?;
                pending().await
            }
            Direction::Reply => Ok(Ending::Close),
        }
    }
}

const PACKET_BYTES_MAX: usize = 64 * 1024;
