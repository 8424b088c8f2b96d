//! Embeddings of Onceonly that can be started and watched.
//!
//! - `cargo run -p onceonly-examples --bin payments`: a payments server. What somebody copies is
//!   `src/bin/payments/embedding.rs`.
//!
//! This library holds the charges, and the provider that makes them.

pub mod charges;

mod errors;

pub use errors::chain;
