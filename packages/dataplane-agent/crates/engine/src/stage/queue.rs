//! Holds packets to the rate of their queue. They are complete: what must wait only waits, here or at the
//! worker that has the queue.

use crate::batch::{Batch, Packet, Ticket};
use crate::frame::{Frame, FrameSource, VnetState};
use crate::icmp::echo_meta;
use crate::packet::{Meta, flag};
use crate::qos::Leads;
use crate::qos::segment::Layout;
use crate::qos::simple::Waiting;
use crate::snapshot::Snapshot;
use crate::stage::local::answer;
use crate::state::WorkerState;
use crate::verdict::{DropReason, Verdict};

/// Packets whose leaves are brought in together.
const AHEAD: usize = 64;

pub(crate) fn run<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) -> u64 {
    if state.queues.is_idle() && batch.arrived.is_empty() {
        return 0;
    }
    let mut entered = 0;
    for index in batch.first..batch.end {
        if (index - batch.first).is_multiple_of(AHEAD) {
            touch(state, batch.packets.get(index..batch.end.min(index + AHEAD)).unwrap_or_default());
        }
        let Some(packet) = batch.packets.get_mut(index) else { break };
        let meta = &mut packet.meta;
        if meta.lane.is_none() || !matches!(meta.verdict, Verdict::Tx(_) | Verdict::Local(_) | Verdict::Echo)
        {
            continue;
        }
        entered += 1;
        match meta.lane.leads() {
            Leads::Nowhere => {}
            Leads::Leaf(leaf) => {
                if !state.queues.pass(leaf, meta.segments, meta.wire_bytes(), state.now)
                    && let Some((worker, ticket)) = detain(snapshot, state, packet, leaf, source)
                {
                    packet.meta.verdict = Verdict::Handover(worker as u16);
                    packet.meta.lane = batch.departing.push(ticket);
                }
            }
            Leads::Ticket(number) => {
                state.handover_packets += 1;
                if let Some(ticket) = batch.arrived.get(number) {
                    arrive(snapshot, state, packet, &ticket, source);
                }
            }
        }
        if packet.meta.verdict == Verdict::Echo
            && let Some(reply) = answer(state, packet)
        {
            batch.push_generated(reply, echo_meta());
        }
    }
    let room = batch.room();
    release_at_most(snapshot, state, batch, room);
    count_dropped(state);
    entered
}

/// Has the memory that some packets need brought in, for all of them at a time.
#[inline]
fn touch<F: Frame>(state: &WorkerState<F>, packets: &[Packet<F>]) {
    let touched = packets.iter().fold(0, |touched, packet| match packet.meta.lane.leads() {
        Leads::Leaf(leaf) => touched ^ state.queues.touch(leaf),
        Leads::Nowhere | Leads::Ticket(_) => touched,
    });
    // The lines are wanted, not what they hold.
    std::hint::black_box(touched);
}

/// The source before and the destination after translation. A packet of the flow cache has the source it
/// came with; the frame has the destination it leaves with.
fn addresses<F: Frame>(packet: &Packet<F>) -> (u32, u32) {
    let meta = &packet.meta;
    let src = if meta.is(flag::FAST) { meta.tuple.src.as_v4().unwrap_or(0) } else { meta.lan_src };
    let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
    (src, tollway_wire::field::get32(head, usize::from(meta.l3) + tollway_wire::ipv4::offset::DST))
}

/// A packet that may not just pass: it waits, or another worker has its queue. Then says which, and what is to go
/// with it.
#[cold]
fn detain<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    leaf: u32,
    source: &mut S,
) -> Option<(u32, Ticket)> {
    let addresses = addresses(packet);
    if state.queues.is_away(leaf) {
        if let Some(worker) = state.queues.take(leaf) {
            let (row, entry, way) = state.queues.identity(leaf)?;
            let exit = packet.meta.verdict;
            return Some((
                worker,
                Ticket { generation: snapshot.generation(), entry, row, way, exit, addresses },
            ));
        }
        if state.queues.pass(leaf, packet.meta.segments, packet.meta.wire_bytes(), state.now) {
            return None;
        }
    }
    wait(state, packet, leaf, addresses, source);
    None
}

/// A packet from another worker. The two may be a configuration apart, so the row has the last word; a
/// packet whose queue is gone goes on.
fn arrive<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    ticket: &Ticket,
    source: &mut S,
) {
    let queues = &mut state.queues;
    let leaf = if ticket.generation == snapshot.generation() {
        queues.leaf_at(ticket.entry, ticket.way)
    } else {
        queues.leaf_of(ticket.row, ticket.way)
    };
    let Some(leaf) = leaf.filter(|leaf| !queues.is_away(*leaf)) else {
        // The queue came and went between two configurations.
        queues.withdraw(ticket.row);
        return;
    };
    queues.arrives(leaf);
    if is_strange(snapshot, ticket) {
        queues.pass_strange(leaf, packet.meta.segments, packet.meta.wire_bytes());
    } else if !queues.pass(leaf, packet.meta.segments, packet.meta.wire_bytes(), state.now) {
        wait(state, packet, leaf, ticket.addresses, source);
    }
    state.queues.has_arrived(leaf);
}

/// Whether a packet was sent here by an older configuration for a queue that does not take it any more. Those that
/// waited in it went when this worker took over the configuration, and what comes next is in another queue.
fn is_strange(snapshot: &Snapshot, ticket: &Ticket) -> bool {
    let (src, dst) = ticket.addresses;
    ticket.generation < snapshot.generation() && !snapshot.queues().takes(src, dst, ticket.row, ticket.way)
}

/// Puts a packet into a leaf; a super-frame in pieces if it is long, or finds no room as a whole.
fn wait<F: Frame, S: FrameSource<F>>(
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    leaf: u32,
    addresses: (u32, u32),
    source: &mut S,
) {
    let Some(frame) = packet.frame.take() else { return };
    let (vnet, meta, now) = (packet.vnet, packet.meta, state.now);
    let (exit, fast) = (meta.verdict, meta.is(flag::FAST));
    packet.meta.verdict = Verdict::Held;
    let queues = &mut state.queues;
    if meta.segments > 1
        && let Some(layout) = Layout::of(&meta, &vnet)
    {
        let together = queues.segments_together(leaf, layout.segment_bytes());
        if meta.segments > together || !queues.admits(leaf, meta.segments) {
            let mut pieces = 0u64;
            let left = layout.split(&frame, &vnet, together, source, |piece| {
                pieces += 1;
                let (segments, bytes) = (piece.segments, piece.bytes);
                let (frame, vnet) = (piece.frame, piece.vnet);
                let waiting = Waiting { frame, vnet, exit, bytes, segments, fast, addresses, enqueued: now };
                queues.hold(leaf, waiting, now)
            });
            // Those behind one that found no room find none, and need not be made.
            queues.refuse(leaf, left.uncut);
            queues.count_drop(leaf, left.without_frame);
            state.generated += pieces.saturating_sub(1);
            state.count_drop(DropReason::NoFrame, left.without_frame);
            return;
        }
    }
    let (segments, bytes) = (meta.segments, meta.wire_bytes());
    if !queues.hold(leaf, Waiting { frame, vnet, exit, bytes, segments, fast, addresses, enqueued: now }, now)
    {
        packet.meta.verdict = Verdict::Drop(if queues.admits(leaf, segments) {
            DropReason::QueueMemory
        } else {
            DropReason::QueueFull
        });
    }
}

/// Adds what is due, at most so many packets, to the end of the batch. Replies to echo requests that have
/// waited are still to take a pass.
pub(crate) fn release_at_most<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    most: usize,
) {
    let before = batch.packets.len();
    let packets = &mut batch.packets;
    state.queues.release(state.now, most, |waiting| packets.push(complete(waiting)));
    for packet in batch.packets.iter_mut().skip(before) {
        if let Some(reply) = leave(snapshot, state, packet) {
            *packet = Packet { frame: Some(reply), vnet: VnetState::default(), meta: echo_meta() };
        }
    }
}

/// A packet that has waited is on its way, unless the interface it was to leave by went down meanwhile.
/// Gives the reply to an echo request, which is to take a pass of its own.
pub(crate) fn leave<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
) -> Option<F> {
    match packet.meta.verdict {
        Verdict::Echo => answer(state, packet),
        Verdict::Tx(port) if !snapshot.port(port).is_some_and(|port| port.up) => {
            state.drop(packet, DropReason::OutInterfaceDown);
            None
        }
        _ => None,
    }
}

/// A packet that has waited and goes now.
pub(crate) fn complete<F>(waiting: Waiting<F>) -> Packet<F> {
    let flags = if waiting.fast { flag::FAST } else { 0 };
    let meta = Meta { verdict: waiting.exit, segments: waiting.segments, flags, ..Meta::default() };
    Packet { frame: Some(waiting.frame), vnet: waiting.vnet, meta }
}

pub(crate) fn count_dropped<F>(state: &mut WorkerState<F>) {
    let dropped = state.queues.take_dropped();
    state.count_drop(DropReason::QueueFull, dropped.full);
    state.count_drop(DropReason::QueueMemory, dropped.memory);
}
