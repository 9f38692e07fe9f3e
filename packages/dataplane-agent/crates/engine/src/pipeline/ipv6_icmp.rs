//! ICMPv6 packets of the router itself: errors (RFC 4443 §2.4) and echo replies (§4.2).

use tollway_wire::extension::walk;
use tollway_wire::{checksum, ethernet, field, icmpv6, ipv6};

use crate::packet::frame::{Frame, FrameSource};
use crate::packet::tuple::Addr;
use crate::packet::{Meta, Origin, flag};
use crate::pipeline::state::WorkerState;
use crate::snapshot::{Interface, Snapshot};

/// Hop limit of the router's own packets.
pub(super) const HOP_LIMIT: u8 = 64;

/// An error message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Icmpv6Error {
    /// Type.
    pub icmp_type: u8,
    /// Code.
    pub code: u8,
    /// MTU of "packet too big", pointer of a parameter problem.
    pub parameter: u32,
}

/// The frame of an error about a packet with this front. `None` if no error may be sent, if the rate limit of the target
/// is exceeded, or if the pool is empty.
pub(super) fn build_error<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    meta: &Meta,
    head: &[u8],
    error: Icmpv6Error,
    source: &mut S,
) -> Option<F> {
    let start = usize::from(meta.l3);
    let (target, dst) =
        if (error.icmp_type, error.code) == (icmpv6::PARAMETER_PROBLEM, icmpv6::UNKNOWN_OPTION) {
            // The only error that the router sends about packets for a group (RFC 4443 §2.4 e).
            answerable_to_group(meta, head)?
        } else {
            answerable(meta, head)?
        };
    let own = own_address(snapshot, state, meta, target, dst)?;
    // As with IPv4, senders must learn the MTU of their paths.
    let interval_ms = snapshot.settings.icmp_rate_limit_ms;
    if error.icmp_type != icmpv6::PACKET_TOO_BIG
        && !state.shared.icmp_errors.may_send(Addr(target).fold(), interval_ms, state.now)
    {
        return None;
    }
    let most = usize::from(ipv6::MIN_MTU) - ipv6::HEADER - icmpv6::HEADER;
    let quote = head.get(start..head.len().min(start + meta.l3_len as usize).min(start + most))?;
    let len = icmpv6::HEADER + quote.len();
    let mut frame = source.take(ethernet::HEADER + ipv6::HEADER + len)?;
    let ip = frame.head_mut().get_mut(ethernet::HEADER..)?;
    ipv6::Repr {
        traffic_class: 0,
        next_header: ipv6::ICMPV6,
        hop_limit: HOP_LIMIT,
        src_addr: own,
        dst_addr: target,
        payload_len: len as u16,
    }
    .emit(ip);
    let message = ip.get_mut(ipv6::HEADER..ipv6::HEADER + len)?;
    message.get_mut(icmpv6::HEADER..)?.copy_from_slice(quote);
    let rest = error.parameter.to_be_bytes();
    icmpv6::Repr { icmp_type: error.icmp_type, code: error.code, rest }.emit(message, own, target);
    Some(frame)
}

/// Source and destination as its sender wrote them of a packet that may be answered with an error or a reset: none is
/// sent about an error, a redirect, or a packet for several stations or from no single one.
pub(super) fn answerable(meta: &Meta, head: &[u8]) -> Option<(u128, u128)> {
    let is_single = |(_, dst): &(u128, u128)| *dst > ipv6::LOOPBACK && !ipv6::is_multicast(*dst);
    answerable_to_group(meta, head)
        .filter(is_single)
        .filter(|_| !meta.is(flag::LINK_BROADCAST | flag::BROADCAST))
}

/// [`answerable`] that allows packets for several stations.
fn answerable_to_group(meta: &Meta, head: &[u8]) -> Option<(u128, u128)> {
    if meta.is(flag::ICMP_ERROR | flag::LATER_FRAGMENT) {
        return None;
    }
    let packet = ipv6::Packet::new_checked(head.get(usize::from(meta.l3)..)?).ok()?;
    let (src, dst) = (packet.src_addr(), packet.dst_addr());
    let is_icmp = meta.tuple.protocol == ipv6::ICMPV6;
    let is_redirect = is_icmp && meta.tcp_flags_or_icmp_type == icmpv6::REDIRECT;
    let unknown = is_icmp && !meta.is(flag::L4_HEADER);
    let refused = meta.origin == Origin::Generated || is_redirect || unknown;
    (!refused && src > ipv6::LOOPBACK && !ipv6::is_multicast(src)).then_some((src, dst))
}

/// Source address of an error (RFC 4443 §2.2): the destination of the packet if it is an address of the router, else one
/// of the in-interface, else the one for the route back, else one of a loopback interface.
fn own_address<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    meta: &Meta,
    target: u128,
    dst: u128,
) -> Option<u128> {
    let zone = snapshot.zone_of_ingress(meta);
    if snapshot.home6(zone).is_local(dst) {
        return Some(dst);
    }
    let address = |interface: &Interface| {
        let usable = |own: u128| state.shared.address_states.is_usable((interface.row, Addr(own)));
        interface.ipv6.as_ref()?.address_for(target, usable)
    };
    let incoming = snapshot.interface(meta.in_interface).and_then(address);
    // A link-local address is none by which a station behind a gateway knows the router.
    let of_scope = |own: &u128| ipv6::is_link_local(*own) == ipv6::is_link_local(target);
    let back = || snapshot.ipv6_source_for(zone, target).filter(of_scope);
    incoming.or_else(back).or_else(|| snapshot.other_source(zone, address))
}

/// Turns an echo request in place into the reply. `false`, changing nothing, when its checksum is wrong. `l3` is the whole
/// packet.
pub(super) fn make_echo_reply(l3: &mut [u8]) -> bool {
    let len = l3.len();
    let Ok(header) = walk(l3, len).map(|walked| walked.start) else { return false };
    let [src, dst] = [ipv6::offset::SRC, ipv6::offset::DST].map(|at| field::get128(l3, at));
    let Some(message) = l3.get_mut(header..) else { return false };
    let verified =
        icmpv6::Packet::new_checked(&*message).is_ok_and(|view| view.verify_checksum_between(src, dst));
    if !verified {
        return false;
    }
    // The sum of the addresses is the same in both directions.
    let sum = checksum::Delta::NONE
        .replace16(u16::from(icmpv6::ECHO_REQUEST) << 8, u16::from(icmpv6::ECHO_REPLY) << 8)
        .apply(field::get16(message, 2));
    field::put(message, 0, &[icmpv6::ECHO_REPLY]);
    field::put(message, 2, &sum.to_be_bytes());
    field::put(l3, ipv6::offset::HOP_LIMIT, &[HOP_LIMIT]);
    field::put(l3, ipv6::offset::SRC, &dst.to_be_bytes());
    field::put(l3, ipv6::offset::DST, &src.to_be_bytes());
    true
}
