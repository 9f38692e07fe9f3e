//! `hop-limit`.

use tollway_config::dataplane::Matcher as M;

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Matches a hop limit, or time to live, in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HopLimit {
    from: u8,
    to: u8,
    negate: bool,
}

impl Condition for HopLimit {
    /// Packets of one flow may have come other ways.
    const DEPENDS_ON: Depends = Depends::PACKET_FIELD;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::HopLimit { from, to, negate } = *matcher else { return Err(scope.wrong_row()) };
        if from > to {
            return Err(scope.error(format!("hop limits {from}-{to}: expected the lower one first")));
        }
        Ok(Self { from, to, negate })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        (self.from <= view.hop_limit && view.hop_limit <= self.to) != self.negate
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::HopLimit { from, to, negate } = matcher else { return false };
        (*from..=*to).contains(&asked.view.hop_limit) != *negate
    }
}
