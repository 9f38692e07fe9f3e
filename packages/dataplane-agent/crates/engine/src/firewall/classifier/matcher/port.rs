//! `src-port`, `dst-port`, `port`.

use tollway_config::dataplane::PortRange;
use tollway_wire::ipv4::{TCP, UDP};

use super::super::{Depends, PacketView};
use super::{Names, Side};
use crate::error::BuildError;

/// The port is one of some ranges. Packets without ports never match, inverted or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ports {
    side: Side,
    negate: bool,
    ranges: Box<[(u16, u16)]>,
}

impl Ports {
    /// Part of the tuple.
    pub const DEPENDS_ON: Depends = Depends::FLOW_CONST;

    /// Checks the ranges.
    pub fn new(
        side: Side,
        ranges: &[PortRange],
        negate: bool,
        names: &Names<'_>,
    ) -> Result<Self, BuildError> {
        if let Some(range) = ranges.iter().find(|range| range.from > range.to) {
            return Err(
                names.error(format!("port range {}-{}: expected the lower port first", range.from, range.to))
            );
        }
        Ok(Self { side, negate, ranges: ranges.iter().map(|range| (range.from, range.to)).collect() })
    }

    /// Whether one of the packet's ports in question is in a range.
    #[inline]
    pub fn matches(&self, view: &PacketView) -> bool {
        if !matches!(view.tuple.protocol, TCP | UDP) {
            return false;
        }
        let holds = |port: u16| self.ranges.iter().any(|(from, to)| *from <= port && port <= *to);
        let found = match self.side {
            Side::Source => holds(view.tuple.src_port),
            Side::Destination => holds(view.tuple.dst_port),
            Side::Either => holds(view.tuple.src_port) || holds(view.tuple.dst_port),
        };
        found != self.negate
    }
}
