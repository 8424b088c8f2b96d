//! Which keys this store has met: a hint where a look is worth its price.

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use onceonly::RecordKey;

/// Remembers keys by a few bits, and forgets them when others come.
///
/// A look takes a read transaction, which costs a fresh claim a fifth of its throughput and finds nothing; for a retry it
/// saves the wait for a commit. A retry mostly reaches the process that saw the first attempt. Whatever the hint says,
/// the answer is right: without a look the writer gives it, and a look that finds nothing is followed by the writer.
pub(crate) struct Seen(Box<[AtomicU32]>);

impl Seen {
    pub(crate) fn new() -> Self {
        Self((0..SLOTS).map(|_| AtomicU32::new(0)).collect())
    }

    /// Whether the key was met, as far as is remembered. Now and then yes for one that was not.
    pub(crate) fn holds(&self, key: &RecordKey) -> bool {
        let (slot, mark) = self.place(key);
        slot.load(Ordering::Relaxed) == mark
    }

    pub(crate) fn note(&self, key: &RecordKey) {
        let (slot, mark) = self.place(key);
        slot.store(mark, Ordering::Relaxed);
    }

    /// The key's slot, and what marks it there: other bits of its digest, never the zero of an empty slot.
    fn place(&self, key: &RecordKey) -> (&AtomicU32, u32) {
        let [a, b, c, d, e, f, g, h, ..] = *key.digest();
        let slot = u32::from_le_bytes([a, b, c, d]) as usize % SLOTS;
        (&self.0[slot], u32::from_le_bytes([e, f, g, h]) | 1)
    }
}

impl fmt::Debug for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seen")
    }
}

/// One MiB of them.
const SLOTS: usize = 1 << 18;
