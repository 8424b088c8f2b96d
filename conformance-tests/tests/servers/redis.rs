//! Redis servers.

use onceonly_conformance::servers::{Pump, RedisConfig};

use super::eventually;

#[test]
fn a_server_without_a_log_of_writes_forgets_when_it_is_killed() {
    let mut server = RedisConfig::new().start().unwrap();
    assert_eq!(server.command("SET key value").unwrap(), "+OK");

    server.kill().unwrap();
    assert!(server.command("PING").is_err());
    server.restart().unwrap();

    assert_eq!(server.command("DBSIZE").unwrap(), ":0");
}

#[test]
fn a_server_that_logs_every_write_keeps_it_over_a_kill() {
    let config = RedisConfig::new().with("appendonly", "yes").with("appendfsync", "always");
    let mut server = config.start().unwrap();
    let address = server.address();
    assert_eq!(server.command("SET key value").unwrap(), "+OK");

    server.kill().unwrap();
    server.restart().unwrap();

    assert_eq!(server.address(), address);
    assert_eq!(server.command("GET key").unwrap(), "value");
}

#[test]
fn a_server_keeps_what_a_shutdown_in_order_writes() {
    let mut server = RedisConfig::new().with("save", "3600 1").start().unwrap();
    assert_eq!(server.command("SET key value").unwrap(), "+OK");
    server.pause().unwrap();

    server.stop().unwrap();
    server.restart().unwrap();

    assert_eq!(server.command("GET key").unwrap(), "value");
}

#[test]
fn a_replica_follows_its_primary_and_takes_over_from_it() {
    let mut primary = RedisConfig::new().start().unwrap();
    let link = Pump::to(primary.address()).unwrap();
    assert_eq!(primary.command("SET key before").unwrap(), "+OK");
    let mut replica = RedisConfig::replica_of(link.address()).start().unwrap();
    assert_eq!(replica.command("GET key").unwrap(), "before");

    assert_eq!(primary.command("SET key behind").unwrap(), "+OK");
    eventually("the write has come over", || replica.command("GET key").unwrap() == "behind");
    assert!(replica.command("SET key refused").unwrap().starts_with("-READONLY"));

    primary.kill().unwrap();
    replica.promote().unwrap();

    assert_eq!(replica.command("SET key after").unwrap(), "+OK");
    replica.restart().unwrap();
}
