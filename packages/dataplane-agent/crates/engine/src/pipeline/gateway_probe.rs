//! Probes of gateways: ARP requests, neighbour solicitations and echo requests to them, and the answers.
//!
//! Probes and answers pass neither rules nor queues nor connection tracking: whether a gateway can be reached does not
//! depend on the firewall.

use tollway_config::dataplane::GatewayCheck;
use tollway_wire::{ethernet, field, icmp, icmpv6, ipv4, ipv6};

use crate::ip::gateway_checks::GatewayProbe;
use crate::ip::neighbor::{Adjacency, NeighborRequest};
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::tuple::Addr;
use crate::packet::verdict::Verdict;
use crate::packet::{Meta, Origin, Packet, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::icmp::TTL;
use crate::pipeline::state::WorkerState;
use crate::snapshot::{Interface, Snapshot};

/// Sends the probes that are due.
#[cold]
pub(crate) fn send<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) {
    snapshot.gateway_checks().age(state.now, |probe, sequence| {
        let Some(out) = snapshot.interface_of(probe.interface).filter(|out| out.up) else { return false };
        let key = (out.row, probe.next_hop);
        if probe.key.check == GatewayCheck::Arp {
            state.solicits.push(NeighborRequest { key, unicast: None });
            return true;
        }
        let asks = if probe.next_hop.as_v4().is_some() { out.arp.learns() } else { out.ipv6.is_some() };
        let found = state.shared.neighbors.resolve(key, asks, u32::MAX, state.now);
        state.solicits.extend(found.request);
        let (Adjacency::Ready(mac) | Adjacency::Stale(mac)) = found.adjacency else { return false };
        let frame = match (probe.key.address.as_v4(), probe.source.as_v4()) {
            (Some(dst), Some(src)) if src != 0 => {
                request(out, mac, (src, dst), echo(state, sequence), state.next_ident(), source)
            }
            (None, _) => request_ipv6(state, out, mac, probe, echo(state, sequence), source),
            _ => None,
        };
        let (Some(frame), Some(port)) = (frame, out.port) else { return false };
        state.generated += 1;
        batch.push_generated(frame, Meta { verdict: Verdict::Tx(port), ..Meta::default() });
        true
    });
}

/// An echo request of IPv4.
fn request<F: Frame, S: FrameSource<F>>(
    out: &Interface,
    mac: [u8; 6],
    (src_addr, dst_addr): (u32, u32),
    echo: [u8; 4],
    ident: u16,
    source: &mut S,
) -> Option<F> {
    let mut frame = source.take(ethernet::HEADER + ipv4::HEADER + icmp::HEADER)?;
    let head = frame.head_mut();
    ethernet::Repr { dst_addr: mac, src_addr: out.mac, ethertype: ethernet::IPV4 }.emit(head);
    let ip = head.get_mut(ethernet::HEADER..)?;
    ipv4::Repr {
        tos: 0,
        ident,
        dont_fragment: false,
        ttl: TTL,
        protocol: ipv4::ICMP,
        src_addr,
        dst_addr,
        payload_len: icmp::HEADER as u16,
    }
    .emit(ip);
    icmp::Repr { icmp_type: icmp::ECHO_REQUEST, code: 0, rest: echo }.emit(ip.get_mut(ipv4::HEADER..)?);
    Some(frame)
}

/// An echo request of IPv6; `None` while the interface has no address that may be used.
fn request_ipv6<F: Frame, S: FrameSource<F>>(
    state: &WorkerState<F>,
    out: &Interface,
    mac: [u8; 6],
    probe: &GatewayProbe,
    echo: [u8; 4],
    source: &mut S,
) -> Option<F> {
    let Addr(dst_addr) = probe.key.address;
    let usable = |own: u128| state.shared.address_states.is_usable((out.row, Addr(own)));
    let src_addr = out.ipv6.as_ref()?.address_for(dst_addr, usable)?;
    let mut frame = source.take(ethernet::HEADER + ipv6::HEADER + icmpv6::HEADER)?;
    let head = frame.head_mut();
    ethernet::Repr { dst_addr: mac, src_addr: out.mac, ethertype: ethernet::IPV6 }.emit(head);
    let ip = head.get_mut(ethernet::HEADER..)?;
    ipv6::Repr {
        traffic_class: 0,
        next_header: ipv6::ICMPV6,
        hop_limit: TTL,
        src_addr,
        dst_addr,
        payload_len: icmpv6::HEADER as u16,
    }
    .emit(ip);
    icmpv6::Repr { icmp_type: icmpv6::ECHO_REQUEST, code: 0, rest: echo }.emit(
        ip.get_mut(ipv6::HEADER..)?,
        src_addr,
        dst_addr,
    );
    Some(frame)
}

/// Identifier and sequence number of an echo request.
fn echo<F>(state: &WorkerState<F>, sequence: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (state.shared.probe_identifier().to_be_bytes(), sequence.to_be_bytes());
    [a, b, c, d]
}

/// Whether a packet is the answer of a gateway to a probe, which is noted.
#[inline]
pub(crate) fn is_answer<F: Frame>(snapshot: &Snapshot, state: &WorkerState<F>, packet: &Packet<F>) -> bool {
    snapshot.gateway_checks().any() && answers(snapshot, state, packet)
}

#[cold]
fn answers<F: Frame>(snapshot: &Snapshot, state: &WorkerState<F>, packet: &Packet<F>) -> bool {
    let meta = &packet.meta;
    let replies = match meta.is_ipv6() {
        true => (ipv6::ICMPV6, icmpv6::ECHO_REPLY),
        false => (ipv4::ICMP, icmp::ECHO_REPLY),
    };
    if meta.origin != Origin::Port
        || (meta.tuple.protocol, meta.tcp_flags_or_icmp_type) != replies
        || meta.is(flag::FRAGMENT)
    {
        return false;
    }
    let own = match meta.tuple.dst.as_v4() {
        Some(dst) => snapshot.is_local(meta.tuple.zone, dst),
        None => {
            snapshot.home6(meta.tuple.zone).is_local(meta.tuple.dst.0)
                || ipv6::is_link_local(meta.tuple.dst.0)
        }
    };
    let head = packet.frame.as_ref().map(Frame::head).unwrap_or_default();
    let message = head.get(usize::from(meta.l4)..).unwrap_or_default();
    message.len() >= icmp::HEADER
        && own
        && field::get16(message, 4) == state.shared.probe_identifier()
        && snapshot.gateway_checks().echo_answered(meta.tuple.src, field::get16(message, 6), |row| {
            snapshot.interface_of(row).is_some_and(|asked| asked.zone == meta.tuple.zone)
        })
}
