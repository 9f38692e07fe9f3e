//! What a cached action keeps of a lookup in an address list: the cell in which a change would be counted.

use crate::packet::tuple::Addr;

/// Bits of a cell's number. Loom watches every cell, so there it gets along with two.
pub(crate) const CELL_BITS: u8 = if cfg!(feature = "loom") { 1 } else { 16 };

/// A hash of list and address, never 0: the cell that changes when the membership may have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListCell(u16);

impl ListCell {
    /// Place in a table of `1 << CELL_BITS` cells.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// No lookup.
    pub const NONE: Self = Self(0);

    /// The cell of an address in the list with a number that stays the same as long as the list is there.
    #[inline]
    pub fn of(list: u32, address: Addr) -> Self {
        let mixed = u64::from(list) << 32 ^ u64::from(address.fold());
        let hash = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - CELL_BITS);
        Self((hash as u16).max(1))
    }
}
