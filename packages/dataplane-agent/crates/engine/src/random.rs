//! SplitMix64, a generator of 64-bit numbers whose state is a counter (Steele, Lea, Flood: "Fast splittable
//! pseudorandom number generators", 2014).

/// The step of the counter, 2⁶⁴ divided by the golden ratio.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The number that belongs to a value of the counter.
#[inline]
pub(crate) const fn split_mix(counter: u64) -> u64 {
    let mixed = (counter ^ counter >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_that_of_the_reference_implementation() {
        // <https://prng.di.unimi.it/splitmix64.c> with the state 1234567.
        let mut counter = 1_234_567_u64;
        let mut next = || {
            counter = counter.wrapping_add(STEP);
            split_mix(counter)
        };
        assert_eq!([next(), next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}
