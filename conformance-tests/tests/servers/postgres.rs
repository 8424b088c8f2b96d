//! PostgreSQL servers.

use std::process::Command;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use onceonly_conformance::servers::{Postgres, PostgresConfig, Pump};

use super::eventually;

#[test]
fn a_server_is_set_up_as_asked_for() {
    let server = shared();

    assert_eq!(server.psql("SHOW fsync").unwrap(), "off");
    assert_eq!(server.psql("SHOW commit_delay").unwrap(), "7");
    assert_eq!(server.psql("SHOW search_path").unwrap(), "a'b");
    assert!(server.url().contains(&server.psql("SHOW port").unwrap()));
}

#[test]
fn a_setting_changes_while_the_server_runs() {
    let mut server = shared();

    server.set("commit_siblings", "11").unwrap();

    eventually("the setting has changed", || server.psql("SHOW commit_siblings").unwrap() == "11");
}

#[test]
fn a_setting_that_is_wrong_is_an_error_that_shows_the_log() {
    let error = PostgresConfig::new().with("shared_buffers", "plenty").start().unwrap_err().to_string();

    assert!(error.contains("invalid value for parameter"), "{error}");
}

#[test]
fn what_was_committed_is_there_after_a_kill_and_a_restart_on_the_same_address() {
    let mut server = shared();
    let address = server.address();
    server.psql("CREATE TABLE public.kept AS SELECT 1 AS number").unwrap();

    server.kill().unwrap();
    assert!(server.psql("SELECT 1").is_err());
    server.restart().unwrap();

    assert_eq!(server.address(), address);
    assert_eq!(server.psql("SELECT number FROM public.kept").unwrap(), "1");
    assert!(server.log().unwrap().contains("database system was not properly shut down"));
}

#[test]
fn a_killed_server_leaves_no_shared_memory() {
    let mut server = shared();
    let noted = std::fs::read_to_string(server.socket_folder().join("data/postmaster.pid")).unwrap();
    let id = noted.lines().nth(6).unwrap().split_whitespace().nth(1).unwrap().to_owned();
    let is_there = || {
        let output = Command::new("ipcs").arg("-m").output().unwrap();
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .any(|line| line.split_whitespace().nth(1) == Some(&id))
    };
    assert!(is_there());

    server.kill().unwrap();

    assert!(!is_there());
    server.restart().unwrap();
}

#[test]
fn a_stop_is_a_shutdown_in_order_also_of_a_server_that_is_paused() {
    let mut server = shared();
    server.pause().unwrap();

    server.stop().unwrap();

    let log = server.log().unwrap();
    assert!(log.trim_end().ends_with("database system is shut down"), "{log}");
    server.restart().unwrap();
}

#[test]
fn a_server_answers_after_a_pause() {
    let mut server = shared();

    server.pause().unwrap();
    server.resume().unwrap();

    assert_eq!(server.psql("SELECT 1").unwrap(), "1");
}

#[test]
fn a_standby_follows_its_primary_and_takes_over_from_it() {
    let mut primary = PostgresConfig::new().start().unwrap();
    let link = Pump::to(primary.address()).unwrap();
    let standby = PostgresConfig::standby_of(link.address()).with("cluster_name", "second").start().unwrap();
    primary.set("synchronous_commit", "remote_apply").unwrap();
    primary.set("synchronous_standby_names", "second").unwrap();
    eventually("the standby is a synchronous one", || {
        primary.psql("SELECT sync_state FROM pg_stat_replication").unwrap() == "sync"
    });

    primary.psql("CREATE TABLE kept AS SELECT 1 AS number").unwrap();
    assert_eq!(standby.psql("SELECT number FROM kept").unwrap(), "1");
    assert!(standby.psql("DELETE FROM kept").is_err(), "a standby takes no writes");

    primary.kill().unwrap();
    standby.promote().unwrap();

    assert_eq!(standby.psql("SELECT pg_is_in_recovery()").unwrap(), "f");
    assert_eq!(standby.psql("UPDATE kept SET number = 2 RETURNING number").unwrap(), "2");
}

/// One server for the tests that leave it running.
fn shared() -> MutexGuard<'static, Postgres> {
    static SERVER: LazyLock<Mutex<Postgres>> = LazyLock::new(|| {
        let config = PostgresConfig::new().with("commit_delay", "7").with("search_path", "a'b");
        Mutex::new(config.start().unwrap())
    });
    SERVER.lock().unwrap_or_else(PoisonError::into_inner)
}
