//! What each way out of a handler leaves behind.

use onceonly::{
    Answer, Outcome, Policy, RecordState, ResponseHead, RunError, Status, StoredResponse, StoredResult,
};

use super::setup::{World, charged, response};

/// B082: the end state of every way out.
#[tokio::test]
async fn b082_each_way_out_of_a_handler_leaves_the_state_it_is_documented_with() {
    let completed = |result| Status::Completed(result);
    let ways = [
        (Answer::Final(response("a")), completed(StoredResult::Retained(response("a")))),
        (
            Answer::Final(StoredResponse::new(500, "b")),
            completed(StoredResult::Retained(StoredResponse::new(500, "b"))),
        ),
        (
            Answer::Final(StoredResponse::new(302, "")),
            completed(StoredResult::Retained(StoredResponse::new(302, ""))),
        ),
        (Answer::NotRetained(response("c")), completed(StoredResult::NotRetained(response("c").into_head()))),
        (Answer::NoEffect(response("d")), Status::Released),
    ];
    for (answer, left) in ways {
        let world = World::new();
        world.run(answer.clone()).await.unwrap();
        assert_eq!(world.status().await, left, "{answer:?}");
    }
}

/// B085: under every policy a failed attempt is given back at once, and never left to its lease.
#[tokio::test]
async fn b085_no_effect_leaves_nothing_in_progress_under_any_policy() {
    let policies =
        [Policy::Park, Policy::Rerun, Policy::resolve(|_| async { onceonly::Verdict::NotExecuted })];
    for policy in policies {
        for crashed in [false, true] {
            let world = World::under(policy.clone());
            if crashed && !matches!(policy, Policy::Park) {
                world.crashed_attempt(None).await;
                world.let_lease_pass();
            }
            world.run(Answer::NoEffect(StoredResponse::new(503, "later"))).await.unwrap();
            let state = world.summary().await.state;
            assert_ne!(state, RecordState::InProgress, "{policy:?}, crashed before: {crashed}");
        }
    }
}

/// B086, B077: a time-out layer inside ours answers 408 for a handler that it dropped in mid-charge. A status alone
/// frees nothing.
#[tokio::test]
async fn a_408_from_a_time_out_layer_inside_is_stored_and_replayed() {
    let world = World::new();
    let outcome = world
        .run_with(|_| async {
            let charging = std::future::pending::<Answer>();
            match tokio::time::timeout(std::time::Duration::from_millis(5), charging).await {
                Ok(answer) => answer,
                Err(_) => Answer::Final(StoredResponse::new(408, "timed out")),
            }
        })
        .await
        .unwrap();
    assert_eq!(outcome, Outcome::Executed(StoredResponse::new(408, "timed out")));
    let retry = world.run(charged()).await.unwrap();
    assert_eq!(retry, Outcome::Replayed(StoredResponse::new(408, "timed out")), "the charge is made twice");
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn b076_no_effect_frees_the_key_at_once() {
    let world = World::new();
    let first = world.run(Answer::NoEffect(StoredResponse::new(503, "later"))).await.unwrap();
    assert_eq!(first, Outcome::Executed(StoredResponse::new(503, "later")));
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::Executed(response("charged")));
    assert_eq!(world.snapshot().await.record.attempt, 1);
}

#[tokio::test]
async fn b079_a_final_refusal_is_kept() {
    for code in [402, 409] {
        let world = World::new();
        world.run(Answer::Final(StoredResponse::new(code, "declined"))).await.unwrap();
        let retry = world.run(charged()).await.unwrap();
        assert_eq!(retry, Outcome::Replayed(StoredResponse::new(code, "declined")));
    }
}

/// The second attempt knows that *it* had no effect. It knows nothing of the first.
#[tokio::test]
async fn no_effect_on_attempt_2_keeps_fingerprint_attempt_and_checkpoint() {
    let world = World::under(Policy::Rerun);
    world.crashed_attempt(Some("charge sent")).await;
    world.let_lease_pass();
    world.run(Answer::NoEffect(StoredResponse::new(503, "later"))).await.unwrap();

    let summary = world.summary().await;
    assert_eq!(
        (summary.state, summary.attempt),
        (RecordState::Abandoned, 2),
        "the first attempt is forgotten"
    );
    let third = world
        .run_with(|attempt| async move {
            assert_eq!((attempt.number(), attempt.recovered()), (3, true));
            assert_eq!(attempt.checkpoint().map(|bytes| &bytes[..]), Some(&b"charge sent"[..]));
            charged()
        })
        .await;
    assert!(matches!(third.unwrap(), Outcome::Executed(_)));
}

#[tokio::test]
async fn no_effect_after_a_checkpoint_suspends_where_others_may_execute() {
    for (policy, released) in [(Policy::Rerun, false), (Policy::Park, true)] {
        let world = World::under(policy.clone());
        world
            .run_with(|attempt| async move {
                attempt.save_checkpoint("step 1").await.unwrap();
                Answer::NoEffect(StoredResponse::new(503, "later"))
            })
            .await
            .unwrap();
        assert_eq!(world.status().await == Status::Released, released, "{policy:?}");
        // Under Park a suspended key could never be tried again, although nobody executed.
        assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Executed(_)), "{policy:?}");
    }
}

#[tokio::test]
async fn b077_a_panic_leaves_the_claim_to_its_lease_and_parks_the_key() {
    let world = World::new();
    let outcome = world.run_with(|_| async { panic!("the provider's client broke") }).await;
    assert!(matches!(outcome, Err(RunError::Panicked)), "{outcome:?}");
    assert_eq!(world.summary().await.state, RecordState::InProgress);
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::InProgress(_)));
    world.let_lease_pass();
    assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Abandoned(_)));
    assert_eq!(world.executions(), 1, "the charge may have been made, and is made again");
}

#[tokio::test]
async fn a_panic_before_the_first_await_is_no_different() {
    let world = World::new();
    #[expect(unreachable_code, reason = "the closure's type needs a future")]
    let outcome = world.run_with(|_| std::future::ready::<Answer>(panic!("in the closure itself"))).await;
    assert!(matches!(outcome, Err(RunError::Panicked)), "{outcome:?}");
    assert_eq!(world.summary().await.state, RecordState::InProgress);
}

/// D5, B083: the runtime goes down in the middle of a handler.
#[test]
fn a_handler_that_is_dropped_leaves_its_claim_to_its_lease() {
    let world = World::new();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let started = runtime.block_on(world.start());
    runtime.shutdown_background();
    drop(started);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        assert_eq!(
            world.summary().await.state,
            RecordState::InProgress,
            "released as if nothing had happened"
        );
        world.let_lease_pass();
        assert!(matches!(world.run(charged()).await.unwrap(), Outcome::Abandoned(_)));
    });
}

#[tokio::test]
async fn b064_a_response_over_the_cap_is_not_retained_and_never_cut() {
    let world = World::with(|settings| settings.response_bytes_max(64));
    let large = || StoredResponse::new(201, vec![b'x'; 65]).with_header("Location", "/1");
    assert_eq!(world.run(Answer::Final(large())).await.unwrap(), Outcome::Executed(large()));
    let retry = world.run(charged()).await.unwrap();
    let Outcome::NotRetained(ResponseHead { code, headers }) = retry else { panic!("{retry:?}") };
    assert_eq!((code, headers.len()), (201, 1));
    assert_eq!(world.executions(), 1);
}

#[tokio::test]
async fn headers_over_the_cap_leave_the_code() {
    let world = World::with(|settings| settings.response_bytes_max(64));
    world.run(Answer::Final(StoredResponse::new(201, "").with_header("X", vec![b'x'; 65]))).await.unwrap();
    let head = ResponseHead { code: 201, headers: vec![] };
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::NotRetained(head));
}

/// A header without a name or a value takes room in the record all the same.
#[tokio::test]
async fn empty_headers_count_against_the_cap() {
    let world = World::with(|settings| settings.response_bytes_max(16));
    let headers = (0..1_000).map(|_| (Vec::<u8>::new(), Vec::<u8>::new()));
    let large = headers
        .fold(StoredResponse::new(200, ""), |response, (name, value)| response.with_header(name, value));
    world.run(Answer::Final(large)).await.unwrap();
    let head = ResponseHead { code: 200, headers: vec![] };
    assert_eq!(world.status().await, Status::Completed(StoredResult::NotRetained(head)));
}

#[tokio::test]
async fn b073_a_response_that_must_not_be_kept_is_not() {
    let world = World::new();
    let secret = || StoredResponse::new(201, "SECRET-TOKEN");
    assert_eq!(world.run(Answer::NotRetained(secret())).await.unwrap(), Outcome::Executed(secret()));
    assert_eq!(world.run(charged()).await.unwrap(), Outcome::NotRetained(secret().into_head()));
    assert!(matches!(world.status().await, Status::Completed(StoredResult::NotRetained(_))));
}

#[tokio::test]
async fn a_checkpoint_over_the_cap_is_refused_and_nothing_is_written() {
    let world = World::with(|settings| settings.response_bytes_max(64));
    world
        .run_with(|attempt| async move {
            let error = attempt.save_checkpoint(vec![0; 65]).await.unwrap_err();
            assert_eq!(error.to_string(), "checkpoint is larger than allowed (65 bytes)");
            charged()
        })
        .await
        .unwrap();
    assert_eq!(world.fates.count(onceonly_conformance::Verb::Renew), 0);
}

#[tokio::test]
async fn derived_keys_are_the_same_on_every_attempt() {
    let world = World::under(Policy::Rerun);
    world.crashed_attempt(None).await;
    world.let_lease_pass();
    let expected = world.key.derive_key("charge");
    world
        .run_with(|attempt| async move {
            assert_eq!(attempt.number(), 2);
            assert_eq!(attempt.derive_key("charge"), expected);
            charged()
        })
        .await
        .unwrap();
}
