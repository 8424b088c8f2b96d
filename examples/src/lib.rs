//! Embeddings of Onceonly that can be started and watched.
//!
//! - `cargo run -p onceonly-examples --bin payments`: a payments server. What somebody copies is
//!   `src/bin/payments/embedding.rs`.
//! - `cargo run -p onceonly-examples --bin demo`: the same bad network twice, without and with Onceonly.
//! - `src/backends/`: stores on redb and on fjall, behind features of those names.
//!
//! This library holds what the two programs need: the charges, and the provider that makes them.

#[cfg(any(feature = "fjall", feature = "redb"))]
pub mod backends;
pub mod charges;

mod errors;

/// The README's embedding is compiled and run with the tests, so that what a newcomer copies works.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
mod readme {}

pub use errors::chain;
