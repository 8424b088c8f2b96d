//! An SQLite key store for [Onceonly](onceonly).

mod checkpoint;
mod connection;
mod error;
mod options;
mod reader;
mod records;
mod row;
mod schema;
mod statements;
mod store;
mod sweep;
mod writer;

pub use options::{SqliteOptions, Synchronous};
pub use store::SqliteStore;
