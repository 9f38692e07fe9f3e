//! A hasher for numbers that the router assigns, which an attacker cannot choose.

use std::hash::Hasher;

/// Hashes words by folded multiplication.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = u128::from(self.0 ^ value) * 0x9e37_79b9_7f4a_7c15;
        self.0 = mixed as u64 ^ (mixed >> 64) as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
