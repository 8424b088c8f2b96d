//! `cargo run -p onceonly-examples --bin payments`: a payments server that charges once per idempotency key.
//!
//! `embedding.rs` shows how it uses Onceonly; this file puts the parts together.

mod account;
mod charge_request;
mod command_line;
mod embedding;
mod key_header;
mod message;
mod problem;
mod server;
mod shutdown;
mod simulation;
mod storage;
mod structured_field;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use command_line::{Command, Options, USAGE};
use embedding::Payments;
use onceonly::Idempotency;
use onceonly_examples::chain;
use server::Server;
use shutdown::StopSignals;
use storage::Storage;
use tokio::net::TcpListener;

fn main() -> ExitCode {
    let options = match command_line::parse(std::env::args_os().skip(1)) {
        Ok(Command::Serve(options)) => options,
        Ok(Command::Help) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("payments: {}\n\n{USAGE}", chain(&error));
            return ExitCode::from(2);
        }
    };
    match start(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("payments: {}", chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn start(options: Options) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(serve(options));
    // Whoever asks twice does not wait for a call to the disk either.
    runtime.shutdown_background();
    ended
}

async fn serve(options: Options) -> Result<(), Box<dyn Error>> {
    // Before the store: a server that cannot serve makes no file.
    let listener = TcpListener::bind(&options.listen)
        .await
        .map_err(|error| format!("cannot listen on {}: {error}", options.listen))?;
    let Storage { keys, charges } = storage::open(&options.store)?;
    let onceonly = Idempotency::builder(keys).lease(options.lease).policy(options.recovery.into()).build()?;
    let sweeper = onceonly.sweeper().start();
    let mut signals = StopSignals::listen()?;
    greet(&options, &listener)?;

    let server = Server::new(embedding::router(Payments { onceonly: onceonly.clone(), charges }));
    tokio::select! {
        () = server.accept(&listener) => {}
        () = signals.next() => {}
    }
    // Whoever connects from here on is refused, and goes to another server.
    drop(listener);

    let finish = async {
        shutdown::finish(server, &onceonly).await;
        sweeper.stop().await;
    };
    tokio::select! {
        () = finish => Ok(()),
        () = signals.next() => Err("ended by a second signal; what was under way is left to its lease".into()),
    }
}

/// Says where it listens, where the data lies, and what to try.
fn greet(options: &Options, listener: &TcpListener) -> io::Result<()> {
    let address = listener.local_addr()?;
    let storage = storage::describe(&options.store);
    let greeting = format!(
        "payments listens on http://{address}
{storage}

Try this, twice:
  curl -i http://{address}/charges \\
    -H 'Idempotency-Key: 8e03978e-40d5-43e8-bc93-6894a57f9324' \\
    -H 'Content-Type: application/json' \\
    -d '{{\"amount\":1000,\"currency\":\"usd\",\"customer\":\"cus_8812\"}}'
and then:
  curl http://{address}/charges
"
    );
    // Nobody needs to read it: a server whose output is closed serves all the same.
    let _ = io::stdout().write_all(greeting.as_bytes());
    Ok(())
}
