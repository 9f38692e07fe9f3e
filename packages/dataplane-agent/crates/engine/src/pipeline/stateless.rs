//! The fast path without connection tracking: a flow is nothing but its route.

use crate::ids::AdjacencyId;
use crate::ids::NONE;
use crate::ids::PortId;
use crate::ip::fib::Lookup;
use crate::ip::is_group;
use crate::ip::neighbor::Adjacency;
use crate::packet::Packet;
use crate::packet::frame::Frame;
use crate::packet::header::lower_ttl;
use crate::packet::header::write_link;
use crate::packet::verdict::Verdict;
use crate::packet::{Origin, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::state::WorkerState;
use crate::qos::forest::Context;
use crate::snapshot::{Interface, Snapshot};

/// Packets that are looked up together: enough to keep memory busy, few enough for their metadata to stay
/// in the first-level cache.
const AHEAD: usize = 64;

/// Forwards what needs nothing but a route and notes the rest as slow. Returns how many packets there were
/// to decide. Routes are asked for twice: first for some packets together, so that the memory their
/// answers lie in is on its way for all of them, then one by one.
pub(crate) fn run<F: Frame>(snapshot: &Snapshot, state: &mut WorkerState<F>, batch: &mut Batch<F>) -> u64 {
    let plain = snapshot.is_plain() && snapshot.allow_fast_path();
    let mut entered = 0;
    let mut first = batch.first;
    while first < batch.end {
        let end = batch.end.min(first + AHEAD);
        if plain {
            let mut touched = 0;
            for packet in batch.packets.get(first..end).unwrap_or_default() {
                touched ^= packet.meta.tuple.dst.as_v4().map_or(0, |dst| snapshot.fib().touch(dst));
            }
            std::hint::black_box(touched);
        }
        for index in first..end {
            let Some(packet) = batch.packets.get_mut(index) else { break };
            if packet.meta.verdict != Verdict::Continue {
                continue;
            }
            entered += 1;
            if !plain || !forward(snapshot, state, packet) {
                batch.slow.push(index as u32);
            }
        }
        first = end;
    }
    entered
}

#[inline]
fn forward<F: Frame>(snapshot: &Snapshot, state: &mut WorkerState<F>, packet: &mut Packet<F>) -> bool {
    let meta = &mut packet.meta;
    let slow = flag::SLOW | flag::ICMP_ERROR;
    if meta.is(slow) || meta.origin != Origin::Port {
        return false;
    }
    let (Some(src), Some(dst)) = (meta.tuple.src.as_v4(), meta.tuple.dst.as_v4()) else { return false };
    if is_group(dst) {
        return false;
    }
    let Some((out, port, adjacency)) = next(snapshot, state, dst) else { return false };
    if meta.largest_segment(&packet.vnet) > u32::from(out.mtu) || snapshot.is_local_or_broadcast(src) {
        return false;
    }
    let Adjacency::Ready(mac) = state.shared.neighbors.peek(adjacency) else { return false };
    if !state.holds.is_empty() {
        return false;
    }
    let Some(frame) = &mut packet.frame else { return false };
    let head = frame.head_mut();
    if let Some(l3) = head.get_mut(usize::from(meta.l3)..) {
        lower_ttl(l3);
    }
    write_link(head, mac, out.mac);
    if !snapshot.queues().is_empty() {
        let utc_ns = state.utc_ns();
        let in_interface = snapshot.interface(meta.in_interface).map_or(0, |interface| interface.row);
        let context = snapshot.queues().relevant(Context { mark: 0, in_interface, out_interface: out.row });
        let classes = snapshot.queues().path_classes(meta.tuple.src, meta.tuple.dst, &context, utc_ns);
        meta.queue = state.queues.queue_ref(snapshot.forest(), &classes, context, state.now);
    }
    state.count_fast(meta, false, u64::from(meta.segments), meta.wire_bytes());
    meta.flags |= flag::FAST;
    meta.verdict = Verdict::Tx(port);
    true
}

/// Port and neighbour that lead to a destination; `None` when that takes more than a look.
pub(crate) fn way<F>(snapshot: &Snapshot, state: &WorkerState<F>, dst: u32) -> Option<(PortId, AdjacencyId)> {
    next(snapshot, state, dst).map(|(_, port, adjacency)| (port, adjacency))
}

#[inline]
fn next<'a, F>(
    snapshot: &'a Snapshot,
    state: &WorkerState<F>,
    dst: u32,
) -> Option<(&'a Interface, PortId, AdjacencyId)> {
    let (interface, next_hop) = match snapshot.lookup(dst) {
        Lookup::Connected { interface } => (interface, dst),
        Lookup::Via { interface, gateway } => (interface, gateway),
        Lookup::Local { .. } | Lookup::Broadcast { .. } | Lookup::Discard(_) | Lookup::NoRoute => {
            return None;
        }
    };
    let out = snapshot.interface(interface)?;
    let port = out.port.filter(|_| out.up)?;
    let adjacency = state.next_hops.get((out.row, next_hop)).filter(|id| *id != NONE)?;
    Some((out, port, adjacency))
}
