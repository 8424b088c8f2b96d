//! A server ends with its test, however that ends; and what is missing is named.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc;
use std::{fs, thread};

use onceonly_conformance::servers::{Postgres, PostgresConfig, RedisConfig};

use super::{another, eventually, is_the_other, passes_in_another};

#[test]
fn a_server_ends_with_a_test_that_panics_and_its_log_stays() {
    let (tell, told) = mpsc::channel();

    let panicked = thread::spawn(move || {
        let server = PostgresConfig::new().start().unwrap();
        let folder = server.socket_folder().to_owned();
        tell.send((server.address(), folder, server.log_path().to_owned())).unwrap();
        panic!("as planned");
    })
    .join();

    assert!(panicked.is_err());
    let (address, folder, log) = told.recv().unwrap();
    assert!(!answers(address) && !folder.exists());
    assert!(fs::read_to_string(&log).unwrap().contains("ready to accept connections"));
    fs::remove_file(log).unwrap();
}

#[test]
fn a_server_that_is_dropped_leaves_nothing() {
    let server = PostgresConfig::new().start().unwrap();
    let (address, folder, log) =
        (server.address(), server.socket_folder().to_owned(), server.log_path().to_owned());

    drop(server);

    assert!(!answers(address) && !folder.exists() && !log.exists());
}

#[test]
fn a_server_ends_with_a_process_that_is_killed() {
    if is_the_other() {
        let server = PostgresConfig::new().start().unwrap();
        let (address, folder, log) = (server.address(), server.socket_folder(), server.log_path());
        println!("started|{address}|{}|{}", folder.display(), log.display());
        loop {
            thread::park();
        }
    }

    let mut command = another(a_server_ends_with_a_process_that_is_killed);
    let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines().map(Result::unwrap);
    let line = lines.find_map(|line| line.split_once("started|").map(|(_, what)| what.to_owned())).unwrap();
    let [address, folder, log] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
    let address = address.parse().unwrap();
    assert!(answers(address) && Path::new(folder).exists());

    process.kill().unwrap();
    process.wait().unwrap();

    eventually("the server and its folder are gone", || !answers(address) && !Path::new(folder).exists());
    fs::remove_file(log).unwrap();
}

#[test]
fn a_program_that_is_missing_is_named_with_the_variable_and_the_package() {
    if !is_the_other() {
        let mut command = another(a_program_that_is_missing_is_named_with_the_variable_and_the_package);
        command.env("ONCEONLY_POSTGRES_BIN", "nowhere").env("PATH", "").env_remove("ONCEONLY_REDIS_BIN");
        return passes_in_another(&mut command);
    }

    let postgres = PostgresConfig::new().start().unwrap_err().to_string();
    let redis = RedisConfig::new().start().unwrap_err().to_string();

    assert!(postgres.contains("ONCEONLY_POSTGRES_BIN is set to nowhere"), "{postgres}");
    for word in ["redis-server", "ONCEONLY_REDIS_BIN", "apt-get install", "brew install"] {
        assert!(redis.contains(word), "{redis}");
    }
}

#[cfg(not(target_os = "linux"))]
#[test]
fn a_clock_is_not_available_and_says_why() {
    let reason = onceonly_conformance::servers::SteeredClock::availability().unwrap_err().to_string();

    assert!(reason.contains("Linux"), "{reason}");
}

#[test]
fn the_first_of_many_servers_runs_initdb_and_the_others_have_a_copy() {
    if !is_the_other() {
        // Nobody has made the template there.
        let temporary = tempfile::Builder::new().permissions(open_to_all()).tempdir().unwrap();
        let mut command = another(the_first_of_many_servers_runs_initdb_and_the_others_have_a_copy);
        return passes_in_another(command.env("TMPDIR", temporary.path()));
    }

    let starting =
        (0..2).map(|_| thread::spawn(|| PostgresConfig::new().start().unwrap())).collect::<Vec<_>>();
    let servers = starting.into_iter().map(|server| server.join().unwrap()).collect::<Vec<_>>();

    let said = |server: &Postgres| server.log().unwrap().contains("bootstrap");
    assert_eq!(servers.iter().filter(|server| said(server)).count(), 1);
    for server in &servers {
        assert_eq!(server.psql("SELECT 1").unwrap(), "1");
    }
}

fn open_to_all() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o755)
}

fn answers(address: SocketAddr) -> bool {
    TcpStream::connect(address).is_ok()
}
