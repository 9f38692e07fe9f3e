//! `src-address-list`, `dst-address-list`.

use super::super::{AddressLists, Depends, PacketView};
use super::{Names, Side};
use crate::error::BuildError;

/// The address is in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListMember {
    side: Side,
    negate: bool,
    list: u32,
}

impl ListMember {
    /// Lists change only with the configuration, and so with the generation.
    pub const DEPENDS_ON: Depends = Depends::FLOW_CONST;

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
        let address = if self.side == Side::Source { view.tuple.src } else { view.tuple.dst };
        lists.contains(self.list, address) != self.negate
    }
}
