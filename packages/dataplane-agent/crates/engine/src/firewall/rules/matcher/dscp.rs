//! `dscp`.

use tollway_config::dataplane::Matcher as M;

use super::super::reference_input::ReferenceInput;
use super::super::{AddressLists, Depends, OutcomeValidity, PacketView};
use super::{CompileScope, Condition, MarkRead};
use crate::error::BuildError;

/// Highest DSCP (RFC 2474 §3).
const MAX_DSCP: u8 = 63;

/// Matches the DSCP of the IP header at the time when the rule is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dscp {
    dscp: u8,
    negate: bool,
}

impl Condition for Dscp {
    /// Each packet has its own DSCP.
    const DEPENDS_ON: Depends = Depends::DSCP;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        let M::Dscp { dscp, negate } = *matcher else { return Err(scope.wrong_row()) };
        if dscp > MAX_DSCP {
            return Err(scope.error(format!("dscp {dscp}: expected 0 to {MAX_DSCP}")));
        }
        Ok(Self { dscp, negate })
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
        (view.dscp == self.dscp) != self.negate
    }

    fn limit_validity(&self, view: &PacketView, validity: &mut OutcomeValidity) {
        validity.note_dscp(view);
    }

    fn mark_read(&self) -> MarkRead {
        MarkRead::Packet
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let M::Dscp { dscp, negate } = matcher else { return false };
        (asked.view.dscp == *dscp) != *negate
    }
}
