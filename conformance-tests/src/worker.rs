//! The other side of [`Process`](crate::process::Process): what the process that the suite has started does.

use std::env;
use std::future::{Future, poll_fn};
use std::io::{self, BufRead, Write};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::task::Poll;
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use onceonly::{KeyStore, Timestamp};
use tokio::runtime;

use crate::call::Answer;
use crate::fixture::{Fixture, FixtureError, StoreClock};
use crate::gate::Gate;
use crate::protocol::{ADDRESS, Call, Interval, Order, What, Word};
use crate::verdict::panic_text;

/// Serves the suite, if this process was started by it: joins the place whose address is in the environment, makes the
/// calls that it reads from its standard input, and answers on its standard output, until the input ends. None in every
/// other process, at once.
///
/// [`run_as_test`](crate::run_as_test) begins with it. A program that is given to
/// [`Suite::with_processes`](crate::Suite::with_processes) must begin with it too, and nothing in it may write to the
/// standard output: what is no answer of a call fails the case.
pub fn serve_as_process<F: Fixture>() -> Option<ExitCode> {
    let address = env::var_os(ADDRESS)?;
    let served = match address.into_string() {
        Ok(address) => serve::<F>(&address),
        Err(address) => Err(FixtureError::new(format!("the address {} is not UTF-8", address.display()))),
    };
    Some(match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn serve<F: Fixture>(address: &str) -> Result<(), FixtureError> {
    let runtime = runtime::Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build()?;
    let (words, said) = mpsc::channel();
    let speaking = thread::spawn(move || speak(&said));
    let mut orders = io::stdin()
        .lock()
        .lines()
        .map(|line| -> Result<Order, FixtureError> { Ok(serde_json::from_str(&line?)?) });

    let fixture = runtime.block_on(F::join(address))?;
    let clock = fixture.clock();
    let Some(begin) = orders.next() else {
        // The suite has given up.
        return Ok(());
    };
    set_clock(&clock, begin?.now)?;
    let store = runtime.block_on(fixture.handle())?;
    words.send(Word::Ready)?;
    let mut gate = Gate::new();
    let make = |call| serve_call(call, Arc::clone(&store), words.clone());
    for order in orders {
        let Order { now, what } = order?;
        set_clock(&clock, now)?;
        match what {
            What::Begin => {}
            What::Call(call) => drop(runtime.spawn(make(call))),
            What::Hold { calls } => {
                gate = Gate::new();
                let count = calls.len();
                for call in calls {
                    let (gate, call) = (gate.clone(), make(call));
                    runtime.spawn(async move {
                        gate.pass().await;
                        call.await;
                    });
                }
                runtime.block_on(gate.arrivals(count));
                words.send(Word::Ready)?;
            }
            What::Go => gate.open(),
        }
    }

    // The process ends with calls under way: they are dropped where they are, and the handle after them.
    drop(runtime);
    drop(store);
    drop(fixture);
    drop(words);
    speaking.join().map_err(|_| FixtureError::new("the thread that answers has panicked"))?;
    Ok(())
}

fn set_clock(clock: &StoreClock, now: Option<Timestamp>) -> Result<(), FixtureError> {
    match (clock, now) {
        (StoreClock::Manual(clock), Some(now)) => clock.set(now),
        (StoreClock::Steered(_) | StoreClock::System, None) => {}
        _ => return Err(FixtureError::new("the clock of the joined fixture is not of the declared kind")),
    }
    Ok(())
}

/// Makes one call and says how it went. If nobody listens any more, there is nobody to tell.
async fn serve_call(Call { id, request }: Call, store: Arc<dyn KeyStore>, words: Sender<Word>) {
    let waits = words.clone();
    let call = tokio::spawn(async move {
        let began_us = now_us();
        let call = request.deliver(&*store);
        let answer = telling_when_it_waits(call, || drop(waits.send(Word::Waits { id }))).await;
        (answer, Interval { began_us, ended_us: now_us() })
    });
    let word = match call.await {
        Ok((answer, interval)) => Word::Answered { id, answer, interval },
        Err(error) => match error.try_into_panic() {
            Ok(payload) => Word::Panicked { id, text: panic_text(&*payload).to_owned() },
            // It was dropped, as the process ends.
            Err(_) => return,
        },
    };
    drop(words.send(word));
}

/// Runs `call`, and `tell` when it has been polled once and is not over.
async fn telling_when_it_waits(call: impl Future<Output = Answer>, tell: impl FnOnce()) -> Answer {
    let mut call = pin!(call);
    let mut tell = Some(tell);
    poll_fn(|context| {
        let polled = call.as_mut().poll(context);
        if let (Poll::Pending, Some(tell)) = (&polled, tell.take()) {
            tell();
        }
        polled
    })
    .await
}

/// Writes what is said, a line each. Standard output is not kept locked: a store that prints must not hang on it.
fn speak(said: &Receiver<Word>) {
    for word in said {
        let written = serde_json::to_string(&word).map_err(io::Error::from).and_then(|line| {
            let mut output = io::stdout().lock();
            writeln!(output, "{line}")?;
            output.flush()
        });
        if written.is_err() {
            // The suite is gone, and with it the input; that ends the process.
            return;
        }
    }
}

fn now_us() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_micros()).unwrap_or(u64::MAX)
}

/// Threads of the process's runtime: more than one, so that its calls too run at the same time.
const WORKERS: usize = 2;
