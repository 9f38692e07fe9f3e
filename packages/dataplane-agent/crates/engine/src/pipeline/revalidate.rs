//! Revalidation of a flow action: whether it still holds although routes or address lists have changed.

use tollway_config::dataplane::RpFilter;

use crate::flow::conntrack::{CachedAction, action_flag};
use crate::ip::fib::Lookup;
use crate::packet::Meta;
use crate::packet::membership_slot::MembershipSlot;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// Revalidates the flow action of a packet: if all that it depends on is as it was, it is good until the next change.
/// Costs a look at up to seven cells for changes that concern others, and one at the routes for those to the same
/// block of destinations.
#[cold]
#[inline(never)]
pub(crate) fn revalidate<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &Meta) -> bool {
    let Some(action) = state.table.installed(meta.entry) else { return false };
    let action = *action;
    let change_counters = &state.shared.change_counters;
    let stamp = action.stamp;
    let [one, other] = action.lists;
    if change_counters.list_changed_since(one, stamp) || change_counters.list_changed_since(other, stamp) {
        return false;
    }
    // Decisions about IPv6 hold only until the next change.
    let (Some(src), Some(dst)) = (meta.tuple.src.as_v4(), meta.tuple.dst.as_v4()) else { return false };
    if snapshot.settings.rp_filter != RpFilter::No && change_counters.route_changed_since(src, stamp) {
        return false;
    }
    // What the rules were evaluated for: mangle's prerouting sees the destination as it came, the others as it is
    // translated; the source is translated after all of them.
    let came = dst;
    let dst = if action.flags & action_flag::NAT_DST != 0 { action.new_dst } else { dst };
    let listed = action.lists != [MembershipSlot::NONE; 2];
    let network_changed = |address| change_counters.listed_network_changed_since(address, stamp);
    if listed && [src, came, dst].into_iter().any(network_changed) {
        return false;
    }
    if change_counters.route_changed_since(dst, stamp) && !leads_to(snapshot, state, dst, &action) {
        return false;
    }
    let now = state.cache_epoch.stamp;
    if let Some((entry, _)) = state.table.flow_mut(meta.entry) {
        entry.action.stamp = now;
    }
    true
}

/// Whether the route to a destination leads where the decision does.
fn leads_to<F>(snapshot: &Snapshot, state: &WorkerState<F>, dst: u32, action: &CachedAction) -> bool {
    let (interface, next_hop) = match snapshot.lookup(dst) {
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
