//! The packets that leave a test router.

use tollway_config::dataplane::RowId;
use tollway_engine::ids::PortId;
use tollway_engine::packet::frame::VnetState;
use tollway_wire::{arp, ethernet};

use crate::ipv6_packet::Ipv6Packet;
use crate::packet::Packet;

/// A packet that left the router.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Port it left by, or interface row of the TAP.
    pub to: To,
    /// The frame.
    pub bytes: Vec<u8>,
    /// Offload state.
    pub vnet: VnetState,
    /// The flow cache forwarded it.
    pub fast: bool,
    /// The router or a service in its namespace made it.
    pub own: bool,
    /// Wire segments.
    pub segments: u32,
}

/// The destination of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum To {
    /// Out of a port.
    Port(PortId),
    /// To the TAP of an interface row.
    Local(RowId),
}

impl Output {
    /// Read as IPv4; panics on anything else.
    pub fn packet(&self) -> Packet {
        Packet::read(&self.bytes).expect("an IPv4 packet")
    }
    /// Read as IPv6; panics on anything else.
    pub fn ipv6(&self) -> Ipv6Packet {
        Ipv6Packet::read(&self.bytes).expect("an IPv6 packet")
    }
    /// Read as ARP.
    pub fn arp(&self) -> Option<arp::Repr> {
        let eth = ethernet::Frame::new_checked(&self.bytes).ok()?;
        (eth.ethertype() == ethernet::ARP).then_some(())?;
        arp::Packet::new_checked(eth.payload()).ok().map(|packet| arp::Repr::parse(&packet))
    }
}
