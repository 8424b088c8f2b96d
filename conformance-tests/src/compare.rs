//! Records side by side, and what differs, in words.

use onceonly::{NewClaim, Record, Revision, Stamp, Status, StoredResult, Timestamp, Token, Version};

use crate::verdict::broken;

/// The record that a claim leaves. Its third deadline is not in the stamp.
pub(crate) fn claimed_record(claim: &NewClaim, stamp: Stamp, unresolved_until: Timestamp) -> Record {
    Record {
        version: Version { token: claim.token, revision: Revision::FIRST },
        fingerprint: claim.fingerprint,
        attempt: claim.attempt,
        created_at: stamp.now,
        lease_until: stamp.lease_until,
        expires_at: stamp.expires_at,
        unresolved_until,
        status: Status::InProgress { checkpoint: claim.checkpoint.clone() },
    }
}

/// Ends the case unless both records are equal in every field.
pub(crate) fn check_same_record(found: &Record, due: &Record, what: &str) {
    let differences = differences(found, due);
    if !differences.is_empty() {
        broken(format!("{what}\n{}", differences.join("\n")));
    }
}

/// Ends the case unless both results are equal, byte for byte.
pub(crate) fn check_same_result(found: &StoredResult, due: &StoredResult, what: &str) {
    let mut differences = Vec::new();
    compare_results(found, due, &mut differences);
    if !differences.is_empty() {
        broken(format!("{what}\n{}", differences.join("\n")));
    }
}

/// What differs, a line for each field; nothing if both are equal.
pub(crate) fn differences(found: &Record, due: &Record) -> Vec<String> {
    differences_in(&AsTheyAre, found, due)
}

/// How times and tokens are put into words.
pub(crate) trait Wording {
    fn time(&self, time: Timestamp) -> String;
    fn token(&self, token: Token) -> String;
}

/// In their Debug form.
struct AsTheyAre;

impl Wording for AsTheyAre {
    fn time(&self, time: Timestamp) -> String {
        format!("{time:?}")
    }

    fn token(&self, token: Token) -> String {
        format!("{token:?}")
    }
}

/// What differs, with times and tokens in the words given.
pub(crate) fn differences_in(wording: &impl Wording, found: &Record, due: &Record) -> Vec<String> {
    let mut differences = Vec::new();
    let mut compare = |field: &str, found: String, due: String| {
        if found != due {
            differences.push(format!("{field}: found {found}, due {due}"));
        }
    };
    compare("token", wording.token(found.version.token), wording.token(due.version.token));
    compare("revision", format!("{:?}", found.version.revision), format!("{:?}", due.version.revision));
    compare("fingerprint", format!("{:?}", found.fingerprint), format!("{:?}", due.fingerprint));
    compare("attempt", found.attempt.to_string(), due.attempt.to_string());
    for (field, found, due) in [
        ("created_at", found.created_at, due.created_at),
        ("lease_until", found.lease_until, due.lease_until),
        ("expires_at", found.expires_at, due.expires_at),
        ("unresolved_until", found.unresolved_until, due.unresolved_until),
    ] {
        compare(field, wording.time(found), wording.time(due));
    }
    match (&found.status, &due.status) {
        (Status::Completed(found), Status::Completed(due)) => {
            compare_results(found, due, &mut differences);
        }
        (found, due) if found != due => {
            differences.push(format!("status: found {found:?}, due {due:?}"));
        }
        _ => {}
    }
    if differences.is_empty() && found != due {
        // Shortened forms are equal, the values are not.
        differences.push("the records differ in bytes that their short forms do not show".to_owned());
    }
    differences
}

fn compare_results(found: &StoredResult, due: &StoredResult, differences: &mut Vec<String>) {
    if found == due {
        return;
    }
    if found.code() != due.code() {
        differences.push(format!("code: found {}, due {}", found.code(), due.code()));
    }
    if found.headers() != due.headers() {
        let show = |result: &StoredResult| {
            let headers = result.headers().iter();
            let shown: Vec<String> = headers
                .map(|header| format!("{}: {}", header.name.escape_ascii(), header.value.escape_ascii()))
                .collect();
            format!("{shown:?}")
        };
        differences.push(format!("headers: found {}, due {}", show(found), show(due)));
    }
    match (found.body(), due.body()) {
        (Some(found), Some(due)) if found != due => {
            let same = found.iter().zip(due).take_while(|(found, due)| found == due).count();
            differences.push(format!(
                "body: found {} bytes, due {}; the first difference is at byte {same}",
                found.len(),
                due.len()
            ));
        }
        (Some(_), None) => differences.push("body: found one, due none (not retained)".to_owned()),
        (None, Some(_)) => differences.push("body: found none (not retained), due one".to_owned()),
        _ => {}
    }
}
