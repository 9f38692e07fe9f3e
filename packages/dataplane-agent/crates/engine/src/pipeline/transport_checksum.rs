//! Verifies the transport checksum of packets that change the state of a connection.

use tollway_wire::{checksum, field, ipv4, ipv6, tcp, udp};

use crate::ids::NO_ENTRY;
use crate::packet::frame::Frame;
use crate::packet::{Packet, flag};

/// Whether the transport checksum of a packet is right, if the packet opens, closes or resets its connection or is an
/// ICMP error: the receiver discards a damaged packet, so the connection must not change. Other packets can only move
/// windows. Linux checks all packets (`nf_conntrack_checksum`).
#[inline]
pub(crate) fn is_intact<F: Frame>(packet: &Packet<F>) -> bool {
    let Packet { frame: Some(frame), vnet, meta } = packet else { return true };
    // The checksum of a fragment cannot be verified. The device has verified the others, or will complete them.
    let checksum_unknown = meta.is(flag::FRAGMENT) || vnet.needs_csum || vnet.data_valid;
    let matters = match meta.tuple.protocol {
        ipv4::TCP => meta.tcp_flags_or_icmp_type & tcp::flag::CONTROL != 0,
        ipv4::UDP | ipv4::ICMP | ipv6::ICMPV6 => meta.entry == NO_ENTRY,
        _ => false,
    };
    if !matters || checksum_unknown {
        return true;
    }
    let (l3, l4) = (usize::from(meta.l3), usize::from(meta.l4));
    let head = frame.head();
    let transport = head.get(l4..l3 + meta.l3_len as usize);
    let ip: Option<&[u8; ipv4::HEADER]> = head.get(l3..).and_then(|rest| rest.first_chunk());
    // The payload of a long packet is not contiguous.
    let (Some(mut transport), Some(ip)) = (transport, ip) else { return true };
    if meta.is_ipv6() {
        return is_intact_over_ipv6(meta.tuple.protocol, head.get(l3..).unwrap_or_default(), transport);
    }
    if meta.tuple.protocol == ipv4::ICMP {
        return checksum::sum(transport) == u16::MAX;
    }
    if meta.tuple.protocol == ipv4::UDP {
        // The length field of the header; a checksum of zero means none (RFC 768).
        let claimed = usize::from(field::get16(transport, udp::LENGTH));
        if field::get16(transport, udp::CHECKSUM) == 0 {
            return true;
        }
        transport = transport.get(..claimed).unwrap_or(transport);
    }
    let Ok(len) = u16::try_from(transport.len()) else { return true };
    let [src, dst] = [ipv4::offset::SRC, ipv4::offset::DST].map(|at| field::get32(ip, at));
    let sum = match <&[u8; tcp::HEADER]>::try_from(transport) {
        Ok(header) => checksum::sum_header(header),
        Err(_) => checksum::sum(transport),
    };
    checksum::add(checksum::pseudo_v4(src, dst, meta.tuple.protocol, len), sum) == u16::MAX
}

/// Whether the checksum of a whole transport packet is right. `packet` begins with the IPv6 header. There is no UDP
/// without checksum (RFC 8200 §8.1).
#[cold]
fn is_intact_over_ipv6(protocol: u8, packet: &[u8], transport: &[u8]) -> bool {
    let [src, dst] = [ipv6::offset::SRC, ipv6::offset::DST].map(|at| field::get128(packet, at));
    let claimed = match protocol {
        ipv4::ICMP => return true,
        ipv4::UDP => usize::from(field::get16(transport, udp::LENGTH)),
        _ => transport.len(),
    };
    let transport = transport.get(..claimed).unwrap_or(transport);
    let pseudo = checksum::pseudo_v6(src, dst, protocol, transport.len() as u32);
    checksum::add(pseudo, checksum::sum(transport)) == u16::MAX
}
