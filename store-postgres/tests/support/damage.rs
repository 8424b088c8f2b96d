//! What somebody else can do to a row so that it cannot be read any more.

/// The ways that go with an unfinished record, or with a completed one.
pub(crate) fn ways(completed: bool) -> Vec<&'static str> {
    let own: &[&str] = if completed { &COMPLETED } else { &UNFINISHED };
    ANY.iter().chain(own).copied().collect()
}

const ANY: [&str; 10] = [
    "key = '\\x00'",
    "key = key || '\\x20'",
    "scope = '\\x61'",
    // As of a newer format.
    "status = 3",
    "status = -1",
    "revision = -1",
    "revision = 4294967296",
    "fingerprint = '\\x0001'",
    "fingerprint = fingerprint || '\\x00'",
    "attempt = 9223372036854775807",
];

const UNFINISHED: [&str; 4] = ["status = 1", "code = 200", "headers = '\\x01'", "body = '\\x00'"];

const COMPLETED: [&str; 7] = [
    "status = 0",
    "status = 2",
    "code = NULL",
    "code = -1",
    "code = 65536",
    "headers = NULL",
    "checkpoint = '\\x00'",
];
