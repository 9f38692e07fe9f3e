//! `src-address-list`, `dst-address-list`.

use super::super::bounds::Listed;
use super::super::{AddressLists, Depends, PacketView};
use super::{Names, Side};
use crate::error::BuildError;
use crate::packet::tuple::Addr;

/// The address is in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListMember {
    side: Side,
    negate: bool,
    list: u32,
}

impl ListMember {
    /// Lists change while flows live; an outcome can remember which memberships it rests on.
    pub const DEPENDS_ON: Depends = Depends::LIST;

    /// Checks that the list exists.
    pub fn new(side: Side, list: u32, negate: bool, names: &Names<'_>) -> Result<Self, BuildError> {
        if list as usize >= names.lists.len() {
            return Err(names.error(format!("names address list {list}, which does not exist")));
        }
        Ok(Self { side, negate, list })
    }

    /// Whether the packet's address is in the list.
    #[inline]
    pub fn matches(&self, view: &PacketView, lists: &AddressLists) -> bool {
        lists.contains(self.list, self.address(view)) != self.negate
    }

    /// Whether the outcome for an address that is in the list is a match.
    pub(in super::super) const fn wants_member(&self) -> bool {
        !self.negate
    }

    /// The address in question.
    #[inline]
    pub(in super::super) fn address(&self, view: &PacketView) -> Addr {
        if self.side == Side::Source { view.tuple.src } else { view.tuple.dst }
    }

    /// What the outcome rests on.
    pub(in super::super) const fn listed(&self) -> Listed {
        Listed { list: self.list, side: self.side }
    }
}
