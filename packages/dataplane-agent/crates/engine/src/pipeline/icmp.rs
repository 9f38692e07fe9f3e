//! ICMP packets of the router itself: errors (RFC 792, RFC 1812 §4.3), and which error of ICMPv6 says the same.

use tollway_config::dataplane::{ConnectionState, RejectWith, RowId};
use tollway_wire::{ethernet, icmp, icmpv6, ipv4};

use crate::packet::frame::{Frame, FrameSource};
use crate::packet::tuple::Tuple;
use crate::packet::{Hook, Meta, Origin, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::ipv6_icmp::{self, Icmpv6Error};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// Time to live of the router's own packets (RFC 1700).
pub(super) const TTL: u8 = 64;
/// Longest ICMP error, bytes from the IP header on (RFC 1812 §4.3.2.3).
const MAX_ERROR: usize = 576;
/// DSCP class selector 6, "internetwork control" (RFC 1812 §4.3.2.5).
const CONTROL_TOS: u8 = 0xc0;

/// An error message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IcmpError {
    /// Type.
    pub icmp_type: u8,
    /// Code.
    pub code: u8,
    /// Bytes 4 to 8 of the message: next-hop MTU of "fragmentation needed" (RFC 1191 §4), pointer of a parameter problem,
    /// gateway of a redirect, else 0.
    pub rest: [u8; 4],
}

impl IcmpError {
    /// Destination unreachable with this code.
    pub const fn unreachable(code: u8) -> Self {
        Self { icmp_type: icmp::UNREACHABLE, code, rest: [0; 4] }
    }
    /// Time exceeded in transit.
    pub const TIME_EXCEEDED: Self = Self { icmp_type: icmp::TIME_EXCEEDED, code: 0, rest: [0; 4] };
    /// Network unreachable.
    pub const NETWORK: Self = Self::unreachable(0);
    /// Host unreachable.
    pub const HOST: Self = Self::unreachable(1);
    /// Communication administratively prohibited (RFC 1812 §5.2.7.1).
    pub const PROHIBITED: Self = Self::unreachable(13);
    /// The source address does not leave its link (RFC 4443 §3.1): type and code of ICMPv6, as IPv4 has no such error.
    pub const BEYOND_SCOPE: Self = Self::icmpv6_unreachable(icmpv6::unreachable::BEYOND_SCOPE);
    /// The packet is larger than the MTU of the next link (fragmentation needed).
    pub const fn too_big(mtu: u16) -> Self {
        let [high, low] = mtu.to_be_bytes();
        Self { icmp_type: icmp::UNREACHABLE, code: icmp::FRAGMENTATION_NEEDED, rest: [0, 0, high, low] }
    }
    /// Source route failed.
    pub const SOURCE_ROUTE_FAILED: Self = Self::unreachable(icmp::SOURCE_ROUTE_FAILED);
    /// The byte of the header at `pointer` is in error.
    pub const fn parameter_problem(pointer: u8) -> Self {
        Self { icmp_type: icmp::PARAMETER_PROBLEM, code: 0, rest: [pointer, 0, 0, 0] }
    }
    /// Packets to the host are to be sent to this gateway, IPv4 in host order.
    pub const fn redirect(gateway: u32) -> Self {
        Self { icmp_type: icmp::REDIRECT, code: icmp::REDIRECT_HOST, rest: gateway.to_be_bytes() }
    }

    /// The option at `pointer`, bytes from the IPv6 header, is not known: type and code of ICMPv6.
    pub const fn unknown_option(pointer: u32) -> Self {
        let rest = pointer.to_be_bytes();
        Self { icmp_type: icmpv6::PARAMETER_PROBLEM, code: icmpv6::UNKNOWN_OPTION, rest }
    }

    const fn icmpv6_unreachable(code: u8) -> Self {
        Self { icmp_type: icmpv6::UNREACHABLE, code, rest: [0; 4] }
    }

    /// The answer to a packet that a rule rejects: of the names that only rules of IPv6 know, the error of ICMPv6.
    pub(crate) const fn rejection(with: RejectWith) -> Self {
        use icmpv6::unreachable;
        match with {
            RejectWith::IcmpNetworkUnreachable => Self::NETWORK,
            RejectWith::IcmpHostUnreachable => Self::HOST,
            RejectWith::IcmpProtocolUnreachable => Self::unreachable(2),
            RejectWith::IcmpPortUnreachable | RejectWith::TcpReset => Self::unreachable(3),
            RejectWith::IcmpNetProhibited => Self::unreachable(9),
            RejectWith::IcmpHostProhibited => Self::unreachable(10),
            RejectWith::IcmpAdminProhibited => Self::PROHIBITED,
            RejectWith::IcmpNoRoute => Self::icmpv6_unreachable(unreachable::NO_ROUTE),
            RejectWith::IcmpNotNeighbour => Self::icmpv6_unreachable(unreachable::BEYOND_SCOPE),
            RejectWith::IcmpAddressUnreachable => Self::icmpv6_unreachable(unreachable::ADDRESS),
            RejectWith::IcmpErrSrcRoutingHeader => {
                Self::icmpv6_unreachable(unreachable::SOURCE_ROUTING_HEADER)
            }
            RejectWith::IcmpHeadersTooLong => Self::icmpv6_unreachable(unreachable::HEADERS_TOO_LONG),
        }
    }

    /// The error of ICMPv6 that says the same (RFC 7915 §4.2 has most of them).
    fn of_ipv6(self) -> Icmpv6Error {
        use icmpv6::unreachable;
        let (icmp_type, code, parameter) = match (self.icmp_type, self.code) {
            (icmp::TIME_EXCEEDED, _) => (icmpv6::TIME_EXCEEDED, 0, 0),
            (icmp::UNREACHABLE, icmp::FRAGMENTATION_NEEDED) => {
                (icmpv6::PACKET_TOO_BIG, 0, u32::from_be_bytes(self.rest))
            }
            (icmp::UNREACHABLE, 0) => (icmpv6::UNREACHABLE, unreachable::NO_ROUTE, 0),
            (icmp::UNREACHABLE, 1) => (icmpv6::UNREACHABLE, unreachable::ADDRESS, 0),
            (icmp::UNREACHABLE, 2 | 3) => (icmpv6::UNREACHABLE, unreachable::PORT, 0),
            (icmp::UNREACHABLE, _) => (icmpv6::UNREACHABLE, unreachable::PROHIBITED, 0),
            (icmpv6::PARAMETER_PROBLEM, code) => {
                (icmpv6::PARAMETER_PROBLEM, code, u32::from_be_bytes(self.rest))
            }
            (icmp_type, code) => (icmp_type, code, 0),
        };
        Icmpv6Error { icmp_type, code, parameter }
    }
}

/// The fields of a packet that are needed to answer it.
pub(super) struct Offender {
    /// Source address as its sender wrote it.
    pub src: u32,
    /// Destination address as its sender wrote it.
    pub dst: u32,
    tos: u8,
}

/// Whether a packet may be answered with an ICMP error (RFC 1812 §4.3.2.7) or a reset, and its addresses as its sender
/// wrote them.
pub(super) fn answerable(snapshot: &Snapshot, meta: &Meta, head: &[u8]) -> Option<Offender> {
    if meta.is(flag::ICMP_ERROR | flag::LATER_FRAGMENT | flag::LINK_BROADCAST | flag::BROADCAST) {
        return None;
    }
    if meta.origin == Origin::Generated {
        return None;
    }
    let ip = head.get(usize::from(meta.l3)..)?;
    let packet = ipv4::Packet::new_checked(ip).ok()?;
    let (src, dst) = (packet.src_addr(), packet.dst_addr());
    let zone = snapshot.zone_of_ingress(meta);
    // No error is sent to, or about a packet to, an address that is not that of a single host.
    let unicast =
        |address: u32| address >> 24 != 0 && address >> 24 < 224 && !snapshot.is_broadcast(zone, address);
    if !unicast(src) || !unicast(dst) || (packet.protocol() == ipv4::ICMP && !meta.is(flag::L4_HEADER)) {
        return None;
    }
    Some(Offender { src, dst, tos: packet.tos() })
}

/// Source address of an ICMP error: the destination of the packet if it is an address of the router, else an address of
/// the interface that the error leaves by (RFC 1812 §4.3.2.4), or the first one of that which received the packet if the
/// settings say so; if that has none, one of the other, or one of a loopback interface.
fn own_address(snapshot: &Snapshot, meta: &Meta, offender: &Offender) -> Option<u32> {
    let zone = snapshot.zone_of_ingress(meta);
    if snapshot.is_local(zone, offender.dst) {
        return Some(offender.dst);
    }
    let incoming = snapshot.interface(meta.in_interface);
    let first = || incoming.and_then(|interface| interface.addresses.first()).map(|(own, _)| *own);
    let outgoing = || snapshot.source_for(zone, offender.src);
    let on_the_way = if snapshot.settings.icmp_errors_use_inbound_interface_address {
        first().or_else(outgoing)
    } else {
        outgoing().or_else(|| incoming.and_then(|interface| interface.address_for(offender.src)))
    };
    on_the_way.or_else(|| snapshot.other_source(zone, |other| other.address_for(offender.src)))
}

/// Whether a message of this type may be sent to `target` now: the rate of the types in the mask is limited.
pub(crate) fn may_send<F>(snapshot: &Snapshot, state: &WorkerState<F>, icmp_type: u8, target: u32) -> bool {
    let settings = &snapshot.settings;
    let limited = settings.icmp_rate_mask.checked_shr(u32::from(icmp_type)).unwrap_or(0) & 1 != 0;
    !limited || state.shared.icmp_errors.may_send(target, settings.icmp_rate_limit_ms, state.now)
}

/// Metadata of an answer: it belongs to the connection of the packet that it answers, in the reverse direction, and goes
/// back to the zone from which that came.
pub(super) fn answer_meta(snapshot: &Snapshot, meta: &Meta) -> Meta {
    Meta {
        tuple: Tuple { zone: snapshot.zone_of_ingress(meta), ..Tuple::default() },
        conn: meta.conn,
        direction: meta.direction.reverse(),
        state: ConnectionState::Related,
        hook: Hook::Output,
        origin: Origin::Generated,
        flags: flag::ROUTER_REPLY | flag::SLOW,
        ..Meta::default()
    }
}

/// Sends an ICMP error about a packet of the batch, whose frame must still be as it came in. Does nothing if no error
/// may be sent, if the rate limit of the target is exceeded, or if the pool is empty.
pub(crate) fn send_error<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    index: usize,
    error: IcmpError,
    source: &mut S,
) {
    let Some(packet) = batch.packets.get(index) else { return };
    let Some(frame) = &packet.frame else { return };
    let built = if packet.meta.is_ipv6() {
        let (meta, error) = (&packet.meta, error.of_ipv6());
        ipv6_icmp::build_error(snapshot, state, meta, frame.head(), error, source)
            .map(|frame| (frame, ipv6_answer_meta(snapshot, meta)))
    } else {
        build_error(snapshot, state, &packet.meta, frame.head(), error, source)
    };
    if let Some((frame, meta)) = built {
        state.generated += 1;
        batch.push_generated(frame, meta);
    }
}

/// [`answer_meta`] for a packet of IPv6: addresses of a link are those of its in-interface.
pub(super) fn ipv6_answer_meta(snapshot: &Snapshot, meta: &Meta) -> Meta {
    Meta { tap: row_of_ingress(snapshot, meta), ..answer_meta(snapshot, meta) }
}

/// Row of the interface that a packet came in on; 0 for none.
pub(crate) fn row_of_ingress(snapshot: &Snapshot, meta: &Meta) -> RowId {
    let row = snapshot.interface(meta.in_interface).map(|interface| interface.row);
    row.unwrap_or(meta.tap)
}

/// The frame of an ICMP error about a packet with this front.
fn build_error<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &Meta,
    head: &[u8],
    error: IcmpError,
    source: &mut S,
) -> Option<(F, Meta)> {
    let offender = answerable(snapshot, meta, head)?;
    let own = own_address(snapshot, meta, &offender)?;
    // "Fragmentation needed" is not limited: every connection must learn the path MTU, and a sender applies such an
    // error only to the connection concerned.
    let is_of_mtu = (error.icmp_type, error.code) == (icmp::UNREACHABLE, icmp::FRAGMENTATION_NEEDED);
    if !is_of_mtu && !may_send(snapshot, state, error.icmp_type, offender.src) {
        return None;
    }
    let start = usize::from(meta.l3);
    let end =
        head.len().min(start + meta.l3_len as usize).min(start + MAX_ERROR - ipv4::HEADER - icmp::HEADER);
    let quote = head.get(start..end)?;
    let len = ipv4::HEADER + icmp::HEADER + quote.len();
    let mut frame = source.take(ethernet::HEADER + len)?;
    let ip = frame.head_mut().get_mut(ethernet::HEADER..)?;
    ipv4::Repr {
        tos: CONTROL_TOS | (offender.tos & 0x1e),
        ident: state.next_ident(),
        dont_fragment: false,
        ttl: TTL,
        protocol: ipv4::ICMP,
        src_addr: own,
        dst_addr: offender.src,
        payload_len: (len - ipv4::HEADER) as u16,
    }
    .emit(ip);
    let message = ip.get_mut(ipv4::HEADER..len)?;
    message.get_mut(icmp::HEADER..)?.copy_from_slice(quote);
    icmp::Repr { icmp_type: error.icmp_type, code: error.code, rest: error.rest }.emit(message);
    Some((frame, answer_meta(snapshot, meta)))
}
