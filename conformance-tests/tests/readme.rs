//! The guide in the README: what somebody copies is what is compiled and run with the tests.

use onceonly_conformance::Suite;

const README: &str = include_str!("../README.md");

/// `tests/guide` runs the suite with them.
#[test]
fn the_guides_store_and_fixture_are_those_that_the_tests_run() {
    let fixture = block("\n```rust,no_run\n");
    let of_the_suite = "use onceonly_conformance::ReferenceStore as Store;\n";
    assert_eq!(fixture.matches(of_the_suite).count(), 1);
    let fixture = fixture.replace(of_the_suite, "pub mod store;\nuse store::MapStore as Store;\n");
    assert_eq!(fixture, include_str!("guide/conformance.rs"));
    assert_eq!(block("\n```rust\n"), include_str!("guide/store.rs"));
    assert!(
        README.contains("\nuse onceonly_yours::MapStore as Store;\n"),
        "the line that names the guide's store"
    );
}

/// The only block that begins with `fence`.
fn block(fence: &str) -> &'static str {
    let mut rests = README.split(fence).skip(1);
    let rest = rests.next().expect("a block that begins so");
    assert_eq!(rests.next(), None, "one block begins with {fence:?}");
    rest.split("```").next().expect("the block ends")
}

#[test]
fn every_case_that_the_readme_names_exists() {
    let quoted = README.split('`').skip(1).step_by(2);
    let named: Vec<&str> = quoted.filter(|text| is_name_of_case(text)).collect();
    for name in &named {
        assert!(Suite::cases().any(|case| case.name == *name), "there is no case called {name:?}");
    }
    assert!(named.len() > 15, "only {} names were read", named.len());
}

/// Two words in lower case, as no path of the library has.
fn is_name_of_case(text: &str) -> bool {
    let word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let files = || Suite::cases().filter_map(|case| case.name.split_once("::")).map(|(file, _)| file);
    text.split_once("::").is_some_and(|(file, name)| word(name) && files().any(|known| known == file))
}
