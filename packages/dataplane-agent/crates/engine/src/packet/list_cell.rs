//! What a cached decision remembers of a question to an address list.

use crate::packet::tuple::Addr;

/// Bits of a cell's number. Loom watches every cell, so there it gets along with two.
pub(crate) const CELL_BITS: u8 = if cfg!(feature = "loom") { 1 } else { 16 };

/// What decisions that ask an address list remember of the question: a hash of list and address, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListCell(u16);

impl ListCell {
    /// Place in a table of `1 << CELL_BITS` cells.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// No question.
    pub const NONE: Self = Self(0);

    /// The cell of an address in the list with a number that stays the same as long as the list is there.
    #[inline]
    pub fn of(list: u32, address: Addr) -> Self {
        let mixed = u64::from(list) << 32 ^ u64::from(address.fold());
        let hash = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - CELL_BITS);
        Self((hash as u16).max(1))
    }
}
