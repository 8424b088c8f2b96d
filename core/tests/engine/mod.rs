//! The engine over the memory store, with calls that meet the fates of a bad network.

mod begin;
mod callers;
mod conclusions;
mod drain;
mod failures;
mod front_door;
mod heartbeats;
mod observing;
mod recovery;
mod resolve;
mod setup;
mod stale;
mod sweeping;
mod typed;
mod waiting;
