//! Tokens of a class: one count filled at `limit-at` and one filled at `max-limit`, both filled at the same time. A
//! leaf without a tree has a [`TokenBucket`](token_bucket::TokenBucket) instead, which has one rate. With two of these,
//! of 36 bytes each, a [`Node`](super::node::Node) would not fit into two cache lines. The arithmetic of both is in
//! [`token_bucket`].

use tollway_config::dataplane::QueueLimit;

use super::ClassMode;
use crate::qos::burst::Burst;
use crate::qos::token_bucket::{self, MAX_RATE, cap, paid_at, refill};
use crate::time::Now;

/// Maximum depth of the `limit-at` tokens, as a time, ms. These tokens are not subject to the limits of the classes
/// above, so the tokens that a class saved while it was idle add to the rate of those classes.
const GUARANTEE_DEPTH_MS: u32 = 10;

/// A debt is limited to the tokens of this many seconds.
const FLOOR_SECONDS: i64 = 60;

/// Rate without a limit.
pub const UNLIMITED: u64 = u64::MAX;

/// Rates and depths of the tokens of a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rates {
    /// Bits/s that the class may send on its own; 0 none, or [`UNLIMITED`].
    pub rate: u64,
    /// Bits/s that it may send at all, or [`UNLIMITED`].
    pub ceiling: u64,
    /// Most tokens of `rate`, bits.
    pub depth: i64,
    /// Most tokens of `ceiling`, bits.
    pub ceiling_depth: i64,
}

impl Rates {
    /// The rates of a class that has a parent.
    pub fn below(limit: &QueueLimit, burst: Option<&Burst>) -> Self {
        let rate = limit.limit_at.min(MAX_RATE);
        let [ceiling, sustained] = match limit.max_limit {
            0 => [UNLIMITED; 2],
            // A burst raises the rate, not the depth.
            max_limit => [burst.map_or(max_limit, |burst| burst.ceiling(max_limit)), max_limit]
                .map(|most| most.max(rate).min(MAX_RATE)),
        };
        Self {
            rate,
            ceiling,
            depth: depth(rate, limit.bucket_ms.min(GUARANTEE_DEPTH_MS)),
            ceiling_depth: depth(sustained, limit.bucket_ms),
        }
    }

    /// The rates of a class without a parent: its own rate is its ceiling, so that it can lend what it may send.
    pub fn root(limit: &QueueLimit, burst: Option<&Burst>) -> Self {
        let own = Self::below(&QueueLimit { limit_at: 0, ..*limit }, burst);
        Self { rate: own.ceiling, depth: own.ceiling_depth, ..own }
    }
}

fn depth(rate: u64, depth_ms: u32) -> i64 {
    if rate == UNLIMITED { 0 } else { token_bucket::depth(rate, depth_ms) }
}

/// Tokens of a class, in bits; below zero for a debt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClassTokens {
    /// Tokens of `limit-at`, bits.
    pub tokens: i64,
    /// Tokens of `max-limit`, bits.
    pub ceiling_tokens: i64,
    filled: Now,
    rates: Rates,
    /// Fraction of a bit of `tokens`, in 10⁻⁹ bits.
    remainder: u32,
    ceiling_remainder: u32,
}

impl ClassTokens {
    /// Full token counts.
    pub fn new(rates: Rates, now: Now) -> Self {
        Self {
            tokens: rates.depth,
            ceiling_tokens: rates.ceiling_depth,
            filled: now,
            rates,
            remainder: 0,
            ceiling_remainder: 0,
        }
    }

    /// The tokens of a worker that has leased none yet.
    pub fn leased(rates: Rates) -> Self {
        Self { tokens: 0, ceiling_tokens: 0, ..Self::new(rates, Now(0)) }
    }

    /// Colour of a class whose tokens are a lease. A lease with a count of zero is used up, unlike in [`Self::mode`].
    #[inline]
    pub const fn leased_mode(&self) -> ClassMode {
        if self.rates.ceiling != UNLIMITED && self.ceiling_tokens <= 0 {
            ClassMode::Red
        } else if self.rates.rate == UNLIMITED || (self.rates.rate != 0 && self.tokens > 0) {
            ClassMode::Green
        } else {
            ClassMode::Yellow
        }
    }

    /// Rates and depths.
    pub const fn rates(&self) -> &Rates {
        &self.rates
    }

    /// Changes rates and depths. Tokens and debts are kept, tokens up to the new depths. A count that was not limited
    /// begins full.
    pub fn change(&mut self, rates: Rates, now: Now, waiting: bool) {
        if rates == self.rates {
            return;
        }
        self.fill(now, waiting);
        if !is_counted(self.rates.rate) {
            self.tokens = rates.depth;
        }
        if !is_counted(self.rates.ceiling) {
            self.ceiling_tokens = rates.ceiling_depth;
        }
        self.rates = rates;
        self.tokens = self.tokens.min(rates.depth);
        self.ceiling_tokens = self.ceiling_tokens.min(rates.ceiling_depth);
    }

    /// Takes over the tokens of another state of the same class.
    pub fn restore(&mut self, other: &Self) {
        if is_counted(other.rates.rate) {
            self.tokens = other.tokens.min(self.rates.depth);
        }
        if is_counted(other.rates.ceiling) {
            self.ceiling_tokens = other.ceiling_tokens.min(self.rates.ceiling_depth);
        }
        (self.filled, self.remainder, self.ceiling_remainder) = (other.filled, 0, 0);
    }

    /// Adds the tokens that came in since the last fill.
    // Measured: not inlined, it takes a quarter of the time of a packet in a tree.
    #[inline(always)]
    pub fn fill(&mut self, now: Now, waiting: bool) {
        if now <= self.filled {
            return;
        }
        let elapsed = now.0 - self.filled.0;
        self.filled = now;
        let Rates { rate, ceiling, depth, ceiling_depth } = self.rates;
        if is_counted(rate) {
            let cap = cap(depth, rate, waiting);
            self.tokens = refill(self.tokens, &mut self.remainder, rate, cap, elapsed);
        }
        if is_counted(ceiling) {
            let cap = cap(ceiling_depth, ceiling, waiting);
            self.ceiling_tokens =
                refill(self.ceiling_tokens, &mut self.ceiling_remainder, ceiling, cap, elapsed);
        }
    }

    /// Whether both counts are at their depths, as of the last fill.
    pub const fn is_full(&self) -> bool {
        let Rates { rate, ceiling, depth, ceiling_depth } = self.rates;
        (!is_counted(rate) || self.tokens >= depth)
            && (ceiling == UNLIMITED || self.ceiling_tokens >= ceiling_depth)
    }

    /// Colour, as of the last fill.
    #[inline]
    pub const fn mode(&self) -> ClassMode {
        if self.rates.ceiling != UNLIMITED && self.ceiling_tokens < 0 {
            ClassMode::Red
        } else if self.rates.rate == UNLIMITED || (self.rates.rate != 0 && self.tokens >= 0) {
            ClassMode::Green
        } else {
            ClassMode::Yellow
        }
    }

    /// Charges bits that passed to the `max-limit` tokens, and if `own` to the `limit-at` tokens too. `own` holds for
    /// the class that lends the tokens and for all classes above it.
    #[inline(always)]
    pub fn charge(&mut self, bits: i64, own: bool) {
        if own {
            self.charge_own(bits);
        }
        if self.rates.ceiling != UNLIMITED {
            self.ceiling_tokens = charge(self.ceiling_tokens, bits, self.rates.ceiling);
        }
    }

    /// Charges bits to the tokens of `limit-at` alone.
    #[inline]
    pub fn charge_own(&mut self, bits: i64) {
        if is_counted(self.rates.rate) {
            self.tokens = charge(self.tokens, bits, self.rates.rate);
        }
    }

    /// Bits that may be sent before the colour changes. `lends`: the class is the one that lends, so its `limit-at`
    /// tokens decide too.
    pub fn headroom(&self, lends: bool) -> i64 {
        let own = if lends && is_counted(self.rates.rate) { self.tokens } else { i64::MAX };
        if self.rates.ceiling == UNLIMITED { own } else { own.min(self.ceiling_tokens) }
    }

    /// When the colour improves if nothing is charged until then. `None` if never.
    pub fn event(&self) -> Option<Now> {
        match self.mode() {
            ClassMode::Red => {
                Some(paid_at(self.filled, self.ceiling_tokens, self.ceiling_remainder, self.rates.ceiling))
            }
            ClassMode::Yellow if self.rates.rate != 0 => {
                Some(paid_at(self.filled, self.tokens, self.remainder, self.rates.rate))
            }
            ClassMode::Yellow | ClassMode::Green => None,
        }
    }
}

/// Tokens less `bits`, not below the floor.
#[inline]
fn charge(tokens: i64, bits: i64, rate: u64) -> i64 {
    let left = tokens.saturating_sub(bits);
    if left >= 0 { left } else { left.max(-FLOOR_SECONDS * rate as i64) }
}

/// Whether tokens are counted for a rate: it is neither 0 nor unlimited.
#[inline]
const fn is_counted(rate: u64) -> bool {
    rate != 0 && rate != UNLIMITED
}
