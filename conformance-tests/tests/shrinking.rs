//! What the suite says of a fault that generated inputs have shown: the smallest input, in words, the same each time.

use onceonly_conformance::{Failure, Fault, PlantedPlace};

#[test]
fn the_same_seed_gives_the_same_report() {
    for (fault, case) in [
        (Fault::BodyLossyText, RESPONSES),
        (Fault::KeysIgnoreCase, KEYS),
        (Fault::ScopeJoinedByColon, SCOPES),
    ] {
        let [first, second] = [(); 2].map(|()| failure_of(fault, case, 7).to_string());

        assert_eq!(first, second);
        assert_ne!(first, failure_of(fault, case, 8).to_string(), "the seed has no part in it");
    }
}

#[test]
fn the_smallest_response_is_told_that_does_not_come_back() {
    for (fault, response) in [
        (Fault::BodyCut, "code 0, headers [], a body of length 65, "),
        (Fault::BodyLossyText, "code 0, headers [], a body of length 1, \"\\x80\": "),
        (Fault::CodeInByte, "code 256, headers [], no body: "),
    ] {
        let failure = failure_of(fault, RESPONSES, 7);

        assert!(failure.message.starts_with(response), "{failure}");
    }
}

#[test]
fn the_smallest_names_are_told_that_meet() {
    for (fault, case) in
        [(Fault::KeysIgnoreCase, KEYS), (Fault::KeysTrimmed, KEYS), (Fault::ScopeJoinedByColon, SCOPES)]
    {
        let failure = failure_of(fault, case, 7);

        let names: Vec<&str> = failure.message.split('"').skip(1).step_by(2).collect();
        assert!((2..=3).contains(&names.len()), "{failure}");
        // One letter, which may be an escaped one, and what is behind it.
        assert!(names.iter().all(|name| name.len() <= "\\u{1f600} ".len()), "{failure}");
    }
}

const RESPONSES: &str = "payload::random_responses_come_back";
const KEYS: &str = "keys::what_happens_to_one_key_leaves_others_alone";
const SCOPES: &str = "scope::bytes_do_not_move_between_scope_and_key";

fn failure_of(fault: Fault, case: &str, seed: u64) -> Box<Failure> {
    Box::new(PlantedPlace::suite(Some(fault)).with_seed(seed).run(case).expect_err("the fault is found"))
}
