//! An HTTP client of the simplest kind: one request on one connection, every byte under the test's control.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A request as it is written to the wire.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: &'static str,
    target: String,
    headers: Vec<(&'static str, Vec<u8>)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn get(target: &str) -> Self {
        Self { method: "GET", target: target.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub(crate) fn post(target: &str, body: impl Into<Vec<u8>>) -> Self {
        Self { method: "POST", target: target.into(), headers: Vec::new(), body: body.into() }
            .header("content-type", "application/json")
    }

    /// A charge of `amount` cents.
    pub(crate) fn charge(key: &str, amount: i64) -> Self {
        Self::post("/charges", charge_body(amount, "null")).key(key)
    }

    /// A charge of 1000 cents that meets trouble on its first attempt.
    pub(crate) fn troubled_charge(key: &str, trouble: &str) -> Self {
        Self::post("/charges", charge_body(1000, trouble)).key(key)
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("idempotency-key", key)
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name, value.as_ref().to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(present, _)| *present != name);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let Self { method, target, headers, body } = self;
        let mut bytes =
            format!("{method} {target} HTTP/1.1\r\nhost: payments\r\nconnection: close\r\n").into_bytes();
        for (name, value) in headers {
            bytes.extend_from_slice(name.as_bytes());
            bytes.extend_from_slice(b": ");
            bytes.extend_from_slice(value);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
        bytes.extend_from_slice(body);
        bytes
    }

    /// Sends it and leaves the connection open, unread.
    pub(crate) fn begin(&self, address: SocketAddr) -> io::Result<TcpStream> {
        begin(address, &self.bytes())
    }

    /// Sends the head but for its last byte, and leaves the connection open.
    pub(crate) fn begin_its_head(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let bytes = self.bytes();
        let head =
            bytes.windows(4).position(|window| window == b"\r\n\r\n").expect("the end of the head") + 3;
        begin(address, &bytes[..head])
    }

    /// Sends all of it but the last byte, and leaves the connection open.
    pub(crate) fn begin_its_body(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let bytes = self.bytes();
        begin(address, &bytes[..bytes.len() - 1])
    }

    /// Sends it and reads the answer.
    pub(crate) fn send(&self, address: SocketAddr) -> io::Result<Response> {
        Response::read(self.begin(address)?)
    }
}

fn begin(address: SocketAddr, bytes: &[u8]) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(ANSWER_WAIT_MAX))?;
    stream.write_all(bytes)?;
    Ok(stream)
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    status_line: String,
    headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Response {
    /// Reads what the server says until it closes the connection.
    pub(crate) fn read(mut stream: TcpStream) -> io::Result<Self> {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        Self::parse(&bytes).ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
    }

    /// An answer that was cut off has fewer bytes than it announced, and is none.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).expect("the server's headers are ASCII");
        let mut lines = head.split("\r\n");
        let status_line = lines.next()?.to_owned();
        let status = status_line.split(' ').nth(1)?.parse().expect("a status");
        let headers: Vec<_> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let response = Self { status, status_line, headers, body: bytes[end + 4..].to_vec() };
        let announced: usize = response.header("content-length")?.parse().expect("a length");
        (response.body.len() == announced).then_some(response)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(present, _)| present == name).map(|(_, value)| value.as_str())
    }

    /// The status line and the headers but for those in `left_out`, a line each.
    pub(crate) fn head_without(&self, left_out: &[&str]) -> String {
        let headers = self.headers.iter().filter(|(name, _)| !left_out.contains(&name.as_str()));
        headers
            .fold(format!("{}\n", self.status_line), |head, (name, value)| format!("{head}{name}: {value}\n"))
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    pub(crate) fn is_replay(&self) -> bool {
        self.header("idempotent-replayed") == Some("true")
    }

    /// The headers that came from the handler: all but those of the connection and of the replay.
    pub(crate) fn own_headers(&self) -> Vec<(&str, &str)> {
        let others = ["connection", "content-length", "date", "idempotent-replayed"];
        let headers = self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        headers.filter(|(name, _)| !others.contains(name)).collect()
    }

    /// The `type` of a problem, which must be one in every respect.
    pub(crate) fn problem_type(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "a problem repeats the status");
        assert!(problem["title"].as_str().is_some_and(|title| !title.is_empty()), "{problem}");
        problem["type"].as_str().expect("a problem has a type").to_owned()
    }
}

/// The body of a charge, with spaces in front of it that make it `bytes` long.
pub(crate) fn padded_charge_body(bytes: usize) -> String {
    let body = charge_body(1000, "null");
    " ".repeat(bytes - body.len()) + &body
}

/// The body of a charge; `simulate` is JSON.
pub(crate) fn charge_body(amount: i64, simulate: &str) -> String {
    format!(r#"{{"amount":{amount},"currency":"usd","customer":"cus_8812","simulate":{simulate}}}"#)
}

const ANSWER_WAIT_MAX: Duration = Duration::from_secs(60);
