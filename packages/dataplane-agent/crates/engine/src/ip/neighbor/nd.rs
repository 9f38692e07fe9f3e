//! Building frames of neighbour discovery (RFC 4861).

use tollway_wire::{ethernet, icmpv6, ipv6, ndp};

use crate::packet::frame::{Frame, FrameSource};

/// Longest frame that is built here, bytes.
pub const FRAME_LEN: usize = ethernet::HEADER + ipv6::HEADER + ndp::NEIGHBOR_MESSAGE + ndp::LINK_OPTION;

/// A solicitation or advertisement, and its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighborMessage {
    /// Link-layer destination; `None` for that of the multicast group `dst`.
    pub to: Option<[u8; 6]>,
    /// Link-layer address of the interface.
    pub from: [u8; 6],
    /// Source address.
    pub src: u128,
    /// Destination address.
    pub dst: u128,
    /// The message.
    pub message: ndp::NeighborRepr,
}

impl NeighborMessage {
    /// A solicitation of `target` from `src`, an address of the interface with `mac`: to the solicited-node group, or
    /// to a station for a probe. From the unspecified address it looks for a duplicate (RFC 4862 §5.4.2).
    pub fn solicitation(mac: [u8; 6], src: u128, target: u128, to: Option<[u8; 6]>) -> Self {
        Self {
            to,
            from: mac,
            src,
            dst: if to.is_some() { target } else { ipv6::solicited_node(target) },
            message: ndp::NeighborRepr {
                icmp_type: icmpv6::NEIGHBOR_SOLICITATION,
                flags: 0,
                target,
                link: (src != 0).then_some(mac),
            },
        }
    }

    /// An advertisement of `target`, an address of the interface with `mac`: to the sender of a solicitation, or to all
    /// nodes if the sender has no address (RFC 4861 §7.2.4).
    pub fn advertisement(mac: [u8; 6], target: u128, asker: Option<(u128, [u8; 6])>) -> Self {
        let solicited = if asker.is_some() { ndp::flag::SOLICITED } else { 0 };
        Self {
            to: asker.map(|(_, mac)| mac),
            from: mac,
            src: target,
            dst: asker.map_or(ipv6::ALL_NODES, |(address, _)| address),
            message: ndp::NeighborRepr {
                icmp_type: icmpv6::NEIGHBOR_ADVERTISEMENT,
                flags: ndp::flag::ROUTER | ndp::flag::OVERRIDE | solicited,
                target,
                link: Some(mac),
            },
        }
    }

    /// The frame; `None` when the pool is empty.
    pub fn build<F: Frame, S: FrameSource<F>>(&self, source: &mut S) -> Option<F> {
        let mut frame = source.take(self.len())?;
        self.write(frame.head_mut()).then_some(frame)
    }

    /// Turns another frame into this one. `false` when its buffer is too small.
    pub fn replace<F: Frame>(&self, frame: &mut F) -> bool {
        frame.resize(self.len()) && self.write(frame.head_mut())
    }

    fn len(&self) -> usize {
        ethernet::HEADER + ipv6::HEADER + self.message.len()
    }

    fn write(&self, head: &mut [u8]) -> bool {
        let dst_addr = self.to.or(ethernet::group_of_ipv6(self.dst)).unwrap_or(ethernet::BROADCAST);
        ethernet::Repr { dst_addr, src_addr: self.from, ethertype: ethernet::IPV6 }.emit(head);
        let Some(packet) = head.get_mut(ethernet::HEADER..) else { return false };
        let payload_len = self.message.len();
        ipv6::Repr {
            traffic_class: 0,
            next_header: ipv6::ICMPV6,
            hop_limit: ndp::HOP_LIMIT,
            src_addr: self.src,
            dst_addr: self.dst,
            payload_len: payload_len as u16,
        }
        .emit(packet);
        let message = packet.get_mut(ipv6::HEADER..ipv6::HEADER + payload_len);
        message.map(|message| self.message.emit(message, self.src, self.dst)).is_some()
    }
}
