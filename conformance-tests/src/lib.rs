//! The conformance suite for [Onceonly](onceonly) key stores, and the instruments it is made of.
//!
//! * [`Fates`] stands before any store and lets calls get lost, come late, come twice, wait or fail.
//! * [`poll_times`], [`drop_at`] and [`sweep`] drop a future at each of its polls.
//! * [`ReferenceStore`] is a small store that is right.

mod call;
mod drops;
mod fates;
mod gate;
mod reference;

pub use call::{Answer, Request, Verb};
pub use drops::{DropPoint, Moment, Polled, drop_at, poll_times, sweep};
pub use fates::{Call, Fate, Fates};
pub use gate::Gate;
pub use reference::ReferenceStore;
