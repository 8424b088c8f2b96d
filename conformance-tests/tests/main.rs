//! The suite's own tests.

mod drops;
mod fates;
mod planted;
mod specification;
mod suite;
