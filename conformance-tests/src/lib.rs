//! The conformance suite for [Onceonly](onceonly) key stores, and the instruments it is made of.
//!
//! * [`Fates`] stands before any store and lets calls get lost, come late, come twice, wait or fail.
//! * [`poll_times`], [`drop_at`] and [`sweep`] drop a future at each of its polls.
//! * [`ReferenceStore`] is a small store that is right.

mod call;
mod case;
mod cases;
mod clause;
mod compare;
mod declaration;
mod drops;
mod entry;
mod fates;
mod fixture;
mod gate;
mod handle;
mod planted;
mod race;
mod random;
mod reference;
mod suite;
mod verdict;

pub use call::{Answer, Request, Verb};
pub use clause::Clause;
pub use declaration::{ClockKind, Declaration, Durability, Processes};
pub use drops::{DropPoint, Moment, Polled, drop_at, poll_times, sweep};
pub use entry::run_as_test;
pub use fates::{Call, Fate, Fates};
pub use fixture::{Fixture, FixtureError, RawAccess, StoreClock};
pub use gate::Gate;
pub use planted::{Fault, FaultInfo, PlantedStore};
pub use reference::ReferenceStore;
pub use suite::{CaseInfo, Suite};
pub use verdict::{Failure, FailureKind};
