//! The suite over a store of its own: what its cases and reports look like.

use std::ffi::OsString;
use std::process::ExitCode;

use onceonly_conformance::{Fault, PlantedPlace, run_suite};

/// Runs it as a test with these arguments.
pub(crate) fn run(fault: Option<Fault>, arguments: Vec<OsString>) -> ExitCode {
    let number = fault.map_or_else(|| "none".to_owned(), |fault| fault.info().number.to_string());
    let program = std::env::args().next().unwrap_or_else(|| env!("CARGO_PKG_NAME").to_owned());
    let suite = PlantedPlace::suite(fault).with_command(&format!("{program} try {number}"));
    run_suite(suite, arguments)
}
