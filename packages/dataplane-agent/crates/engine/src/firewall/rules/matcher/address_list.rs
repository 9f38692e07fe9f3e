//! `src-address-list`, `dst-address-list`.

use tollway_config::dataplane::Matcher as M;

use super::super::reference_input::ReferenceInput;
use super::super::validity::Membership;
use super::super::{AddressLists, Depends, PacketView, Side};
use super::{CompileScope, Condition, EvaluationOrder};
use crate::error::BuildError;
use crate::packet::tuple::Addr;

/// Matches if an address of the packet is in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListMember {
    side: Side,
    negate: bool,
    list: u32,
}

impl ListMember {
    /// Checks that the list exists.
    fn new(side: Side, list: u32, negate: bool, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        if list as usize >= scope.lists.len() {
            return Err(scope.error(format!("names address list {list}, which does not exist")));
        }
        Ok(Self { side, negate, list })
    }

    /// Whether an address in the list is a match.
    pub(in super::super) const fn wants_member(&self) -> bool {
        !self.negate
    }

    /// The address of the packet that is looked up.
    #[inline]
    pub(in super::super) fn address(&self, view: &PacketView) -> Addr {
        if self.side == Side::Source { view.tuple.src } else { view.tuple.dst }
    }

    /// The membership on which the match depends.
    pub(in super::super) const fn listed(&self) -> Membership {
        Membership { list: self.list, side: self.side }
    }
}

impl Condition for ListMember {
    /// Lists change during the life of flows; an outcome stores the memberships on which it depends.
    const DEPENDS_ON: Depends = Depends::LIST;
    const ORDER: EvaluationOrder = EvaluationOrder::List;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        match matcher {
            M::SrcAddressList { list, negate } => Self::new(Side::Source, *list, *negate, scope),
            M::DstAddressList { list, negate } => Self::new(Side::Destination, *list, *negate, scope),
            _ => Err(scope.wrong_row()),
        }
    }

    #[inline]
    fn matches(&self, view: &PacketView, lists: &AddressLists) -> bool {
        lists.contains(self.list, self.address(view)) != self.negate
    }

    #[inline(always)]
    fn list_member(&self) -> Option<&ListMember> {
        Some(self)
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        match matcher {
            M::SrcAddressList { list, negate } => asked.in_list(*list, asked.view.tuple.src) != *negate,
            M::DstAddressList { list, negate } => asked.in_list(*list, asked.view.tuple.dst) != *negate,
            _ => false,
        }
    }
}
