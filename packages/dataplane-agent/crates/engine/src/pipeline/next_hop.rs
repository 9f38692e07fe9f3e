//! The next hop of a packet: its adjacency, or the station that a local service has chosen.

use tollway_wire::{ethernet, ipv6};

use crate::ids::NONE;
use crate::ip::fib::Lookup6;
use crate::ip::neighbor::{Adjacency, Resolution};
use crate::packet::frame::Frame;
use crate::packet::tuple::Addr;
use crate::packet::{Hook, Meta, Origin, Packet, flag};
use crate::pipeline::ipv6_redirect;
use crate::pipeline::state::WorkerState;
use crate::snapshot::{Interface, Snapshot};

/// Finds the adjacency of the next hop. The first packet to an unknown next hop triggers an ARP request or
/// a neighbour solicitation, unless `ask` is false.
pub(crate) fn resolve<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &mut Meta, ask: bool) {
    let Some(out) = snapshot.interface(meta.out_interface) else { return };
    if meta.is(flag::BROADCAST) {
        return;
    }
    if meta.is_ipv6() {
        return resolve_ipv6(snapshot, state, meta, out, ask);
    }
    let key = (out.row, meta.next_hop);
    let known = state.adjacencies.get(key);
    if let Some(id) = known
        && let Adjacency::Ready(_) | Adjacency::Incomplete = state.shared.neighbors.adjacency(id)
    {
        meta.adjacency = id;
        return;
    }
    let (ask, limit) = (ask && out.arp.learns(), snapshot.settings.max_neighbor_entries);
    let found = state.shared.neighbors.resolve((out.row, Addr::v4(meta.next_hop)), ask, limit, state.now);
    take_over(state, meta, &found);
    if found.id != NONE {
        state.adjacencies.put(key, found.id);
    }
}

/// [`resolve`] for a packet of IPv6.
#[cold]
fn resolve_ipv6<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &mut Meta,
    out: &Interface,
    ask: bool,
) {
    let mut next_hop = ipv6_next_hop(snapshot, meta);
    if snapshot.settings.ipv6.accept_redirects && meta.hook == Hook::Output {
        next_hop = ipv6_redirect::gateway(snapshot, state, meta, next_hop).unwrap_or(next_hop);
    }
    let key = (out.row, next_hop);
    let known = state.adjacencies6.get(key);
    if let Some(id) = known
        && let Adjacency::Ready(_) | Adjacency::Incomplete = state.shared.neighbors.adjacency(id)
    {
        meta.adjacency = id;
        return;
    }
    let (ask, limit) = (ask && out.ipv6.is_some(), snapshot.settings.ipv6.max_neighbor_entries);
    let found = state.shared.neighbors.resolve((key.0, Addr(key.1)), ask, limit, state.now);
    take_over(state, meta, &found);
    if found.id != NONE {
        state.adjacencies6.put(key, found.id);
    }
}

/// Notes what has been found in a packet, and the request to send.
fn take_over<F>(state: &mut WorkerState<F>, meta: &mut Meta, found: &Resolution) {
    if found.full {
        meta.flags |= flag::NO_NEIGHBOR;
    }
    meta.adjacency = found.id;
    if let Some(request) = found.request {
        state.solicits.push(request);
    }
}

/// The next hop of an IPv6 packet that leaves the router: a gateway, or its destination. It is not kept in the metadata
/// of packets, which would be longer for those of IPv4 too.
pub(crate) fn ipv6_next_hop(snapshot: &Snapshot, meta: &Meta) -> u128 {
    let dst = meta.tuple.dst.0;
    if meta.is(flag::BROADCAST) || ipv6::is_link_local(dst) {
        return dst;
    }
    match snapshot.table6(meta.table).lookup_for(dst, || u64::from(meta.next_hop)) {
        Lookup6::Via { gateway, .. } => gateway,
        Lookup6::Local { .. }
        | Lookup6::Broadcast { .. }
        | Lookup6::Connected { .. }
        | Lookup6::Discard(_)
        | Lookup6::NoRoute => dst,
    }
}

/// The station that a local service has chosen for a packet that leaves by the service's interface.
pub(crate) fn chosen_station<F: Frame>(out: &Interface, packet: &Packet<F>) -> Option<[u8; 6]> {
    let Packet { frame, meta, .. } = packet;
    if meta.origin != Origin::LocalService || meta.tap != out.row || meta.is(flag::BROADCAST) {
        return None;
    }
    let mac: [u8; 6] = *frame.as_ref()?.head().first_chunk()?;
    (mac != [0; 6] && !ethernet::is_group(mac)).then_some(mac)
}
