//! Parses frames into [`Meta`]: Ethernet, IP and the front of the transport header.

mod ipv6;

use tollway_config::dataplane::MultipathHash;
use tollway_wire::{checksum, ethernet, field, icmp, ipv4, udp};

use crate::ip::multipath::inner_flow_hash;
use crate::packet::count::Count;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::key::FlowKey;
use crate::packet::tuple::{Addr, Tuple, icmp_kind};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, Origin, Packet, flag};
use crate::pipeline::prefetch::PREFETCH_DISTANCE;
use crate::pipeline::slow_path::Pass;
use crate::pipeline::source_route;
use crate::pipeline::state::WorkerState;
use crate::pipeline::untag::{is_tagged, untag, untag_one};
use crate::snapshot::Snapshot;

const TCP_HEADER: u16 = tollway_wire::tcp::HEADER as u16;
const SYN: u8 = tollway_wire::tcp::flag::SYN;
const UDP_HEADER: u16 = udp::HEADER as u16;
const ICMP_HEADER: u16 = icmp::HEADER as u16;

// A function of its own, with the registers to itself: in line among the stages it takes up to 32 instructions more, by
// which of the others are in line beside it.
/// Runs the stage. Returns the number of packets that entered it.
#[inline(never)]
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    let (snapshot, state, batch, _) = pass.parts();
    // Without connection tracking the buckets are not read.
    let tracking = snapshot.tracking();
    let mut entered = 0;
    for (place, packet) in batch.packets.iter_mut().skip(batch.first).enumerate() {
        if packet.meta.verdict != Verdict::Continue {
            continue;
        }
        entered += 1;
        // Packets that were handed over or recirculated have been parsed.
        let parsed = packet.meta.is(flag::HANDED_OVER | flag::RECIRCULATED);
        if !parsed && parse_plain(snapshot, &mut state.vlan_rx, packet) {
            if tracking {
                packet.meta.hash = state.table.hash_v4(&packet.meta.key);
            }
        } else if !parsed && ipv6::parse_plain(snapshot, packet) {
            if tracking {
                packet.meta.hash = state.table.hash_v6(&packet.meta.key, &packet.meta.tuple);
            }
        } else if !parse_and_identify(snapshot, state, packet) {
            continue;
        }
        // Only the buckets of the first packets are prefetched here; `flow_cache` prefetches the others.
        if tracking && place < PREFETCH_DISTANCE {
            state.table.prefetch_bucket(packet.meta.hash);
        }
    }
    entered
}

/// Parses any packet that is not plain, and computes its key and hash. Returns `false` if it was
/// dropped.
// Out of line: most packets are plain.
#[inline(never)]
fn parse_and_identify<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
) -> bool {
    if is_tagged(packet)
        && let Err(reason) = untag(snapshot, state, packet)
    {
        state.drop(packet, reason);
        return false;
    }
    match parse_general(snapshot, state, packet) {
        Ok(()) => {
            state.table.identify(&mut packet.meta);
            true
        }
        Err(reason) => {
            state.drop(packet, reason);
            false
        }
    }
}

/// Parses any packet: also with options, tags or fragments, for this router, or handed over by another worker. A
/// recirculated packet is left as it is.
///
/// # Errors
/// The reason for which the packet is dropped.
fn parse_general<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
) -> Result<(), DropReason> {
    if packet.meta.is(flag::RECIRCULATED) {
        // Recirculated packets are parsed already.
        return Ok(());
    }
    if packet.meta.is(flag::HANDED_OVER) {
        state.handover_packets += 1;
        if !arrive(snapshot, packet) {
            return Err(DropReason::InterfaceDisabled);
        }
    } else {
        parse(snapshot, packet)?;
        if packet.meta.is(flag::OPTIONS) && !packet.meta.is_ipv6() {
            source_route::follow(snapshot, packet, check_addresses)?;
        }
    }
    if packet.meta.is(flag::ARP) {
        state.arp_pending = true;
    } else if packet.meta.is(flag::FRAGMENT) {
        state.fragments_pending = true;
    }
    Ok(())
}

/// Bytes of a frame with an IPv4 header without options and a TCP header without options.
const PLAIN: usize = ethernet::HEADER + ipv4::HEADER + TCP_HEADER as usize;

/// Parses a plain packet, as nearly all are: valid TCP or UDP to the router's link-layer address, not a fragment,
/// without IP options, behind one tag at most. The result is that of [`untag`] and [`parse`], with one branch for nearly
/// all checks. Returns `false` for any other packet, of which no more than the tag has been taken.
#[inline]
fn parse_plain<F: Frame>(snapshot: &Snapshot, received: &mut [Count], packet: &mut Packet<F>) -> bool {
    let front = front(packet);
    if !is_plain_ipv4(front) {
        let tagged = ethernet::is_tag((front >> 16) as u16);
        if !(tagged && untag_one(snapshot, received, packet, front) && is_plain_ipv4(self::front(packet))) {
            return false;
        }
    }
    let Packet { frame: Some(frame), vnet, meta } = packet else { return false };
    let Some(port) = snapshot.port(meta.in_port) else { return false };
    let len = frame.len();
    let Some(head): Option<&[u8; PLAIN]> = frame.head().first_chunk() else { return false };
    let Some(ip): Option<&[u8; ipv4::HEADER]> = head.get(14..).and_then(|rest| rest.first_chunk()) else {
        return false;
    };
    let total = usize::from(field::get16(head, 16));
    let (src, dst) = (field::get32(head, 26), field::get32(head, 30));
    let (tcp, udp) = (head[23] == ipv4::TCP, head[23] == ipv4::UDP);
    let flags = head[47];
    let l4_len = if tcp { usize::from(head[46] >> 4) * 4 } else { usize::from(UDP_HEADER) };
    let claimed = usize::from(field::get16(head, 38));
    let least = if tcp { usize::from(TCP_HEADER) } else { usize::from(UDP_HEADER) };
    let other = (meta.origin != Origin::Port)
        | !port.enabled
        | (field::mac(head, 0) != port.mac)
        | (start_of_payload(l4_len) > total + ethernet::HEADER)
        | (total + ethernet::HEADER > len)
        | (field::get16(head, 20) & ipv4::FRAGMENTED != 0)
        | (head[22] <= 1)
        | (checksum::sum_header(ip) != 0xffff)
        | !is_plain(src)
        | !is_plain(dst)
        | !(tcp | udp)
        | (l4_len < least)
        | (udp & ((claimed < least) | (claimed + ipv4::HEADER > total)));
    if other {
        return false;
    }
    let dont_fragment = if head[20] & 0x40 != 0 { flag::DONT_FRAGMENT } else { 0 };
    let (src_port, dst_port) = (field::get16(head, 34), field::get16(head, 36));
    let (ttl, protocol) = (head[22], head[23]);
    if len > total + ethernet::HEADER && !frame.resize(total + ethernet::HEADER) {
        return false;
    }
    meta.in_interface = port.interface;
    meta.flags |= dont_fragment | flag::L4_HEADER;
    let zone = port.zone;
    meta.key = FlowKey::of_v4(src, dst, src_port, dst_port, protocol, zone);
    let (src, dst) = (Addr::v4(src), Addr::v4(dst));
    meta.tuple = Tuple { src, dst, src_port, dst_port, protocol, icmp: 0, zone };
    (meta.ttl, meta.tcp_flags_or_icmp_type) = (ttl, if tcp { flags } else { 0 });
    (meta.l3, meta.l4) = (ethernet::HEADER as u16, (ethernet::HEADER + ipv4::HEADER) as u16);
    (meta.l3_len, meta.l4_len) = (total as u32, l4_len as u16);
    meta.segments = vnet.segments(total - ipv4::HEADER - l4_len);
    if meta.tcp_flags_or_icmp_type & SYN != 0 {
        // A packet that opens a connection changes state that the fast path does not update.
        meta.flags |= flag::SLOW;
    }
    true
}

/// The EtherType of a frame and the two bytes behind it; 0 if it is too short for a plain packet.
#[inline]
fn front<F: Frame>(packet: &Packet<F>) -> u32 {
    let head: Option<&[u8; PLAIN]> = packet.frame.as_ref().and_then(|frame| frame.head().first_chunk());
    head.map_or(0, |head| field::get32(head, ethernet::ADDRESSES))
}

/// Whether a frame is IPv4 with a header of five words, by its [`front`].
#[inline]
const fn is_plain_ipv4(front: u32) -> bool {
    front >> 8 == 0x0008_0045
}

const fn start_of_payload(l4_len: usize) -> usize {
    ethernet::HEADER + ipv4::HEADER + l4_len
}

/// A unicast address outside 0/8 and 127/8.
#[inline]
const fn is_plain(address: u32) -> bool {
    let first = address >> 24;
    (first.wrapping_sub(1) < 223) & (first != 127)
}

/// Sets the in-interface of a packet from another worker again, as the configuration may have changed meanwhile.
/// Returns `false` if the port is disabled.
fn arrive<F>(snapshot: &Snapshot, packet: &mut Packet<F>) -> bool {
    if packet.meta.origin != Origin::Port {
        return true;
    }
    let Some(port) = snapshot.port(packet.meta.in_port).filter(|port| port.enabled) else { return false };
    packet.meta.in_interface = port.interface;
    true
}

#[inline]
fn parse<F: Frame>(snapshot: &Snapshot, packet: &mut Packet<F>) -> Result<(), DropReason> {
    let meta = &mut packet.meta;
    let frame = packet.frame.as_mut().ok_or(DropReason::Runt)?;
    let len = frame.len();
    let head = frame.head();
    if meta.origin == Origin::Port {
        let port =
            snapshot.port(meta.in_port).filter(|port| port.enabled).ok_or(DropReason::InterfaceDisabled)?;
        meta.in_interface = port.interface;
        meta.tuple.zone = port.zone;
        let link: &[u8; ethernet::HEADER] = head.first_chunk().ok_or(DropReason::Runt)?;
        let dst = field::mac(link, 0);
        if dst != port.mac {
            if !ethernet::is_group(dst) {
                return Err(DropReason::NotForUs);
            }
            meta.flags |= flag::LINK_BROADCAST | flag::SLOW;
        }
        match field::get16(link, 12) {
            ethernet::IPV4 => {}
            ethernet::ARP => {
                meta.flags |= flag::ARP;
                return Ok(());
            }
            ethernet::IPV6 => return ipv6::parse(snapshot, packet),
            _ => return Err(DropReason::UnknownEthertype),
        }
    }
    if meta.origin == Origin::LocalService {
        meta.tuple.zone = snapshot.interface_of(meta.tap).map_or(0, |interface| interface.zone);
    }
    let start = ethernet::HEADER;
    if meta.origin != Origin::Port && head.get(start).is_some_and(|first| first >> 4 == 6) {
        return ipv6::parse(snapshot, packet);
    }
    let ip: &[u8; ipv4::HEADER] =
        head.get(start..).and_then(|rest| rest.first_chunk()).ok_or(DropReason::Runt)?;
    let header = usize::from(ip[0] & 15) * 4;
    let total = usize::from(field::get16(ip, 2));
    let malformed = ip[0] >> 4 != 4 || header < ipv4::HEADER || total < header || start + total > len;
    if malformed {
        return Err(refuse(meta, (head, len), DropReason::BadIpHeader));
    }
    let sum = if header == ipv4::HEADER {
        checksum::sum(ip)
    } else {
        let options = head.get(start..start + header).ok_or(DropReason::BadIpHeader)?;
        let refused = !snapshot.settings.accept_source_route
            && source_route::asks_for_it(options.get(ipv4::HEADER..).unwrap_or_default());
        if refused {
            return Err(refuse(meta, (head, len), DropReason::BadIpOptions));
        }
        meta.flags |= flag::OPTIONS | flag::SLOW;
        checksum::sum(options)
    };
    if sum != 0xffff {
        return Err(refuse(meta, (head, len), DropReason::BadIpChecksum));
    }
    let (src, dst) = (field::get32(ip, 12), field::get32(ip, 16));
    if meta.origin == Origin::Port {
        check_addresses(src, dst).map_err(|reason| refuse(meta, (head, len), reason))?;
    }
    meta.ttl = ip[8];
    meta.l3 = start as u16;
    meta.l4 = (start + header) as u16;
    meta.l3_len = total as u32;
    if meta.ttl <= 1 {
        meta.flags |= flag::SLOW;
    }
    let fragment = field::get16(ip, ipv4::offset::FRAGMENT);
    if fragment & ipv4::DONT_FRAGMENT != 0 {
        meta.flags |= flag::DONT_FRAGMENT;
    }
    let protocol = ip[9];
    let zone = meta.tuple.zone;
    meta.tuple = Tuple { src: Addr::v4(src), dst: Addr::v4(dst), protocol, zone, ..Tuple::default() };
    let offset = usize::from(fragment & ipv4::OFFSET_MASK) * 8;
    if fragment & ipv4::FRAGMENTED != 0 {
        meta.flags |= flag::FRAGMENT | flag::SLOW;
        let payload = total - header;
        let ragged = fragment & ipv4::MORE_FRAGMENTS != 0 && payload % 8 != 0;
        if offset + payload > 0xffff || ragged || payload == 0 {
            return Err(DropReason::FragmentInvalid);
        }
    }
    if offset == 0 {
        let l4 = head.get(start + header..head.len().min(start + total)).unwrap_or_default();
        parse_transport(meta, l4, total - header)?;
        if snapshot.settings.multipath_hash == MultipathHash::L3Inner {
            note_inner_flow(meta, l4);
        }
    } else {
        meta.flags |= flag::LATER_FRAGMENT;
    }
    let payload = (total - header).saturating_sub(usize::from(meta.l4_len));
    meta.segments = packet.vnet.segments(payload);
    if len > start + total && !frame.resize(start + total) {
        return Err(DropReason::BadIpHeader);
    }
    Ok(())
}

/// Reads the addresses of a packet that is refused, so that a trace can filter by them. The frame has `len` bytes; the
/// total length in the IP header cannot be trusted.
#[cold]
fn refuse(meta: &mut Meta, (head, len): (&[u8], usize), reason: DropReason) -> DropReason {
    let ip: Option<&[u8; ipv4::HEADER]> = head.get(ethernet::HEADER..).and_then(|rest| rest.first_chunk());
    let Some(ip) = ip.filter(|ip| ip[0] >> 4 == 4) else { return reason };
    let total = usize::from(field::get16(ip, ipv4::offset::TOTAL_LEN));
    meta.l3_len = total.min(len.saturating_sub(ethernet::HEADER)) as u32;
    let protocol = ip[ipv4::offset::PROTOCOL];
    let [src, dst] = [ipv4::offset::SRC, ipv4::offset::DST].map(|at| Addr::v4(field::get32(ip, at)));
    meta.tuple = Tuple { src, dst, protocol, zone: meta.tuple.zone, ..Tuple::default() };
    let l4 = ethernet::HEADER + usize::from(ip[0] & 15) * 4;
    let ports: Option<&[u8; 4]> = head.get(l4..).and_then(|rest| rest.first_chunk());
    if let (Some(ports), ipv4::TCP | ipv4::UDP) = (ports, protocol) {
        (meta.tuple.src_port, meta.tuple.dst_port) = (field::get16(ports, 0), field::get16(ports, 2));
    }
    reason
}

/// Reads ports and flags. `l4` is the contiguous part of the packet from the transport header on, `len` the length of
/// the whole, bytes.
#[inline]
fn parse_transport(meta: &mut Meta, l4: &[u8], len: usize) -> Result<(), DropReason> {
    match meta.tuple.protocol {
        ipv4::TCP => {
            let tcp: &[u8; TCP_HEADER as usize] = l4.first_chunk().ok_or(DropReason::BadL4Header)?;
            let header = usize::from(tcp[12] >> 4) * 4;
            if header < tcp.len() || header > l4.len() {
                return Err(DropReason::BadL4Header);
            }
            meta.tuple.src_port = field::get16(tcp, 0);
            meta.tuple.dst_port = field::get16(tcp, 2);
            meta.l4_len = header as u16;
            meta.tcp_flags_or_icmp_type = tcp[13];
            if meta.tcp_flags_or_icmp_type & SYN != 0 {
                meta.flags |= flag::SLOW;
            }
        }
        ipv4::UDP => {
            let header: &[u8; UDP_HEADER as usize] = l4.first_chunk().ok_or(DropReason::BadL4Header)?;
            let claimed = usize::from(field::get16(header, 4));
            if claimed < header.len() || (claimed > len && !meta.is(flag::FRAGMENT)) {
                return Err(DropReason::BadL4Header);
            }
            meta.tuple.src_port = field::get16(header, 0);
            meta.tuple.dst_port = field::get16(header, 2);
            meta.l4_len = UDP_HEADER;
        }
        ipv4::ICMP => {
            let header: &[u8; ICMP_HEADER as usize] = l4.first_chunk().ok_or(DropReason::BadL4Header)?;
            meta.tcp_flags_or_icmp_type = header[0];
            meta.icmp_code = header[1];
            meta.l4_len = ICMP_HEADER;
            if let Some(kind) = icmp_kind(header[0]) {
                meta.tuple.src_port = field::get16(header, 4);
                meta.tuple.dst_port = meta.tuple.src_port;
                meta.tuple.icmp = kind;
            } else {
                meta.flags |= flag::SLOW;
                if icmp::is_error(header[0]) {
                    meta.flags |= flag::ICMP_ERROR;
                }
            }
        }
        _ => {}
    }
    meta.flags |= flag::L4_HEADER;
    Ok(())
}

/// Notes the flow of the packet that a packet from a port encapsulates; `l4` is what is behind its own header. The fragments
/// of a packet go the same way.
fn note_inner_flow(meta: &mut Meta, l4: &[u8]) {
    if meta.origin == Origin::Port && !meta.is(flag::FRAGMENT) {
        meta.inner_hash = inner_flow_hash(meta.tuple.protocol, l4);
    }
}

/// Addresses that no packet on a wire can have (RFC 1122 §3.2.1.3, RFC 1812 §5.3.7).
#[inline]
fn check_addresses(src: u32, dst: u32) -> Result<(), DropReason> {
    if is_plain(src) && is_plain(dst) {
        return Ok(());
    }
    let asks_for_address = src == 0 && dst == u32::MAX;
    if !is_plain(src) && !asks_for_address {
        return Err(DropReason::MartianSource);
    }
    let first = dst >> 24;
    if first == 0 || first == 127 || (first >= 240 && dst != u32::MAX) {
        return Err(DropReason::MartianDestination);
    }
    Ok(())
}
