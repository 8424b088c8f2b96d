//! The specification itself, searched exhaustively: every order of events within the bounds of each run.
//!
//! One record key, its store, two or three callers with their engines, an operator, and a network that loses, delays and
//! repeats. The store's step is core's own: [`onceonly::Record::claimed`], `renew`, `complete`, `release`,
//! [`onceonly::Expected::admits`], and the law [`onceonly::observe`]; so what is searched is what is shipped. The engines'
//! decisions are written down again, in the shape of core's files and under its names, since core's are async.
//!
//! * [`bounds`]: how large a world is, and what may be wrong in it
//! * [`request`], [`store`], [`world`]: what is sent, the record, and all that can happen
//! * [`engine`], [`acquire`], [`recover`], [`handler`], [`operator`]: who acts, and how
//! * [`ghost`], [`properties`]: what really happened, and what is promised about it
//! * [`runs`], [`wrong_runs`]: what is searched, and what must come of it
//! * [`search`], [`words`]: how it is searched, and how a trace is told
//!
//! A request, once sent, may arrive at any time and any number of times, with or without its answer arriving; it stops
//! with the first answer to its sender unless copies never end. A pause of any length is every interleaving.
//!
//! Left out: several keys, batches, clocks that step, failover, results that differ between two writes of one claim. An
//! effect is instantaneous, checkpoints are two (before and after it), and whoever is asked about the world tells the truth.

mod acquire;
mod bounds;
mod engine;
mod ghost;
mod handler;
mod operator;
mod properties;
mod recover;
mod request;
mod runs;
mod search;
mod store;
mod words;
mod world;
mod wrong_runs;

use search::search_all;

#[test]
fn under_park_every_promise_holds() {
    search_all(runs::PARKED);
}

#[test]
fn under_rerun_every_promise_holds() {
    search_all(runs::RERUNS);
}

#[test]
fn under_resolve_every_promise_holds() {
    search_all(runs::RESOLVED);
}

#[test]
fn every_wrong_store_is_found_out() {
    search_all(wrong_runs::WRONG_STORES);
}

#[test]
fn every_wrong_engine_is_found_out() {
    search_all(wrong_runs::WRONG_ENGINES);
}

#[test]
fn the_assumption_about_late_requests_is_needed() {
    search_all(wrong_runs::BROKEN_ASSUMPTIONS);
}
