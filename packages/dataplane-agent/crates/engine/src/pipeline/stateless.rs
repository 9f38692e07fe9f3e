//! The fast path without connection tracking: a packet is forwarded by its route alone.

use tollway_config::dataplane::MultipathHash;

use crate::ids::{AdjacencyId, PortId};
use crate::ip::fib::{Lookup, TOGETHER};
use crate::ip::is_group;
use crate::packet::frame::Frame;
use crate::packet::header::{lower_ttl, write_link};
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::{Addr, Tuple};
use crate::packet::verdict::Verdict;
use crate::packet::{Meta, Origin, Packet, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::ipv6_stateless;
use crate::pipeline::redirect;
use crate::pipeline::state::WorkerState;
use crate::pipeline::stateless_send::{Headers, send};
use crate::snapshot::{Interface, Snapshot};

/// Forwards packets that need only a route, and puts the others into `batch.slow`. Returns the number of all of them.
/// Routes of some packets are looked up together: enough to keep memory busy, few enough for their metadata to stay in
/// the first-level cache. Of IPv4 this prefetches the memory of the results, which are then looked up one by one.
// Not inlined, so that it has all registers to itself.
#[inline(never)]
pub(crate) fn run<F: Frame>(snapshot: &Snapshot, state: &mut WorkerState<F>, batch: &mut Batch<F>) -> u64 {
    let plain = Plain { ipv4: snapshot.is_plain(), ipv6: snapshot.is_plain_ipv6() };
    let mut entered = 0;
    let mut first = batch.first;
    while first < batch.end {
        let end = batch.end.min(first + TOGETHER);
        let mut has_ipv6 = plain.ipv6;
        if plain.ipv4 {
            let mut touched = 0;
            has_ipv6 = false;
            for packet in batch.packets.get(first..end).unwrap_or_default() {
                match packet.meta.tuple.dst.as_v4() {
                    Some(dst) => touched ^= snapshot.fib().touch(dst),
                    None => has_ipv6 = plain.ipv6,
                }
            }
            std::hint::black_box(touched);
        }
        entered += match has_ipv6 {
            true => {
                let routes = look_up_ipv6(snapshot, batch.packets.get(first..end).unwrap_or_default());
                forward_some(snapshot, state, batch, (first, end), plain, |place| {
                    routes.get(place).copied().unwrap_or(0)
                })
            }
            false => forward_some(snapshot, state, batch, (first, end), plain, |_| 0),
        };
        first = end;
    }
    entered
}

/// The families of which packets are forwarded by their route alone.
#[derive(Clone, Copy)]
struct Plain {
    ipv4: bool,
    ipv6: bool,
}

/// Forwards the packets with these indices, of which those of IPv6 have been looked up. Returns their number.
// Inlined, so that there is one for IPv4 alone.
#[inline(always)]
fn forward_some<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    (first, end): (usize, usize),
    plain: Plain,
    ipv6_route: impl Fn(usize) -> u16,
) -> u64 {
    let mut entered = 0;
    for index in first..end {
        let Some(packet) = batch.packets.get_mut(index) else { break };
        if packet.meta.verdict != Verdict::Continue {
            continue;
        }
        entered += 1;
        let outcome = if plain.ipv4 || plain.ipv6 && packet.meta.is_ipv6() {
            forward(snapshot, state, packet, ipv6_route(index - first))
        } else {
            Err(not_plain(snapshot, packet))
        };
        if let Err(reason) = outcome {
            batch.slow.push(index as u32);
            state.count_slow_packet(&mut packet.meta, reason);
        }
    }
    entered
}

/// Looks up the routes of some packets of IPv6, for [`Fib6::lookup_of`](crate::ip::fib::Fib6::lookup_of).
#[inline(never)]
fn look_up_ipv6<F>(snapshot: &Snapshot, packets: &[Packet<F>]) -> [u16; TOGETHER] {
    let (mut destinations, mut routes) = ([0; TOGETHER], [0; TOGETHER]);
    for (destination, packet) in destinations.iter_mut().zip(packets) {
        if packet.meta.is_ipv6() {
            *destination = packet.meta.tuple.dst.0;
        }
    }
    snapshot.fib6().numbers(destinations.get(..packets.len()).unwrap_or_default(), &mut routes);
    routes
}

/// Forwards a packet by its route; that of IPv6 has been looked up. If it cannot, changes nothing and returns the
/// reason for which the packet takes the slow path.
#[inline(always)]
fn forward<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    ipv6_route: u16,
) -> Result<(), SlowReason> {
    let meta = &mut packet.meta;
    if meta.is(flag::SLOW | flag::ICMP_ERROR) || meta.origin != Origin::Port {
        return Err(slow_by_headers(snapshot, meta));
    }
    let (Some(src), Some(dst)) = (meta.tuple.src.as_v4(), meta.tuple.dst.as_v4()) else {
        if !snapshot.is_plain_ipv6() {
            return Err(not_plain(snapshot, packet));
        }
        return ipv6_stateless::forward(snapshot, state, packet, ipv6_route);
    };
    let (out, next_hop, port) = plain_route(snapshot, src, dst, (&meta.tuple, &meta.inner_hash))?;
    if port == meta.in_port && redirect::is_due(snapshot, state, meta, out, next_hop) {
        return Err(SlowReason::Redirect);
    }
    let adjacency = |state: &WorkerState<F>| state.adjacencies.get((out.row, next_hop));
    send::<Ipv4Headers, F>(snapshot, state, packet, (out, port), adjacency)
}

/// Headers of IPv4.
struct Ipv4Headers;

impl Headers for Ipv4Headers {
    const IPV6: bool = false;

    #[inline(always)]
    fn write(head: &mut [u8], l3: usize, link: ([u8; 6], [u8; 6])) {
        if let Some(l3) = head.get_mut(l3..) {
            lower_ttl(l3);
        }
        write_link(head, link.0, link.1);
    }
}

/// Why a packet takes the slow path although rules do not require it: a property that `parse` has found, or a missing
/// route.
#[cold]
fn slow_by_headers(snapshot: &Snapshot, meta: &Meta) -> SlowReason {
    meta.slow_by_itself().or_else(|| not_routable(snapshot, meta)).unwrap_or_else(|| meta.slow_as_control())
}

/// Why this configuration does not allow forwarding by the route alone.
#[cold]
fn not_plain<F>(snapshot: &Snapshot, packet: &Packet<F>) -> SlowReason {
    let rules = snapshot.rules_for(&packet.meta);
    if !snapshot.allows_fast_path(packet.meta.family()) {
        SlowReason::FastPathOff
    } else if let Some(reason) = packet.meta.slow_by_itself() {
        reason
    } else if !rules.filter.is_empty() || !rules.mangle.is_empty() || snapshot.has_policy() {
        SlowReason::RulesWithoutTracking
    } else {
        not_routable(snapshot, &packet.meta).unwrap_or(SlowReason::ReversePath)
    }
}

/// Why there is no plain route for a packet; `None` when there is one.
fn not_routable(snapshot: &Snapshot, meta: &Meta) -> Option<SlowReason> {
    match (meta.tuple.src.as_v4(), meta.tuple.dst.as_v4()) {
        (Some(src), Some(dst)) if snapshot.settings.ip_forward => {
            plain_route(snapshot, src, dst, (&meta.tuple, &meta.inner_hash)).err()
        }
        _ => Some(SlowReason::NotRoutable),
    }
}

/// What a flow is known by: its tuple, and [`Meta::inner_hash`], which is read only where there are several next hops.
type Flow<'a> = (&'a Tuple, &'a u32);

/// Interface, next hop and port of packets that are forwarded by their route alone, or why they are not.
#[inline(always)]
fn plain_route<'a>(
    snapshot: &'a Snapshot,
    src: u32,
    dst: u32,
    flow: Flow<'_>,
) -> Result<(&'a Interface, u32, PortId), SlowReason> {
    if is_group(dst) {
        return Err(SlowReason::Broadcast);
    }
    let (out, next_hop) = route(snapshot, dst, flow)?;
    let port = out.port.ok_or(SlowReason::NotRoutable)?;
    if snapshot.fib().is_local_or_broadcast(src) {
        return Err(SlowReason::NotRoutable);
    }
    Ok((out, next_hop, port))
}

/// Port and adjacency of the route of every packet from one address to another; `None` if they are not known without
/// further work, and if ports decide between several next hops.
pub(crate) fn egress<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    src: u32,
    dst: u32,
) -> Option<(PortId, AdjacencyId)> {
    if snapshot.settings.multipath_hash != MultipathHash::L3 && snapshot.fib().is_divided(dst) {
        return None;
    }
    let tuple = Tuple { src: Addr::v4(src), dst: Addr::v4(dst), ..Tuple::default() };
    let (out, next_hop) = route(snapshot, dst, (&tuple, &0)).ok()?;
    Some((out.port?, state.adjacencies.get((out.row, next_hop))?))
}

/// The out-interface for a destination, which is up, and the next hop; or the reason why packets to it are not
/// forwarded by their route alone.
#[inline(always)]
fn route<'a>(
    snapshot: &'a Snapshot,
    dst: u32,
    (tuple, inner): Flow<'_>,
) -> Result<(&'a Interface, u32), SlowReason> {
    let flow = || u64::from(snapshot.flow_hash_of(tuple, *inner));
    let (interface, next_hop) = match snapshot.fib().lookup_for(dst, flow) {
        Lookup::Connected { interface } => (interface, dst),
        Lookup::Via { interface, gateway } => (interface, gateway),
        Lookup::Local { .. } => return Err(SlowReason::ToRouter),
        Lookup::Broadcast { .. } => return Err(SlowReason::Broadcast),
        Lookup::Discard(_) | Lookup::NoRoute => return Err(SlowReason::NotRoutable),
    };
    let out = snapshot.interface(interface).filter(|out| out.up).ok_or(SlowReason::NotRoutable)?;
    Ok((out, next_hop))
}
