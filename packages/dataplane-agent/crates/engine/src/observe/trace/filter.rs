//! The filter of a trace: which packets it records.

use tollway_config::dataplane::{Prefix, RowId};
use tollway_config::protocol::TraceFilter;

use crate::packet::tuple::{Addr, Tuple};

/// Addresses of a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Network {
    first: u128,
    mask: u128,
}

impl Network {
    fn new(prefix: &Prefix) -> Self {
        let len = if prefix.address.is_ipv4() {
            96 + u32::from(prefix.prefix_len)
        } else {
            prefix.prefix_len.into()
        };
        let mask = u128::MAX.checked_shl(128 - len.min(128)).unwrap_or(0);
        Self { first: Addr::from(prefix.address).0 & mask, mask }
    }

    fn holds(self, address: Addr) -> bool {
        address.0 & self.mask == self.first
    }
}

/// A trace's filter, ready for the packet path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketFilter {
    src: Option<Network>,
    dst: Option<Network>,
    protocol: Option<u8>,
    src_port: Option<u16>,
    dst_port: Option<u16>,
    in_interface: Option<RowId>,
    dropped: bool,
}

impl PacketFilter {
    /// Filter from its description.
    pub fn new(filter: &TraceFilter) -> Self {
        Self {
            src: filter.src_address.as_ref().map(Network::new),
            dst: filter.dst_address.as_ref().map(Network::new),
            protocol: filter.protocol,
            src_port: filter.src_port,
            dst_port: filter.dst_port,
            in_interface: filter.in_interface,
            dropped: filter.dropped,
        }
    }

    /// Whether only packets that are dropped are wanted.
    pub(crate) const fn wants_only_drops(&self) -> bool {
        self.dropped
    }

    /// Whether the filter matches a packet that was received on an interface row (0 for a packet of the router), in
    /// this or in the reverse direction. A filter without addresses and ports has no reverse direction.
    pub(crate) fn describes(&self, tuple: &Tuple, in_interface: RowId) -> bool {
        let here = self.in_interface.is_none_or(|row| row == in_interface);
        let directed =
            self.src.is_some() || self.dst.is_some() || self.src_port.is_some() || self.dst_port.is_some();
        here && self.fits(tuple) || directed && self.fits(&tuple.reversed())
    }

    fn fits(&self, tuple: &Tuple) -> bool {
        self.protocol.is_none_or(|protocol| protocol == tuple.protocol)
            && self.src.is_none_or(|network| network.holds(tuple.src))
            && self.dst.is_none_or(|network| network.holds(tuple.dst))
            && self.src_port.is_none_or(|port| port == tuple.src_port)
            && self.dst_port.is_none_or(|port| port == tuple.dst_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(src: [u8; 4], src_port: u16, dst: [u8; 4], dst_port: u16) -> Tuple {
        let addr = |bytes: [u8; 4]| Addr::v4(u32::from_be_bytes(bytes));
        Tuple { src: addr(src), dst: addr(dst), src_port, dst_port, protocol: 6, icmp: 0, zone: 0 }
    }

    fn prefix(address: [u8; 4], prefix_len: u8) -> Option<Prefix> {
        Some(Prefix { address: address.into(), prefix_len })
    }

    #[test]
    fn both_directions_are_described_and_the_interface_counts_for_one() {
        let filter = PacketFilter::new(&TraceFilter {
            src_address: prefix([10, 1, 0, 0], 16),
            dst_port: Some(443),
            in_interface: Some(7),
            ..TraceFilter::default()
        });
        let there = tuple([10, 1, 2, 3], 5000, [1, 1, 1, 1], 443);
        assert!(filter.describes(&there, 7));
        assert!(!filter.describes(&there, 8));
        assert!(filter.describes(&there.reversed(), 8));
        assert!(!filter.describes(&tuple([10, 2, 2, 3], 5000, [1, 1, 1, 1], 443), 7));
        assert!(!filter.describes(&tuple([10, 1, 2, 3], 443, [1, 1, 1, 1], 5000), 7));
    }

    #[test]
    fn nothing_said_is_everything_and_an_interface_alone_has_no_other_direction() {
        let packet = tuple([10, 1, 2, 3], 5000, [1, 1, 1, 1], 443);
        assert!(PacketFilter::new(&TraceFilter::default()).describes(&packet, 3));
        let filter = PacketFilter::new(&TraceFilter {
            in_interface: Some(7),
            protocol: Some(6),
            ..TraceFilter::default()
        });
        assert!(filter.describes(&packet, 7) && !filter.describes(&packet, 8));
        let all = PacketFilter::new(&TraceFilter {
            src_address: prefix([0, 0, 0, 0], 0),
            ..TraceFilter::default()
        });
        assert!(all.describes(&packet, 1));
    }
}
