//! Pseudo-random numbers for kinds that drop at random: small state, seeded, the same on every machine.

use super::header::mix;

/// SplitMix64's counter, folded by a product.
#[derive(Debug, Clone, Copy)]
pub struct Random(u64);

impl Random {
    /// Generator from a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 32 random bits.
    pub fn bits(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0, self.0.rotate_left(32)) >> 16) as u32
    }
}
