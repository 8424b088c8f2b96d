//! What is left of a store when everything but the map is taken away.

use std::hash::{BuildHasherDefault, Hasher};

use bytes::Bytes;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use onceonly::{Completion, Fingerprint, Token};
use parking_lot::Mutex;

use super::{Ask, Target};
use crate::load::Timer;
use crate::runner::Failure;

/// Sharded maps of digests, called without a trait: no clock, no deadlines, no errors, one status. The least that two
/// lookups under a lock can cost.
pub(super) struct BareMap(Box<[Mutex<Shard>]>);

type Shard = HashMap<[u8; 32], Bare, BuildHasherDefault<FirstBytes>>;

struct Bare {
    token: Token,
    fingerprint: Fingerprint,
    result: Option<Bytes>,
}

impl BareMap {
    pub(super) fn new() -> Self {
        Self((0..256).map(|_| Mutex::default()).collect())
    }

    fn shard(&self, digest: &[u8; 32]) -> &Mutex<Shard> {
        &self.0[usize::from(digest[31])]
    }
}

impl Target for BareMap {
    fn fresh(&self, ask: &Ask<'_>, completion: &Completion, timer: &mut Timer) -> Result<(), Failure> {
        let (digest, token) = (ask.request.key.digest(), ask.request.token);
        let claimed = timer.claim(|| match self.shard(digest).lock().entry(*digest) {
            Entry::Vacant(entry) => {
                entry.insert(Bare { token, fingerprint: ask.fingerprint, result: None });
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

/// Digests are as good as random: eight of their bytes are the hash.
#[derive(Default)]
struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some((first, _)) = bytes.split_first_chunk::<8>() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    /// The length that an array feeds first; every digest has the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
