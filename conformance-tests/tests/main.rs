//! The suite's own tests.

mod drops;
mod failure_text;
mod fates;
mod planted;
mod specification;
mod suite;
