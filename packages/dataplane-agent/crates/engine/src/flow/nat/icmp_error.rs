//! Translation of ICMP errors: outer header and quoted packet (RFC 5508 §4.2).
//!
//! An error about a packet of one direction travels in the other direction. Its outer header is translated like any
//! packet of the direction in which it travels. The quoted packet travelled the opposite way, so it gets the inverse
//! translation: its source is translated as the destination of the error, and vice versa.

use tollway_wire::checksum::Delta;
use tollway_wire::{field, icmp, ipv4};

use super::icmpv6_error;
use super::rewrite::Manip;
use super::{ICMP, TCP, UDP, checksum_offset};
use crate::flow::conntrack::Tuples;
use crate::ids::Direction;
use crate::packet::tuple::{Addr, Tuple, Zone, icmp_kind};

/// Offsets from the start of the outer IPv4 header.
struct QuoteLayout {
    icmp: usize,
    embedded: usize,
    /// L4 header of the quoted packet; `None` for a later fragment.
    l4: Option<usize>,
    protocol: u8,
}

fn layout(l3: &[u8]) -> Option<QuoteLayout> {
    let outer = ipv4::Packet::new_checked(l3).ok()?;
    if outer.protocol() != ICMP || outer.is_fragment() {
        return None;
    }
    let header = outer.header_len();
    let message = icmp::Packet::new_checked(outer.payload()).ok()?;
    if !icmp::is_error(message.icmp_type()) {
        return None;
    }
    let quoted = ipv4::Packet::new_checked(message.payload()).ok()?;
    let embedded = header + icmp::HEADER;
    let l4 = (quoted.fragment_offset() == 0).then_some(embedded + quoted.header_len());
    Some(QuoteLayout { icmp: header, embedded, l4, protocol: quoted.protocol() })
}

/// The tuple of the packet that an ICMP error of either family quotes, as quoted, in the zone that the error came by; `None` when the bytes are not an ICMP
/// error, or the quote does not identify a flow.
pub fn embedded_tuple(l3: &[u8], zone: Zone) -> Option<Tuple> {
    if field::get8(l3, 0) >> 4 == 6 {
        return icmpv6_error::embedded_tuple(l3, zone);
    }
    let QuoteLayout { embedded, l4, protocol, .. } = layout(l3)?;
    let l4 = l4?;
    let mut kind = 0;
    let (src_port, dst_port) = match protocol {
        TCP | UDP => {
            l3.get(l4..l4 + 4)?;
            (field::get16(l3, l4), field::get16(l3, l4 + 2))
        }
        ICMP => {
            let quoted = icmp::Packet::new_checked(l3.get(l4..)?).ok()?;
            kind = icmp_kind(quoted.icmp_type())?;
            (quoted.ident(), quoted.ident())
        }
        _ => (0, 0),
    };
    Some(Tuple {
        src: Addr::v4(field::get32(l3, embedded + ipv4::offset::SRC)),
        dst: Addr::v4(field::get32(l3, embedded + ipv4::offset::DST)),
        src_port,
        dst_port,
        protocol,
        icmp: kind,
        zone,
    })
}

/// Translates one half (`manip`) of an ICMP error that travels in `direction` of a connection. The quoted packet may be
/// truncated anywhere after its IP header. Returns `false`, and changes nothing, if the bytes are not an ICMP error.
pub fn translate(l3: &mut [u8], connection: &Tuples, direction: Direction, manip: Manip) -> bool {
    let Some(QuoteLayout { icmp, embedded, l4, protocol }) = layout(l3) else { return false };
    let (from, to) = (connection.tuple(direction), connection.target(direction));
    // The quoted packet's source is translated as the error's destination, and its destination as the error's source.
    let (old, new, old_port, new_port, outer_at, inner_at, port_at) = match manip {
        Manip::Destination => {
            (from.dst, to.dst, from.dst_port, to.dst_port, ipv4::offset::DST, ipv4::offset::SRC, 0)
        }
        Manip::Source => {
            (from.src, to.src, from.src_port, to.src_port, ipv4::offset::SRC, ipv4::offset::DST, 2)
        }
    };
    let (Some(old), Some(new)) = (old.as_v4(), new.as_v4()) else { return false };
    let ident = protocol == ICMP;
    let ports_change = old_port != new_port && (!ident || manip.has_icmp_ident(direction));
    if old == new && !ports_change {
        return true;
    }

    let mut message = Delta::NONE;
    if old != new {
        let outer_old = field::get32(l3, outer_at);
        field::put(l3, outer_at, &new.to_be_bytes());
        let outer = Delta::NONE.replace32(outer_old, new);
        let sum = outer.apply(field::get16(l3, ipv4::offset::CHECKSUM));
        field::put(l3, ipv4::offset::CHECKSUM, &sum.to_be_bytes());

        let inner_old = field::get32(l3, embedded + inner_at);
        let inner = Delta::NONE.replace32(inner_old, new);
        replace(l3, embedded + inner_at, (new >> 16) as u16, &mut message);
        replace(l3, embedded + inner_at + 2, new as u16, &mut message);
        let at = embedded + ipv4::offset::CHECKSUM;
        let sum = inner.apply(field::get16(l3, at));
        replace(l3, at, sum, &mut message);
    }
    if let Some(l4) = l4 {
        let mut change = if ident { Delta::NONE } else { Delta::NONE.replace32(old, new) };
        if ports_change {
            let at = match protocol {
                ICMP => Some(l4 + 4),
                TCP | UDP => Some(l4 + port_at),
                _ => None,
            };
            if let Some(at) = at.filter(|at| l3.len() >= at + 2) {
                change = change.replace16(field::get16(l3, at), new_port);
                replace(l3, at, new_port, &mut message);
            }
        }
        let at = if ident { Some(l4 + 2) } else { checksum_offset(protocol).map(|at| l4 + at) };
        if let Some(at) = at.filter(|at| l3.len() >= at + 2) {
            let field = field::get16(l3, at);
            let sum = if protocol == UDP { change.apply_udp(field) } else { change.apply(field) };
            replace(l3, at, sum, &mut message);
        }
    }
    let sum = message.apply(field::get16(l3, icmp + 2));
    field::put(l3, icmp + 2, &sum.to_be_bytes());
    true
}

fn replace(bytes: &mut [u8], at: usize, new: u16, change: &mut Delta) {
    *change = change.replace16(field::get16(bytes, at), new);
    field::put(bytes, at, &new.to_be_bytes());
}
