//! What SQLite alone can get wrong. What every store must do is in the conformance suite.

mod bounds;
mod corruption;
mod engine;
mod groups;
mod locks;
mod opening;
mod panics;
mod processes;
mod purging;
mod support;
mod transactions;
mod verbs;
