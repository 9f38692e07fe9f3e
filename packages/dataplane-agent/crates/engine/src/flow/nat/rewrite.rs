//! Rewrites the headers of a packet.

use tollway_wire::checksum::Delta;
use tollway_wire::{field, ipv4};

use super::{ICMP, TCP, UDP, checksum_offset};
use crate::flow::conntrack::{Tuples, action_flag};
use crate::ids::Direction;
use crate::packet::header::ONE_LESS;
use crate::packet::key::FlowKey;
use crate::packet::tuple::{Addr, Tuple};

/// Half of a translation that is applied: source or destination (Linux's `nf_nat_manip_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manip {
    /// The destination, before routing.
    Destination,
    /// The source, after the filter.
    Source,
}

impl Manip {
    /// Whether this half translates the identifier of ICMP queries: it does if it translates the address of the
    /// querying side.
    pub(super) fn has_icmp_ident(self, direction: Direction) -> bool {
        matches!(
            (self, direction),
            (Self::Source, Direction::Original) | (Self::Destination, Direction::Reply)
        )
    }
}

/// Both ends of a packet: addresses in host order, and ports or identifiers.
#[derive(Clone, Copy)]
struct Ends {
    src: u32,
    dst: u32,
    src_port: u16,
    dst_port: u16,
}

impl Ends {
    #[inline(always)]
    fn of(tuple: &Tuple) -> Self {
        let Tuple { src_port, dst_port, .. } = *tuple;
        Self { src: v4(tuple.src), dst: v4(tuple.dst), src_port, dst_port }
    }

    #[inline(always)]
    fn of_key(key: &FlowKey) -> Self {
        let ((src, dst), (src_port, dst_port)) = (key.v4_addresses(), key.ports());
        Self { src, dst, src_port, dst_port }
    }

    #[inline(always)]
    fn reversed(self) -> Self {
        Self { src: self.dst, dst: self.src, src_port: self.dst_port, dst_port: self.src_port }
    }
}

/// New addresses and ports for packets of one direction, with the change of each checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rewrite {
    /// Protocol of the flow.
    pub protocol: u8,
    /// The source changes.
    pub nat_src: bool,
    /// The destination changes.
    pub nat_dst: bool,
    /// New source address, IPv4 in host order; meaningful with `nat_src`.
    pub src: u32,
    /// New destination address, IPv4 in host order; meaningful with `nat_dst`.
    pub dst: u32,
    /// New source port or ICMP identifier; meaningful with `nat_src`.
    pub src_port: u16,
    /// New destination port or ICMP identifier; meaningful with `nat_dst`.
    pub dst_port: u16,
    /// Change of the IPv4 header checksum.
    pub l3: Delta,
    /// Change of a complete L4 checksum.
    pub l4: Delta,
    /// Change of a partial L4 checksum.
    pub pseudo: Delta,
}

impl Rewrite {
    /// One half of the translation of a direction.
    #[cfg(test)]
    pub fn of(connection: &Tuples, direction: Direction, manip: Manip) -> Self {
        Self::parts(connection, direction, manip == Manip::Source, manip == Manip::Destination)
    }

    /// The whole translation of a direction.
    #[inline(always)]
    pub fn both(connection: &Tuples, direction: Direction) -> Self {
        Self::parts(connection, direction, true, true)
    }

    /// [`Self::both`] from the keys of an IPv4 connection, that of the direction and that of the other direction. It
    /// avoids tuples, which would be written to memory and read again.
    #[inline(always)]
    pub fn of_keys(key: &FlowKey, other: &FlowKey, direction: Direction) -> Self {
        let (from, to) = (Ends::of_key(key), Ends::of_key(other).reversed());
        Self::between(key.protocol(), &from, &to, direction, (true, true))
    }

    #[inline(always)]
    fn parts(connection: &Tuples, direction: Direction, source: bool, destination: bool) -> Self {
        let (from, to) = (connection.tuple(direction), connection.target(direction));
        Self::between(from.protocol, &Ends::of(from), &Ends::of(&to), direction, (source, destination))
    }

    // Inlined: a returned value is written field by field and would be read in words, which stalls.
    #[inline(always)]
    fn between(
        protocol: u8,
        from: &Ends,
        to: &Ends,
        direction: Direction,
        (source, destination): (bool, bool),
    ) -> Self {
        let (src, dst) = ((from.src, to.src), (from.dst, to.dst));
        let is_icmp = protocol == ICMP;
        let (src_ident, dst_ident) =
            (Manip::Source.has_icmp_ident(direction), Manip::Destination.has_icmp_ident(direction));
        let nat_src = source && (src.0 != src.1 || (from.src_port != to.src_port && (!is_icmp || src_ident)));
        let nat_dst =
            destination && (dst.0 != dst.1 || (from.dst_port != to.dst_port && (!is_icmp || dst_ident)));
        let mut addresses = Delta::NONE;
        let mut ports = Delta::NONE;
        if nat_src {
            addresses = addresses.replace32(src.0, src.1);
            if !is_icmp || src_ident {
                ports = ports.replace16(from.src_port, to.src_port);
            }
        }
        if nat_dst {
            addresses = addresses.replace32(dst.0, dst.1);
            if !is_icmp || dst_ident {
                ports = ports.replace16(from.dst_port, to.dst_port);
            }
        }
        let (l4, pseudo) = match protocol {
            ICMP => (ports, Delta::NONE),
            _ => (addresses.then(ports), addresses),
        };
        let (src_port, dst_port) = if is_icmp {
            // The identifier after this half: the source half is applied last, so it finds or sets the new identifier.
            let ident = if source || dst_ident { to.src_port } else { from.src_port };
            (ident, ident)
        } else {
            (to.src_port, to.dst_port)
        };
        Self {
            protocol,
            nat_src,
            nat_dst,
            src: src.1,
            dst: dst.1,
            src_port,
            dst_port,
            l3: addresses,
            l4,
            pseudo,
        }
    }

    /// Whether the packet is not changed.
    pub fn is_none(&self) -> bool {
        !self.nat_src && !self.nat_dst
    }

    /// Rewrites a packet of the flow, from its IPv4 header on. With `needs_csum` its L4 checksum is partial. Returns
    /// `false`, and changes nothing, if there is no complete IPv4 header. Fragments without an L4 header get only new
    /// addresses.
    #[inline(always)]
    pub fn apply(&self, l3: &mut [u8], needs_csum: bool) -> bool {
        if self.is_none() {
            return true;
        }
        let Ok(packet) = ipv4::Packet::new_checked(&*l3) else { return false };
        let header = packet.header_len();
        let l4 = (packet.fragment_offset() == 0).then_some(header);
        self.write(l3, l4, needs_csum);
        true
    }

    /// [`Self::apply`] for a packet that is no fragment, whose IPv4 header is known to have this length, bytes.
    #[inline]
    pub fn apply_whole(&self, l3: &mut [u8], header_len: usize, needs_csum: bool) {
        if !self.is_none() {
            self.write(l3, Some(header_len), needs_csum);
        }
    }

    #[inline]
    fn write(&self, l3: &mut [u8], l4: Option<usize>, needs_csum: bool) {
        if self.nat_src {
            field::put(l3, ipv4::offset::SRC, &self.src.to_be_bytes());
        }
        if self.nat_dst {
            field::put(l3, ipv4::offset::DST, &self.dst.to_be_bytes());
        }
        adjust(l3, ipv4::offset::CHECKSUM, |sum| self.l3.apply(sum));
        let Some(l4) = l4 else { return };
        match self.protocol {
            TCP | UDP => {
                if self.nat_src {
                    field::put(l3, l4, &self.src_port.to_be_bytes());
                }
                if self.nat_dst {
                    field::put(l3, l4 + 2, &self.dst_port.to_be_bytes());
                }
            }
            ICMP => {
                let ident = if self.nat_src { self.src_port } else { self.dst_port };
                field::put(l3, l4 + 4, &ident.to_be_bytes());
                adjust(l3, l4 + 2, |sum| self.l4.apply(sum));
                return;
            }
            _ => {}
        }
        let Some(at) = checksum_offset(self.protocol) else { return };
        adjust(l3, l4 + at, |sum| match (needs_csum, self.protocol) {
            // The pseudo-header does not include ports.
            (true, _) => self.pseudo.apply_partial(sum),
            (false, UDP) => self.l4.apply_udp(sum),
            (false, _) => self.l4.apply(sum),
        });
    }

    /// The NAT flags of a cached action.
    #[inline(always)]
    pub fn flags(&self) -> u16 {
        let src = if self.nat_src { action_flag::NAT_SRC } else { 0 };
        let dst = if self.nat_dst { action_flag::NAT_DST } else { 0 };
        src | dst
    }
}

/// An IPv4 address in host order; 0 for another.
pub(super) fn v4(address: Addr) -> u32 {
    address.as_v4().unwrap_or(0)
}

/// The translation of packets of a direction whose headers are at fixed offsets. At least one address or port changes.
#[derive(Debug, Clone, Copy)]
pub struct PlainRewrite {
    /// New addresses as in the header, source before destination.
    addresses: u64,
    /// New ports as in the header.
    ports: u32,
    /// Change by the addresses. Not 0, as the next one.
    l3: Delta,
    /// Change by addresses and ports.
    l4: Delta,
}

impl PlainRewrite {
    /// The translation of packets with the key `key`; `other` is the key of the other direction, the reverse of which
    /// the packets get.
    #[inline(always)]
    pub fn of_keys(key: &FlowKey, other: &FlowKey) -> Self {
        let (addresses, ports) = (other.addresses.rotate_left(32), (other.rest >> 16) as u32);
        let l3 = Delta::of64(key.addresses, addresses);
        let l4 = l3.with32(((key.rest >> 16) as u32).rotate_left(16), ports);
        Self { addresses, ports, l3, l4 }
    }

    /// Translates a TCP or UDP packet whose IPv4 header begins at byte 14 of the frame and has no options. With
    /// `needs_csum` its L4 checksum is partial.
    #[inline(always)]
    pub fn apply(&self, head: &mut [u8; 54], protocol: u8, needs_csum: bool) {
        self.write(head, self.l3, protocol, needs_csum);
    }

    /// [`Self::apply`], and decrements the time to live.
    #[inline(always)]
    pub fn forward(&self, head: &mut [u8; 54], protocol: u8, needs_csum: bool) {
        head[22] = head[22].wrapping_sub(1);
        self.write(head, self.l3.then(ONE_LESS), protocol, needs_csum);
    }

    /// Writes the new addresses and ports, and adjusts both checksums, that of the IPv4 header by `header`.
    #[inline(always)]
    fn write(&self, head: &mut [u8; 54], header: Delta, protocol: u8, needs_csum: bool) {
        field::put(head, 26, &self.addresses.to_be_bytes());
        field::put(head, 34, &self.ports.to_be_bytes());
        adjust(head, 24, |sum| header.apply_nonzero(sum));
        let at = if protocol == TCP { 50 } else { 40 };
        adjust(head, at, |sum| match (needs_csum, protocol) {
            // The pseudo-header does not include ports.
            (true, _) => self.l3.apply_partial(sum),
            (false, UDP) => self.l4.apply_udp(sum),
            (false, _) => self.l4.apply_nonzero(sum),
        });
    }
}

#[inline]
fn adjust(bytes: &mut [u8], at: usize, change: impl FnOnce(u16) -> u16) {
    let sum = change(field::get16(bytes, at));
    field::put(bytes, at, &sum.to_be_bytes());
}
