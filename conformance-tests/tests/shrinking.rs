//! What the suite says of a fault that generated inputs have shown: the smallest input, in words, the same each time.

use std::time::Duration;

use onceonly_conformance::{Failure, Fault, PlantedPlace};

#[test]
fn a_sequence_that_shows_a_fault_is_cut_to_the_steps_that_matter() {
    for (fault, last_step) in [
        (Fault::NoLateCompletion, "complete answered NotHeld, due was Applied"),
        (Fault::CompleteByFormerHolder, "complete answered Applied, due was NotHeld"),
        (Fault::TakeoverRefusedAtDeadline, "claim answered Occupied, due was Claimed"),
        (Fault::ReleaseDeletes, "load answered none, due was a record"),
    ] {
        for seed in [7, 8] {
            let failure = failure_of(fault, SEQUENCES, seed);

            let steps = steps(&failure);
            assert!((2..=4).contains(&steps.len()), "{fault:?}:\n{failure}");
            assert!(failure.message.starts_with(&format!("step {}: {last_step}", steps.len())), "{failure}");
            assert!(steps[0].contains("0  claim a by A, expecting nothing: lease "), "{failure}");
        }
    }
}

#[test]
fn a_report_shows_what_store_and_model_answered_and_how_that_differs() {
    let failure = failure_of(Fault::RetentionFromClaim, SEQUENCES, 7);

    for piece in ["the clock is set to", "the store  Applied: lease_until", "the model  Applied: lease_until"]
    {
        assert!(failure.message.contains(piece), "the report lacks {piece:?}:\n{failure}");
    }
    let difference = failure.message.lines().find(|line| line.trim().starts_with("expires_at: found "));
    assert!(difference.is_some_and(|line| line.contains(", due ")), "{failure}");
    assert!(failure.message.ends_with("a is \"a\""), "{failure}");
}

#[test]
fn names_that_a_store_confuses_are_told() {
    let failure = failure_of(Fault::KeysIgnoreCase, SEQUENCES, 7);

    let names: Vec<&str> = failure.message.lines().filter(|line| line.contains(" is \"")).collect();
    assert_eq!(names.len(), 2, "{failure}");
    assert!(names.iter().any(|name| name.ends_with("\"a\"")), "{failure}");
    assert!(names.iter().any(|name| name.ends_with("\"A\"")), "{failure}");
}

#[test]
fn the_same_seed_gives_the_same_report() {
    for (fault, case) in [
        (Fault::CompleteByFormerHolder, SEQUENCES),
        (Fault::OldCheckpointLeft, SEQUENCES),
        (Fault::CompleteByFormerHolder, WORDS),
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
fn short_words_show_what_callers_must_not_do_to_each_other() {
    for fault in [
        Fault::CompleteWithoutToken,
        Fault::CompleteByFormerHolder,
        Fault::ReleaseWithoutToken,
        Fault::ReleaseLeavesToken,
        Fault::ReleaseDeletes,
        Fault::LastResultWins,
        Fault::OwnClaimGrantedAgain,
        Fault::NoLateRenewal,
        Fault::NoLateCompletion,
        Fault::AttemptNotRaised,
        Fault::NeverPastUnlessPurged,
        Fault::MarkHeldForEver,
    ] {
        let failure = failure_of(fault, WORDS, 7);

        // Five letters, and a look at what they leave.
        assert!((2..=6).contains(&steps(&failure).len()), "{fault:?}:\n{failure}");
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

const SEQUENCES: &str = "model::random_sequences_agree_with_the_model";
const WORDS: &str = "words::all_short_words_agree_with_the_model";
const RESPONSES: &str = "payload::random_responses_come_back";
const KEYS: &str = "keys::what_happens_to_one_key_leaves_others_alone";
const SCOPES: &str = "scope::bytes_do_not_move_between_scope_and_key";

fn failure_of(fault: Fault, case: &str, seed: u64) -> Box<Failure> {
    // On a busy machine too there must be time for the input that shows it.
    let suite = PlantedPlace::suite(Some(fault)).with_bound(Duration::from_secs(900)).with_seed(seed);
    Box::new(suite.run(case).expect_err("the fault is found"))
}

/// The numbered lines of a report.
fn steps(failure: &Failure) -> Vec<&str> {
    let lines = failure.message.lines().skip_while(|line| line.trim() != "ms").skip(1);
    lines.take_while(|line| line.trim_start().starts_with(|first: char| first.is_ascii_digit())).collect()
}
