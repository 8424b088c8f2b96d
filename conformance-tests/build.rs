//! Tells the suite what compiles it, for the reports.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=ONCEONLY_RUSTC={}", compiler().unwrap_or_else(|| "unknown".to_owned()));
    println!("cargo::rustc-env=ONCEONLY_TARGET={}", env::var("TARGET").unwrap_or_default());
}

/// Such as `1.95.0 (f2d3ce0bd 2026-03-21)`.
fn compiler() -> Option<String> {
    let output = Command::new(env::var_os("RUSTC")?).arg("--version").output().ok()?;
    let version = String::from_utf8(output.stdout).ok()?;
    Some(version.trim().trim_start_matches("rustc ").to_owned())
}
