//! Stores on databases that Onceonly does not ship: to be copied as the start of a store of one's own.
//!
//! Each is one file behind the feature of its name: `redb.rs`, `fjall.rs`. Both are whole stores and green under the
//! conformance suite (`tests/redb.rs`, `tests/fjall.rs`).
//!
//! What they share is what any embedded key-value database needs beside its own calls: records as bytes (`codec.rs`),
//! calls that block (`blocking.rs`), and the name of a file that was just created (`folder.rs`).

mod blocking;
mod codec;
mod folder;

#[cfg(feature = "fjall")]
pub mod fjall;
#[cfg(feature = "redb")]
pub mod redb;
