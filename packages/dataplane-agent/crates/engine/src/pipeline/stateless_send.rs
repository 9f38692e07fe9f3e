//! The end of the fast path without connection tracking, of both families: a packet whose route is known is sent.

use crate::ids::{AdjacencyId, PortId};
use crate::ip::neighbor::Adjacency;
use crate::packet::frame::Frame;
use crate::packet::slow_reason::SlowReason;
use crate::packet::verdict::Verdict;
use crate::packet::{Packet, flag};
use crate::pipeline::state::WorkerState;
use crate::qos::forest::Context;
use crate::snapshot::{Interface, Snapshot};

/// Headers of the packets of a family.
// A trait, not a closure: a closure cannot be required to be inlined, and is not.
pub(crate) trait Headers {
    /// Writes the new headers of a packet: that of IP, which begins at byte `l3`, and that of the link, with its destination
    /// and source.
    fn write(head: &mut [u8], l3: usize, link: ([u8; 6], [u8; 6]));

    /// Whether they are of IPv6.
    const IPV6: bool;
}

/// Sends a packet by its route to a next hop. If it cannot be sent, changes nothing and returns the reason for which it
/// takes the slow path.
// Inlined, so that there is one for each family.
#[inline(always)]
pub(crate) fn send<H: Headers, F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    (out, port): (&Interface, PortId),
    adjacency: impl FnOnce(&WorkerState<F>) -> Option<AdjacencyId>,
) -> Result<(), SlowReason> {
    let meta = &mut packet.meta;
    if meta.largest_segment(&packet.vnet) > u32::from(out.mtu) {
        return Err(SlowReason::TooLong);
    }
    let adjacency = adjacency(state).ok_or(SlowReason::Neighbor)?;
    let Adjacency::Ready(mac) = state.shared.neighbors.adjacency(adjacency) else {
        return Err(SlowReason::Neighbor);
    };
    if !state.holds.is_empty() {
        return Err(SlowReason::Neighbor);
    }
    let Some(frame) = &mut packet.frame else { return Err(SlowReason::NotRoutable) };
    H::write(frame.head_mut(), usize::from(meta.l3), (mac, out.mac));
    if !snapshot.queues.is_empty() {
        let utc_ns = state.utc_ns();
        let in_interface = snapshot.interface(meta.in_interface).map_or(0, |interface| interface.row);
        let context = snapshot.queues.relevant(Context { mark: 0, in_interface, out_interface: out.row });
        let classes = snapshot.queues.path_classes(meta.tuple.src, meta.tuple.dst, &context, utc_ns);
        meta.queue = state.queues.queue_ref(&snapshot.forest, &classes, context, state.now);
    }
    let (packets, bytes) = (u64::from(meta.segments), meta.wire_bytes());
    state.count_fast(meta, false, packets, bytes);
    if H::IPV6 {
        state.count_fast_ipv6(false, packets, bytes);
    }
    meta.flags |= flag::FAST;
    meta.verdict = Verdict::Tx(port);
    Ok(())
}
