//! Limits packets to the rates of their queues. All decisions about the packets have been made: a packet only waits if
//! it has to, here or at the worker that owns the queue. A packet passes its leaves one after the other, and then the
//! queue of its port, if it has one.

mod dequeue;

pub(crate) use dequeue::{count_dropped, dequeue_at_most, restore_packet, resume_path};

use tollway_wire::{field, ipv4};

use crate::ids::{LeafId, QueueRef, QueueRefKind};
use crate::observe::trace::tag;
use crate::packet::frame::{Frame, FrameSource, VnetState};
use crate::packet::tuple::Addr;
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, Packet, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::echo::{answer, echo_meta};
use crate::pipeline::handover::QueueHandover;
use crate::pipeline::slow_path::Pass;
use crate::pipeline::state::WorkerState;
use crate::qos::addresses::QueueAddresses;
use crate::qos::prefetch::{LeafPrefetch, PREFETCH_DISTANCE};
use crate::qos::queues::{EnqueueOutcome, PathStep, Waiting};
use crate::qos::segment::Layout;
use crate::snapshot::Snapshot;

/// Number of packets whose leaves are preloaded together.
const PRELOAD_BATCH: usize = 64;

/// Result of a packet at a leaf.
enum LeafResult {
    /// Passed.
    Passed,
    /// Held in the leaf, or dropped.
    HeldOrDropped,
    /// Another worker owns the leaf; the packet is handed over with this metadata.
    OtherWorker(u32, QueueHandover),
}

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    let (snapshot, state, batch, source) = pass.parts();
    if state.queues.is_idle() && batch.queue_handovers_in.is_empty() {
        return 0;
    }
    if state.queues.is_changing() {
        let passing = batch.first..batch.end;
        for packet in batch.packets.get_mut(passing).unwrap_or_default() {
            defer_during_queue_change(snapshot, state, packet);
        }
    }
    let has_trees = state.queues.is_cached() && state.queues.has_trees();
    let entered = match has_trees {
        true => pass_all::<F, S, true>(snapshot, state, batch, source),
        false => pass_all::<F, S, false>(snapshot, state, batch, source),
    };
    let room = batch.room();
    dequeue_at_most(snapshot, state, batch, source, room);
    state.queues.end_batch();
    count_dropped(state);
    entered
}

/// Passes the packets of a batch through their leaves. Returns how many packets have leaves. With `TREES`, leaves in
/// class trees are prefetched. Compiled twice, each without inlining, so that each has all registers to itself.
#[inline(never)]
fn pass_all<F: Frame, S: FrameSource<F>, const TREES: bool>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    source: &mut S,
) -> u64 {
    let mut entered = 0;
    let port_queues = state.queues.has_port_queues();
    let is_cached = state.queues.is_cached();
    let queue = |batch: &Batch<F>, index: usize| {
        batch.packets.get(index).map_or(QueueRef::NONE, |packet| packet.meta.queue)
    };
    let mut prefetch = LeafPrefetch::default();
    if TREES {
        for next in 0..PREFETCH_DISTANCE {
            prefetch.advance(&state.queues, queue(batch, batch.first + next));
        }
    }
    for index in batch.first..batch.end {
        if !TREES && !is_cached && (index - batch.first).is_multiple_of(PRELOAD_BATCH) {
            preload(
                state,
                batch.packets.get(index..batch.end.min(index + PRELOAD_BATCH)).unwrap_or_default(),
            );
        }
        let Some(Packet { meta, .. }) = batch.packets.get(index) else { break };
        let first = match TREES {
            true => prefetch.advance(&state.queues, queue(batch, index + PREFETCH_DISTANCE)),
            false => state.queues.first_leaf(meta.queue),
        };
        let is_complete = matches!(meta.verdict, Verdict::Tx(_) | Verdict::Local(_) | Verdict::Echo);
        if meta.queue.is_none() && !port_queues || !is_complete {
            continue;
        }
        entered += u64::from(!meta.queue.is_none());
        let is_plain = !port_queues && !meta.queue.is_handover() && meta.verdict != Verdict::Echo;
        let (queue, segments, bytes) = (meta.queue, meta.segments, meta.wire_bytes());
        let step = state.queues.walk::<TREES>(queue, first, segments, bytes, state.now);
        // Most packets pass at once, and nothing has to be written for them.
        if step.is_some() || !is_plain {
            finish_unpassed(snapshot, state, batch, index, step, port_queues, source);
        }
    }
    entered
}

impl LeafResult {
    fn elsewhere(self) -> Option<(u32, QueueHandover)> {
        match self {
            Self::OtherWorker(worker, handover) => Some((worker, handover)),
            Self::Passed | Self::HeldOrDropped => None,
        }
    }
}

/// Finishes a packet that does not pass its leaves at once, comes from another worker, may have to wait for its port,
/// or is an echo request.
#[inline(never)]
fn finish_unpassed<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    index: usize,
    step: Option<PathStep>,
    port_queues: bool,
    source: &mut S,
) {
    let Some(packet) = batch.packets.get_mut(index) else { return };
    let elsewhere = match (step, packet.meta.queue.kind()) {
        (Some(step), _) => walk_from(snapshot, state, packet, step, source),
        (None, QueueRefKind::Handover(index)) => {
            state.handover_packets += 1;
            batch
                .queue_handovers_in
                .get(index)
                .and_then(|handover| receive_handover(snapshot, state, packet, &handover, source))
        }
        (None, _) => None,
    };
    if let Some((worker, handover)) = elsewhere {
        packet.meta.verdict = Verdict::Handover(worker as u16);
        packet.meta.queue = batch.queue_handovers_out.push(handover);
    } else if port_queues {
        enqueue_for_port(state, packet, source);
    }
    if packet.meta.verdict == Verdict::Echo
        && let Some(reply) = answer(state, packet)
    {
        let meta = echo_meta(snapshot, &packet.meta);
        batch.push_generated(reply, meta);
    }
}

/// Loads the memory that some packets need in their queues, for all of them before the first is processed.
#[inline]
fn preload<F: Frame>(state: &WorkerState<F>, packets: &[Packet<F>]) {
    let leaves = packets.iter().filter_map(|packet| state.queues.first(packet.meta.queue));
    let loaded = leaves.clone().fold(0, |loaded, leaf| loaded ^ state.queues.preload(leaf));
    // The reads only bring cache lines in; their result is not used.
    std::hint::black_box(loaded);
    if state.queues.frames() != 0 {
        leaves.for_each(|leaf| state.queues.prefetch_end(leaf));
    }
}

/// The source before and the destination after translation. A packet that the flow cache has forwarded has its received
/// source in the metadata. The frame has the translated destination.
#[inline]
fn addresses<F: Frame>(state: &WorkerState<F>, packet: &Packet<F>) -> QueueAddresses {
    let meta = &packet.meta;
    if meta.is_ipv6() {
        return ipv6_addresses(state, packet);
    }
    // Without translation the source need not have been noted.
    let is_tuple = meta.is(flag::FAST) || meta.untranslated_src == 0;
    let src = if is_tuple { meta.tuple.src.as_v4().unwrap_or(0) } else { meta.untranslated_src };
    let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
    let dst = field::get32(head, usize::from(meta.l3) + ipv4::offset::DST);
    QueueAddresses { src: Addr::v4(src), dst: Addr::v4(dst) }
}

/// [`addresses`] of IPv6, whose source is not noted before its translation: that of the slow path has replaced it in the
/// metadata. After a wait it is in the metadata only if it is not that of the frame.
#[inline(never)]
fn ipv6_addresses<F: Frame>(state: &WorkerState<F>, packet: &Packet<F>) -> QueueAddresses {
    let meta = &packet.meta;
    let in_frame =
        packet.frame.as_ref().map(|frame| QueueAddresses::of_frame(frame.head())).unwrap_or_default();
    if !meta.is(flag::FAST)
        && meta.is(flag::TRANSLATED)
        && let Some((received, _)) = meta.conn.and_then(|conn| state.table.translation(conn, meta.direction))
    {
        return QueueAddresses { src: received.src, ..in_frame };
    }
    if meta.tuple.src == Addr(0) { in_frame } else { QueueAddresses { src: meta.tuple.src, ..in_frame } }
}

/// Passes a packet through the leaves of its queue until it has to wait. If another worker owns a leaf, returns that
/// worker and the metadata of the hand-over.
fn walk<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    source: &mut S,
) -> Option<(u32, QueueHandover)> {
    let meta = &packet.meta;
    let step = state.queues.walk_on(meta.queue, meta.segments, meta.wire_bytes(), state.now)?;
    walk_from(snapshot, state, packet, step, source)
}

/// [`walk`], from a step that does not let the packet pass at once.
fn walk_from<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    mut step: PathStep,
    source: &mut S,
) -> Option<(u32, QueueHandover)> {
    loop {
        packet.meta.queue = step.queue;
        match acquire_or_enqueue(snapshot, state, packet, step.leaf, source) {
            LeafResult::Passed => {}
            stopped => return stopped.elsewhere(),
        }
        let (next, meta) = (state.queues.queue_after(step.queue), &packet.meta);
        step = state.queues.walk_on(next, meta.segments, meta.wire_bytes(), state.now)?;
    }
}

/// Acquires the row of a leaf that does not let a packet pass at once, or enqueues the packet in the leaf. If another
/// worker owns the row, returns that worker.
#[cold]
fn acquire_or_enqueue<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    leaf: LeafId,
    source: &mut S,
) -> LeafResult {
    if state.queues.is_unowned(leaf) {
        if let Some(worker) = state.queues.acquire_row(leaf, state.now) {
            let QueueAddresses { src, dst } = addresses(state, packet);
            let addresses = (src.into(), dst.into());
            let Some(remaining) = state.queues.remaining_path(leaf, packet.meta.queue) else {
                return LeafResult::Passed;
            };
            let (generation, final_verdict) = (snapshot.generation(), packet.meta.verdict);
            state.queues.count_departed(worker);
            let (from, to) = (state.worker, worker);
            return LeafResult::OtherWorker(
                worker,
                QueueHandover { generation, from, to, remaining, final_verdict, addresses },
            );
        }
        if state.queues.pass_one(leaf, packet.meta.segments, packet.meta.wire_bytes(), state.now) {
            return LeafResult::Passed;
        }
    }
    let addresses = addresses(state, packet);
    enqueue(state, packet, leaf, &addresses, source);
    LeafResult::HeldOrDropped
}

/// Receives a packet from another worker. The two workers may have different configurations, so the leaf is found by
/// its identity then. A packet whose leaf is gone resumes its path behind it.
fn receive_handover<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    handover: &QueueHandover,
    source: &mut S,
) -> Option<(u32, QueueHandover)> {
    let remaining = &handover.remaining;
    let context = snapshot.queues.still_relevant(remaining.context, handover.generation);
    let addresses = handover.queue_addresses();
    // The connection that has translated it is the other worker's.
    packet.meta.flags &= !flag::TRANSLATED;
    packet.meta.untranslated_src = addresses.src.as_v4().unwrap_or(0);
    packet.meta.tuple.src = addresses.src;
    state.queues.count_arrived(handover.from);
    if let Some(before) = remaining.before {
        state.queues.note_upstream_to_acknowledge(before);
    }
    let is_present = handover.generation == snapshot.generation();
    let queues = &mut state.queues;
    let leaf = match remaining.class().filter(|_| is_present) {
        Some(class) => queues.leaf_at(class),
        None => queues.leaf_of(remaining.leaf),
    };
    let Some(leaf) = leaf.filter(|leaf| !queues.is_unowned(*leaf)) else {
        // The leaf does not exist in the configuration of this worker, or this worker does not own it.
        queues.acknowledge_missed(remaining);
        return resume_after_rank(snapshot, state, packet, handover, remaining.rank, source);
    };
    queues.enter_handed_over(leaf);
    let (classes, step) = if is_present {
        (remaining.classes, Some(remaining.step))
    } else {
        let classes = snapshot.leaf_lookup(state.utc_ns()).path_classes(&addresses, &context);
        let class = state.queues.class(leaf);
        (classes, classes.iter().position(|passed| Some(passed) == class).map(|step| step as u8))
    };
    let queue = match step {
        Some(step) => state.queues.queue_ref(&snapshot.forest, &classes, context, state.now).at(step),
        None => QueueRef::leaf(leaf),
    };
    packet.meta.queue = queue;
    let (segments, bytes, now) = (packet.meta.segments, packet.meta.wire_bytes(), state.now);
    if step.is_none() && handover.generation < snapshot.generation() {
        // The packet is of an older configuration, and the leaf is no longer on its path. The packets that waited in
        // the leaf were sent when this worker took over the configuration, and later packets pass another leaf.
        state.queues.charge(leaf, segments, bytes, now);
        state.queues.leave_handed_over(leaf);
        let rank = state.queues.rank(leaf);
        return resume_after_rank(snapshot, state, packet, handover, rank, source);
    }
    if !state.queues.pass_one(leaf, segments, bytes, now) {
        enqueue(state, packet, leaf, &addresses, source);
        state.queues.leave_handed_over(leaf);
        return None;
    }
    state.queues.leave_handed_over(leaf);
    let passed = Some(state.queues.rank(leaf));
    if state.queues.is_changing() && defer_if_older_pending(snapshot, state, packet, passed, &addresses) {
        return None;
    }
    packet.meta.queue = state.queues.queue_after(queue);
    walk(snapshot, state, packet, source)
}

/// Resumes the path of a packet that has passed a leaf of another configuration, with the leaves whose rank is above
/// `rank`.
#[cold]
fn resume_after_rank<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    handover: &QueueHandover,
    rank: usize,
    source: &mut S,
) -> Option<(u32, QueueHandover)> {
    let lookup = snapshot.leaf_lookup(state.utc_ns());
    let context = lookup.table.still_relevant(handover.remaining.context, handover.generation);
    let addresses = handover.queue_addresses();
    if state.queues.is_changing() {
        let classes = lookup.path_classes(&addresses, &context);
        packet.meta.queue = state.queues.queue_ref(&snapshot.forest, &classes, context, state.now);
        if defer_if_older_pending(snapshot, state, packet, Some(rank), &addresses) {
            return None;
        }
    }
    packet.meta.queue = state.queues.queue_after_rank(&lookup, &addresses, context, rank, state.now);
    walk(snapshot, state, packet, source)
}

/// Defers a packet that has passed no leaf yet, while older packets of its flow may be at other workers.
#[cold]
fn defer_during_queue_change<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
) {
    let meta = &mut packet.meta;
    let is_complete = matches!(meta.verdict, Verdict::Tx(_) | Verdict::Local(_) | Verdict::Echo);
    if !is_complete || meta.queue == QueueRef::DONE || matches!(meta.queue.kind(), QueueRefKind::Handover(_))
    {
        return;
    }
    if meta.untranslated_src == 0 {
        // Without queues the source has not been noted.
        meta.untranslated_src = meta.tuple.src.as_v4().unwrap_or(0);
    }
    let addresses = addresses(state, packet);
    defer_if_older_pending(snapshot, state, packet, None, &addresses);
}

/// Defers a packet if older packets of its flow have to be sent first. `passed` is the rank of the last leaf that it
/// has passed, if any. Returns whether it waits, or was dropped because there was no room.
#[cold]
fn defer_if_older_pending<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    passed: Option<usize>,
    addresses: &QueueAddresses,
) -> bool {
    if !state.queues.waits_for_older(&snapshot.leaf_lookup(state.utc_ns()), passed, addresses) {
        return false;
    }
    let Some(frame) = packet.frame.take() else { return false };
    let (meta, vnet) = (packet.meta, packet.vnet);
    let (final_verdict, bytes, segments) = (meta.verdict, meta.wire_bytes(), meta.segments);
    let (fast, own, queue, enqueued) =
        (meta.is(flag::FAST), meta.is_locally_generated(), meta.queue, state.now);
    let trace = tag(meta.trace);
    let waiting = Waiting { frame, vnet, final_verdict, bytes, segments, fast, own, trace, queue, enqueued };
    let has_room = state.queues.defer(passed, waiting, addresses);
    packet.meta.verdict = if has_room { Verdict::Held } else { Verdict::Drop(DropReason::QueueMemory) };
    true
}

/// Enqueues a packet in a leaf. A super-frame is segmented if it is long, or if there is no room for the whole.
fn enqueue<F: Frame, S: FrameSource<F>>(
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    leaf: LeafId,
    addresses: &QueueAddresses,
    source: &mut S,
) {
    if packet.meta.segments > 1 && enqueue_segmented(state, packet, leaf, addresses, source) {
        return;
    }
    let (vnet, meta, enqueued) = (packet.vnet, &packet.meta, state.now);
    let (final_verdict, segments, bytes) = (meta.verdict, meta.segments, meta.wire_bytes());
    let (fast, own, trace, queue) =
        (meta.is(flag::FAST), meta.is_locally_generated(), tag(meta.trace), path_queue_of(meta));
    // The frame is moved only here, into the queue.
    let Some(frame) = packet.frame.take() else { return };
    let waiting = Waiting { frame, vnet, final_verdict, bytes, segments, fast, own, trace, queue, enqueued };
    let held = state.queues.enqueue(leaf, waiting, addresses, enqueued);
    packet.meta.verdict = refusal(held).map_or(Verdict::Held, Verdict::Drop);
}

/// The queue reference that is stored with a waiting frame: only one that cannot be found again by its addresses alone.
#[inline]
fn path_queue_of(meta: &Meta) -> QueueRef {
    if matches!(meta.queue.kind(), QueueRefKind::Path(..)) { meta.queue } else { QueueRef::NONE }
}

/// Enqueues a super-frame in a leaf, segmented. `false`, with nothing done, when it can stay whole.
#[inline(never)]
fn enqueue_segmented<F: Frame, S: FrameSource<F>>(
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    leaf: LeafId,
    addresses: &QueueAddresses,
    source: &mut S,
) -> bool {
    let Some(frame) = &packet.frame else { return false };
    let (vnet, meta, now) = (packet.vnet, &packet.meta, state.now);
    let Some(layout) = layout(meta, frame.head(), &vnet) else { return false };
    let queues = &mut state.queues;
    let together = queues.max_segments(leaf, layout.segment_bytes());
    if meta.segments <= together && queues.admits(leaf, meta.segments, meta.wire_bytes(), now) {
        return false;
    }
    let (final_verdict, fast, own, queue) =
        (meta.verdict, meta.is(flag::FAST), meta.is_locally_generated(), path_queue_of(meta));
    let mut trace = tag(meta.trace);
    let (mut pieces, mut waits, mut last) = (0u64, false, None);
    let left = layout.split(frame, &vnet, together, source, |piece| {
        pieces += 1;
        let (segments, bytes) = (piece.segments, piece.bytes);
        let (frame, vnet) = (piece.frame, piece.vnet);
        // A trace follows the first piece.
        let trace = std::mem::take(&mut trace);
        let enqueued = now;
        let waiting =
            Waiting { frame, vnet, final_verdict, bytes, segments, fast, own, trace, queue, enqueued };
        let held = queues.enqueue(leaf, waiting, addresses, now);
        (waits, last) = (waits || held == EnqueueOutcome::Waits, Some(held));
        matches!(held, EnqueueOutcome::Waits | EnqueueOutcome::Dropped)
    });
    // Once one segment is refused, the later segments of the super-frame are dropped unbuilt.
    queues.refuse(leaf, left.unwanted);
    queues.count_drop(leaf, left.without_frame);
    state.generated += pieces.saturating_sub(1);
    state.count_drop(DropReason::NoFrame, left.without_frame);
    packet.frame = None;
    packet.meta.verdict = Verdict::Held;
    if !waits {
        packet.meta.verdict = Verdict::Drop(last.and_then(refusal).unwrap_or(DropReason::NoFrame));
    }
    true
}

/// Why a frame does not wait; `None` if it does.
fn refusal(held: EnqueueOutcome) -> Option<DropReason> {
    match held {
        EnqueueOutcome::Waits => None,
        EnqueueOutcome::Dropped | EnqueueOutcome::NoRoom => Some(DropReason::QueueFull),
        EnqueueOutcome::NoMemory => Some(DropReason::QueueMemory),
    }
}

/// Layout of the headers of a super-frame. After a super-frame has waited, the offsets of its headers are not known and
/// are read again.
fn layout(meta: &Meta, head: &[u8], vnet: &VnetState) -> Option<Layout> {
    if meta.l4 == 0 { Layout::of_headers(head, vnet) } else { Layout::of(meta, vnet) }
}

/// Enqueues a packet that has passed its leaves in the queue of its port, if the port accepts no packets or others wait
/// for it.
pub(crate) fn enqueue_for_port<F: Frame, S: FrameSource<F>>(
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    source: &mut S,
) {
    if let Verdict::Tx(port) = packet.meta.verdict
        && packet.meta.queue != QueueRef::DONE
        && let Some(leaf) = state.queues.before_port(port)
    {
        packet.meta.queue = QueueRef::NONE;
        let addresses = addresses(state, packet);
        enqueue(state, packet, leaf, &addresses, source);
    }
}
