//! Stores that are broken on purpose, each in one way: what the suite itself is tested with.

mod batches;
mod claims;
mod completions;
mod damage;
mod faults;
mod fields;
mod guards;
mod handles;
mod holders;
mod keys;
mod locks;
mod looks;
mod payloads;
mod place;
mod purges;
mod raw;
mod releases;
mod renewals;
mod shared;
mod shown;
mod store;
mod times;
mod turns;

pub use faults::{Fault, FaultInfo};
pub use place::PlantedPlace;
pub use store::PlantedStore;
