//! The store's races, in one schedule of their threads after the other.
//!
//! Real threads lose a race in a store in memory once in thousands of rounds. So here shuttle takes the place of locks
//! and atomics, and decides at each of them which thread goes on. Every test runs its race with two or three callers in
//! every schedule that there is, and most run it with more callers in schedules drawn at random. What is left out is what
//! the hardware may reorder: to shuttle, all atomics are sequentially consistent.
//!
//! ```text
//! RUSTFLAGS='--cfg shuttle' cargo test -p onceonly-memory --features shuttle --test schedules
//! ```
//!
//! `ONCEONLY_SCHEDULES` says how many schedules a test takes from each of its two random schedulers. A failure prints the
//! seed that led to it; with that seed in `SHUTTLE_RANDOM_SEED` it comes again.

#[cfg(not(shuttle))]
compile_error!(
    "the store must be compiled on shuttle's locks: set RUSTFLAGS='--cfg shuttle', as `./test` does"
);

mod capacity;
mod claims;
mod clock;
mod explore;
mod purges;
mod results;
mod store;
