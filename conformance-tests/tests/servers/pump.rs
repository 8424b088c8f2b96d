//! The pump, before a server that answers every packet with the same bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use onceonly_conformance::servers::{Arrivals, Pump, Traffic};

use super::{PATIENCE, eventually};

#[test]
fn everything_passes_and_is_counted() {
    let (server, pump, mut client) = connected();

    for word in ["one", "two", "three"] {
        assert_eq!(ask(&mut client, word).unwrap(), word);
    }

    let counts = pump.counts();
    assert_eq!((counts.arrivals, counts.connections, counts.requests), (1, 1, 3));
    assert_eq!((counts.request_packets, counts.reply_packets), (3, 3));
    assert_eq!(server.heard(), "onetwothree");
}

#[test]
fn what_a_client_sends_before_it_is_answered_is_one_request() {
    let (_server, pump, mut client) = connected();
    pump.set_traffic(Traffic::DropRequests);

    for packets in 1..=3 {
        client.write_all(b"more").unwrap();
        eventually("the packet has come", || pump.counts().request_packets == packets);
    }

    assert_eq!(pump.counts().requests, 1);
}

#[test]
fn a_client_that_has_no_more_to_send_is_still_answered() {
    let (_server, _pump, mut client) = connected();
    client.write_all(b"last").unwrap();
    client.shutdown(Shutdown::Write).unwrap();

    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();

    assert_eq!(answer, "last");
}

#[tokio::test]
async fn arrivals_are_refused_and_then_let_in_at_the_same_address() {
    let (_server, pump, mut early) = connected();

    pump.set_arrivals(Arrivals::Refuse).await;

    let refused = TcpStream::connect(pump.address()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    assert_eq!(ask(&mut early, "still here").unwrap(), "still here");
    pump.set_arrivals(Arrivals::Accept).await;
    assert_eq!(ask(&mut connect(&pump), "again").unwrap(), "again");
}

#[tokio::test]
async fn arrivals_that_are_ignored_are_connected_to_nobody() {
    let (server, pump, _early) = connected();
    pump.set_arrivals(Arrivals::Ignore).await;

    let mut ignored = connect(&pump);
    ignored.write_all(b"hello?").unwrap();
    eventually("the client has come", || pump.counts().arrivals == 2);
    pump.set_arrivals(Arrivals::Accept).await;

    assert!(is_over(&mut ignored));
    assert_eq!(ask(&mut connect(&pump), "again").unwrap(), "again");
    assert_eq!((pump.counts().connections, server.heard().as_str()), (2, "again"));
}

#[tokio::test]
async fn requests_that_are_dropped_do_not_reach_the_server() {
    let (server, pump, mut client) = connected();
    pump.set_traffic(Traffic::DropRequests);

    client.write_all(b"lost").unwrap();
    eventually("the request has come", || pump.counts().requests == 1);
    pump.close_all().await;

    assert_eq!(answer(&mut client, 4).unwrap(), "");
    server.ended();
    assert_eq!(server.heard(), "");
}

#[tokio::test]
async fn a_reply_that_is_held_is_lost_in_a_reset_behind_its_effect() {
    let (server, pump, mut client) = connected();
    pump.set_traffic(Traffic::HoldReplies);

    client.write_all(b"charge").unwrap();
    held(&pump).await;
    assert_eq!(server.heard(), "charge");
    pump.reset_all().await;

    assert_eq!(answer(&mut client, 6).unwrap_err(), ErrorKind::ConnectionReset);
}

#[tokio::test]
async fn a_reply_that_is_held_comes_when_traffic_flows_again() {
    let (_server, pump, mut client) = connected();
    for word in ["first", "second"] {
        pump.set_traffic(Traffic::HoldReplies);
        client.write_all(word.as_bytes()).unwrap();
        held(&pump).await;
        assert!(has_nothing(&client));

        pump.set_traffic(Traffic::Forward);

        assert_eq!(answer(&mut client, word.len()).unwrap(), word);
    }
}

#[test]
fn a_request_passes_and_its_connection_is_reset_behind_it() {
    let (server, pump, mut client) = connected();
    pump.set_traffic(Traffic::ResetBehindRequest);

    client.write_all(b"charge").unwrap();

    assert_eq!(answer(&mut client, 6).unwrap_err(), ErrorKind::ConnectionReset);
    server.ended();
    assert_eq!(server.heard(), "charge");
    assert_eq!(ask(&mut connect(&pump), "again").unwrap(), "again");
}

#[test]
fn a_reply_is_cut_at_every_byte() {
    let word = "a reply";
    let (_server, pump, _client) = connected();
    for bytes in 0..=word.len() {
        let mut client = connect(&pump);
        pump.set_traffic(Traffic::CutReplyAt(bytes as u64));
        client.write_all(word.as_bytes()).unwrap();

        assert_eq!(answer(&mut client, bytes).unwrap(), word[..bytes]);
        assert_eq!(answer(&mut client, 1).unwrap_err(), ErrorKind::ConnectionReset);
        assert_eq!(ask(&mut connect(&pump), word).unwrap(), word);
    }
}

#[test]
fn a_reply_is_cut_at_a_byte_of_a_later_packet() {
    let (_server, pump, mut client) = connected();
    pump.set_traffic(Traffic::CutReplyAt(8));

    assert_eq!(ask(&mut client, "first").unwrap(), "first");
    client.write_all(b"second").unwrap();

    assert_eq!(answer(&mut client, 3).unwrap(), "sec");
    assert_eq!(answer(&mut client, 1).unwrap_err(), ErrorKind::ConnectionReset);
}

#[test]
fn a_connection_is_cut_at_every_packet() {
    // Two requests and their replies, in turn.
    for (packet, heard) in [(1, ""), (2, "one"), (3, "one"), (4, "onetwo")] {
        let (server, pump, mut client) = connected();
        pump.set_traffic(Traffic::CutAtPacket(packet));

        let answers = ["one", "two"].map(|word| ask(&mut client, word).is_ok());

        assert_eq!(answers, [2 < packet, false], "packet {packet}");
        server.ended();
        assert_eq!(server.heard(), heard, "packet {packet}");
        assert_eq!(ask(&mut connect(&pump), "again").unwrap(), "again");
    }
}

#[tokio::test]
async fn a_packet_is_held_with_all_behind_it() {
    for (packet, heard) in [(1, ""), (2, "one"), (3, "one"), (4, "onetwo")] {
        let (server, pump, client) = connected();
        pump.set_traffic(Traffic::HoldAtPacket(packet));

        let mut asking = client.try_clone().unwrap();
        let asking = thread::spawn(move || ["one", "two"].map(|word| ask(&mut asking, word).unwrap()));
        held(&pump).await;

        assert_eq!(server.heard(), heard, "packet {packet}");
        pump.set_traffic(Traffic::Forward);
        assert_eq!(asking.join().unwrap(), ["one", "two"]);
    }
}

#[tokio::test]
async fn one_direction_is_delayed_and_the_other_is_not() {
    let long = Duration::from_secs(3_600);
    let (server, pump, mut client) = connected();
    pump.set_traffic(Traffic::DelayReplies(long));
    client.write_all(b"reply").unwrap();
    eventually("the reply has come to the pump", || pump.counts().reply_packets == 1);
    assert!(has_nothing(&client));

    let mut client = connect(&pump);
    pump.set_traffic(Traffic::DelayRequests(long));
    client.write_all(b"request").unwrap();
    eventually("the request has come to the pump", || pump.counts().requests == 2);
    pump.close_all().await;
    server.ended();
    assert_eq!(server.heard(), "reply");

    let mut client = connect(&pump);
    for traffic in
        [Traffic::DelayRequests(Duration::from_millis(1)), Traffic::DelayReplies(Duration::from_millis(1))]
    {
        pump.set_traffic(traffic);
        assert_eq!(ask(&mut client, "late").unwrap(), "late");
    }
}

#[tokio::test]
async fn connections_are_reset_or_closed_and_new_ones_are_made() {
    let (server, pump, mut client) = connected();

    pump.reset_all().await;

    assert_eq!(answer(&mut client, 1).unwrap_err(), ErrorKind::ConnectionReset);
    assert_eq!(server.ended(), Some(ErrorKind::ConnectionReset));
    let mut client = connect(&pump);
    assert_eq!(ask(&mut client, "again").unwrap(), "again");
    pump.close_all().await;
    assert_eq!(answer(&mut client, 1).unwrap(), "");
    assert_eq!(server.ended(), None);
}

#[test]
fn a_pump_that_is_dropped_closes_its_connections_and_listens_no_more() {
    let (_server, pump, mut client) = connected();
    let address = pump.address();

    drop(pump);

    assert!(is_over(&mut client));
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_server_that_is_not_there_is_a_reset() {
    let nobody = "127.0.0.1:1".parse().unwrap();
    let pump = Pump::to(nobody).unwrap();

    assert_eq!(answer(&mut connect(&pump), 1).unwrap_err(), ErrorKind::ConnectionReset);
    assert_eq!(pump.counts().connections, 0);
}

/// A server that sends back what it hears, and tells how connections end.
struct Echo {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<u8>>>,
    ends: Mutex<std::sync::mpsc::Receiver<Option<ErrorKind>>>,
}

impl Echo {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let heard = Arc::new(Mutex::new(Vec::new()));
        let (tell, ends) = std::sync::mpsc::channel();
        let hears = Arc::clone(&heard);
        thread::spawn(move || {
            for client in listener.incoming() {
                let (hears, tell) = (Arc::clone(&hears), tell.clone());
                thread::spawn(move || {
                    // The test may be over.
                    let _ = tell.send(echo(client.unwrap(), &hears).err().map(|error| error.kind()));
                });
            }
        });
        Self { address, heard, ends: Mutex::new(ends) }
    }

    fn heard(&self) -> String {
        String::from_utf8(self.heard.lock().unwrap().clone()).unwrap()
    }

    /// Waits until a connection has ended, and says with which error, if any.
    fn ended(&self) -> Option<ErrorKind> {
        self.ends.lock().unwrap().recv_timeout(PATIENCE).unwrap()
    }
}

fn echo(mut client: TcpStream, hears: &Mutex<Vec<u8>>) -> std::io::Result<()> {
    let mut buffer = [0; 1024];
    loop {
        let bytes = client.read(&mut buffer)?;
        if bytes == 0 {
            return Ok(());
        }
        hears.lock().unwrap().extend_from_slice(&buffer[..bytes]);
        client.write_all(&buffer[..bytes])?;
    }
}

/// A server, a pump before it, and a client whose connection has reached the server.
fn connected() -> (Echo, Pump, TcpStream) {
    let server = Echo::start();
    let pump = Pump::to(server.address).unwrap();
    let client = connect(&pump);
    eventually("the client has reached the server", || pump.counts().connections == 1);
    (server, pump, client)
}

fn connect(pump: &Pump) -> TcpStream {
    let client = TcpStream::connect(pump.address()).unwrap();
    client.set_nodelay(true).unwrap();
    // Should an answer never come.
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client
}

async fn held(pump: &Pump) {
    tokio::time::timeout(PATIENCE, pump.held()).await.unwrap();
}

fn ask(client: &mut TcpStream, word: &str) -> Result<String, ErrorKind> {
    client.write_all(word.as_bytes()).map_err(|error| error.kind())?;
    let found = answer(client, word.len())?;
    if found.len() == word.len() { Ok(found) } else { Err(ErrorKind::UnexpectedEof) }
}

/// So many bytes, or fewer if the connection ends in order before.
fn answer(client: &mut TcpStream, bytes: usize) -> Result<String, ErrorKind> {
    let mut found = String::new();
    client.take(bytes as u64).read_to_string(&mut found).map_err(|error| error.kind())?;
    Ok(found)
}

/// Whether the connection ends without a byte.
fn is_over(client: &mut TcpStream) -> bool {
    match answer(client, 1) {
        Ok(found) => found.is_empty(),
        Err(error) => error == ErrorKind::ConnectionReset,
    }
}

fn has_nothing(client: &TcpStream) -> bool {
    client.set_nonblocking(true).unwrap();
    let peeked = client.peek(&mut [0]);
    client.set_nonblocking(false).unwrap();
    peeked.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}
