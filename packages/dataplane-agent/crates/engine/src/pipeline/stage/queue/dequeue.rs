//! Packets that leave a queue in which they have waited.

use super::{enqueue_for_port, walk};
use crate::ids::QueueRef;
use crate::observe::trace::tag;
use crate::packet::frame::{Frame, FrameSource, VnetState};
use crate::packet::tuple::{Addr, Tuple};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, Origin, Packet, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::echo::{answer, echo_meta};
use crate::pipeline::handover::QueueHandovers;
use crate::pipeline::state::WorkerState;
use crate::qos::queues::Waiting;
use crate::snapshot::Snapshot;

/// Appends at most `most` packets that are due to the batch. Replies to echo requests that have waited have still to
/// take a pass.
pub(crate) fn dequeue_at_most<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
    most: usize,
) {
    let lookup = snapshot.leaf_lookup(state.utc_ns());
    state.queues.wake(state.now);
    let mut left = most;
    while left > 0 {
        let before = batch.packets.len();
        let packets = &mut batch.packets;
        let sent = state
            .queues
            .dequeue(&lookup, state.now, left, |waiting, src| packets.push(restore_packet(waiting, src)));
        let Some(sent) = sent else { break };
        left -= sent.min(left);
        for packet in batch.packets.iter_mut().skip(before) {
            if let Some(reply) = resume_path(snapshot, state, &mut batch.queue_handovers_out, packet, source)
            {
                let meta = echo_meta(snapshot, &packet.meta);
                *packet = Packet { frame: Some(reply), vnet: VnetState::default(), meta };
            }
        }
    }
}

/// Passes a packet that has waited in a leaf through its remaining leaves, until it has to wait again or has passed
/// all. Returns the reply if it is an echo request; the reply has to take a pass of its own.
pub(crate) fn resume_path<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    queue_handovers_out: &mut QueueHandovers,
    packet: &mut Packet<F>,
    source: &mut S,
) -> Option<F> {
    if let Some((worker, handover)) = walk(snapshot, state, packet, source) {
        packet.meta.verdict = Verdict::Handover(worker as u16);
        packet.meta.queue = queue_handovers_out.push(handover);
        return None;
    }
    let reply = check_out_interface(snapshot, state, packet);
    enqueue_for_port(state, packet, source);
    // The packet may be in a further pass of the batch.
    packet.meta.queue = QueueRef::DONE;
    reply
}

/// Drops a packet that has waited if its out-interface went down meanwhile. Returns the reply if it is an echo request;
/// the reply has to take a pass of its own.
fn check_out_interface<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
) -> Option<F> {
    match packet.meta.verdict {
        Verdict::Echo => {
            let reply = answer(state, packet);
            // The reply replaces the request in the batch.
            if let Verdict::Drop(reason) = packet.meta.verdict {
                state.queues.ended.note(tag(packet.meta.trace), reason);
            }
            reply
        }
        Verdict::Tx(port) if !snapshot.port(port).is_some_and(|port| port.up) => {
            state.drop(packet, DropReason::OutInterfaceDown);
            None
        }
        _ => None,
    }
}

/// The packet of a frame that was dequeued, with its source as the slab has it. It has only the metadata that the rest
/// of its queue path needs.
// Inlined, so that the packet is built in the batch and not copied there.
#[inline(always)]
pub(crate) fn restore_packet<F>(waiting: Waiting<F>, src: Addr) -> Packet<F> {
    let meta = restored_meta(&waiting, src);
    Packet { frame: Some(waiting.frame), vnet: waiting.vnet, meta }
}

#[inline(always)]
fn restored_meta<F>(waiting: &Waiting<F>, src: Addr) -> Meta {
    let origin = if waiting.own { Origin::Generated } else { Origin::Port };
    let v4 = src.as_v4();
    let flags = if waiting.fast { flag::FAST } else { 0 } | if v4.is_none() { flag::IPV6 } else { 0 };
    let tuple = Tuple { src, ..Tuple::default() };
    Meta {
        verdict: waiting.final_verdict,
        segments: waiting.segments,
        origin,
        flags,
        queue: waiting.queue,
        // The length of all segments with their headers, as the header lengths are not known any more.
        l3_len: u32::try_from(waiting.bytes).unwrap_or(u32::MAX),
        untranslated_src: v4.unwrap_or(0),
        tuple,
        trace: waiting.trace.into(),
        ..Meta::default()
    }
}

/// Counts packets that queues have dropped since the last call.
pub(crate) fn count_dropped<F>(state: &mut WorkerState<F>) {
    let dropped = state.queues.take_dropped();
    state.count_drop(DropReason::QueueFull, dropped.full);
    state.count_drop(DropReason::QueueMemory, dropped.memory);
}
