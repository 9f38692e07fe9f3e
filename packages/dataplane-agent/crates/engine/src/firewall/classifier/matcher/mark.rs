//! `packet-mark` and `connection-mark`.

use tollway_config::dataplane as config;

use super::super::{Depends, PacketView};

/// What has the mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Marked {
    /// The packet.
    Packet,
    /// Its connection.
    Connection,
}

/// A mark is, or is not, there. 0 is no mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Of what.
    pub of: Marked,
    /// The mark.
    pub mark: config::Mark,
    /// Invert.
    pub negate: bool,
}

impl Mark {
    /// Packets are marked by rules, which the same packets of a flow meet; a change of the connection's mark changes
    /// its version.
    pub const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    /// Whether the mark is as asked.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        let mark = match self.of {
            Marked::Packet => view.mark,
            Marked::Connection => view.connection_mark,
        };
        (mark == self.mark) != self.negate
    }
}
