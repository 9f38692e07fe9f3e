//! `nth`.

use super::super::{Depends, PacketView};
use super::Names;
use super::shared_count::SharedCount;
use crate::error::BuildError;

/// Every n-th packet that gets this far. All workers count together. A super-frame counts once, since it
/// goes one way as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nth {
    every: u32,
    packet: u32,
    negate: bool,
    count: SharedCount,
}

impl Nth {
    /// Every packet counts.
    pub const DEPENDS_ON: Depends = Depends::SHARED;

    /// Checks that `packet` (from 1) is in a group of `every`.
    pub fn new(every: u32, packet: u32, negate: bool, names: &Names<'_>) -> Result<Self, BuildError> {
        if packet == 0 || packet > every {
            return Err(
                names.error(format!("nth {every},{packet}: expected every,packet with packet 1 to every"))
            );
        }
        Ok(Self { every, packet, negate, count: SharedCount::default() })
    }

    /// Counts the packet and says whether it is the one.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        let place = self.count.next(view.peek) % u64::from(self.every.max(1));
        (place + 1 == u64::from(self.packet)) != self.negate
    }

    pub(super) fn adopt(&mut self, other: &Self) {
        self.count.adopt(&other.count);
    }
}
