//! The decision stands: connections are confirmed or given up, next hops resolved, and what later
//! packets of the flow may do without being asked again is written into the flow cache.

use crate::batch::Batch;
use crate::conntrack::CachedAction;
use crate::frame::{Frame, FrameSource};
use crate::nat::Rewrite;
use crate::neighbor::Adjacency;
use crate::packet::{Hook, Meta, NONE, Origin, flag};
use crate::snapshot::Snapshot;
use crate::state::WorkerState;
use crate::verdict::{DropReason, Verdict};
use tollway_config::dataplane::ArpMode;
use tollway_wire::ipv4;

pub(crate) fn run<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    _source: &mut S,
) -> u64 {
    let mut entered = 0;
    for at in 0..batch.slow.len() {
        let Some((_, packet)) = batch.slow_packet(at) else { continue };
        let owned = packet.meta.conn.filter(|_| !packet.meta.is(flag::ATTACHED | flag::ICMP_ERROR));
        if packet.meta.verdict != Verdict::Continue {
            if let Some(reference) = owned {
                state.table.abandon(reference);
            }
            continue;
        }
        entered += 1;
        if let Some(reference) = owned
            && state.table.confirm(reference).is_err()
        {
            state.table.abandon(reference);
            state.drop(packet, DropReason::NatExhausted);
            continue;
        }
        if packet.meta.is(flag::TO_ROUTER) {
            continue;
        }
        packet.meta.verdict = Verdict::Forward;
        resolve(snapshot, state, &mut packet.meta);
        if snapshot.tracking() && snapshot.allow_fast_path() {
            cache(snapshot, state, &packet.meta);
        }
    }
    while let Some(reply) = state.table.take_unpublished() {
        state.shared.directory.remove(&reply, state.worker);
    }
    entered
}

/// Finds the adjacency of the next hop; the first packet to an unknown one has it asked for.
pub(crate) fn resolve<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &mut Meta) {
    let Some(out) = snapshot.interface(meta.out_interface) else { return };
    if meta.is(flag::BROADCAST) {
        return;
    }
    let key = (out.row, meta.next_hop);
    let known = state.next_hops.get(key);
    if let Some(id) = known
        && let Adjacency::Ready(_) | Adjacency::Incomplete = state.shared.neighbors.peek(id)
    {
        meta.adjacency = id;
        return;
    }
    let ask = matches!(out.arp, ArpMode::Enabled | ArpMode::ProxyArp | ArpMode::LocalProxyArp);
    let found = state.shared.neighbors.resolve(key, ask, snapshot.max_neighbors(), state.now);
    if found.full {
        meta.flags |= flag::NO_NEIGHBOR;
    }
    meta.adjacency = found.id;
    if found.id != NONE {
        state.next_hops.put(key, found.id);
    }
    if let Some(solicit) = found.solicit {
        state.solicits.push(solicit);
    }
}

/// Writes the entry of the packet's direction, if later packets may do as this one.
fn cache<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &Meta) {
    let never = flag::FRAGMENT
        | flag::OPTIONS
        | flag::ICMP_ERROR
        | flag::ATTACHED
        | flag::UNCACHED
        | flag::BROADCAST
        | flag::NO_NEIGHBOR;
    if meta.hook != Hook::Forward || meta.origin != Origin::Port || meta.is(never) || meta.adjacency == NONE {
        return;
    }
    let Some(reference) = meta.conn else { return };
    let Some(conn) = state.table.get(reference) else { return };
    // Another packet of the batch may have changed what the decision rests on.
    if conn.version != meta.version {
        return;
    }
    // Before that every segment may change the state.
    if meta.tuple.protocol == ipv4::TCP && !conn.status.assured() {
        return;
    }
    let Some(port) = snapshot.interface(meta.out_interface).and_then(|interface| interface.port) else {
        return;
    };
    let mut action = CachedAction {
        generation: snapshot.generation(),
        adjacency: meta.adjacency,
        path: meta.prefix,
        resume: meta.resume,
        lane: meta.lane,
        in_port: meta.in_port,
        out_port: port,
        ..CachedAction::default()
    };
    if meta.is(flag::TRANSLATED) {
        Rewrite::both(conn, meta.direction).fill(&mut action);
    }
    state.table.install(reference, meta.direction, action);
}
