//! `connection-nat-state`.

use tollway_config::dataplane::Matcher as M;

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, PacketView};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Matches if the source or the destination of the connection is translated, as configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NatState {
    /// Source translated.
    srcnat: bool,
    /// Destination translated.
    dstnat: bool,
    /// Invert.
    negate: bool,
}

impl Condition for NatState {
    /// A change of the translation changes the connection's version.
    const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::ConnectionNatState { srcnat, dstnat, negate } = *matcher else {
            return Err(scope.wrong_row());
        };
        Ok(Self { srcnat, dstnat, negate })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        ((self.srcnat && view.srcnat) || (self.dstnat && view.dstnat)) != self.negate
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::ConnectionNatState { srcnat, dstnat, negate } = matcher else { return false };
        (*srcnat && asked.view.srcnat || *dstnat && asked.view.dstnat) != *negate
    }
}
