//! The packet that an ICMPv6 error quotes (RFC 4443 §2.4), and the translation of such an error, as [`super::icmp_error`]
//! does it for IPv4.

use tollway_wire::checksum::Delta;
use tollway_wire::extension::walk;
use tollway_wire::{field, icmpv6, ipv6};

use super::rewrite::Manip;
use super::{TCP, UDP, ipv6_checksum_offset};
use crate::flow::conntrack::Tuples;
use crate::ids::Direction;
use crate::packet::tuple::{Addr, Tuple, Zone, icmpv6_kind};

/// Offsets from the start of the outer IPv6 header.
struct QuoteLayout {
    icmp: usize,
    embedded: usize,
    /// L4 header of the quoted packet; `None` for a later fragment.
    l4: Option<usize>,
    protocol: u8,
}

fn layout(l3: &[u8]) -> Option<QuoteLayout> {
    let outer = walk(l3, l3.len()).ok()?;
    if outer.protocol != ipv6::ICMPV6 || outer.fragment.is_some_and(|fragment| !fragment.is_atomic()) {
        return None;
    }
    let message = icmpv6::Packet::new_checked(l3.get(outer.start..)?).ok()?;
    if !icmpv6::is_error(message.icmp_type()) {
        return None;
    }
    let embedded = outer.start + icmpv6::HEADER;
    let quoted = l3.get(embedded..)?;
    ipv6::Packet::new_checked(quoted).ok()?;
    let inner = walk(quoted, quoted.len()).ok()?;
    let is_first = inner.fragment.is_none_or(|fragment| fragment.offset == 0);
    let l4 = is_first.then_some(embedded + inner.start);
    Some(QuoteLayout { icmp: outer.start, embedded, l4, protocol: inner.protocol })
}

/// The tuple of the packet that an ICMPv6 error quotes, as quoted; `None` when the bytes are not an ICMPv6 error, or the
/// quote does not identify a flow. `l3` begins with the IPv6 header of the error.
pub fn embedded_tuple(l3: &[u8], zone: Zone) -> Option<Tuple> {
    let QuoteLayout { embedded, l4, protocol, .. } = layout(l3)?;
    let (quoted, l4) = (l3.get(embedded..)?, l3.get(l4?..)?);
    let header = ipv6::Packet::new_checked(quoted).ok()?;
    let (src_port, dst_port, icmp) = match protocol {
        TCP | UDP => (field::read16(l4, 0)?, field::read16(l4, 2)?, 0),
        ipv6::ICMPV6 => {
            let ident = field::read16(l4, 4)?;
            (ident, ident, icmpv6_kind(field::get8(l4, 0))?)
        }
        _ => (0, 0, 0),
    };
    let (src, dst) = (Addr(header.src_addr()), Addr(header.dst_addr()));
    Some(Tuple { src, dst, src_port, dst_port, protocol, icmp, zone })
}

/// Translates one half (`manip`) of an ICMPv6 error that travels in `direction` of a connection. The quoted packet may be
/// truncated anywhere after its IPv6 header. Returns `false`, and changes nothing, if the bytes are not an ICMPv6 error.
pub fn translate(l3: &mut [u8], connection: &Tuples, direction: Direction, manip: Manip) -> bool {
    let Some(QuoteLayout { icmp, embedded, l4, protocol }) = layout(l3) else { return false };
    let (from, to) = (connection.tuple(direction), connection.target(direction));
    // The quoted packet's source is translated as the error's destination, and its destination as the error's source.
    let (old, new, old_port, new_port, outer_at, inner_at, port_at) = match manip {
        Manip::Destination => {
            (from.dst, to.dst, from.dst_port, to.dst_port, ipv6::offset::DST, ipv6::offset::SRC, 0)
        }
        Manip::Source => {
            (from.src, to.src, from.src_port, to.src_port, ipv6::offset::SRC, ipv6::offset::DST, 2)
        }
    };
    let ident = protocol == ipv6::ICMPV6;
    let ports_change = old_port != new_port && (!ident || manip.has_icmp_ident(direction));
    let mut message = Delta::NONE;
    let mut change = Delta::NONE;
    if old != new {
        for (at, is_quoted) in [(outer_at, false), (embedded + inner_at, true)] {
            let before = field::get128(l3, at);
            field::put(l3, at, &new.0.to_be_bytes());
            // The outer address is part of the pseudo-header of the message.
            message = message.replace128(before, new.0);
            if is_quoted {
                change = change.replace128(before, new.0);
            }
        }
    }
    if let Some(l4) = l4 {
        let at = match protocol {
            ipv6::ICMPV6 => Some(l4 + 4),
            TCP | UDP => Some(l4 + port_at),
            _ => None,
        };
        if let Some(at) = at.filter(|at| ports_change && l3.len() >= at + 2) {
            change = change.replace16(field::get16(l3, at), new_port);
            replace(l3, at, new_port, &mut message);
        }
        let at = ipv6_checksum_offset(protocol).map(|at| l4 + at);
        if let Some(at) = at.filter(|at| l3.len() >= at + 2) {
            let field = field::get16(l3, at);
            let sum = if protocol == UDP { change.apply_udp(field) } else { change.apply(field) };
            replace(l3, at, sum, &mut message);
        }
    }
    let sum = message.apply(field::get16(l3, icmp + icmpv6::CHECKSUM));
    field::put(l3, icmp + icmpv6::CHECKSUM, &sum.to_be_bytes());
    true
}

fn replace(bytes: &mut [u8], at: usize, new: u16, change: &mut Delta) {
    *change = change.replace16(field::get16(bytes, at), new);
    field::put(bytes, at, &new.to_be_bytes());
}
