//! Results of the embedder's own types.

use onceonly::{Answer, Outcome, RunTypedError, StoredResponse};
use serde::{Deserialize, Serialize};

use super::setup::{World, request};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Charge {
    id: String,
    amount: u64,
}

fn charge() -> Charge {
    Charge { id: "ch_1".into(), amount: 9_007_199_254_740_993 }
}

#[tokio::test]
async fn a_typed_result_comes_back_as_it_was() {
    let world = World::new();
    let run =
        async || world.engine.run_typed(&world.key, request(), |_| async { Answer::Final(charge()) }).await;
    assert_eq!(run().await.unwrap(), Outcome::Executed(charge()));
    assert_eq!(run().await.unwrap(), Outcome::Replayed(charge()));
}

/// B074: after a release that renamed a field the stored result cannot be read. It is an error, and nothing runs.
#[tokio::test]
async fn b074_a_result_of_another_type_is_an_error_and_not_a_second_run() {
    let world = World::new();
    world.run(Answer::Final(StoredResponse::new(0, r#"{"identifier":"SECRET"}"#))).await.unwrap();
    let outcome = world
        .engine
        .run_typed::<Charge, _, _>(&world.key, request(), |_| async { unreachable!("it ran twice") })
        .await;
    let Err(RunTypedError::Unreadable(error)) = outcome else { panic!("{outcome:?}") };
    assert!(!error.is_syntax());
    assert!(!format!("{error} {error:?}").contains("SECRET"));
}

/// A result that cannot be written as JSON: the operation is done, its caller has it, retries are told.
#[tokio::test]
async fn a_result_that_is_no_json_is_done_and_not_retained() {
    let world = World::new();
    let odd = std::collections::BTreeMap::from([((1, 2), 3)]);
    let expected = odd.clone();
    let run = async || {
        let odd = odd.clone();
        world.engine.run_typed(&world.key, request(), |_| async move { Answer::Final(odd) }).await.unwrap()
    };
    assert_eq!(run().await, Outcome::Executed(expected));
    assert!(matches!(run().await, Outcome::NotRetained(_)));
}

#[tokio::test]
async fn a_typed_handler_without_effect_frees_the_key() {
    let world = World::new();
    let first = world.engine.run_typed(&world.key, request(), |_| async { Answer::NoEffect(charge()) }).await;
    assert_eq!(first.unwrap(), Outcome::Executed(charge()));
    let second = world.engine.run_typed(&world.key, request(), |_| async { Answer::Final(charge()) }).await;
    assert_eq!(second.unwrap(), Outcome::Executed(charge()));
}

#[test]
fn json_of_a_response_names_its_type() {
    let response = StoredResponse::from_json(201, &charge()).unwrap();
    assert_eq!(&response.headers[0].value[..], b"application/json");
    assert_eq!(response.to_json::<Charge>().unwrap(), charge());
    assert!(StoredResponse::new(200, "{").to_json::<Charge>().unwrap_err().is_syntax());
}
