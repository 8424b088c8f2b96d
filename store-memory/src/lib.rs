//! A key store in the memory of one process, for [Onceonly](onceonly).
//!
//! **For one process only.** Two processes, or two replicas of one service, each have records of their own: a retry
//! that reaches the other one runs again. Everything is gone when the process ends. It is made for tests, for a single
//! process whose effects end with it, and as the reference that other stores are compared with.
//!
//! ```
//! use onceonly::{ManualClock, Timestamp};
//! use onceonly_memory::MemoryStore;
//!
//! let clock = ManualClock::starting_at(Timestamp::from_micros(0));
//! let store = MemoryStore::with_clock(clock.clone());
//! # let _ = (store, clock);
//! ```

mod store;
mod sync;

pub use store::MemoryStore;
