//! The engine over the memory store, with calls that meet the fates of a bad network.

mod begin;
mod callers;
mod conclusions;
mod drain;
mod endings;
mod failures;
mod front_door;
mod heartbeats;
mod leases;
mod longest_run;
mod observing;
mod outages;
mod panics;
mod recovery;
mod renewals;
mod repeating;
mod resolve;
mod runtimes;
mod setup;
mod stale;
mod sweeping;
mod takeovers;
mod typed;
mod waiting;
