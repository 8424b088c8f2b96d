//! The suite's own tests.

mod drops;
mod failure_text;
mod fates;
mod planted;
mod readme;
mod report;
#[cfg(all(feature = "servers", unix))]
mod servers;
mod shrinking;
mod specification;
mod suite;
mod wire;
