//! `packet-size`.

use tollway_config::dataplane::Matcher as M;

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Matches the length of the IP packet. A super-frame has the length of its full segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketSize {
    from: u32,
    to: u32,
    negate: bool,
}

impl Condition for PacketSize {
    /// Each packet has its own length.
    const DEPENDS_ON: Depends = Depends::PACKET_FIELD;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::PacketSize { from, to, negate } = *matcher else { return Err(scope.wrong_row()) };
        if from > to {
            return Err(scope.error(format!("packet-size {from}-{to}: expected the smaller size first")));
        }
        Ok(Self { from, to, negate })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        (self.from <= view.length && view.length <= self.to) != self.negate
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::PacketSize { from, to, negate } = matcher else { return false };
        (*from..=*to).contains(&asked.view.length) != *negate
    }
}
