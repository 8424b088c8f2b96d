//! The demonstration shows what it is meant to show.

use std::process::Command;

#[test]
fn the_bad_network_doubles_charges_without_onceonly_and_none_with_it() {
    let seed = "7";
    let output = Command::new(env!("CARGO_BIN_EXE_demo")).args(["--seed", seed]).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(output.status.success(), "seed {seed}: {text}{}", String::from_utf8_lossy(&output.stderr));

    assert_eq!(row(&text, "lost"), [0, 0]);
    let [doubled_without, doubled_with] = row(&text, "doubled");
    assert!(doubled_without > 0, "{text}");
    assert_eq!(doubled_with, 0);
    let [wanted, wanted_with] = row(&text, "operations wanted");
    assert_eq!(wanted, wanted_with);
    let [effects_without, effects_with] = row(&text, "effects");
    assert!(effects_without > wanted, "{text}");
    assert_eq!(effects_with, wanted);
    assert_eq!(row(&text, "callers told different charges")[1], 0);
    for killed in row(&text, "workers killed") {
        assert!(killed > 0, "{text}");
    }
    for attempts in row(&text, "attempts made") {
        assert!(attempts > wanted, "{text}");
    }
}

/// The two numbers of the row whose label begins with `label`.
fn row(text: &str, label: &str) -> [u64; 2] {
    let line =
        text.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no {label} in {text}"));
    let numbers: Vec<u64> = line.split_whitespace().rev().map_while(|word| word.parse().ok()).collect();
    let [with, without] = numbers[..] else { panic!("not two numbers in {line:?}") };
    [without, with]
}
