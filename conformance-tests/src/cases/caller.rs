//! A caller and the calls that it makes on one key.

use bytes::Bytes;
use onceonly::{Expected, NewClaim, RecordKey};

use crate::call::Request;
use crate::case::{checkpoint, completion, end_of_lease, extension, release, response, seconds, version};

/// Who claims a key under one token, and numbers the writes that follow.
#[derive(Clone, Copy)]
pub(super) struct Caller<'a> {
    pub(super) key: &'a RecordKey,
    pub(super) claim: &'a NewClaim,
}

impl Caller<'_> {
    /// What somebody expects who has seen this caller's write of that number.
    pub(super) fn at(self, number: u32) -> Expected {
        Expected::Exactly(version(self.claim.token, number))
    }

    pub(super) fn looks(self) -> Request {
        Request::Load { key: self.key.clone() }
    }

    pub(super) fn claims(self, expected: Expected) -> Request {
        Request::Claim { key: self.key.clone(), claim: self.claim.clone(), expected }
    }

    pub(super) fn saves(self, number: u32, bytes: impl Into<Bytes>) -> Request {
        let renewal = checkpoint(number, self.claim.lease, bytes);
        Request::Renew { key: self.key.clone(), token: self.claim.token, renewal }
    }

    pub(super) fn extends(self, number: u32) -> Request {
        let renewal = extension(number, seconds(900));
        Request::Renew { key: self.key.clone(), token: self.claim.token, renewal }
    }

    pub(super) fn ends_its_lease(self, number: u32) -> Request {
        Request::Renew { key: self.key.clone(), token: self.claim.token, renewal: end_of_lease(number) }
    }

    pub(super) fn completes(self, number: u32) -> Request {
        let completion = completion(number, response(&format!("result {number}")));
        Request::Complete { key: self.key.clone(), token: self.claim.token, completion }
    }

    pub(super) fn releases(self, number: u32) -> Request {
        Request::Release { key: self.key.clone(), token: self.claim.token, release: release(number) }
    }
}
