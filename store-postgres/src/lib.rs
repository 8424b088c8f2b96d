//! A key store in PostgreSQL for [Onceonly](onceonly), for any number of processes on any number of hosts.
//!
//! ```no_run
//! use onceonly_postgres::PostgresStore;
//!
//! # async fn open() -> Result<(), Box<dyn std::error::Error>> {
//! let url = "postgres://app@db.internal/app";
//! // Once for each release, from a deployment step or at start: creates the table or brings it up to date.
//! PostgresStore::options().migrate(url).await?;
//! let store = PostgresStore::options().connect(url).await?;
//! # let _ = store;
//! # Ok(())
//! # }
//! ```
//!
//! PostgreSQL 14 and later. Every verb is one statement that commits by itself, on a few connections of the store's own;
//! calls that come while a statement runs travel together in the next one. The server's clock decides about every
//! deadline. What an acknowledged write survives is what the server is set to: with `synchronous_commit` off, a crash of
//! the server forgets the last moments, and an operation whose claim is forgotten can run twice.

mod carry;
mod connection;
mod error;
mod job;
mod lane;
mod options;
mod parameters;
mod purge;
mod row;
mod schema;
mod statements;
mod store;
mod transaction;
mod types;
mod verb;

pub use onceonly::{CompleteIn, Mark};
pub use options::PostgresOptions;
pub use store::PostgresStore;
pub use transaction::{CompleteWith, TransactionError, Work};
