//! What is PostgreSQL's own about the store. What every store must do is in the conformance suite.

mod schema;
mod statements;
mod support;
mod transactions;
