//! Address-list memberships as cached actions store them: a slot of the change counters, whose stamp changes when the
//! membership may have changed.

use crate::packet::tuple::Addr;

/// Bits of a slot's number. Loom tracks every slot, so two are enough there.
pub(crate) const SLOT_BITS: u8 = if cfg!(feature = "loom") { 1 } else { 16 };

/// A hash of list and address, never 0: the slot whose stamp changes when the membership may have changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MembershipSlot(u16);

impl MembershipSlot {
    /// Place in a table of `1 << SLOT_BITS` slots.
    #[inline]
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// No lookup.
    pub const NONE: Self = Self(0);

    /// Two slots from the bits of a number.
    #[inline]
    pub(crate) const fn pair_of(number: u32) -> [Self; 2] {
        [Self((number >> 16) as u16), Self(number as u16)]
    }

    /// The number that [`Self::pair_of`] makes these slots of.
    #[inline]
    pub(crate) const fn number_of([first, second]: [Self; 2]) -> u32 {
        (first.0 as u32) << 16 | second.0 as u32
    }

    /// The slot of an address in a list. The number of a list stays the same as long as the list exists.
    #[inline]
    pub fn of(list: u32, address: Addr) -> Self {
        let mixed = u64::from(list) << 32 ^ u64::from(address.fold());
        let hash = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOT_BITS);
        Self((hash as u16).max(1))
    }
}
