//! Runtimes without timers, no runtime at all, blocked ones, and the thread that renews.

use std::pin::pin;
use std::process::Command;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use onceonly::{Completed, Decision, Outcome, Policy, RunError, Status, Verdict};
use onceonly_conformance::{Fate, Verb};

use super::setup::{World, block_until, charged, request, response};

#[test]
fn without_timers_nothing_is_claimed_by_run() {
    let world = World::new();
    let told = without_timers().block_on(world.run(charged()));
    assert!(matches!(told, Err(RunError::NoRuntime)), "{told:?}");
    assert_eq!((world.executions(), world.fates.calls().len()), (0, 0));
}

#[test]
fn without_a_runtime_nothing_is_claimed_by_run() {
    let world = World::new();
    let Poll::Ready(told) = pin!(world.run(charged())).poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("without a runtime something waited")
    };
    assert!(matches!(told, Err(RunError::NoRuntime)), "{told:?}");
    assert_eq!((world.executions(), world.fates.calls().len()), (0, 0));
}

#[test]
fn without_timers_the_low_level_door_works_as_without_a_runtime() {
    without_timers().block_on(async {
        let world = World::new();
        let Ok(Decision::Execute(mut claim)) = world.engine.begin(&world.key, request()).await else {
            panic!("not granted")
        };
        world.fates.always(Verb::Complete, Fate::LoseRequest);
        assert!(matches!(claim.complete(response("charged")).await, Completed::Pending(Some(_))));
        assert_eq!(world.fates.count(Verb::Complete), 3);
        world.fates.heal();
        assert!(matches!(claim.complete(response("charged")).await, Completed::Stored));
    });
}

/// B022, with a save under way: it was sent from the handler's runtime, and nobody polls it there.
#[test]
fn a_handler_that_blocks_its_runtime_during_a_save_is_renewed_all_the_same() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let world = World::with(|settings| settings.lease(Duration::from_millis(900)).policy(Policy::Rerun));
    let gate = world.fates.hold_next_reply(Verb::Renew);
    let fates = world.fates.clone();
    let outcome = runtime.block_on(world.run_with(move |attempt| async move {
        let saving = tokio::spawn({
            let attempt = attempt.clone();
            async move { attempt.save_checkpoint("step 1").await }
        });
        gate.arrived().await;
        gate.open();
        // From here on nothing is polled on the handler's runtime.
        block_until(|| fates.count(Verb::Renew) >= 4);
        assert!(!attempt.is_lost());
        saving.await.unwrap().unwrap();
        charged()
    }));
    assert!(matches!(outcome, Ok(Outcome::Executed(_))), "{outcome:?}");
}

/// No system has room for a stack of 64 TiB, so that no thread can be started.
#[test]
fn without_a_thread_for_heartbeats_the_claim_is_given_back() {
    let test = "engine::runtimes::without_a_thread_for_heartbeats_the_claim_is_given_back";
    alone(test, &[("RUST_MIN_STACK", "70368744177664")], || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = World::new();
            let told = world.run(charged()).await;
            assert!(matches!(told, Err(RunError::NoHeartbeat(_))), "{told:?}");
            super::setup::until(async || world.status().await == Status::Released).await;
            assert_eq!(world.executions(), 0);
        });
    });
}

#[cfg(target_os = "linux")]
#[test]
fn the_thread_for_heartbeats_ends_with_the_engine() {
    let test = "engine::runtimes::the_thread_for_heartbeats_ends_with_the_engine";
    alone(test, &[], || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            // The last clone goes in the middle of an operation, or after it.
            for _ in 0..10 {
                let world = World::new();
                let started = world.start().await;
                // A thread gives itself its name once it runs.
                super::setup::until(async || heartbeat_threads() == 1).await;
                drop(world);
                started.finish(charged()).await.unwrap();
                super::setup::until(async || heartbeat_threads() == 0).await;
            }
        });
    });
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_runtime_no_thread_is_started_for_a_question() {
    let test = "engine::runtimes::without_a_runtime_no_thread_is_started_for_a_question";
    alone(test, &[], || {
        let before = threads();
        let world = World::under(Policy::resolve(move |_| async move {
            assert_eq!(threads(), before);
            Verdict::NotExecuted
        }));
        without_timers().block_on(world.crashed_attempt(None));
        world.let_lease_pass();
        let beginning = pin!(world.engine.begin(&world.key, request()));
        let decision = beginning.poll(&mut Context::from_waker(Waker::noop()));
        // A question that panics has no answer, and then nothing is granted.
        assert!(matches!(decision, Poll::Ready(Ok(Decision::Execute(_)))), "{decision:?}");
        assert_eq!(threads(), before);
    });
}

/// All of them: one that has just been started has no name yet.
#[cfg(target_os = "linux")]
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[cfg(target_os = "linux")]
fn heartbeat_threads() -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|thread| {
        // A thread may end between the two looks.
        std::fs::read_to_string(thread.ok()?.path().join("comm")).ok()
    });
    // The system cuts names to fifteen bytes.
    names.filter(|name| "onceonly-heartbeat".starts_with(name.trim_end())).count()
}

fn without_timers() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

/// Runs `body` in a process of its own, in which no other test has threads: this program again, with the one `test`.
fn alone(test: &str, environment: &[(&str, &str)], body: impl FnOnce()) {
    const MARK: &str = "ONCEONLY_TEST_ALONE";
    if std::env::var_os(MARK).is_some_and(|marked| marked == test) {
        return body();
    }
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args([test, "--exact", "--test-threads=1"]).env(MARK, test);
    let output = program.envs(environment.iter().copied()).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && shown.contains("1 passed"), "{shown}");
}
