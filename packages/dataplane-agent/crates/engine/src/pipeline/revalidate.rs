//! Revalidation of a cached flow action: whether it is still valid after routes or address lists have changed.

use tollway_config::dataplane::{Mark, RpFilter};

use crate::flow::actions::FlowAction;
use crate::flow::change_counters::Stamp;
use crate::flow::conntrack::{ConnectionTable, action_flag};
use crate::ids::InterfaceIndex;
use crate::ip::fib::{Address, Lookup, Lookup6};
use crate::ip::routing_policy::RoutingQuery;
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
    if meta.inner_hash != 0 {
        // Its action holds for all that the connection encapsulates, as long as there is one next hop.
        return false;
    }
    let change_counters = &state.shared.change_counters;
    let stamp = cached.stamp;
    let lists = state.table.memberships(meta.entry);
    let [one, other] = lists;
    if change_counters.list_changed_since(one, stamp) || change_counters.list_changed_since(other, stamp) {
        return false;
    }
    let checks_source = !meta.is_ipv6() && snapshot.settings.rp_filter != RpFilter::No;
    if checks_source {
        let others = snapshot.policy().is_some_and(|tables| tables.any_changed_since(stamp));
        if others || route_changed(state, meta.tuple.src, stamp) {
            return false;
        }
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
    let by = RoutedBy { mark: state.actions.routing_mark(cached.action), interface: meta.in_interface };
    let leads = match dst.as_v4() {
        Some(_) => leads_to(snapshot, state, &routed, &action, by, stamp),
        None => leads_to_ipv6(snapshot, state, &routed, &action, by, stamp),
    };
    if !leads {
        return false;
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

/// What beside its addresses decides the table of a packet.
#[derive(Clone, Copy)]
struct RoutedBy {
    /// Routing mark.
    mark: Mark,
    /// In-interface.
    interface: InterfaceIndex,
}

impl RoutedBy {
    fn query<A: Address>(self, tuple: &Tuple) -> RoutingQuery<A> {
        RoutingQuery::of(tuple, self.mark, self.interface)
    }
}

/// [`leads_to`] for a destination of IPv6.
fn leads_to_ipv6<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    tuple: &Tuple,
    action: &FlowAction,
    by: RoutedBy,
    stamp: Stamp,
) -> bool {
    let dst = tuple.dst.0;
    let flow = || u64::from(snapshot.ipv6_flow_hash(tuple));
    let main_changed = || route_changed(state, tuple.dst, stamp);
    let lookup = match snapshot.policy6() {
        Some(tables) => {
            let query = by.query(tuple);
            if !tables.changed_since(&query, stamp, main_changed) {
                return true;
            }
            tables.decide(&query, flow).lookup
        }
        None if !main_changed() => return true,
        None => snapshot.fib6().lookup_for(dst, flow),
    };
    let (interface, next_hop) = match lookup {
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

/// Whether the route of packets with this tuple still has the port and the adjacency of the cached action. It is looked up
/// only if a table by which it was found may have changed since `stamp`.
fn leads_to<F>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    tuple: &Tuple,
    action: &FlowAction,
    by: RoutedBy,
    stamp: Stamp,
) -> bool {
    let Some(dst) = tuple.dst.as_v4() else { return false };
    let main_changed = || route_changed(state, tuple.dst, stamp);
    let lookup = match snapshot.policy() {
        Some(tables) => {
            let query = by.query(tuple);
            if !tables.changed_since(&query, stamp, main_changed) {
                return true;
            }
            tables.decide(&query, || u64::from(snapshot.flow_hash(tuple))).lookup
        }
        None if !main_changed() => return true,
        None => snapshot.lookup_for(dst, tuple),
    };
    let (interface, next_hop) = match lookup {
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
