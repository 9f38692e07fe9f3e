//! Numbers that look random and are the same in every run.

/// xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
pub struct Random(pub u64);

impl Random {
    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// The next one.
    pub fn next(&mut self) -> u32 {
        (self.bits() >> 16) as u32
    }

    /// Below `limit`.
    pub fn below(&mut self, limit: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(limit)) >> 32) as u32
    }
}
