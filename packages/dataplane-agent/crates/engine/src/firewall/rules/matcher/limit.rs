//! `limit`.

use tollway_config::dataplane::{LimitUnit, Matcher as M};

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::shared_count::SharedCount;
use super::{CompileScope, Condition, EvaluationOrder};
use crate::error::BuildError;

/// Interval of refills, ms.
const REFILL_MS: u64 = 10;
/// Maximum depth of the bucket, and maximum refill in [`LONGEST_DEBT_MS`], in parts of tokens.
const MOST: u64 = 1 << 61;
/// Offset of the shared number, so that it does not reach 0 soon.
const ORIGIN: u64 = 1 << 62;
/// Upper bound of the bits of a super-frame.
const LARGEST_PACKET: u64 = 1 << 21;
/// A bucket whose debt exceeds the refill of this many milliseconds plus the largest packet has not been used for so
/// long that its shared number has wrapped around.
const LONGEST_DEBT_MS: u64 = 60_000;

/// A token bucket that all workers share, refilled every 10 ms. A packet matches while a token is left, and takes all
/// tokens that it needs: a super-frame, which takes a token for each wire segment or the bits of all segments, may
/// leave the bucket in debt. So the rate is exact in the long run.
///
/// Tokens are counted in parts of `1 / per` token. A millisecond brings `rate` parts, so no fraction is lost. The
/// shared number is the parts that have come in since the origin of the clock, minus the present level. So the level is
/// the parts that have come in minus the shared number, modulo 2⁶⁴.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    rate: u64,
    per: u64,
    /// Parts of tokens.
    burst: u64,
    unit: LimitUnit,
    negate: bool,
    /// The shared number; 0 until the first packet.
    mark: SharedCount,
}

impl Condition for Limit {
    /// Every packet takes tokens.
    const DEPENDS_ON: Depends = Depends::SHARED;
    const ORDER: EvaluationOrder = EvaluationOrder::Limit;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::Limit { rate, per_ms, burst, unit, negate } = *matcher else { return Err(scope.wrong_row()) };
        if rate == 0 || per_ms == 0 || burst == 0 {
            return Err(scope.error("limit: expected a rate, a time and a burst of at least 1"));
        }
        let common = greatest_common_divisor(rate, u64::from(per_ms));
        let (rate, per) = (rate / common, u64::from(per_ms) / common);
        let most = MOST / per.max(LONGEST_DEBT_MS);
        if rate > MOST / LONGEST_DEBT_MS || burst > most {
            return Err(scope.error(format!("limit: expected a burst of at most {most} and a lower rate")));
        }
        Ok(Self { rate, per, burst: burst * per, unit, negate, mark: SharedCount::default() })
    }

    /// Takes the packet's tokens if one is left. Returns whether one was, inverted if negated.
    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        let tokens = match self.unit {
            LimitUnit::Packet => u64::from(view.segments),
            LimitUnit::Bit => view.wire_bytes * 8,
        };
        self.take(view.now.ms(), tokens.min(LARGEST_PACKET) * self.per, view.dry_run) != self.negate
    }

    fn adopt(&mut self, other: &Self) {
        self.mark.adopt(&other.mark);
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::Limit { rate, per_ms, burst, unit, negate } = matcher else { return false };
        let tokens = match unit {
            LimitUnit::Packet => i128::from(asked.view.segments),
            LimitUnit::Bit => i128::from(asked.view.wire_bytes) * 8,
        };
        let (per, now) = (i128::from(*per_ms), asked.view.now.ms() / 10 * 10);
        let full = i128::from(*burst) * per;
        let (filled, level) = asked.memory.buckets.entry(asked.row).or_insert((now, full));
        *level = full.min(*level + i128::from(now - *filled) * i128::from(*rate));
        *filled = now;
        let left = *level >= per;
        if left {
            *level -= tokens * per;
        }
        left != *negate
    }
}

impl Limit {
    fn take(&self, now_ms: u64, parts: u64, dry_run: bool) -> bool {
        let filled = ORIGIN.wrapping_add((now_ms / REFILL_MS * REFILL_MS).wrapping_mul(self.rate));
        let most_owed = LARGEST_PACKET * self.per + self.rate * LONGEST_DEBT_MS;
        let mut mark = self.mark.load();
        loop {
            let level = filled.wrapping_sub(mark) as i64;
            let known = mark != 0 && level >= -(most_owed as i64) && level <= self.burst as i64;
            let level = if known { level } else { self.burst as i64 };
            if level < self.per as i64 {
                return false;
            }
            if dry_run {
                return true;
            }
            let left = filled.wrapping_sub((level as u64).wrapping_sub(parts));
            // 0 is the state of a bucket that has not been used yet.
            match self.mark.replace(mark, left.max(1)) {
                Ok(()) => return true,
                Err(other) => mark = other,
            }
        }
    }
}

const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
