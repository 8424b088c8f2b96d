#![doc = include_str!("../README.md")]

mod call;
mod case;
mod cases;
mod clause;
mod clock;
mod compare;
mod declaration;
mod drops;
mod entry;
mod evidence;
mod fates;
mod fixture;
mod gate;
mod handle;
mod planted;
mod race;
mod random;
mod reference;
mod soak;
mod suite;
mod verdict;

pub use call::{Answer, Request, Verb};
pub use clause::Clause;
pub use clock::ClockControl;
pub use declaration::{ClockKind, Declaration, Durability, Processes};
pub use drops::{DropPoint, Moment, Polled, drop_at, poll_times, sweep};
pub use entry::run_as_test;
pub use evidence::{Evidence, Outcome};
pub use fates::{Call, Fate, Fates};
pub use fixture::{Fixture, FixtureError, RawAccess, RawLock, StoreClock};
pub use gate::Gate;
pub use planted::{Fault, FaultInfo, PlantedStore};
pub use reference::ReferenceStore;
pub use soak::summary as soak_summary;
pub use suite::{CaseInfo, Flake, Suite};
pub use verdict::{Failure, FailureKind};
