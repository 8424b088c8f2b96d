//! The suite's own tests.

mod drops;
mod fates;
mod planted;
mod suite;
