//! ICMP redirects (RFC 792): sent to hosts that could reach the next hop themselves (RFC 1812 §5.2.7.2), and received
//! about packets of the router itself (RFC 1122 §3.2.2.2). Those of IPv6 are in [`crate::pipeline::ipv6_redirect`].

use tollway_wire::{icmp, ipv4};

use crate::ids::NO_INTERFACE;
use crate::ip::fib::Lookup;
use crate::ip::learned_gateways::Gateway;
use crate::ip::neighbor::Adjacency;
use crate::ip::options::source_route;
use crate::ip::routing_policy::RoutingQuery;
use crate::ip::{is_group, mask};
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::Verdict;
use crate::packet::{Hook, Meta, Origin, Packet, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::icmp::{IcmpError, send_error};
use crate::pipeline::state::WorkerState;
use crate::snapshot::{Interface, Snapshot};

/// Packets that are never answered with a redirect. What is translated here must pass the router.
const NEVER: u32 = flag::TRANSLATED
    | flag::BROADCAST
    | flag::LINK_BROADCAST
    | flag::ICMP_ERROR
    | flag::ROUTER_REPLY
    | flag::LATER_FRAGMENT;

/// Whether the sender of a packet, which leaves by the interface it came in on, is in one connected network with the
/// next hop.
fn is_detour(out: &Interface, meta: &Meta, next_hop: u32) -> bool {
    let Some(src) = meta.tuple.src.as_v4() else { return false };
    let both = |&(network, len): &(u32, u8)| ((src ^ network) | (next_hop ^ network)) & mask(len) == 0;
    !meta.is(NEVER) && next_hop != src && out.networks.iter().any(both)
}

/// Whether a packet that leaves by the port it came in on calls for a redirect that is due.
#[cold]
pub(crate) fn is_due<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    meta: &Meta,
    out: &Interface,
    next_hop: u32,
) -> bool {
    let came_in_by = snapshot.interface(meta.in_interface).map(|interface| interface.row);
    snapshot.settings.send_redirects
        && came_in_by == Some(out.row)
        && is_detour(out, meta, next_hop)
        && meta.tuple.src.as_v4().is_some_and(|src| state.shared.redirects.is_due(src, state.now))
}

/// Sends redirects about the packets of the slow path that are about to leave, whose frames must still be as they came
/// in.
pub(crate) fn send<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) {
    if !snapshot.settings.send_redirects {
        return;
    }
    for at in 0..batch.slow.len() {
        let Some((index, packet)) = batch.slow_packet(at) else { continue };
        let meta = &packet.meta;
        if meta.in_interface == meta.out_interface
            && meta.verdict == Verdict::Forward
            && calls_for_one(snapshot, state, packet)
        {
            let error = IcmpError::redirect(packet.meta.next_hop);
            send_error(snapshot, state, batch, index, error, source);
        }
    }
}

#[cold]
fn calls_for_one<F: Frame>(snapshot: &Snapshot, state: &WorkerState<F>, packet: &Packet<F>) -> bool {
    let meta = &packet.meta;
    let Some(out) = snapshot.interface(meta.out_interface) else { return false };
    let head = packet.frame.as_ref().map(Frame::head).unwrap_or_default();
    // A gateway that does not answer is none to name.
    let answers = || {
        matches!(state.shared.neighbors.adjacency(meta.adjacency), Adjacency::Ready(_) | Adjacency::Stale(_))
    };
    let routed_by_source = || {
        meta.is(flag::OPTIONS) && source_route(head.get(usize::from(meta.l3)..).unwrap_or_default()).is_some()
    };
    (meta.hook, meta.origin) == (Hook::Forward, Origin::Port)
        && is_detour(out, meta, meta.next_hop)
        && answers()
        && !routed_by_source()
        && meta.tuple.src.as_v4().is_some_and(|src| state.shared.redirects.may_send(src, state.now))
}

/// The gateway of a packet of the router itself, whose route has the gateway `next_hop`: the one that a redirect has
/// named, if any.
pub(crate) fn gateway<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    meta: &Meta,
    next_hop: u32,
) -> Option<u32> {
    let destination = meta.tuple.dst.as_v4().filter(|dst| *dst != next_hop)?;
    let interface = snapshot.interface(meta.out_interface)?.row;
    state.shared.learned_gateways.find(destination, Gateway { interface, address: next_hop }, state.now)
}

/// Learns the gateway that a redirect for the router itself names, if it may be followed: it comes from the gateway that
/// is used now, about a packet of the router, and the new gateway is in the same network; with secure-redirects it is
/// one that a route names. Returns whether it was learned.
#[cold]
pub(crate) fn learn<F: Frame>(snapshot: &Snapshot, state: &WorkerState<F>, packet: &Packet<F>) -> bool {
    let meta = &packet.meta;
    let head = packet.frame.as_ref().map(Frame::head).unwrap_or_default();
    let Ok(ip) = ipv4::Packet::new_checked(head.get(usize::from(meta.l3)..).unwrap_or_default()) else {
        return false;
    };
    let Ok(message) = icmp::Packet::new_checked(ip.payload()) else { return false };
    let Ok(quoted) = ipv4::Packet::new_checked(message.payload()) else { return false };
    let is_redirect = message.icmp_type() == icmp::REDIRECT
        && message.code() <= icmp::LAST_REDIRECT
        && message.verify_checksum()
        && !ip.is_fragment();
    // With connection tracking there is a connection of the packet that is quoted.
    let known = !snapshot.tracking() || meta.conn.is_some();
    if !is_redirect || !known || !snapshot.is_local(meta.tuple.zone, quoted.src_addr()) {
        return false;
    }
    let (sender, new, destination) = (ip.src_addr(), message.parameter(), quoted.dst_addr());
    let home = snapshot.home(meta.tuple.zone);
    let query = RoutingQuery {
        zone: meta.tuple.zone,
        source: quoted.src_addr(),
        destination,
        mark: 0,
        interface: NO_INTERFACE,
    };
    let Lookup::Via { interface, gateway } = snapshot.lookup_by_rules(&query) else { return false };
    let Some(out) = snapshot.interface(interface).filter(|_| interface == meta.in_interface) else {
        return false;
    };
    let routed = Gateway { interface: out.row, address: gateway };
    let gateways = &state.shared.learned_gateways;
    let used = gateways.find(destination, routed, state.now).unwrap_or(gateway);
    let in_network = || home.lookup(new) == Lookup::Connected { interface } && out.reaches(new);
    let secure = || !snapshot.settings.secure_redirects || home.is_gateway(interface, new);
    sender == used
        && new != sender
        && !is_group(destination)
        && in_network()
        && secure()
        && gateways.learn(destination, routed, new, state.now)
}
