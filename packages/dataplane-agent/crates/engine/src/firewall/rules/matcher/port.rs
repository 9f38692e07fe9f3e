//! `src-port`, `dst-port`, `port`.

use tollway_config::dataplane::{Matcher as M, PortRange};
use tollway_wire::ipv4::{TCP, UDP};

use super::super::address_intervals::AddressIntervals;
use super::super::check::Check;
use super::super::reference_input::{ReferenceInput, in_ports};
use super::super::{AddressLists, Depends, PacketView, Side};
use super::{CompileScope, Condition};
use crate::error::BuildError;

/// Matches if the port is in one of some ranges. Packets without ports never match, inverted or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortRanges {
    side: Side,
    negate: bool,
    ranges: Box<[(u16, u16)]>,
}

impl PortRanges {
    /// Checks the ranges.
    fn new(
        side: Side,
        ranges: &[PortRange],
        negate: bool,
        scope: &CompileScope<'_>,
    ) -> Result<Self, BuildError> {
        if let Some(range) = ranges.iter().find(|range| range.from > range.to) {
            return Err(
                scope.error(format!("port range {}-{}: expected the lower port first", range.from, range.to))
            );
        }
        Ok(Self { side, negate, ranges: ranges.iter().map(|range| (range.from, range.to)).collect() })
    }
}

impl Condition for PortRanges {
    /// Part of the tuple.
    const DEPENDS_ON: Depends = Depends::FLOW_CONST;
    const READS_TRANSPORT_HEADER: bool = true;

    fn compile(matcher: &M, scope: &CompileScope<'_>) -> Result<Self, BuildError> {
        match matcher {
            M::SrcPort { ports, negate } => Self::new(Side::Source, ports, *negate, scope),
            M::DstPort { ports, negate } => Self::new(Side::Destination, ports, *negate, scope),
            M::Port { ports, negate } => Self::new(Side::Either, ports, *negate, scope),
            _ => Err(scope.wrong_row()),
        }
    }

    #[inline]
    fn matches(&self, view: &PacketView, _: &AddressLists) -> bool {
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

    /// Several ranges are covered by one check, from the lowest port to the highest.
    fn narrow(&self, check: &mut Check, _: &AddressIntervals) -> bool {
        check.needs_ports();
        let lowest = self.ranges.iter().map(|(from, _)| *from).min();
        let highest = self.ranges.iter().map(|(_, to)| *to).max();
        let (Some(lowest), Some(highest), false) = (lowest, highest, self.negate) else { return false };
        let first = match self.side {
            Side::Source => check.source_port(lowest, highest),
            Side::Destination => check.destination_port(lowest, highest),
            Side::Either => false,
        };
        first && self.ranges.len() == 1
    }

    fn reference(matcher: &M, asked: &mut ReferenceInput<'_>) -> bool {
        let tuple = &asked.view.tuple;
        let (found, negate) = match matcher {
            M::SrcPort { ports, negate } => (in_ports(ports, tuple.src_port), *negate),
            M::DstPort { ports, negate } => (in_ports(ports, tuple.dst_port), *negate),
            M::Port { ports, negate } => {
                (in_ports(ports, tuple.src_port) || in_ports(ports, tuple.dst_port), *negate)
            }
            _ => return false,
        };
        asked.has_ports() && !asked.view.no_transport_header && found != negate
    }
}
