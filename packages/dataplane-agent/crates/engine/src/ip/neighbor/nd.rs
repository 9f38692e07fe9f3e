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
        let message = |out: &mut [u8]| self.message.emit(out, self.src, self.dst);
        write(head, self.to, self.from, (self.src, self.dst), self.message.len(), message)
    }
}

/// A router advertisement to all nodes, from an address of the interface.
#[derive(Debug, Clone, Copy)]
pub struct RouterMessage<'a> {
    /// Source address, link-local (RFC 4861 §4.2).
    pub src: u128,
    /// The message; its link-layer address is that of the interface.
    pub message: ndp::RouterRepr<'a>,
}

impl RouterMessage<'_> {
    /// The frame; `None` when the pool is empty.
    pub fn build<F: Frame, S: FrameSource<F>>(&self, source: &mut S) -> Option<F> {
        let len = self.message.len();
        let mut frame = source.take(ethernet::HEADER + ipv6::HEADER + len)?;
        let (src, dst) = (self.src, ipv6::ALL_NODES);
        let message = |out: &mut [u8]| self.message.emit(out, src, dst);
        write(frame.head_mut(), None, self.message.link, (src, dst), len, message).then_some(frame)
    }
}

/// A router solicitation to all routers, from a link-local address of the interface.
#[derive(Debug, Clone, Copy)]
pub struct RouterSolicitation {
    /// Source address.
    pub src: u128,
    /// Link-layer address of the interface.
    pub link: [u8; 6],
}

impl RouterSolicitation {
    /// The frame; `None` when the pool is empty.
    pub fn build<F: Frame, S: FrameSource<F>>(&self, source: &mut S) -> Option<F> {
        let len = ndp::SolicitationRepr::LEN;
        let mut frame = source.take(ethernet::HEADER + ipv6::HEADER + len)?;
        let (src, dst) = (self.src, ipv6::ALL_ROUTERS);
        let message = |out: &mut [u8]| ndp::SolicitationRepr { link: self.link }.emit(out, src, dst);
        write(frame.head_mut(), None, self.link, (src, dst), len, message).then_some(frame)
    }
}

/// Writes the headers, and by `emit` the message of `len` bytes. `false` where there is no room for it.
fn write(
    head: &mut [u8],
    to: Option<[u8; 6]>,
    from: [u8; 6],
    (src, dst): (u128, u128),
    len: usize,
    emit: impl FnOnce(&mut [u8]),
) -> bool {
    let dst_addr = to.or(ethernet::group_of_ipv6(dst)).unwrap_or(ethernet::BROADCAST);
    ethernet::Repr { dst_addr, src_addr: from, ethertype: ethernet::IPV6 }.emit(head);
    let Some(packet) = head.get_mut(ethernet::HEADER..) else { return false };
    ipv6::Repr {
        traffic_class: 0,
        next_header: ipv6::ICMPV6,
        hop_limit: ndp::HOP_LIMIT,
        src_addr: src,
        dst_addr: dst,
        payload_len: len as u16,
    }
    .emit(packet);
    packet.get_mut(ipv6::HEADER..ipv6::HEADER + len).map(emit).is_some()
}
