//! The payments server as a process of its own, on a port of its own, with a folder of its own.

use std::io::{self, BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

use crate::client::{Request, Response};

/// A folder for one test's database.
#[derive(Debug)]
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.path().join("payments.db")
    }

    /// Starts a server on this folder's database.
    pub(crate) fn server(&self, options: &[&str]) -> Server {
        let store = format!("sqlite:{}", self.database().display());
        Server::start(&[&["--store", &store], options].concat())
    }

    /// A connection to the server's database.
    pub(crate) fn connect(&self) -> Connection {
        let connection = Connection::open(self.database()).expect("the server's database");
        connection.busy_timeout(WAIT_MAX).expect("a time-out");
        connection
    }

    /// Waits until a key is claimed. Its handler may not have begun yet: if the client hung up now, the key would be
    /// given back.
    pub(crate) fn wait_for_claim(&self) {
        self.wait_for_row("a claim", "SELECT EXISTS (SELECT 1 FROM onceonly_records)");
    }

    /// Waits until a claim was renewed, which happens at a third of its lease: its handler is running.
    pub(crate) fn wait_for_renewal(&self) {
        self.wait_for_row("a renewal", "SELECT EXISTS (SELECT 1 FROM onceonly_records WHERE revision > 1)");
    }

    fn wait_for_row(&self, what: &str, sql: &str) {
        let connection = self.connect();
        wait_for(what, || {
            let exists: bool = connection.query_row(sql, [], |row| row.get(0)).expect("the table of keys");
            exists.then_some(())
        });
    }
}

/// A running server. It is killed when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// Kept open: what the server writes must have somewhere to go.
    _stdout: BufReader<ChildStdout>,
}

impl Server {
    /// Starts it on any free port.
    pub(crate) fn start(options: &[&str]) -> Self {
        let mut child = payments()
            .args(["--listen", "127.0.0.1:0"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the compiled server starts");
        let mut stdout = BufReader::new(child.stdout.take().expect("its output is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("its output is text");
        let Some(address) = line.trim_end().strip_prefix("payments listens on http://") else {
            panic!("no address in {line:?}; {:?}", child.wait());
        };
        Self { address: address.parse().expect("host and port"), child, _stdout: stdout }
    }

    /// Sends `request` and reads the answer.
    pub(crate) fn send(&self, request: &Request) -> Response {
        request.send(self.address).expect("an answer")
    }

    /// What `GET /charges` lists for `acct_demo`.
    pub(crate) fn charges(&self) -> Vec<Value> {
        self.charges_of(&Request::get("/charges"))
    }

    pub(crate) fn charges_of(&self, request: &Request) -> Vec<Value> {
        let response = self.send(request);
        assert_eq!((response.status, response.header("content-type")), (200, Some("application/json")));
        response.json().as_array().expect("an array").clone()
    }

    /// Sends `request` again and again until the answer is something else than *in progress*.
    pub(crate) fn send_until_settled(&self, request: &Request) -> Response {
        self.try_send_until_settled(request).expect("an answer")
    }

    /// The same, where there may be no answer: an error then, at once.
    pub(crate) fn try_send_until_settled(&self, request: &Request) -> io::Result<Response> {
        wait_for("the lease to end", || {
            let response = request.send(self.address);
            let in_progress = response.as_ref().is_ok_and(|response| {
                response.status == 409
                    && response.problem_type() == "urn:onceonly:problem:request-in-progress"
            });
            (!in_progress).then_some(response)
        })
    }

    /// Asks it to stop.
    pub(crate) fn terminate(&self) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().expect("a kill command");
        assert!(sent.success());
    }

    /// Waits until it takes no new connections, as it does from when it was asked to stop.
    pub(crate) fn wait_until_it_refuses(&self) {
        wait_for("the port to close", || TcpStream::connect(self.address).is_err().then_some(()));
    }

    /// Waits until the process has ended.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        wait_for("the server to end", || self.child.try_wait().expect("a child"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The compiled server, not started yet.
pub(crate) fn payments() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_payments"));
    // Handlers panic on purpose here, which is worth a line and no more.
    command.env("RUST_BACKTRACE", "0");
    command
}

/// Looks again and again until `look` finds something.
pub(crate) fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(started.elapsed() < WAIT_MAX, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Far more than anything here takes: reached only if it never comes.
const WAIT_MAX: Duration = Duration::from_secs(60);
