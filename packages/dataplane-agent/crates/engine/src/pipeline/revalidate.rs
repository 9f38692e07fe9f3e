//! Revalidation of a cached flow action: whether it is still valid after routes or address lists have changed.

use tollway_config::dataplane::RpFilter;

use crate::flow::actions::FlowAction;
use crate::flow::change_counters::Stamp;
use crate::flow::conntrack::{ConnectionTable, action_flag};
use crate::ip::fib::{Lookup, Lookup6};
use crate::packet::Meta;
use crate::packet::membership_slot::MembershipSlot;
use crate::packet::tuple::{Addr, Tuple};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// Revalidates the flow action of a packet: if nothing on which it depends has changed, it is valid until the next
/// change. It reads up to seven change counters, and looks the route up only if a route in the same block of
/// destinations has changed.
#[cold]
#[inline(never)]
pub(crate) fn revalidate<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &Meta) -> bool {
    let Some(&cached) = state.table.installed(meta.entry) else { return false };
    let Some(&action) = state.actions.get(cached.action) else { return false };
    let change_counters = &state.shared.change_counters;
    let stamp = cached.stamp;
    let lists = state.table.memberships(meta.entry);
    let [one, other] = lists;
    if change_counters.list_changed_since(one, stamp) || change_counters.list_changed_since(other, stamp) {
        return false;
    }
    let checks_source = !meta.is_ipv6() && snapshot.settings.rp_filter != RpFilter::No;
    if checks_source && route_changed(state, meta.tuple.src, stamp) {
        return false;
    }
    // The addresses for which the rules were evaluated: mangle's prerouting sees the received destination, the other
    // chains the translated one. The source is translated after all rules.
    let came = meta.tuple.dst;
    let zone = state.table.original_zone_at(meta.entry);
    let mut routed = Tuple { zone, ..meta.tuple };
    if cached.has(action_flag::NAT_DST) {
        let Some(target) = translated(state, meta) else { return false };
        (routed.dst, routed.dst_port) = (target.dst, target.dst_port);
    }
    let dst = routed.dst;
    let listed = lists != [MembershipSlot::NONE; 2];
    let network_changed = |address| change_counters.listed_network_changed_since(address, stamp);
    if listed && [meta.tuple.src, came, dst].into_iter().any(network_changed) {
        return false;
    }
    if route_changed(state, dst, stamp) {
        let leads = match dst.as_v4() {
            Some(_) => leads_to(snapshot, state, &routed, &action),
            None => leads_to_ipv6(snapshot, state, &routed, &action),
        };
        if !leads {
            return false;
        }
    }
    let now = state.cache_epoch.stamp;
    state.table.set_stamp(meta.entry, now);
    true
}

/// Whether the routes to an address may have changed since `stamp`.
fn route_changed<F>(state: &WorkerState<F>, address: Addr, stamp: Stamp) -> bool {
    let change_counters = &state.shared.change_counters;
    match address.as_v4() {
        Some(v4) => change_counters.route_changed_since(v4, stamp),
        None => change_counters.ipv6_route_changed_since(address.0, stamp),
    }
}

/// [`leads_to`] for a destination of IPv6.
fn leads_to_ipv6<F>(snapshot: &Snapshot, state: &WorkerState<F>, tuple: &Tuple, action: &FlowAction) -> bool {
    let dst = tuple.dst.0;
    let flow = || u64::from(snapshot.ipv6_flow_hash(tuple));
    let (interface, next_hop) = match snapshot.fib6().lookup_for(dst, flow) {
        Lookup6::Connected { interface } => (interface, dst),
        Lookup6::Via { interface, gateway } => (interface, gateway),
        Lookup6::Local { .. } | Lookup6::Broadcast { .. } | Lookup6::Discard(_) | Lookup6::NoRoute => {
            return false;
        }
    };
    snapshot.interface(interface).is_some_and(|out| {
        out.up
            && out.port == Some(action.out_port)
            && state.adjacencies6.get((out.row, next_hop)) == Some(action.adjacency)
    })
}

/// The translated addresses and ports of a packet.
fn translated<F>(state: &WorkerState<F>, meta: &Meta) -> Option<Tuple> {
    let tuples = state.table.tuples(state.table.reference(meta.entry)?)?;
    Some(tuples.target(ConnectionTable::direction_of(meta.entry)))
}

/// Whether the route of packets with this tuple still has the port and the adjacency of the cached action.
fn leads_to<F>(snapshot: &Snapshot, state: &WorkerState<F>, tuple: &Tuple, action: &FlowAction) -> bool {
    let Some(dst) = tuple.dst.as_v4() else { return false };
    let (interface, next_hop) = match snapshot.lookup_for(dst, tuple) {
        Lookup::Connected { interface } => (interface, dst),
        Lookup::Via { interface, gateway } => (interface, gateway),
        Lookup::Local { .. } | Lookup::Broadcast { .. } | Lookup::Discard(_) | Lookup::NoRoute => {
            return false;
        }
    };
    snapshot.interface(interface).is_some_and(|out| {
        out.up
            && out.port == Some(action.out_port)
            && state.adjacencies.get((out.row, next_hop)) == Some(action.adjacency)
    })
}
