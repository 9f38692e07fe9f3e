//! `random`.

use tollway_config::dataplane::{Matcher as M, RowId};

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::shared_count::SharedCount;
use super::{CompileScope, Condition, EvaluationOrder};
use crate::error::BuildError;
use crate::random::{STEP, split_mix};

/// Matches a percentage of the packets for which all earlier conditions hold. The result for the n-th of them follows
/// from the seed, so the share does not depend on the number of workers. A super-frame counts as one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    percent: u8,
    row: RowId,
    count: SharedCount,
}

impl Condition for Random {
    /// The result differs between packets.
    const DEPENDS_ON: Depends = Depends::SHARED;
    const ORDER: EvaluationOrder = EvaluationOrder::Random;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::Random { percent } = *matcher else { return Err(scope.wrong_row()) };
        if !(1..=99).contains(&percent) {
            return Err(scope.error(format!("random {percent}: expected 1 to 99")));
        }
        Ok(Self { percent, row: scope.row, count: SharedCount::default() })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        let drawn = draw(view.seed ^ u64::from(self.row) << 32, self.count.next(view.dry_run));
        (u64::from(drawn) * 100) >> 32 < u64::from(self.percent)
    }

    fn adopt(&mut self, other: &Self) {
        self.count.adopt(&other.count);
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::Random { percent } = matcher else { return false };
        let count = asked.memory.counts.entry((asked.row, "random")).or_default();
        *count += 1;
        // The n-th number of the sequence that starts with seed and rule (SplitMix64, Steele et al., 2014).
        let start = asked.view.seed ^ u64::from(asked.row) << 32;
        let mut z = start.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let drawn = ((z ^ (z >> 31)) >> 32) as u32;
        f64::from(drawn) / 4_294_967_296.0 < f64::from(*percent) / 100.0
    }
}

/// The n-th number of a sequence.
const fn draw(key: u64, n: u64) -> u32 {
    (split_mix(key.wrapping_add(n.wrapping_add(1).wrapping_mul(STEP))) >> 32) as u32
}
