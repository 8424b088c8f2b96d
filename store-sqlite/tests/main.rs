//! What SQLite alone can get wrong. What every store must do is in the conformance suite.

mod support;
mod verbs;
