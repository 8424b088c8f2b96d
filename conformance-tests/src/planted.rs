//! Stores that are broken on purpose, each in one way: what the suite itself is tested with.

mod batches;
mod claims;
mod completions;
mod damage;
mod faults;
mod fields;
mod handles;
mod holders;
mod keys;
mod locks;
mod payloads;
mod place;
mod purges;
mod raw;
mod releases;
mod renewals;
mod shared;
mod store;

pub use faults::{Fault, FaultInfo};
pub use place::PlantedPlace;
pub use store::PlantedStore;
