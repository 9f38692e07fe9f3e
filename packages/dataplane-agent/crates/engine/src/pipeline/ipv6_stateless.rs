//! The fast path of IPv6 without connection tracking: a packet is forwarded by its route alone, the number of which has
//! been looked up.

use crate::ids::PortId;
use crate::ip::fib::Lookup6;
use crate::ip::neighbor::Adjacency;
use crate::packet::frame::Frame;
use crate::packet::header::{lower_hop_limit, write_ipv6_link};
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::Tuple;
use crate::packet::verdict::Verdict;
use crate::packet::{Packet, flag};
use crate::pipeline::state::WorkerState;
use crate::qos::forest::Context;
use crate::snapshot::{Interface, Snapshot};

/// Forwards a packet by its route, where [`Snapshot::is_plain_ipv6`]. `parse` has found that its headers do not forbid
/// it. If it cannot, changes nothing and returns the reason for which the packet takes the slow path.
#[inline(never)]
pub(crate) fn forward<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    number: u16,
) -> Result<(), SlowReason> {
    let meta = &mut packet.meta;
    let src = meta.tuple.src.0;
    if snapshot.fib6().is_local(src) {
        return Err(SlowReason::NotRoutable);
    }
    let (out, next_hop, port) = route(snapshot, &meta.tuple, number)?;
    if meta.largest_segment(&packet.vnet) > u32::from(out.mtu) {
        return Err(SlowReason::TooLong);
    }
    let adjacency = state.adjacencies6.get((out.row, next_hop)).ok_or(SlowReason::Neighbor)?;
    let Adjacency::Ready(mac) = state.shared.neighbors.adjacency(adjacency) else {
        return Err(SlowReason::Neighbor);
    };
    if !state.holds.is_empty() {
        return Err(SlowReason::Neighbor);
    }
    let Some(frame) = &mut packet.frame else { return Err(SlowReason::NotRoutable) };
    let head = frame.head_mut();
    if let Some(l3) = head.get_mut(usize::from(meta.l3)..) {
        lower_hop_limit(l3);
    }
    write_ipv6_link(head, mac, out.mac);
    if !snapshot.queues.is_empty() {
        let utc_ns = state.utc_ns();
        let in_interface = snapshot.interface(meta.in_interface).map_or(0, |interface| interface.row);
        let context = snapshot.queues.relevant(Context { mark: 0, in_interface, out_interface: out.row });
        let classes = snapshot.queues.path_classes(meta.tuple.src, meta.tuple.dst, &context, utc_ns);
        meta.queue = state.queues.queue_ref(&snapshot.forest, &classes, context, state.now);
    }
    state.count_fast(meta, false, u64::from(meta.segments), meta.wire_bytes());
    meta.flags |= flag::FAST;
    meta.verdict = Verdict::Tx(port);
    Ok(())
}

/// Interface, which is up, next hop and port of packets to a destination, or why they are not forwarded by their route
/// alone.
#[inline]
fn route<'a>(
    snapshot: &'a Snapshot,
    tuple: &Tuple,
    number: u16,
) -> Result<(&'a Interface, u128, PortId), SlowReason> {
    let flow = || u64::from(snapshot.ipv6_flow_hash(tuple));
    let (interface, next_hop) = match snapshot.fib6().lookup_of(number, flow) {
        Lookup6::Connected { interface } => (interface, tuple.dst.0),
        Lookup6::Via { interface, gateway } => (interface, gateway),
        Lookup6::Local { .. } => return Err(SlowReason::ToRouter),
        Lookup6::Broadcast { .. } | Lookup6::Discard(_) | Lookup6::NoRoute => {
            return Err(SlowReason::NotRoutable);
        }
    };
    let out = snapshot.interface(interface).filter(|out| out.up).ok_or(SlowReason::NotRoutable)?;
    Ok((out, next_hop, out.port.ok_or(SlowReason::NotRoutable)?))
}
