//! Parses IPv6 packets: the fixed header, the extension headers, and the front of the transport header.

use tollway_config::dataplane::MultipathHash;
use tollway_wire::extension::{Refusal, walk};
use tollway_wire::{ethernet, field, icmpv6, ipv4, ipv6, tcp, udp};

use super::{note_inner_flow, parse_transport};
use crate::packet::frame::Frame;
use crate::packet::key::FlowKey;
use crate::packet::tuple::{Addr, Tuple, icmpv6_kind};
use crate::packet::verdict::DropReason;
use crate::packet::{Meta, Origin, Packet, flag};
use crate::snapshot::Snapshot;

/// Parses a packet whose link-layer header has been read.
///
/// # Errors
/// The reason for which the packet is dropped.
// Out of line: most packets are of IPv4.
#[inline(never)]
pub(super) fn parse<F: Frame>(snapshot: &Snapshot, packet: &mut Packet<F>) -> Result<(), DropReason> {
    let meta = &mut packet.meta;
    let frame = packet.frame.as_mut().ok_or(DropReason::Runt)?;
    if !is_enabled(snapshot, meta) {
        return Err(DropReason::Ipv6NotEnabled);
    }
    let (len, head) = (frame.len(), frame.head());
    let start = ethernet::HEADER;
    let ip = head.get(start..).unwrap_or_default();
    let header: &[u8; ipv6::HEADER] = ip.first_chunk().ok_or(DropReason::Runt)?;
    let total = ipv6::HEADER + usize::from(field::get16(header, ipv6::offset::PAYLOAD_LEN));
    if header[0] >> 4 != 6 || start + total > len {
        return Err(DropReason::BadIpHeader);
    }
    let [src, dst] = [ipv6::offset::SRC, ipv6::offset::DST].map(|at| field::get128(header, at));
    let protocol = header[ipv6::offset::NEXT_HEADER];
    meta.ttl = header[ipv6::offset::HOP_LIMIT];
    meta.l3_len = total as u32;
    meta.flags |= flag::IPV6;
    // Of packets that are dropped from here on, traces know the addresses.
    let zone = meta.tuple.zone;
    meta.tuple = Tuple { src: Addr(src), dst: Addr(dst), protocol, zone, ..Tuple::default() };
    check_addresses(meta, src, dst)?;
    let walked = walk(ip, total).map_err(|refusal| match refusal {
        Refusal::Truncated => DropReason::BadIpHeader,
        Refusal::Order | Refusal::SourceRoute => DropReason::BadIpOptions,
    })?;
    (meta.l3, meta.l4) = (start as u16, (start + walked.start) as u16);
    meta.tuple.protocol = walked.protocol;
    // A router never fragments a packet (RFC 8200 §5).
    meta.flags |= flag::DONT_FRAGMENT;
    if meta.ttl <= 1 || !is_plain(src) || !is_plain(dst) {
        meta.flags |= flag::SLOW;
    }
    let payload = total - walked.start;
    let mut later = false;
    if walked.start != ipv6::HEADER {
        meta.flags |= flag::OPTIONS | flag::SLOW;
    }
    if let Some(fragment) = walked.fragment.filter(|fragment| !fragment.is_atomic()) {
        meta.flags |= flag::FRAGMENT | flag::SLOW;
        let ragged = fragment.more && !payload.is_multiple_of(8);
        if usize::from(fragment.offset) + payload > 0xffff || ragged || payload == 0 {
            return Err(DropReason::FragmentInvalid);
        }
        later = fragment.offset != 0;
    }
    if later {
        meta.flags |= flag::LATER_FRAGMENT;
    } else {
        let l4 = ip.get(walked.start..ip.len().min(total)).unwrap_or_default();
        match walked.protocol {
            ipv4::TCP | ipv4::UDP => parse_transport(meta, l4, payload)?,
            ipv6::ICMPV6 => parse_icmpv6(meta, l4)?,
            _ => {
                meta.flags |= flag::L4_HEADER;
                if snapshot.settings.ipv6.multipath_hash == MultipathHash::L3Inner {
                    note_inner_flow(meta, l4);
                }
            }
        }
    }
    meta.segments = packet.vnet.segments(payload.saturating_sub(usize::from(meta.l4_len)));
    if len > start + total && !frame.resize(start + total) {
        return Err(DropReason::BadIpHeader);
    }
    Ok(())
}

/// Bytes of a frame with a fixed IPv6 header and a UDP header.
const PLAIN: usize = L4 + udp::HEADER;
/// Offset of the transport header behind a fixed IPv6 header.
const L4: usize = ethernet::HEADER + ipv6::HEADER;

/// Parses a plain packet, with its key: valid TCP or UDP to the router's link-layer address, between addresses of global
/// or site scope, without extension headers. The result is that of [`parse`]. Returns `false` for any other packet, and
/// changes nothing.
// Not inlined, so that it takes no registers from packets of IPv4.
#[inline(never)]
pub(super) fn parse_plain<F: Frame>(snapshot: &Snapshot, packet: &mut Packet<F>) -> bool {
    let Packet { frame: Some(frame), vnet, meta } = packet else { return false };
    let (len, head) = (frame.len(), frame.head());
    let Some(fixed): Option<&[u8; PLAIN]> = head.first_chunk() else { return false };
    if field::get16(fixed, ethernet::ADDRESSES) != ethernet::IPV6 {
        return false;
    }
    let Some(port) = snapshot.port(meta.in_port) else { return false };
    let end = L4 + usize::from(field::get16(fixed, 18));
    let (protocol, hop_limit) = (fixed[20], fixed[21]);
    let (src, dst) = (field::get128(fixed, 22), field::get128(fixed, 38));
    let (tcp, udp) = (protocol == ipv4::TCP, protocol == ipv4::UDP);
    let least = if tcp { tcp::HEADER } else { udp::HEADER };
    let data_offset = field::get8(head, L4 + tcp::offset::DATA_OFFSET);
    let l4_len = if tcp { usize::from(data_offset >> 4) * 4 } else { udp::HEADER };
    let claimed = usize::from(field::get16(fixed, L4 + 4));
    let other = (meta.origin != Origin::Port)
        | !port.enabled
        | !port.ipv6
        | (field::mac(fixed, 0) != port.mac)
        | (fixed[14] >> 4 != 6)
        | (end > len)
        | (L4 + l4_len > end.min(head.len()))
        | (hop_limit <= 1)
        | !is_plain(src)
        | !is_plain(dst)
        | !(tcp | udp)
        | (l4_len < least)
        | (udp & ((claimed < least) | (L4 + claimed > end)));
    if other {
        return false;
    }
    let (src_port, dst_port) = (field::get16(fixed, L4), field::get16(fixed, L4 + 2));
    let flags = if tcp { field::get8(head, L4 + tcp::offset::FLAGS) } else { 0 };
    if len > end && !frame.resize(end) {
        return false;
    }
    meta.in_interface = port.interface;
    meta.flags |= flag::DONT_FRAGMENT | flag::IPV6 | flag::L4_HEADER;
    let zone = port.zone;
    meta.key = FlowKey::of_v6(src_port, dst_port, protocol, zone);
    meta.tuple = Tuple { src: Addr(src), dst: Addr(dst), src_port, dst_port, protocol, icmp: 0, zone };
    (meta.ttl, meta.tcp_flags_or_icmp_type) = (hop_limit, flags);
    (meta.l3, meta.l4) = (ethernet::HEADER as u16, L4 as u16);
    (meta.l3_len, meta.l4_len) = ((end - ethernet::HEADER) as u32, l4_len as u16);
    meta.segments = vnet.segments(end - L4 - l4_len);
    if flags & tcp::flag::SYN != 0 {
        // A packet that opens a connection changes state that the fast path does not update.
        meta.flags |= flag::SLOW;
    }
    true
}

/// A unicast address that is not of a link, outside ::/32, where the special addresses are.
#[inline]
const fn is_plain(address: u128) -> bool {
    (address >> 96 != 0) & (address >> 120 != 0xff) & !ipv6::is_link_local(address)
}

/// Whether the interface that a packet comes from has IPv6. The router's own packets are made where it is so.
fn is_enabled(snapshot: &Snapshot, meta: &Meta) -> bool {
    let interface = match meta.origin {
        Origin::Port => snapshot.interface(meta.in_interface),
        Origin::LocalService => snapshot.interface_of(meta.tap),
        Origin::Generated => return true,
    };
    interface.is_some_and(|interface| interface.ipv6.is_some())
}

/// Addresses that no packet can have (RFC 4291 §2.5.2, §2.5.3, §2.7; RFC 4038 §4.2 for mapped ones).
fn check_addresses(meta: &Meta, src: u128, dst: u128) -> Result<(), DropReason> {
    let is_mapped = |address: u128| address >> 32 == 0xffff;
    let asks_on_link = src == 0 && ipv6::is_multicast(dst) && ipv6::multicast_scope(dst) <= 2;
    let own = meta.origin != Origin::Port;
    if is_mapped(src) || ipv6::is_multicast(src) || src <= ipv6::LOOPBACK && !asks_on_link && !own {
        return Err(DropReason::MartianSource);
    }
    if is_mapped(dst) || dst <= ipv6::LOOPBACK || ipv6::is_multicast(dst) && ipv6::multicast_scope(dst) <= 1 {
        return Err(DropReason::MartianDestination);
    }
    Ok(())
}

/// Reads type, code and identifier of an ICMPv6 message.
fn parse_icmpv6(meta: &mut Meta, l4: &[u8]) -> Result<(), DropReason> {
    let header: &[u8; icmpv6::HEADER] = l4.first_chunk().ok_or(DropReason::BadL4Header)?;
    (meta.tcp_flags_or_icmp_type, meta.icmp_code) = (header[0], header[1]);
    meta.l4_len = icmpv6::HEADER as u16;
    meta.flags |= flag::L4_HEADER;
    if let Some(kind) = icmpv6_kind(header[0]) {
        meta.tuple.src_port = field::get16(header, 4);
        meta.tuple.dst_port = meta.tuple.src_port;
        meta.tuple.icmp = kind;
    } else {
        meta.flags |= flag::SLOW;
        if icmpv6::is_error(header[0]) {
            meta.flags |= flag::ICMP_ERROR;
        }
    }
    Ok(())
}
