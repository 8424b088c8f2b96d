//! The law, the values, and the engine over stores that fail on request.

mod engine;
mod fingerprints;
mod keys;
mod law;
mod responses;
mod settings;
mod times;
