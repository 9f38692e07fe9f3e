//! `protocol`.

use tollway_config::dataplane::Matcher as M;

use super::super::address_intervals::AddressIntervals;
use super::super::check::Check;
use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Matches the IP protocol number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    protocol: u8,
    negate: bool,
}

impl Condition for Protocol {
    /// Part of the tuple.
    const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::Protocol { protocol, negate } = matcher else { return Err(scope.wrong_row()) };
        Ok(Self { protocol: *protocol, negate: *negate })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        (view.tuple.protocol == self.protocol) != self.negate
    }

    fn narrow(&self, check: &mut Check, _: &AddressIntervals) -> bool {
        !self.negate && check.protocol(self.protocol)
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::Protocol { protocol, negate } = matcher else { return false };
        (asked.view.tuple.protocol == *protocol) != *negate
    }
}
