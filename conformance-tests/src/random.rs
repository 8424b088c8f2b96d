//! Random choices that can be made again from a seed.

/// SplitMix64 (Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, 2014): small, and good enough
/// to choose test inputs.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) const fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `bound`.
    pub(crate) const fn below(&mut self, bound: usize) -> usize {
        (self.number() % bound as u64) as usize
    }

    /// True in `percent` of a hundred cases.
    pub(crate) const fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len {
            bytes.extend_from_slice(&self.number().to_le_bytes());
        }
        bytes.truncate(len);
        bytes
    }

    pub(crate) const fn sixteen(&mut self) -> [u8; 16] {
        let both = (self.number() as u128) << 64 | self.number() as u128;
        both.to_le_bytes()
    }
}

/// The seed of one case in a run of many. Were they alike, two cases on one server would have claims of the same token.
pub(crate) fn of_case(seed: u64, name: &str) -> u64 {
    name.bytes().fold(seed, |seed, byte| Random::seeded(seed ^ u64::from(byte)).number())
}

/// Whether the environment names the seed: what an earlier run has shown is to be seen again.
pub(crate) fn seed_is_given() -> bool {
    std::env::var_os("ONCEONLY_SEED").is_some()
}

/// A seed of the system's, or the one in `ONCEONLY_SEED`.
pub(crate) fn seed() -> u64 {
    match std::env::var("ONCEONLY_SEED") {
        Ok(text) => text.trim().parse().expect("ONCEONLY_SEED is a number below 2^64"),
        // Short, so that it can be typed.
        Err(_) => u64::from(getrandom::u32().expect("the operating system provides random bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cases_of_a_run_make_different_choices_and_the_same_ones_again() {
        let (first, second) = (of_case(7341, "claim::a"), of_case(7341, "claim::b"));

        assert_ne!(first, second);
        assert_ne!(first, of_case(7342, "claim::a"));
        assert_eq!(first, of_case(7341, "claim::a"));
    }
}
