//! Rewrites the headers of an IPv6 packet. IPv6 has no header checksum; those of TCP, UDP and ICMPv6 contain the
//! addresses (RFC 8200 §8.1).

use tollway_wire::checksum::Delta;
use tollway_wire::{ethernet, field, ipv6, tcp, udp};

use super::{ICMPV6, TCP, UDP, ipv6_checksum_offset};
use crate::flow::conntrack::NewEnds;
use crate::flow::conntrack::action_flag;
use crate::flow::new_addresses::NewAddresses;
use crate::packet::key::FlowKey;
use crate::packet::tuple::{Addr, Tuple};

/// Bytes of a frame up to the end of a TCP header without options, behind a fixed IPv6 header.
pub const PLAIN: usize = ethernet::HEADER + ipv6::HEADER + tcp::HEADER;

/// New addresses and ports for packets of one direction, with the change of the transport checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ipv6Rewrite {
    protocol: u8,
    /// New addresses; `None` for those that stay.
    src: Option<Addr>,
    dst: Option<Addr>,
    /// New ports, or the new identifier of ICMPv6 twice.
    ports: (u16, u16),
    ports_change: bool,
    /// Change of a complete L4 checksum.
    l4: Delta,
    /// Change of a partial one, which covers the pseudo-header alone.
    pseudo: Delta,
}

impl Ipv6Rewrite {
    /// The translation of packets that arrive with the tuple `from` and leave with `to`.
    #[inline]
    pub fn between(from: &Tuple, to: &Tuple) -> Self {
        let addresses = Delta::NONE.replace128(from.src.0, to.src.0).replace128(from.dst.0, to.dst.0);
        let ports = match from.protocol {
            TCP | UDP => {
                Delta::NONE.replace16(from.src_port, to.src_port).replace16(from.dst_port, to.dst_port)
            }
            ICMPV6 => Delta::NONE.replace16(from.src_port, to.src_port),
            _ => Delta::NONE,
        };
        Self {
            protocol: from.protocol,
            src: (from.src != to.src).then_some(to.src),
            dst: (from.dst != to.dst).then_some(to.dst),
            ports: (to.src_port, to.dst_port),
            ports_change: (from.src_port, from.dst_port) != (to.src_port, to.dst_port),
            l4: addresses.then(ports),
            pseudo: addresses,
        }
    }

    /// Rewrites a packet of the flow, from its IPv6 header on. `l4` is the offset of the transport header, `None` for a
    /// fragment without one, which gets only new addresses. With `needs_csum` the L4 checksum is partial. Returns
    /// `false`, and changes nothing, if there is no complete IPv6 header.
    #[inline]
    pub fn apply(&self, l3: &mut [u8], l4: Option<usize>, needs_csum: bool) -> bool {
        if l3.len() < ipv6::HEADER {
            return false;
        }
        if let Some(src) = self.src {
            field::put(l3, ipv6::offset::SRC, &src.0.to_be_bytes());
        }
        if let Some(dst) = self.dst {
            field::put(l3, ipv6::offset::DST, &dst.0.to_be_bytes());
        }
        let Some(l4) = l4 else { return true };
        if self.ports_change {
            match self.protocol {
                TCP | UDP => {
                    field::put(l3, l4, &self.ports.0.to_be_bytes());
                    field::put(l3, l4 + 2, &self.ports.1.to_be_bytes());
                }
                ICMPV6 => field::put(l3, l4 + 4, &self.ports.0.to_be_bytes()),
                _ => {}
            }
        }
        let Some(at) = ipv6_checksum_offset(self.protocol).map(|at| l4 + at) else { return true };
        let sum = field::get16(l3, at);
        let sum = match (needs_csum, self.protocol) {
            // The pseudo-header does not include ports.
            (true, _) => self.pseudo.apply_partial(sum),
            (false, UDP) => self.l4.apply_udp(sum),
            (false, _) => self.l4.apply(sum),
        };
        field::put(l3, at, &sum.to_be_bytes());
        true
    }

    /// The NAT flags of a cached action.
    pub fn flags(&self) -> u16 {
        let (src, dst) = (self.src.is_some() || self.ports_change, self.dst.is_some() || self.ports_change);
        (if src { action_flag::NAT_SRC } else { 0 }) | (if dst { action_flag::NAT_DST } else { 0 })
    }
}

/// The translation of TCP and UDP packets of a direction whose headers are at fixed offsets.
#[derive(Debug, Clone, Copy)]
pub struct Ipv6PlainRewrite<'a> {
    addresses: &'a NewAddresses,
    /// New ports as in the header.
    ports: u32,
}

impl<'a> Ipv6PlainRewrite<'a> {
    /// The translation to these addresses and ports.
    pub const fn to(addresses: &'a NewAddresses, ends: NewEnds) -> Self {
        Self { addresses, ports: ends.ports }
    }

    /// Translates a packet whose IPv6 header begins at byte 14 of the frame and whose transport header follows. `key` is
    /// that of the packet as it arrived. With `needs_csum` its L4 checksum is partial.
    #[inline(always)]
    pub fn apply(&self, head: &mut [u8; PLAIN], key: &FlowKey, needs_csum: bool) {
        const L3: usize = ethernet::HEADER;
        const L4: usize = L3 + ipv6::HEADER;
        let mut addresses = Delta::NONE;
        let mut set = |at: usize, new: Option<Addr>| {
            if let Some(new) = new {
                addresses = addresses.then(Delta::of128(field::get128(head, at), new.0));
                field::put(head, at, &new.0.to_be_bytes());
            }
        };
        set(L3 + ipv6::offset::SRC, self.addresses.src);
        set(L3 + ipv6::offset::DST, self.addresses.dst);
        let all = addresses.with32(((key.rest >> 16) as u32).rotate_left(16), self.ports);
        field::put(head, L4, &self.ports.to_be_bytes());
        let protocol = key.protocol();
        let at = L4 + if protocol == TCP { tcp::CHECKSUM } else { udp::CHECKSUM };
        let sum = field::get16(head, at);
        let sum = match (needs_csum, protocol) {
            // The pseudo-header does not include ports.
            (true, _) => addresses.apply_partial(sum),
            (false, UDP) => all.apply_udp(sum),
            (false, _) => all.apply_nonzero(sum),
        };
        field::put(head, at, &sum.to_be_bytes());
    }
}
