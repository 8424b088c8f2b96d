//! The clock of real servers.

use std::collections::BTreeSet;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread;

use onceonly::{Clock, SystemClock, Timestamp};
use onceonly_conformance::ClockControl;
use onceonly_conformance::servers::{Postgres, PostgresConfig, RedisConfig, ServerClock, SteeredClock};

use super::{another, eventually, is_the_other, passes_in_another};

#[test]
fn a_frozen_clock_shows_one_time_and_is_stepped_by_an_hour_both_ways() {
    let frozen = frozen();
    let (clock, server) = &*frozen;

    // One statement takes longer than a microsecond.
    let times = "SELECT count(DISTINCT clock_timestamp()) FROM generate_series(1, 10000)";
    assert_eq!(server.psql(times).unwrap(), "1");
    assert_eq!(time_of(server), START);
    clock.step(HOUR).unwrap();
    assert_eq!(time_of(server), START + HOUR);
    clock.step(-2 * HOUR).unwrap();
    assert_eq!(time_of(server), START - HOUR);
    // As the suite does it.
    let control: &dyn ClockControl = clock;
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(control.set(Timestamp::from_micros(START + 7))).unwrap();
    assert_eq!((time_of(server), control.now().as_micros()), (START + 7, START + 7));
}

#[test]
fn a_lease_ends_at_its_deadline_to_the_microsecond() {
    let frozen = frozen();
    let (clock, server) = &*frozen;
    server.psql("CREATE TABLE leases AS SELECT clock_timestamp() + interval '60 s' AS lease_until").unwrap();
    let is_live = || server.psql("SELECT clock_timestamp() < lease_until FROM leases").unwrap() == "t";

    clock.step(60_000_000 - 1).unwrap();
    assert!(is_live());
    clock.step(1).unwrap();
    assert!(!is_live());
    clock.step(1).unwrap();
    assert!(!is_live());
}

#[test]
fn a_clock_that_is_off_runs_beside_that_of_the_host() {
    let frozen = frozen();
    let (clock, server) = &*frozen;
    let check_offset = |offset: i64| {
        let before = SystemClock.now().as_micros();
        let (theirs, ours) = (time_of(server), clock.now().as_micros());
        let after = SystemClock.now().as_micros();
        for time in [theirs, ours] {
            assert!((before..=after).contains(&(time - offset)), "{before}, {time} by {offset}, {after}");
        }
    };

    clock.show(ServerClock::Offset(HOUR)).unwrap();
    check_offset(HOUR);
    clock.step(HOUR).unwrap();
    check_offset(2 * HOUR);
    clock.show(ServerClock::Real).unwrap();
    check_offset(0);
    clock.step(-HOUR).unwrap();
    check_offset(-HOUR);
}

#[test]
fn a_session_that_runs_goes_by_a_new_time_at_once() {
    let frozen = frozen();
    let (clock, server) = &*frozen;
    let mut waiting = session(
        server,
        "DO $$ DECLARE start timestamptz := clock_timestamp();
         BEGIN WHILE clock_timestamp() = start LOOP END LOOP; END $$",
    );
    let runs = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'DO%'";
    eventually("the session runs", || server.psql(runs).unwrap() == "1");

    clock.step(1).unwrap();

    assert!(waiting.wait().unwrap().success());
}

#[test]
fn every_way_to_ask_for_the_time_is_answered() {
    let clock = SteeredClock::new().unwrap();
    clock.show(ServerClock::Frozen(Timestamp::from_micros(START + 7))).unwrap();
    // These go by `clock_gettime`, and by `time` and `gettimeofday`.
    let date = ["date", "+%s.%6N"];
    let bash = ["bash", "-c", "echo $EPOCHSECONDS; echo $EPOCHREALTIME"];

    let [date, bash] = [&date[..], &bash[..]].map(|words| {
        let mut program = Command::new(words[0]);
        program.args(&words[1..]);
        clock.preload(&mut program);
        String::from_utf8(program.output().unwrap().stdout).unwrap()
    });

    assert_eq!(date, "1800000000.000007\n");
    assert_eq!(bash, "1800000000\n1800000000.000007\n");
}

#[test]
fn nobody_sees_half_of_a_new_time() {
    let frozen = frozen();
    let (clock, server) = &*frozen;
    // Their bytes differ.
    let times = [0x0004_1122_3344_5566, 0x0005_5e6f_7081_92a3, 0x0006_a9ba_cbdc_edfe];
    clock.show(ServerClock::Frozen(Timestamp::from_micros(times[0]))).unwrap();
    let is_over = AtomicBool::new(false);

    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                for time in times {
                    clock.show(ServerClock::Frozen(Timestamp::from_micros(time))).unwrap();
                }
            }
        });
        let _ends = Ends(&is_over);
        let statement = format!("SELECT DISTINCT {MICROS} FROM generate_series(1, 200000)");
        let mut seen = BTreeSet::new();
        eventually("all times were seen", || {
            seen.extend(server.psql(&statement).unwrap().lines().map(|time| time.parse::<i64>().unwrap()));
            assert!(seen.is_subset(&times.into()), "{seen:x?}");
            seen.len() == times.len()
        });
    });
}

#[test]
fn time_limits_of_postgres_end_while_the_clock_stands_still() {
    let frozen = frozen();
    let server = &frozen.1;
    server.psql("CREATE TABLE rows AS SELECT 1 AS number").unwrap();
    let mut holder = session(server, "BEGIN; SELECT * FROM rows FOR UPDATE; SELECT pg_sleep(1)");
    let holds = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'";
    eventually("the row is locked", || server.psql(holds).unwrap() == "1");
    let waits = |limits: &str| {
        let mut waiter = session(server, &format!("{limits}; SELECT * FROM rows FOR UPDATE"));
        eventually("the limit ends the wait", || waiter.try_wait().unwrap().is_some());
        String::from_utf8_lossy(&waiter.wait_with_output().unwrap().stderr).into_owned()
    };

    let said = waits("SET lock_timeout = '50ms'");
    assert!(said.contains("due to lock timeout"), "{said}");
    // Behind looks for a deadlock, which are alarms too.
    let said = waits("SET deadlock_timeout = '10ms'; SET statement_timeout = '100ms'");
    assert!(said.contains("due to statement timeout"), "{said}");

    // The holder sleeps until the clock goes on.
    assert!(holder.try_wait().unwrap().is_none());
    holder.kill().unwrap();
    holder.wait().unwrap();
}

#[test]
fn redis_goes_by_a_steered_clock() {
    let clock = SteeredClock::new().unwrap();
    let server = RedisConfig::new().with_clock(&clock).start().unwrap();
    clock.show(ServerClock::Frozen(Timestamp::from_micros(START))).unwrap();
    let follows = || {
        let seconds = server.command("EVAL \"return redis.call('TIME')[1]\" 0").unwrap();
        seconds == (clock.now().as_micros() / 1_000_000).to_string()
    };
    eventually("it has looked", follows);
    assert_eq!(server.command("SET key value PX 60000").unwrap(), "+OK");

    clock.step(30_000_000).unwrap();
    eventually("it has looked", follows);
    assert_eq!(server.command("PTTL key").unwrap(), ":30000");
    clock.step(-60_000_000).unwrap();
    eventually("it has looked", follows);
    assert_eq!(server.command("PTTL key").unwrap(), ":90000");
    clock.step(90_001_000).unwrap();
    eventually("it has looked", follows);
    assert_eq!(server.command("EXISTS key").unwrap(), ":0");
}

#[test]
fn a_time_that_does_not_fit_is_refused_and_the_old_one_stands() {
    let clock = SteeredClock::new().unwrap();
    clock.show(ServerClock::Frozen(Timestamp::from_micros(START))).unwrap();

    assert!(clock.show(ServerClock::Frozen(Timestamp::from_micros(i64::MAX))).is_err());

    assert_eq!(clock.now().as_micros(), START);
}

#[test]
fn without_a_compiler_a_clock_is_not_available_and_says_why() {
    if !is_the_other() {
        let mut command = another(without_a_compiler_a_clock_is_not_available_and_says_why);
        return passes_in_another(command.env("PATH", ""));
    }

    let reason = SteeredClock::availability().unwrap_err().to_string();

    assert!(reason.contains("there is no cc"), "{reason}");
    assert_eq!(SteeredClock::new().unwrap_err().to_string(), reason);
}

/// One server for all tests, with a clock that stands still.
fn frozen() -> Frozen {
    static SERVER: LazyLock<Mutex<(SteeredClock, Postgres)>> = LazyLock::new(|| {
        let clock = SteeredClock::new().unwrap();
        let server = PostgresConfig::new().with_clock(&clock).start().unwrap();
        Mutex::new((clock, server))
    });
    let shared = SERVER.lock().unwrap_or_else(PoisonError::into_inner);
    shared.0.show(ServerClock::Frozen(Timestamp::from_micros(START))).unwrap();
    shared
}

type Frozen = MutexGuard<'static, (SteeredClock, Postgres)>;

/// Ends the thread beside a test, also when that panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn time_of(server: &Postgres) -> i64 {
    server.psql(&format!("SELECT {MICROS}")).unwrap().parse().unwrap()
}

/// Runs statements in a session of its own, beside the test.
fn session(server: &Postgres, statements: &str) -> Child {
    let mut psql = Command::new(server.program("psql"));
    psql.args(["--no-psqlrc", "--quiet", "--dbname", &server.url(), "--command", statements]);
    psql.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}

const START: i64 = 1_800_000_000_000_000;
const HOUR: i64 = 3_600_000_000;
const MICROS: &str = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";
