//! Stores that are broken on purpose, each in one way: what the suite itself is tested with.

mod batches;
mod claims;
mod damage;
mod faults;
mod handles;
mod keys;
mod locks;
mod purges;
mod raw;
mod releases;
mod results;
mod store;
mod writes;

pub use faults::{Fault, FaultInfo};
pub use store::PlantedStore;
