//! `connection-nat-state`.

use super::super::{Depends, PacketView};

/// The connection is translated in one of the named ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NatState {
    /// Source translated.
    pub srcnat: bool,
    /// Destination translated.
    pub dstnat: bool,
    /// Invert.
    pub negate: bool,
}

impl NatState {
    /// A change of the translation changes the connection's version.
    pub const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    /// Whether one of the named translations is there.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        ((self.srcnat && view.srcnat) || (self.dstnat && view.dstnat)) != self.negate
    }
}
