//! Records in sharded maps.

use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use onceonly::{
    ClaimOutcome, Clock, CompleteOutcome, Completion, Expected, KeyStore, NewClaim, Record, RecordKey,
    Release, ReleaseOutcome, RenewOutcome, Renewal, Snapshot, StoreError, StoreErrorKind, SystemClock, Token,
};

use crate::sync::{AtomicUsize, Mutex};

/// A [`KeyStore`] in memory, for one process. Clones share the records. Making one logs a warning, since a second
/// replica of the service would run every retry that reaches it.
///
/// Records that are past their time stay until [`KeyStore::purge_expired`] deletes them: run the
/// engine's sweeper. Live records are never evicted; a store at its capacity refuses new keys.
#[derive(Clone)]
pub struct MemoryStore {
    shared: Arc<Shared>,
}

struct Shared {
    shards: Box<[Mutex<Shard>]>,
    clock: Box<dyn Clock>,
    capacity: usize,
    len: AtomicUsize,
    /// The shard that the next purge starts at, so that a small limit does not keep to the first ones.
    next_purged: AtomicUsize,
}

type Shard = HashMap<RecordKey, Record, BuildHasherDefault<DigestHasher>>;

impl MemoryStore {
    /// An empty store on the host's clock.
    pub fn new() -> Self {
        Self::with_clock(SystemClock)
    }

    /// An empty store on `clock`. With a [`ManualClock`](onceonly::ManualClock) a test decides when leases and
    /// retentions end.
    pub fn with_clock(clock: impl Clock) -> Self {
        Self::build(Box::new(clock), usize::MAX)
    }

    /// An empty store on `clock` that holds at most `records`, those past their time included. A claim of a new key
    /// beyond them is [`Rejected`](StoreErrorKind::Rejected) until a purge makes room: a live record is never evicted,
    /// since a forgotten key runs again.
    pub fn with_capacity(clock: impl Clock, records: usize) -> Self {
        Self::build(Box::new(clock), records)
    }

    fn build(clock: Box<dyn Clock>, capacity: usize) -> Self {
        tracing::warn!(
            "the memory store is for one process: other processes, and this one restarted, run retries again"
        );
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        let len = AtomicUsize::new(0);
        let next_purged = AtomicUsize::new(0);
        Self { shared: Arc::new(Shared { shards, clock, capacity, len, next_purged }) }
    }

    fn shard(&self, key: &RecordKey) -> &Mutex<Shard> {
        // The map inside uses the digest's first bytes, so the shard is chosen by its last.
        let [.., last] = key.digest();
        &self.shared.shards[usize::from(*last) % SHARDS]
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let records = self.shared.len.load(Ordering::Relaxed);
        f.debug_struct("MemoryStore").field("records", &records).finish_non_exhaustive()
    }
}

impl Shared {
    /// Counts one record more, unless the store is full.
    fn make_room(&self) -> Result<(), StoreError> {
        let room = |len| (len < self.capacity).then_some(len + 1);
        match self.len.fetch_update(Ordering::Relaxed, Ordering::Relaxed, room) {
            Ok(_) => Ok(()),
            Err(_) => Err(StoreError::new(StoreErrorKind::Rejected, NAME, "the store is full")),
        }
    }
}

/// Each verb takes its shard's lock once, reads the clock under it, and awaits nothing: it is one step, and a dropped
/// future has either run to its end or not begun.
#[async_trait]
impl KeyStore for MemoryStore {
    fn name(&self) -> &'static str {
        NAME
    }

    async fn claim(
        &self,
        key: &RecordKey,
        claim: &NewClaim,
        expected: Expected,
    ) -> Result<ClaimOutcome, StoreError> {
        let mut shard = self.shard(key).lock();
        let now = self.shared.clock.now();
        let written = Record::claimed(claim, now);
        let stamp = written.stamp(now);
        match shard.entry(key.clone()) {
            Entry::Occupied(mut entry) if expected.admits(Some(entry.get())) => {
                entry.insert(written);
            }
            Entry::Occupied(entry) => {
                return Ok(ClaimOutcome::Occupied(Box::new(Snapshot { record: entry.get().clone(), now })));
            }
            Entry::Vacant(entry) if expected.admits(None) => {
                self.shared.make_room()?;
                entry.insert(written);
            }
            Entry::Vacant(_) => return Ok(ClaimOutcome::Vacant),
        }
        Ok(ClaimOutcome::Claimed(stamp))
    }

    async fn load(&self, key: &RecordKey) -> Result<Option<Snapshot>, StoreError> {
        let shard = self.shard(key).lock();
        let now = self.shared.clock.now();
        Ok(shard.get(key).map(|record| Snapshot { record: record.clone(), now }))
    }

    async fn renew(
        &self,
        key: &RecordKey,
        token: Token,
        renewal: &Renewal,
    ) -> Result<RenewOutcome, StoreError> {
        let mut shard = self.shard(key).lock();
        let now = self.shared.clock.now();
        Ok(match shard.get_mut(key) {
            Some(record) => record.renew(token, renewal, now),
            None => RenewOutcome::NotHeld,
        })
    }

    async fn complete(
        &self,
        key: &RecordKey,
        token: Token,
        completion: &Completion,
    ) -> Result<CompleteOutcome, StoreError> {
        let mut shard = self.shard(key).lock();
        let now = self.shared.clock.now();
        Ok(match shard.get_mut(key) {
            Some(record) => record.complete(token, completion, now),
            None => CompleteOutcome::NotHeld,
        })
    }

    async fn release(
        &self,
        key: &RecordKey,
        token: Token,
        release: &Release,
    ) -> Result<ReleaseOutcome, StoreError> {
        let mut shard = self.shard(key).lock();
        let now = self.shared.clock.now();
        Ok(match shard.get_mut(key) {
            Some(record) => record.release(token, release, now),
            None => ReleaseOutcome::NotHeld,
        })
    }

    async fn purge_expired(&self, limit: u32) -> Result<u64, StoreError> {
        let limit = limit as usize;
        let start = self.shared.next_purged.load(Ordering::Relaxed);
        let mut purged = 0;
        for next in (start..start + SHARDS).map(|shard| shard % SHARDS) {
            if purged == limit {
                self.shared.next_purged.store(next, Ordering::Relaxed);
                break;
            }
            let mut shard = self.shared.shards[next].lock();
            let now = self.shared.clock.now();
            let deleted = shard.extract_if(|_, record| record.is_past(now)).take(limit - purged).count();
            // Counted shard by shard: a store that has room by now must not refuse a key.
            self.shared.len.fetch_sub(deleted, Ordering::Relaxed);
            purged += deleted;
            if shard.len() < shard.capacity() / 4 {
                shard.shrink_to_fit();
            }
        }
        Ok(purged as u64)
    }
}

/// Takes the eight bytes that a [`RecordKey`] feeds it as they are: they come from a SHA-256 digest.
#[derive(Default)]
struct DigestHasher(u64);

impl Hasher for DigestHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = self.0.rotate_left(8) ^ number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

const NAME: &str = "memory";

/// A power of two, far above the number of threads, so that two callers seldom meet in one. Where every order of the
/// threads is tried, two: a purge takes the lock of each.
const SHARDS: usize = if cfg!(shuttle) { 2 } else { 256 };
