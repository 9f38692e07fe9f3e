//! A token bucket: bounds the bits that pass in any time, exact in the long run.
//!
//! Tokens are bits. A packet may pass while the bucket is not below zero, and is charged in full, so that over any time
//! `t` at most `rate × t + depth + one packet` passes. The fraction of a bit that a refill leaves is carried over, so
//! rounding errors do not add up.
//!
//! A class of a tree has `ClassTokens` (`htb/class_tokens.rs`) instead: two token counts that are filled at the same
//! time, debts that are bounded, and a rate of zero that differs from an unlimited one, which it does not in a bucket.
//! The arithmetic of both is below. With a type for a token count and its remainder, a bucket would not fit into 36
//! bytes.

use crate::time::Now;

const NS_PER_SECOND: u64 = 1_000_000_000;

/// Highest rate, bits/s. With it the sums below stay within 64 bits.
pub const MAX_RATE: u64 = 1_000_000_000_000;

/// Maximum depth of a bucket, as the time in which its rate fills it, ms.
pub const MAX_DEPTH_MS: u32 = 10_000;

/// While packets wait, a bucket holds up to the tokens of this time, ns, even if its depth is less, so that a worker
/// that serves late catches up.
pub(super) const LATENESS: u64 = 10_000_000;

/// The bucket. A rate of 0 is no limit. It has 36 bytes, so that the other fields that a packet needs of a leaf fit
/// into the same cache line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct TokenBucket {
    /// Bits that may pass; below zero the debt of packets that have passed.
    tokens: i64,
    /// When it was filled last.
    filled: Now,
    /// Bits/s.
    rate: u64,
    /// Most tokens, bits.
    depth: i64,
    /// Fraction of a bit, in 10⁻⁹ bits.
    remainder: u32,
}

impl TokenBucket {
    /// A full bucket that is filled at `rate` bits/s and holds the bits of `depth_ms` ms.
    pub fn new(rate: u64, depth_ms: u32, now: Now) -> Self {
        let rate = rate.min(MAX_RATE);
        let depth = depth(rate, depth_ms);
        Self { tokens: depth, filled: now, rate, depth, remainder: 0 }
    }

    /// Changes rate and depth. Tokens and debts are kept, tokens up to the new depth. A bucket that had no limit begins
    /// full.
    pub fn change(&mut self, rate: u64, depth_ms: u32, now: Now, waiting: bool) {
        let rate = rate.min(MAX_RATE);
        let depth = depth(rate, depth_ms);
        if (rate, depth) == (self.rate, self.depth) {
            return;
        }
        if self.rate == 0 {
            *self = Self::new(rate, depth_ms, now);
            return;
        }
        self.fill(now, waiting);
        (self.rate, self.depth) = (rate, depth);
        self.tokens = self.tokens.min(depth);
    }

    /// Changes the rate, unless the old or the new one is 0. Tokens and depth are kept.
    pub fn set_rate(&mut self, rate: u64, now: Now, waiting: bool) {
        if self.rate != 0 && rate != 0 {
            self.fill(now, waiting);
            self.rate = rate.min(MAX_RATE);
        }
    }

    /// Bits/s; 0 no limit.
    #[inline]
    pub const fn rate(&self) -> u64 {
        self.rate
    }

    /// Tokens, bits; below zero for a debt.
    pub const fn tokens(&self) -> i64 {
        self.tokens
    }

    /// Depth, bits.
    pub const fn depth(&self) -> i64 {
        self.depth
    }

    /// Restores the tokens that the previous owner stored, bits, counted at `counted`.
    pub fn restore(&mut self, tokens: i64, counted: Now) {
        *self = Self { tokens: tokens.min(self.depth), filled: counted, remainder: 0, ..*self };
    }

    /// When it was filled last.
    pub const fn counted(&self) -> Now {
        self.filled
    }

    /// Adds the tokens that came in since the last fill.
    #[inline]
    pub fn fill(&mut self, now: Now, waiting: bool) {
        if now.0 <= self.filled.0 {
            return;
        }
        let elapsed = now.0 - self.filled.0;
        self.filled = now;
        if self.rate == 0 {
            return;
        }
        let cap = cap(self.depth, self.rate, waiting);
        self.tokens = refill(self.tokens, &mut self.remainder, self.rate, cap, elapsed);
    }

    /// Whether a packet may pass, as of the last fill.
    #[inline]
    pub const fn is_open(&self) -> bool {
        self.rate == 0 || self.tokens >= 0
    }

    /// Charges a packet.
    #[inline]
    pub fn charge(&mut self, bytes: u64) {
        if self.rate != 0 {
            self.tokens = self.tokens.saturating_sub(bits_of(bytes));
        }
    }

    /// When [`Self::is_open`] holds again, if nothing is charged until then.
    pub fn opens_at(&self) -> Now {
        if self.is_open() {
            return self.filled;
        }
        paid_at(self.filled, self.tokens, self.remainder, self.rate)
    }
}

/// Bits of so many bytes.
#[inline]
pub(super) fn bits_of(bytes: u64) -> i64 {
    i64::try_from(bytes.saturating_mul(8)).unwrap_or(i64::MAX)
}

/// Bits that `rate` bits/s, at most [`MAX_RATE`], bring in `depth_ms` ms, at most [`MAX_DEPTH_MS`].
#[inline]
pub(super) fn depth(rate: u64, depth_ms: u32) -> i64 {
    // 10¹² × 10⁴ is below 2⁶³.
    (rate * u64::from(depth_ms.min(MAX_DEPTH_MS)) / 1000) as i64
}

/// Maximum number of tokens, bits: the depth, or the tokens of [`LATENESS`] if packets wait and these are more.
#[inline]
pub(super) fn cap(depth: i64, rate: u64, waiting: bool) -> i64 {
    if waiting { depth.max((rate / (NS_PER_SECOND / LATENESS)) as i64) } else { depth }
}

/// Returns the tokens, bits, after `elapsed` ns, at most `cap`. `remainder` is the fraction of a bit, in 10⁻⁹ bits; at
/// the cap it is 0.
#[inline]
pub(super) fn refill(tokens: i64, remainder: &mut u32, rate: u64, cap: i64, elapsed: u64) -> i64 {
    let sum = tokens.saturating_add(earn(rate, elapsed, remainder));
    if sum >= cap {
        *remainder = 0;
        cap
    } else {
        sum
    }
}

/// Returns the whole bits that come in during `elapsed` ns, with the remainder added. The fraction that is left becomes
/// the new remainder.
#[inline]
fn earn(rate: u64, elapsed: u64, remainder: &mut u32) -> i64 {
    if elapsed < 10 * NS_PER_SECOND {
        // (10⁹ − 1) × 10¹⁰ + 10⁹ and 10³ × 10¹⁰ are below 2⁶⁴.
        let part = rate % NS_PER_SECOND * elapsed + u64::from(*remainder);
        *remainder = (part % NS_PER_SECOND) as u32;
        return (rate / NS_PER_SECOND * elapsed + part / NS_PER_SECOND) as i64;
    }
    earn_long(rate, elapsed, remainder)
}

#[cold]
fn earn_long(rate: u64, elapsed: u64, remainder: &mut u32) -> i64 {
    let all = u128::from(rate) * u128::from(elapsed) + u128::from(*remainder);
    *remainder = (all % u128::from(NS_PER_SECOND)) as u32;
    i64::try_from(all / u128::from(NS_PER_SECOND)).unwrap_or(i64::MAX)
}

/// Returns when tokens that were below zero at `filled` reach zero.
pub(super) fn paid_at(filled: Now, tokens: i64, remainder: u32, rate: u64) -> Now {
    let debt = u128::from(tokens.unsigned_abs()) * u128::from(NS_PER_SECOND);
    let wait = debt.saturating_sub(u128::from(remainder)).div_ceil(u128::from(rate.max(1)));
    Now(filled.0.saturating_add(u64::try_from(wait).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_debt_is_paid_to_the_nanosecond() {
        let mut bucket = TokenBucket::new(3, 0, Now(7));
        bucket.charge(1);
        // 8 bits at 3 bits/s: 2.666… s.
        assert_eq!(bucket.opens_at(), Now(7 + 2_666_666_667));
        bucket.fill(Now(2_666_666_673), true);
        assert!(!bucket.is_open());
        bucket.fill(Now(2_666_666_674), true);
        assert!(bucket.is_open());
    }

    #[test]
    fn a_change_keeps_debts_and_no_more_tokens_than_the_new_depth() {
        let mut bucket = TokenBucket::new(8_000_000, 100, Now(0));
        assert_eq!(bucket.tokens(), 800_000);
        bucket.change(800_000, 100, Now(0), false);
        assert_eq!(bucket.tokens(), 80_000);
        bucket.charge(20_000);
        bucket.change(8_000_000, 100, Now(0), false);
        assert_eq!(bucket.tokens(), -80_000);
        bucket.change(0, 100, Now(0), false);
        assert!(bucket.is_open());
        bucket.change(8_000_000, 100, Now(5), false);
        assert_eq!(bucket.tokens(), 800_000);
    }

    /// Tokens and remainder as whole numbers of 10⁻⁹ bits, without bounds.
    fn all_of(bucket: &TokenBucket) -> i128 {
        i128::from(bucket.tokens) * 1_000_000_000 + i128::from(bucket.remainder)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn balance_is_exact_at_any_rate_size_and_time(
            rate in prop_oneof![Just(1u64), Just(999_999_999), Just(1_000_000_000), Just(MAX_RATE), Just(u64::MAX), 1..=MAX_RATE],
            depth_ms in prop_oneof![Just(0u32), Just(u32::MAX), 0..=MAX_DEPTH_MS],
            steps in proptest::collection::vec(
                (
                    prop_oneof![Just(0u64), Just(1), 0..1_000_000u64, 0..20_000_000_000u64, Just(30_000_000_000_000_000)],
                    prop_oneof![Just(0u64), 0..65_536u64, Just(1_000_000_000_000_000)],
                    any::<bool>(),
                ),
                1..40,
            ),
        ) {
            let mut bucket = TokenBucket::new(rate, depth_ms, Now(0));
            let mut now = Now(0);
            for (elapsed, bytes, waiting) in steps {
                now = Now(now.0.saturating_add(elapsed));
                let before = bucket;
                bucket.fill(now, waiting);
                let cap = i128::from(if waiting { bucket.depth.max((bucket.rate / 100) as i64) } else { bucket.depth });
                let earned = i128::from(bucket.rate) * i128::from(now.0 - before.filled.0);
                let exact = all_of(&before) + earned;
                let due = if earned != 0 && exact >= cap * 1_000_000_000 { cap * 1_000_000_000 } else { exact };
                prop_assert_eq!(all_of(&bucket), due);
                // Time that stands still or goes back changes nothing.
                let filled = bucket;
                bucket.fill(before.filled, waiting);
                prop_assert_eq!(bucket, filled);
                let opens = bucket.opens_at();
                if !bucket.is_open() && opens.0 < u64::MAX {
                    let (mut early, mut late) = (bucket, bucket);
                    early.fill(Now(opens.0 - 1), true);
                    late.fill(opens, true);
                    prop_assert!(!early.is_open() && late.is_open());
                }
                let charged = bucket.tokens - if bucket.rate == 0 { 0 } else { bytes as i64 * 8 };
                bucket.charge(bytes);
                prop_assert_eq!(bucket.tokens(), charged);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(64)))]
        #[test]
        fn any_window_holds_its_bound_and_the_long_run_its_rate(
            rate in prop_oneof![64_000u64..10_000_000, 10_000_000u64..10_000_000_000, Just(1_000_000_000_000)],
            depth_ms in prop_oneof![Just(0u32), Just(1), Just(100), Just(1000)],
            sizes in proptest::collection::vec(40u64..1500, 1..20),
            late in proptest::collection::vec(0u64..100_000, 1..20),
        ) {
            let mut bucket = TokenBucket::new(rate, depth_ms, Now(0));
            let mut now = Now(0);
            let mut passed = vec![(Now(0), 0u64)];
            let mut sum = 0;
            for turn in 0..3000 {
                while !bucket.is_open() {
                    now = Now(bucket.opens_at().0 + late[turn % late.len()]);
                    bucket.fill(now, true);
                }
                let size = sizes[turn % sizes.len()];
                bucket.charge(size);
                sum += size * 8;
                passed.push((now, sum));
            }
            let depth = u128::from(rate) * u128::from(depth_ms.max(10)) / 1000;
            for (at, &(from, before)) in passed.iter().enumerate().step_by(97) {
                for &(to, after) in passed[at..].iter().step_by(61) {
                    let bound = u128::from(rate) * u128::from(to.0 - from.0) / 1_000_000_000 + depth + 1500 * 8;
                    prop_assert!(u128::from(after - before) <= bound);
                }
            }
            // All that came in went out, but for what is still in the bucket.
            let came = i128::from(rate) * i128::from(now.0) / 1_000_000_000 + i128::from(rate) * i128::from(depth_ms) / 1000;
            prop_assert!((came - i128::from(sum) - i128::from(bucket.tokens())).abs() <= 1);
        }
    }
}
