//! `dscp`.

use super::super::{Depends, PacketView};
use super::Names;
use crate::error::BuildError;

/// Highest DSCP (RFC 2474 §3).
const MAX_DSCP: u8 = 63;

/// The differentiated services codepoint of the IP header, as it is when the rule is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dscp {
    dscp: u8,
    negate: bool,
}

impl Dscp {
    /// Each packet has its own.
    pub const DEPENDS_ON: Depends = Depends::DSCP;

    /// Checks the range.
    pub fn new(dscp: u8, negate: bool, names: &Names<'_>) -> Result<Self, BuildError> {
        if dscp > MAX_DSCP {
            return Err(names.error(format!("dscp {dscp}: expected 0 to {MAX_DSCP}")));
        }
        Ok(Self { dscp, negate })
    }

    /// Whether the DSCP is as asked.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        (view.dscp == self.dscp) != self.negate
    }
}
