//! `protocol`.

use super::super::{Depends, PacketView};

/// The IP protocol number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Protocol {
    /// Number.
    pub protocol: u8,
    /// Invert.
    pub negate: bool,
}

impl Protocol {
    /// Part of the tuple.
    pub const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    /// Whether the packet is of the protocol.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        (view.tuple.protocol == self.protocol) != self.negate
    }
}
