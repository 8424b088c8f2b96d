#![doc = include_str!("../README.md")]

mod call;
mod case;
mod cases;
mod causes;
mod clause;
mod clock;
mod compare;
mod declaration;
mod drops;
mod entry;
mod evidence;
mod failure;
mod fates;
mod fixture;
mod gate;
mod handle;
mod planted;
mod property;
mod race;
mod random;
mod reference;
pub mod report;
mod run;
#[cfg(all(feature = "servers", unix))]
pub mod servers;
mod soak;
mod suite;
mod told;
mod verdict;
mod watched;

pub use call::{Answer, Request, Verb};
pub use clause::Clause;
pub use clock::ClockControl;
pub use declaration::{ClockKind, Declaration, Durability, Processes};
pub use drops::{DropPoint, Moment, Polled, drop_at, poll_times, sweep};
pub use entry::{TestTarget, run_as_test, run_suite};
pub use evidence::{Evidence, Outcome};
pub use failure::{Failure, FailureKind};
pub use fates::{Call, Fate, Fates};
pub use fixture::{Fixture, FixtureError, RawAccess, RawLock, RawSnapshot, StoreClock};
pub use gate::Gate;
pub use planted::{Fault, FaultInfo, PlantedPlace, PlantedStore};
pub use reference::ReferenceStore;
pub use soak::summary as soak_summary;
pub use suite::{CaseInfo, Flake, Suite};
