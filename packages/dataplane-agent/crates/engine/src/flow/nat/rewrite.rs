//! Rewrites the headers of a packet.

use tollway_wire::checksum::Delta;
use tollway_wire::{field, ipv4};

use super::{ICMP, TCP, UDP, checksum_offset};
use crate::flow::conntrack::{CachedAction, Tuples, action_flag};
use crate::ids::Direction;
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
        let mut action = CachedAction::default();
        self.fill(&mut action);
        let Ok(packet) = ipv4::Packet::new_checked(&*l3) else { return false };
        let header = packet.header_len();
        let l4 = (packet.fragment_offset() == 0).then_some(header);
        write(l3, l4, self.protocol, &action, needs_csum);
        true
    }

    /// Writes the translation into a cached action: addresses, ports, deltas and the NAT flags.
    #[inline(always)]
    pub fn fill(&self, action: &mut CachedAction) {
        action.new_src = self.src;
        action.new_dst = self.dst;
        action.new_src_port = self.src_port;
        action.new_dst_port = self.dst_port;
        action.l3_delta = self.l3.0;
        action.l4_delta = self.l4.0;
        action.flags &= !(action_flag::NAT_SRC | action_flag::NAT_DST);
        if self.nat_src {
            action.flags |= action_flag::NAT_SRC;
        }
        if self.nat_dst {
            action.flags |= action_flag::NAT_DST;
        }
    }
}

/// An IPv4 address in host order; 0 for another.
pub(super) fn v4(address: Addr) -> u32 {
    address.as_v4().unwrap_or(0)
}

/// Applies the NAT part of a cached action to an unfragmented IPv4 packet: `l3` starts at its header, `header_len` is
/// that header's length.
#[inline]
pub fn apply_cached(action: &CachedAction, l3: &mut [u8], header_len: usize, protocol: u8, needs_csum: bool) {
    if action.flags & (action_flag::NAT_SRC | action_flag::NAT_DST) != 0 {
        write(l3, Some(header_len), protocol, action, needs_csum);
    }
}

/// [`apply_cached`] for a TCP or UDP packet whose IPv4 header begins at byte 14 of the frame and has no options.
#[inline(always)]
pub fn apply_plain(action: &CachedAction, head: &mut [u8; 54], protocol: u8, needs_csum: bool) {
    if action.flags & (action_flag::NAT_SRC | action_flag::NAT_DST) == 0 {
        return;
    }
    if action.flags & action_flag::NAT_SRC != 0 {
        field::put(head, 26, &action.new_src.to_be_bytes());
        field::put(head, 34, &action.new_src_port.to_be_bytes());
    }
    if action.flags & action_flag::NAT_DST != 0 {
        field::put(head, 30, &action.new_dst.to_be_bytes());
        field::put(head, 36, &action.new_dst_port.to_be_bytes());
    }
    adjust(head, 24, |sum| Delta(action.l3_delta).apply(sum));
    let at = if protocol == TCP { 50 } else { 40 };
    adjust(head, at, |sum| match (needs_csum, protocol) {
        (true, _) => Delta(action.l3_delta).apply_partial(sum),
        (false, UDP) => Delta(action.l4_delta).apply_udp(sum),
        (false, _) => Delta(action.l4_delta).apply(sum),
    });
}

#[inline]
fn write(l3: &mut [u8], l4: Option<usize>, protocol: u8, action: &CachedAction, needs_csum: bool) {
    let src = action.flags & action_flag::NAT_SRC != 0;
    let dst = action.flags & action_flag::NAT_DST != 0;
    if src {
        field::put(l3, ipv4::offset::SRC, &action.new_src.to_be_bytes());
    }
    if dst {
        field::put(l3, ipv4::offset::DST, &action.new_dst.to_be_bytes());
    }
    adjust(l3, ipv4::offset::CHECKSUM, |sum| Delta(action.l3_delta).apply(sum));
    let Some(l4) = l4 else { return };
    match protocol {
        TCP | UDP => {
            if src {
                field::put(l3, l4, &action.new_src_port.to_be_bytes());
            }
            if dst {
                field::put(l3, l4 + 2, &action.new_dst_port.to_be_bytes());
            }
        }
        ICMP => {
            let ident = if src { action.new_src_port } else { action.new_dst_port };
            field::put(l3, l4 + 4, &ident.to_be_bytes());
            adjust(l3, l4 + 2, |sum| Delta(action.l4_delta).apply(sum));
            return;
        }
        _ => {}
    }
    let Some(at) = checksum_offset(protocol) else { return };
    adjust(l3, l4 + at, |sum| match (needs_csum, protocol) {
        // The pseudo-header does not include ports.
        (true, _) => Delta(action.l3_delta).apply_partial(sum),
        (false, UDP) => Delta(action.l4_delta).apply_udp(sum),
        (false, _) => Delta(action.l4_delta).apply(sum),
    });
}

#[inline]
fn adjust(bytes: &mut [u8], at: usize, change: impl FnOnce(u16) -> u16) {
    let sum = change(field::get16(bytes, at));
    field::put(bytes, at, &sum.to_be_bytes());
}
