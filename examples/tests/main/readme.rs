//! The README's walk: every command that it shows is played, and every answer that it shows is the server's.

use crate::client::{Request, Response};
use crate::server::{Folder, Server, wait_for};

const README: &str = include_str!("../../../README.md");

/// What the walk's commands talk to: the server's default address.
const ADDRESS: &str = "http://127.0.0.1:3000";

#[test]
fn the_answers_that_the_readme_shows_are_those_of_the_server() {
    let folder = Folder::new();
    let mut server = None;
    let mut shown_ids = Ids::default();
    let mut real_ids = Ids::default();
    let mut answers = 0;
    for Step { command, output } in steps(README) {
        match &command.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["cargo", "run", "-p", "onceonly-examples", "--bin", "payments", options @ ..] => {
                assert_eq!(output, "", "the server's output is not shown");
                let options = options.strip_prefix(&["--"]).unwrap_or(options);
                // The one before must be gone: both would be asked to listen on one port.
                drop(server.take());
                server = Some(folder.server(options));
            }
            ["curl", arguments @ ..] => {
                let server = server.as_ref().expect("the walk starts a server first");
                let answer = Curl::parse(arguments).answer(server);
                assert_eq!(shown_ids.numbered(&output), real_ids.numbered(&answer), "{command:?}");
                answers += 1;
            }
            _ => panic!("a command that this test does not know: {command:?}"),
        }
    }
    assert_eq!(answers, README.matches("\n$ curl ").count());
    assert!(answers > 0, "the README shows no answer");
}

#[test]
fn the_readmes_query_finds_a_parked_key_and_no_other() {
    let query = README.split("\n```sql\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a query");
    let folder = Folder::new();
    let server = folder.server(&["--lease", "1"]);
    let running = Request::troubled_charge("running", r#"{"delay_ms":300000}"#);
    let _running = running.begin(server.address).expect("a connection");
    folder.wait_for_renewal();
    assert_eq!(server.send(&Request::charge("done", 1000)).status, 201);
    let parked = Request::troubled_charge("parked", r#"{"then":"panic"}"#);
    assert_eq!(server.send(&parked).status, 500);
    assert_eq!(server.send_until_settled(&parked).status, 409);

    let connection = folder.connect();
    // The query's clock has whole seconds: it can see the end of a lease later than the server does.
    let found = wait_for("the parked key", || {
        let mut statement = connection.prepare(query).expect("SQL");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).expect("rows");
        let found: Vec<(String, String)> = rows.collect::<Result<_, _>>().expect("scope and key");
        (!found.is_empty()).then_some(found)
    });
    assert_eq!(found, [("acct_demo".to_owned(), "parked".to_owned())]);
}

/// A command, and what the README shows that it prints.
struct Step {
    command: Vec<String>,
    output: String,
}

fn steps(readme: &str) -> Vec<Step> {
    let blocks = readme.split("\n```console\n").skip(1);
    blocks.flat_map(|block| steps_of_block(block.split("\n```").next().unwrap_or_default())).collect()
}

fn steps_of_block(block: &str) -> Vec<Step> {
    let block = format!("\n{block}");
    block
        .split("\n$ ")
        .skip(1)
        .map(|step| {
            // A backslash at the end of a line continues the command.
            let joined = step.replace("\\\n", " ");
            let (command, output) = joined.split_once('\n').unwrap_or((&joined, ""));
            Step { command: words(command), output: output.trim_end().to_owned() }
        })
        .collect()
}

/// The words of a command, of which some stand in single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in command.split('\'').enumerate() {
        if number % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

/// A call of `curl` with the options that the README uses.
struct Curl {
    request: Request,
    shows_head: bool,
}

impl Curl {
    fn parse(arguments: &[&str]) -> Self {
        let (mut url, mut body, mut headers, mut shows_head) = (None, None, Vec::new(), false);
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "-i" => shows_head = true,
                "-H" => headers.push(arguments.next().expect("a header")),
                "-d" => body = arguments.next(),
                other => url = Some(other),
            }
        }
        let path = url.and_then(|url| url.strip_prefix(ADDRESS)).expect("an address of the server's");
        let request = match body {
            Some(body) => Request::post(path, *body).without("content-type"),
            None => Request::get(path),
        };
        let request = headers.iter().fold(request, |request, header| {
            let (name, value) = header.split_once(": ").expect("name and value");
            request.header(known_header(name), value)
        });
        Self { request, shows_head }
    }

    fn answer(&self, server: &Server) -> String {
        // The last server's claim can still stand; the README says to wait.
        match server.try_send_until_settled(&self.request) {
            Ok(response) if self.shows_head => head_and_body(&response),
            Ok(response) => body(&response),
            Err(_) => "curl: (52) Empty reply from server".to_owned(),
        }
    }
}

fn known_header(name: &str) -> &'static str {
    match name {
        "Idempotency-Key" => "idempotency-key",
        "Content-Type" => "content-type",
        _ => panic!("a header that this test does not know: {name}"),
    }
}

/// As `curl -i` shows it, without what differs from run to run and from client to client.
fn head_and_body(response: &Response) -> String {
    let head = response.head_without(&["connection", "date"]);
    format!("{head}\n{}", body(response))
}

fn body(response: &Response) -> String {
    String::from_utf8(response.body.clone()).expect("text")
}

/// The ids of charges, in the order in which they appeared.
#[derive(Debug, Default)]
struct Ids(Vec<String>);

impl Ids {
    /// `text` with each id replaced by the number of its first appearance: what is one charge in one text must be one
    /// charge in the other.
    fn numbered(&mut self, text: &str) -> String {
        let mut parts = text.split("\"ch_");
        let mut numbered = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (id, rest) = part.split_once('"').expect("the end of an id");
            assert!(id.len() == 24 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
            let known = self.0.iter().position(|known| known == id);
            let number = known.unwrap_or_else(|| {
                self.0.push(id.to_owned());
                self.0.len() - 1
            });
            numbered.push_str(&format!("\"charge {number}\"{rest}"));
        }
        numbered
    }
}
