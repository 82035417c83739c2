//! Numbers from a seed: the same on every machine, for as long as this file stays as it is.

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    /// Numbers for a seed and one of the things that want some.
    pub fn new(seed: u64, of: u64) -> Random {
        let mut random = Random(seed ^ of.wrapping_mul(STEP));
        random.word();
        random
    }

    /// Any word.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.word() % limit
    }

    /// One of these.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_numbers_it_always_gave() {
        let mut random = Random::new(1, 2);
        assert_eq!([random.word(), random.word()], [0x71c1_8690_ee42_c90b, 0x71bb_54d8_d101_b5b9]);
        assert!((0..1000).all(|_| random.below(7) < 7));
    }
}
