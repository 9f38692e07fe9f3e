//! `tcp-flags`.

use tollway_wire::ipv4::TCP;

use super::super::{Depends, PacketView};

/// Some flags are set and some are clear. Other protocols never match, inverted or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TcpFlags {
    /// Flags that must be set.
    pub set: u8,
    /// Flags that must be clear.
    pub clear: u8,
    /// Invert the whole.
    pub negate: bool,
}

impl TcpFlags {
    /// Each segment has its own.
    pub const DEPENDS_ON: Depends = Depends::PACKET_FIELD;

    /// Whether the flags are as asked.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        let flags = view.tcp_flags;
        view.tuple.protocol == TCP && (flags & self.set == self.set && flags & self.clear == 0) != self.negate
    }
}
