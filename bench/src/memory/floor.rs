//! What is left when even the records are taken away.

use std::hash::BuildHasherDefault;

use bytes::Bytes;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use onceonly::{Completion, Fingerprint, Token};
use parking_lot::Mutex;

use super::bare_map::FirstBytes;
use super::{Ask, Target};
use crate::load::Timer;
use crate::runner::Failure;

/// Sharded maps from digests to tokens and bodies: no clock, no deadlines, no scope and key, no headers. It could not
/// be a store; it is the least that two lookups under a lock can cost.
pub(super) struct Floor(Box<[Mutex<Shard>]>);

type Shard = HashMap<[u8; 32], Kept, BuildHasherDefault<FirstBytes>>;

struct Kept {
    token: Token,
    fingerprint: Fingerprint,
    result: Option<Bytes>,
}

impl Floor {
    pub(super) fn new() -> Self {
        Self((0..256).map(|_| Mutex::default()).collect())
    }

    fn shard(&self, digest: &[u8; 32]) -> &Mutex<Shard> {
        &self.0[usize::from(digest[31])]
    }
}

impl Target for Floor {
    fn fresh(&self, ask: &Ask<'_>, completion: &Completion, timer: &mut Timer) -> Result<(), Failure> {
        let (digest, token) = (ask.request.key.digest(), ask.request.token);
        let claimed = timer.claim(|| match self.shard(digest).lock().entry(*digest) {
            Entry::Vacant(entry) => {
                entry.insert(Kept { token, fingerprint: ask.fingerprint, result: None });
                true
            }
            Entry::Occupied(_) => false,
        });
        if !claimed {
            return Err("a fresh key was in the map".into());
        }
        match self.shard(digest).lock().get_mut(digest) {
            Some(record) if record.token == token => record.result = completion.result.body().cloned(),
            _ => return Err("a held key was not in the map".into()),
        }
        Ok(())
    }

    fn replay(&self, ask: &Ask<'_>, timer: &mut Timer) -> Result<(), Failure> {
        let digest = ask.request.key.digest();
        let found = timer.claim(|| {
            let shard = self.shard(digest).lock();
            let record = shard.get(digest).filter(|record| record.fingerprint == ask.fingerprint);
            record.and_then(|record| record.result.clone())
        });
        found.map(drop).ok_or_else(|| "a completed key was not in the map".into())
    }
}
