//! Random numbers that a seed decides.

/// SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014): small, and good enough
/// to throw dice with.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// The sequence that belongs to `seeds`, all of them together.
    pub(crate) fn new(seeds: &[u64]) -> Self {
        Self(seeds.iter().fold(0, |state, seed| Self(state ^ seed).next()))
    }

    /// A number from 0 to `bound - 1`. Not perfectly even, which no one will notice at these bounds.
    pub(crate) const fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// True in `percent` of a hundred cases.
    pub(crate) const fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
