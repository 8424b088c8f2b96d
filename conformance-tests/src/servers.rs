//! Real servers for the tests of stores that stand on one: private, killed and paused at will, cut off from their
//! clients, and with a clock that a test sets.
//!
//! ```no_run
//! use onceonly::Timestamp;
//! use onceonly_conformance::servers::{PostgresConfig, Pump, ServerClock, SteeredClock, Traffic};
//!
//! # async fn test() -> Result<(), onceonly_conformance::FixtureError> {
//! let clock = SteeredClock::new()?;
//! let mut server = PostgresConfig::new().with_clock(&clock).start()?;
//! let pump = Pump::to(server.address())?;
//! // The store connects to `pump.address()`.
//!
//! clock.show(ServerClock::Frozen(Timestamp::from_micros(1_800_000_000_000_000)))?;
//! // A deadline is reached to the microsecond.
//! clock.step(60_000_000)?;
//!
//! // The next request has its effect, and its answer is lost.
//! pump.set_traffic(Traffic::HoldReplies);
//! // The store calls.
//! pump.held().await;
//! pump.reset_all().await;
//!
//! server.kill()?;
//! server.restart()?;
//! # Ok(())
//! # }
//! ```
//!
//! A server is started from the binaries that are installed, in a temporary folder, on a port that is free, and as an
//! unprivileged user where the tests run as root. It is ended when its value is dropped, also while a test panics. A
//! shell that waits for the end of the test's process ends what is left, so that a server in a `static`, or one whose
//! test was killed, does not outlive its process either; the temporary folder goes with it.
//!
//! Its log stays for a day if the server fails to do something, or the test panics, is killed, or keeps the server in a
//! `static`. An error and a panic show the end of it and name the file.
//!
//! Everything here blocks the calling thread, except for what is `async`. A pump runs on a thread of its own and goes on
//! meanwhile.

mod account;
mod clock;
mod folder;
mod log;
mod port;
mod postgres;
mod processes;
mod program;
mod pump;
mod redis;
mod server;

pub use clock::{NotAvailable, ServerClock, SteeredClock};
pub use postgres::{Postgres, PostgresConfig};
pub use pump::{Arrivals, Counts, Pump, Traffic};
pub use redis::{Redis, RedisConfig};
