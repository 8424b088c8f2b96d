//! A call of every verb on one record.

use onceonly::{ClaimRequest, Expected, RecordKey, Version};

use crate::call::Request;
use crate::case::{Case, checkpoint, completion, release, response, seconds};

/// A call of every verb that concerns the record of `key`, which stands at `version`: a look, claims of somebody else
/// that expect to find nothing or exactly this, and the writes of its holder.
pub(super) fn every_verb(case: &Case, key: &RecordKey, version: Version) -> Vec<Request> {
    let mut calls = vec![Request::Load { key: key.clone() }];
    for expected in [Expected::Absent, Expected::Exactly(version)] {
        let item = ClaimRequest { key: key.clone(), claim: case.claim(), expected };
        calls.push(Request::ClaimMany { claims: vec![item] });
        calls.push(Request::Claim { key: key.clone(), claim: case.claim(), expected });
    }
    calls.extend(writes_of_the_holder(key, version));
    calls
}

/// A renewal, a completion and a release by whoever holds `version` of the record of `key`.
pub(super) fn writes_of_the_holder(key: &RecordKey, version: Version) -> Vec<Request> {
    let (key, token, next) = (key.clone(), version.token, version.revision.number() + 1);
    vec![
        Request::Renew { key: key.clone(), token, renewal: checkpoint(next, seconds(600), "saved") },
        Request::Complete { key: key.clone(), token, completion: completion(next, response("done")) },
        Request::Release { key, token, release: release(next) },
    ]
}
