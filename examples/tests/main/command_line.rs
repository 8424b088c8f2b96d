//! What the server says when it cannot start.

use std::net::TcpListener;
use std::process::Output;

use crate::server::{Folder, payments};

fn refusal(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } =
        payments().args(arguments).output().expect("the compiled server starts");
    (status.code(), String::from_utf8(stderr).expect("text"))
}

#[test]
fn a_store_that_is_not_built_in_is_refused_by_the_name_of_its_feature() {
    for (url, feature) in [("postgres://localhost/db", "`postgres`"), ("redis://localhost", "`redis`")] {
        let (code, text) = refusal(&["--store", url]);
        assert_eq!(code, Some(2));
        assert!(text.contains("feature") && text.contains(feature), "{text}");
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    for arguments in [["--lease", "0"], ["--lease", "100000000"], ["--recovery", "never"]] {
        let (code, text) = refusal(&arguments);
        assert_ne!(code, Some(0));
        assert!(text.contains(&arguments[0][2..]), "{text}");
    }
}

#[test]
fn a_database_that_cannot_be_opened_is_named() {
    let folder = Folder::new();
    let path = folder.database().join("no-such-folder").join("payments.db");
    let (code, text) = refusal(&["--store", &format!("sqlite:{}", path.display())]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with("payments: ") && text.contains("no-such-folder"), "{text}");
}

#[test]
fn a_server_whose_port_is_taken_makes_no_database() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = taken.local_addr().expect("an address").to_string();
    let store = format!("sqlite:{}", folder.database().display());
    let (code, text) = refusal(&["--listen", &address, "--store", &store]);
    assert_eq!(code, Some(1));
    assert!(text.contains(&address), "{text}");
    assert!(!folder.database().exists());
}

#[test]
fn help_is_not_an_error() {
    let output = payments().arg("--help").output().expect("the compiled server starts");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    for option in ["--listen", "--store", "--lease", "--recovery"] {
        assert!(text.contains(option), "{text}");
    }
}
