//! `random`.

use tollway_config::dataplane::RowId;

use super::super::{Depends, PacketView};
use super::Names;
use super::shared_count::SharedCount;
use crate::error::BuildError;

/// Some share of the packets that get this far. What the n-th of them gets follows from the seed, so that
/// as many match however many workers there are. A super-frame is one packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Random {
    percent: u8,
    row: RowId,
    count: SharedCount,
}

impl Random {
    /// Another answer for every packet.
    pub const DEPENDS_ON: Depends = Depends::SHARED;

    /// Checks the share, percent.
    pub fn new(percent: u8, names: &Names<'_>) -> Result<Self, BuildError> {
        if !(1..=99).contains(&percent) {
            return Err(names.error(format!("random {percent}: expected 1 to 99")));
        }
        Ok(Self { percent, row: names.row, count: SharedCount::default() })
    }

    /// Whether the packet is chosen.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        let drawn = draw(view.seed ^ u64::from(self.row) << 32, self.count.next(view.peek));
        (u64::from(drawn) * 100) >> 32 < u64::from(self.percent)
    }

    pub(super) fn adopt(&mut self, other: &Self) {
        self.count.adopt(&other.count);
    }
}

/// The n-th number of a sequence (SplitMix64).
const fn draw(key: u64, n: u64) -> u32 {
    let mut mixed = key.wrapping_add(n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) >> 32) as u32
}
