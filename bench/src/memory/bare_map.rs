//! The store's own records in the store's own shards, without the trait in between.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use onceonly::{Clock, CompleteOutcome, Completion, Record, RecordKey, Status, SystemClock};
use parking_lot::Mutex;

use super::{Ask, Target};
use crate::load::Timer;
use crate::runner::Failure;

/// Sharded maps of the same keys and records, written with the same functions of core by the same clock. What the store
/// costs beyond this is the trait's: boxed futures, outcomes, and a snapshot where a result would do.
pub(super) struct BareMap(Box<[Mutex<Shard>]>);

type Shard = HashMap<RecordKey, Record, BuildHasherDefault<FirstBytes>>;

impl BareMap {
    pub(super) fn new() -> Self {
        Self((0..256).map(|_| Mutex::default()).collect())
    }

    fn shard(&self, key: &RecordKey) -> &Mutex<Shard> {
        &self.0[usize::from(key.digest()[31])]
    }
}

impl Target for BareMap {
    fn fresh(&self, ask: &Ask<'_>, completion: &Completion, timer: &mut Timer) -> Result<(), Failure> {
        let (key, token) = (&ask.request.key, ask.request.token);
        let claim = ask.request.claim(ask.fingerprint);
        let claimed = timer.claim(|| match self.shard(key).lock().entry(key.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(Record::claimed(&claim, SystemClock.now()));
                true
            }
            Entry::Occupied(_) => false,
        });
        if !claimed {
            return Err("a fresh key was in the map".into());
        }
        let mut shard = self.shard(key).lock();
        let completed =
            shard.get_mut(key).map(|record| record.complete(token, completion, SystemClock.now()));
        match completed {
            Some(CompleteOutcome::Applied(_)) => Ok(()),
            _ => Err("a held key was not in the map".into()),
        }
    }

    fn replay(&self, ask: &Ask<'_>, timer: &mut Timer) -> Result<(), Failure> {
        let key = &ask.request.key;
        let found = timer.claim(|| {
            let shard = self.shard(key).lock();
            let now = SystemClock.now();
            match shard.get(key) {
                Some(Record { status: Status::Completed(result), fingerprint, expires_at, .. })
                    if *fingerprint == ask.fingerprint && now < *expires_at =>
                {
                    Some(result.clone())
                }
                _ => None,
            }
        });
        found.map(drop).ok_or_else(|| "a completed key was not in the map".into())
    }
}

/// Digests are as good as random: eight of their bytes are the hash.
#[derive(Default)]
pub(super) struct FirstBytes(u64);

impl Hasher for FirstBytes {
    fn write(&mut self, bytes: &[u8]) {
        if let Some((first, _)) = bytes.split_first_chunk::<8>() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    /// What a record key feeds.
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    /// The length that an array feeds first; every digest has the same.
    fn write_usize(&mut self, _: usize) {}

    fn finish(&self) -> u64 {
        self.0
    }
}
