//! Traces of packets: compares the metadata of a packet before and after each stage, and records the decisions.

use crate::pipeline::trace_decisions::{as_it_came, decision, row_of, row_of_port};

use crate::ids::QueueRef;
use crate::observe::trace::waiting::{WaitingPacket, is_tag, tag};
use crate::observe::trace::{Decision, StageDecision, TraceRecord, Tracer};
use crate::packet::frame::Frame;
use crate::packet::tuple::Tuple;
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, Origin, Packet, flag};
use crate::pipeline::Stage;
use crate::pipeline::batch::Batch;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// Number of low bits of a trace id that are the serial number of the worker's traced packet. The bits above are the
/// number of the worker plus one.
const SERIAL_BITS: u32 = 24;

/// Records a stage's decisions about the packets of the batch.
#[cold]
pub(crate) fn after<F: Frame>(
    stage: Stage,
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
) {
    let Some(mut tracer) = state.trace.take() else { return };
    for index in batch.first..batch.packets.len() {
        let is_recirculated =
            |packet: &&mut Packet<F>| index >= batch.end && packet.meta.is(flag::RECIRCULATED);
        if let Some(packet) = batch.packets.get_mut(index).filter(|packet| !is_recirculated(packet)) {
            tracer.record_decision(stage, snapshot, state, packet);
        }
    }
    if stage == Stage::Queue {
        tracer.ends(state);
    }
    tracer.nat.clear();
    tracer.cursor = 0;
    state.trace = Some(tracer);
}

/// Records packets that have left their queues without passing the stages.
#[cold]
pub(crate) fn record_dequeued<F: Frame>(state: &mut WorkerState<F>, packets: &mut [Packet<F>]) {
    let Some(mut tracer) = state.trace.take() else { return };
    for packet in packets.iter_mut().filter(|packet| is_tag(packet.meta.trace)) {
        tracer.record_dequeue(state, &mut packet.meta);
    }
    tracer.ends(state);
    tracer.cursor = 0;
    state.trace = Some(tracer);
}

/// Finishes the records of a batch after the last stage of the last pass.
#[cold]
pub(crate) fn finish<F>(snapshot: &Snapshot, state: &mut WorkerState<F>) {
    let Some(tracer) = &mut state.trace else { return };
    let Tracer { filters, live, buffer, .. } = &mut **tracer;
    for mut record in live.drain(..) {
        record.verdict = record.seen.verdict;
        record.fast = record.seen.is(flag::FAST);
        record.slow = record.seen.slow;
        if let Verdict::Tx(port) = record.verdict {
            record.out_interface = row_of_port(snapshot, port);
        }
        let open = matches!(record.verdict, Verdict::Held | Verdict::Handover(_) | Verdict::Echo);
        if record.begins() && !open && !record.is_dropped() {
            for (place, filter) in filters.iter().enumerate() {
                if filter.is_some_and(|filter| filter.wants_only_drops()) {
                    record.traces &= !(1 << place);
                }
            }
        }
        if record.traces != 0 || !record.begins() {
            buffer.records.push(record);
        } else {
            record.clear();
            buffer.blank.push(record);
        }
    }
}

impl Tracer {
    fn record_decision<F: Frame>(
        &mut self,
        stage: Stage,
        snapshot: &Snapshot,
        state: &mut WorkerState<F>,
        packet: &mut Packet<F>,
    ) {
        if is_tag(packet.meta.trace) {
            if stage == Stage::Queue {
                self.record_dequeue(state, &mut packet.meta);
            } else {
                // The packet waited in the queue of a worker that no longer traces it.
                packet.meta.trace = 0;
            }
            return;
        }
        // The dequeue has been recorded already; the packet may be in a further pass.
        if packet.meta.trace != 0 && packet.meta.queue == QueueRef::DONE {
            return;
        }
        if packet.meta.trace == 0 {
            let Some(tuples) = as_it_came(stage, state, &packet.meta) else { return };
            if !self.begin(snapshot, state, packet, tuples) {
                return;
            }
        }
        let meta = &mut packet.meta;
        let Some(record) = find(&mut self.live, &mut self.buffer.blank, &mut self.cursor, stage, state, meta)
        else {
            return;
        };
        let before = record.rows.len();
        let seen = record.seen;
        // A packet from another worker was parsed there.
        if stage == Stage::Parse && !record.begins() && !matches!(meta.verdict, Verdict::Drop(_)) {
            record.seen = *meta;
            return;
        }
        let decision = decision(stage, snapshot, state, (&seen, meta), &mut self.nat, &mut record.rows);
        if let Some(decision) = decision {
            if stage == Stage::Queue {
                come_to_queue(record);
                if let Verdict::Tx(port) = seen.verdict {
                    record.out_interface = row_of_port(snapshot, port);
                }
            }
            let rows = record.rows.len().saturating_sub(before) as u16;
            record.steps.push(StageDecision { stage: stage.name(), decision, rows });
            if matches!(decision, Decision::WaitsInQueue | Decision::WaitsForInterface) {
                self.waiting.push(WaitingPacket { id: meta.trace, part: meta.trace_part, since: state.now });
            }
        }
        // A packet that was dequeued and is handed over to another worker may be in a further pass, with less metadata.
        record.seen = Meta { slow: meta.slow.or(record.seen.slow), ..*meta };
    }

    /// Records that a packet has left a queue of this worker. The packet has a tag instead of its trace id, and gets
    /// the id back.
    fn record_dequeue<F>(&mut self, state: &WorkerState<F>, meta: &mut Meta) {
        let Some(waited) = self.waiting.take(tag(meta.trace)) else {
            meta.trace = 0;
            return;
        };
        (meta.trace, meta.trace_part) = (waited.id, waited.part);
        let Self { live, buffer, cursor, waiting, .. } = self;
        let Some(record) = find(live, &mut buffer.blank, cursor, Stage::Queue, state, meta) else { return };
        let mut tell =
            |decision| record.steps.push(StageDecision { stage: Stage::Queue.name(), decision, rows: 0 });
        tell(Decision::LeftQueue { after: state.now.0.saturating_sub(waited.since.0) });
        match meta.verdict {
            Verdict::Held => {
                tell(Decision::WaitsInQueue);
                waiting.push(WaitingPacket { part: meta.trace_part, since: state.now, ..waited });
            }
            Verdict::Handover(worker) => tell(Decision::ToWorker(worker)),
            Verdict::Drop(reason) => tell(Decision::Dropped(reason)),
            _ => {}
        }
        // The slow reason is kept from the record, as the queue does not keep it.
        record.seen = Meta { slow: record.seen.slow, ..*meta };
    }

    /// Records packets that were dropped or answered while they waited.
    fn ends<F>(&mut self, state: &mut WorkerState<F>) {
        for (tag, reason) in state.queues.ended.take() {
            // The end of a packet that the stage itself has dropped is recorded already.
            let Some(waited) = self.waiting.take(tag) else { continue };
            let mut meta = Meta { trace: waited.id, trace_part: waited.part, ..Meta::default() };
            let Self { live, buffer, cursor, .. } = self;
            let Some(record) = find(live, &mut buffer.blank, cursor, Stage::Queue, state, &mut meta) else {
                continue;
            };
            if reason == DropReason::EchoAnswered {
                let decision = Decision::LeftQueue { after: state.now.0.saturating_sub(waited.since.0) };
                record.steps.push(StageDecision { stage: Stage::Queue.name(), decision, rows: 0 });
            }
            record.steps.push(StageDecision {
                stage: Stage::Queue.name(),
                decision: Decision::Dropped(reason),
                rows: 0,
            });
            record.seen.verdict = Verdict::Drop(reason);
        }
    }

    /// Begins a record if a filter matches the packet and there is room.
    fn begin<F>(
        &mut self,
        snapshot: &Snapshot,
        state: &mut WorkerState<F>,
        packet: &mut Packet<F>,
        (tuple, known_by): (Tuple, Tuple),
    ) -> bool {
        let Packet { meta, vnet, .. } = packet;
        let in_interface = if meta.origin == Origin::Port { row_of(snapshot, meta.in_interface) } else { 0 };
        let mut traces = 0u8;
        for (place, filter) in self.filters.iter().enumerate() {
            let described = filter.is_some_and(|filter| filter.describes(&known_by, in_interface));
            traces |= u8::from(described) << place;
        }
        if traces == 0 {
            return false;
        }
        let Some(mut record) = self.buffer.blank.pop() else {
            for (place, lost) in self.buffer.lost.iter_mut().enumerate() {
                *lost += u64::from(traces >> place & 1);
            }
            return false;
        };
        state.trace_serial = state.trace_serial.wrapping_add(1) & ((1 << SERIAL_BITS) - 1);
        // No tag is 0.
        state.trace_serial += u32::from(tag(state.trace_serial) == 0);
        meta.trace = (state.worker + 1) << SERIAL_BITS | state.trace_serial;
        record.clear();
        (record.id, record.part, record.traces) = (meta.trace, 0, traces);
        (record.at, record.worker, record.in_interface) = (state.now, state.worker, in_interface);
        record.tuple = tuple;
        (record.length, record.segments) = (meta.largest_segment(vnet), meta.segments);
        record.out_interface = 0;
        record.seen = Meta { verdict: Verdict::Continue, ..*meta };
        self.live.push(record);
        true
    }
}

/// Replaces the last decision of a complete packet that has come to a queue: the queue stage records whether it was
/// sent or delivered.
fn come_to_queue(record: &mut TraceRecord) {
    if let Some(step) = record.steps.last_mut()
        && matches!(step.decision, Decision::Complete | Decision::Delivered)
    {
        step.decision = Decision::ToQueue;
    }
}

/// The record of a packet in the batch. A packet that came from another worker, or has waited, gets a record with a
/// further part number.
fn find<'a, F>(
    live: &'a mut Vec<TraceRecord>,
    blank: &mut Vec<TraceRecord>,
    cursor: &mut usize,
    stage: Stage,
    state: &WorkerState<F>,
    meta: &mut Meta,
) -> Option<&'a mut TraceRecord> {
    let id = meta.trace;
    // Usually packets and their records are in the same order.
    let at = if live.get(*cursor).is_some_and(|record| record.id == id) {
        *cursor
    } else if let Some(at) = live.iter().position(|record| record.id == id) {
        at
    } else {
        let mut record = blank.pop()?;
        record.clear();
        meta.trace_part = meta.trace_part.saturating_add(1);
        (record.id, record.part, record.traces) = (id, meta.trace_part, 0);
        (record.at, record.worker, record.tuple) = (state.now, state.worker, meta.tuple);
        record.out_interface = 0;
        // The verdict that the packet had before this stage.
        let verdict = match (stage, meta.verdict) {
            (Stage::Emit, _) => Verdict::Forward,
            (_, Verdict::Drop(_)) => Verdict::Continue,
            (_, verdict) => verdict,
        };
        record.seen = Meta { verdict, ..*meta };
        live.push(record);
        live.len() - 1
    };
    *cursor = at + 1;
    live.get_mut(at)
}
