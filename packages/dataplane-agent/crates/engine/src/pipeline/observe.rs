//! Looking at packets between the stages.

use tollway_config::dataplane::RowId;

use crate::flow::conntrack::Table;
use crate::ids::PortId;
use crate::ids::{ConnRef, NO_ENTRY};
use crate::ids::{QueueRef, Way};
use crate::ip::is_group;
use crate::observe::trace::waiting::{WaitingPacket, is_tag, tag};
use crate::observe::trace::{Decision, Mangled, Record, Step, Tracer};
use crate::packet::Packet;
use crate::packet::frame::Frame;
use crate::packet::slow_reason::SlowReason;
use crate::packet::tuple::{Addr, Tuple};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Hook, Meta, Origin, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::state::WorkerState;
use crate::qos::forest::Part;
use crate::snapshot::Snapshot;

/// Serial numbers of a worker's traced packets; its own number stands above them.
const SERIAL_BITS: u32 = 24;

/// After a stage: looks at the packets of the batch.
#[cold]
pub(crate) fn after<F: Frame>(
    stage: &'static str,
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
) {
    let Some(mut tracer) = state.trace.take() else { return };
    for index in batch.first..batch.packets.len() {
        let is_put_off = |packet: &&mut Packet<F>| index >= batch.end && packet.meta.is(flag::AGAIN);
        if let Some(packet) = batch.packets.get_mut(index).filter(|packet| !is_put_off(packet)) {
            tracer.look(stage, snapshot, state, packet);
        }
    }
    if stage == "queue" {
        tracer.ends(state);
    }
    tracer.nat.clear();
    tracer.cursor = 0;
    state.trace = Some(tracer);
}

/// After packets have left their queues without passing the stages: looks at them.
#[cold]
pub(crate) fn left<F: Frame>(state: &mut WorkerState<F>, packets: &mut [Packet<F>]) {
    let Some(mut tracer) = state.trace.take() else { return };
    for packet in packets.iter_mut().filter(|packet| is_tag(packet.meta.trace)) {
        tracer.leaves(state, &mut packet.meta);
    }
    tracer.ends(state);
    tracer.cursor = 0;
    state.trace = Some(tracer);
}

/// After the last stage of the last pass: what is wanted stays.
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

fn row_of_port(snapshot: &Snapshot, port: PortId) -> RowId {
    snapshot.port(port).map_or(0, |port| row_of(snapshot, port.interface))
}

fn row_of(snapshot: &Snapshot, interface: u16) -> RowId {
    snapshot.interface(interface).map_or(0, |interface| interface.row)
}

impl Tracer {
    fn look<F: Frame>(
        &mut self,
        stage: &'static str,
        snapshot: &Snapshot,
        state: &mut WorkerState<F>,
        packet: &mut Packet<F>,
    ) {
        if is_tag(packet.meta.trace) {
            if stage == "queue" {
                self.leaves(state, &mut packet.meta);
            } else {
                // The worker in whose queue it waited traces no more.
                packet.meta.trace = 0;
            }
            return;
        }
        // What has left its queue is told of, and may take part in a further pass.
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
        // What another worker gave was in order there.
        if stage == "parse" && !record.begins() && !matches!(meta.verdict, Verdict::Drop(_)) {
            record.seen = *meta;
            return;
        }
        let decision = decision(stage, snapshot, state, (&seen, meta), &mut self.nat, &mut record.rows);
        if let Some(decision) = decision {
            if stage == "queue" {
                come_to_queue(record);
                if let Verdict::Tx(port) = seen.verdict {
                    record.out_interface = row_of_port(snapshot, port);
                }
            }
            let rows = record.rows.len().saturating_sub(before) as u16;
            record.steps.push(Step { stage, decision, rows });
            if matches!(decision, Decision::WaitsInQueue | Decision::WaitsForInterface) {
                self.waiting.push(WaitingPacket { id: meta.trace, part: meta.trace_part, since: state.now });
            }
        }
        // What has left its queue for another worker may take part in a further pass, with less that is known of it.
        record.seen = Meta { slow: meta.slow.or(record.seen.slow), ..*meta };
    }

    /// A packet has left the queue of this worker in which it waited, and has a tag instead of its number.
    fn leaves<F>(&mut self, state: &WorkerState<F>, meta: &mut Meta) {
        let Some(waited) = self.waiting.take(tag(meta.trace)) else {
            meta.trace = 0;
            return;
        };
        (meta.trace, meta.trace_part) = (waited.id, waited.part);
        let Self { live, buffer, cursor, waiting, .. } = self;
        let Some(record) = find(live, &mut buffer.blank, cursor, "queue", state, meta) else { return };
        let mut tell = |decision| record.steps.push(Step { stage: "queue", decision, rows: 0 });
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
        // What was known of it in this batch already; the queue has not kept it.
        record.seen = Meta { slow: record.seen.slow, ..*meta };
    }

    /// Tells of packets that ended where they waited.
    fn ends<F>(&mut self, state: &mut WorkerState<F>) {
        for (tag, reason) in state.queues.ended.take() {
            // One that the stage itself has ended is told of already.
            let Some(waited) = self.waiting.take(tag) else { continue };
            let mut meta = Meta { trace: waited.id, trace_part: waited.part, ..Meta::default() };
            let Self { live, buffer, cursor, .. } = self;
            let Some(record) = find(live, &mut buffer.blank, cursor, "queue", state, &mut meta) else {
                continue;
            };
            if reason == DropReason::EchoAnswered {
                let decision = Decision::LeftQueue { after: state.now.0.saturating_sub(waited.since.0) };
                record.steps.push(Step { stage: "queue", decision, rows: 0 });
            }
            record.steps.push(Step { stage: "queue", decision: Decision::Dropped(reason), rows: 0 });
            record.seen.verdict = Verdict::Drop(reason);
        }
    }

    /// Begins a record, if a filter describes the packet and there is room.
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

/// A packet that was complete has come to a queue: that it was sent, or given to a service, is for the queue to say.
fn come_to_queue(record: &mut Record) {
    if let Some(step) = record.steps.last_mut()
        && matches!(step.decision, Decision::Complete | Decision::Delivered)
    {
        step.decision = Decision::ToQueue;
    }
}

/// The record of a packet in the batch. One that came from another worker, or has waited, gets a further
/// part.
fn find<'a, F>(
    live: &'a mut Vec<Record>,
    blank: &mut Vec<Record>,
    cursor: &mut usize,
    stage: &str,
    state: &WorkerState<F>,
    meta: &mut Meta,
) -> Option<&'a mut Record> {
    let id = meta.trace;
    // Packets stand in the batch as their records do, mostly.
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
        // Before the stage at which it came to light it stood thus.
        let verdict = match (stage, meta.verdict) {
            ("emit", _) => Verdict::Forward,
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

/// Addresses and ports with which a packet came in, and those by which a filter may know it, where a stage
/// has brought them to light: its own, and what its connection makes of them.
fn as_it_came<F>(stage: &str, state: &WorkerState<F>, meta: &Meta) -> Option<(Tuple, Tuple)> {
    if meta.is(flag::ARP) {
        return None;
    }
    match stage {
        // What has left a queue is complete.
        "parse" if matches!(meta.verdict, Verdict::Continue | Verdict::Drop(_)) => {
            Some((meta.tuple, meta.tuple))
        }
        "fragment" => meta.is(flag::REASSEMBLED).then_some((meta.tuple, meta.tuple)),
        "fast_path" if meta.entry != NO_ENTRY => {
            let conn = state.table.tuples(state.table.reference(meta.entry)?)?;
            let direction = Table::direction_of(meta.entry);
            let (from, to) = (*conn.tuple(direction), conn.target(direction));
            (from != to).then_some((from, to))
        }
        "track" if meta.is(flag::ICMP_ERROR) => {
            let conn = state.table.tuples(meta.conn?)?;
            Some((meta.tuple, conn.target(meta.direction)))
        }
        _ => None,
    }
}

/// What a stage decided about a packet that stood as `seen` before it and stands as `meta` now; `None` when
/// the packet did not concern it. Rows go to `rows`.
fn decision<F: Frame>(
    stage: &str,
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    (seen, meta): (&Meta, &Meta),
    nat: &mut Vec<(ConnRef, RowId)>,
    rows: &mut Vec<RowId>,
) -> Option<Decision> {
    let asked = seen.verdict == Verdict::Continue;
    let dropped =
        if let Verdict::Drop(reason) = meta.verdict { Some(Decision::Dropped(reason)) } else { None };
    let ended = dropped.filter(|_| seen.verdict != meta.verdict);
    match stage {
        "parse" if asked => ended.or_else(|| {
            let (protocol, kind) = (meta.tuple.protocol, meta.l4_kind);
            Some(Decision::Parsed { protocol, kind, code: meta.icmp_code, ttl: meta.ttl })
        }),
        "fragment" if asked && meta.is(flag::FRAGMENT) => ended.or(match meta.verdict {
            Verdict::Held => Some(Decision::WaitsForFragment),
            Verdict::Handover(worker) => Some(Decision::ToWorker(worker)),
            _ => {
                (meta.is(flag::REASSEMBLED) && !seen.is(flag::REASSEMBLED)).then_some(Decision::FragmentKnown)
            }
        }),
        "fast_path" if asked => {
            if meta.slow == Some(SlowReason::Rule) {
                rows.extend(state.paths.rows_of(meta.path));
            }
            ended.or_else(|| from_cache(state, meta, rows))
        }
        "track" if asked => ended.or_else(|| {
            (snapshot.tracking() && !meta.is(flag::ATTACHED))
                .then_some(Decision::Tracked { state: meta.state, direction: meta.direction })
        }),
        "dst_nat" | "src_nat" if asked || seen.verdict == Verdict::Resume => {
            let own = take_rules(nat, meta);
            rows.extend_from_slice(&own);
            if let Verdict::Handover(worker) = meta.verdict {
                return Some(Decision::ToWorker(worker));
            }
            ended.or_else(|| translation(stage == "dst_nat", seen, meta, own.is_empty()))
        }
        "route" if asked => {
            let sought = meta.tuple.dst.as_v4().filter(|dst| has_looked_up(meta, *dst));
            rows.extend(sought.and_then(|dst| snapshot.fib().row_of(dst)));
            ended.or_else(|| routed(meta))
        }
        "ttl" if asked => {
            let forwarded = meta.hook == Hook::Forward;
            ended.or_else(|| forwarded.then(|| Decision::TimeToLive(meta.ttl.saturating_sub(1))))
        }
        "mangle_pre" | "mangle" | "mangle_post" if asked => {
            let new = new_rows(state, seen, meta);
            // The connection's mark is known from the first of these stages on.
            let before = if stage == "mangle_pre" {
                Meta { connection_mark: meta.mark_before, ..*seen }
            } else {
                *seen
            };
            let mangled = Mangled::between(&before, meta);
            let touched = !new.is_empty() || mangled != Mangled::default();
            rows.extend(new);
            ended.or_else(|| touched.then_some(Decision::Mangled(mangled)))
        }
        "filter" if asked => {
            if meta.is(flag::BYPASS) {
                return Some(Decision::Bypassed);
            }
            if snapshot.filter_hook(meta.hook).is_none() {
                return ended;
            }
            rows.extend(new_rows(state, seen, meta));
            ended.or(Some(Decision::Accepted))
        }
        "classify" if asked => {
            let leaves = state.queues.leaves_of(meta.queue);
            if leaves.is_empty() {
                return ended;
            }
            rows.extend(leaves.iter().map(|leaf| leaf.row));
            let way = |part| match part {
                Part::Upload => Some(Way::Upload),
                Part::Download => Some(Way::Download),
                Part::Total | Part::Whole | Part::Interface => None,
            };
            let simple = leaves.iter().find_map(|leaf| way(leaf.part));
            Some(Decision::InQueue { tree: leaves.iter().any(|leaf| leaf.part == Part::Whole), simple })
        }
        "install" if asked => ended.or_else(|| decided(snapshot, state, meta)),
        "local" if asked => ended.or(match meta.verdict {
            Verdict::Local(_) => Some(Decision::Delivered),
            Verdict::Echo => Some(Decision::Echo),
            _ => None,
        }),
        "emit" if matches!(seen.verdict, Verdict::Forward | Verdict::Continue) => {
            ended.or(match meta.verdict {
                Verdict::Held => Some(Decision::WaitsForNeighbor),
                Verdict::Tx(_) => Some(Decision::Complete),
                _ => None,
            })
        }
        "queue" if !meta.queue.is_none() || meta.verdict != seen.verdict => {
            in_queue(snapshot, state, (seen, meta), rows)
        }
        _ => None,
    }
}

/// The rules that a packet has hit between two moments.
fn new_rows<F>(state: &WorkerState<F>, seen: &Meta, meta: &Meta) -> Vec<RowId> {
    let before = state.paths.rows_of(seen.path).len();
    state.paths.rows_of(meta.path).split_off(before)
}

/// What the flow cache did.
fn from_cache<F>(state: &WorkerState<F>, meta: &Meta, rows: &mut Vec<RowId>) -> Option<Decision> {
    if let Verdict::Handover(worker) = meta.verdict {
        return Some(Decision::ToWorker(worker));
    }
    if !meta.is(flag::FAST) {
        return meta.slow.map(Decision::ToStages);
    }
    let resumed = meta.slow == Some(SlowReason::Rule);
    let conn = state.table.reference(meta.entry).and_then(|reference| state.table.tuples(reference));
    let Some(conn) = conn else {
        return Some(Decision::FromCache { resumed, source: None, destination: None });
    };
    if !resumed && let Some(action) = state.table.installed(meta.entry) {
        rows.extend(state.paths.rows_of(action.path));
    }
    let direction = Table::direction_of(meta.entry);
    let (from, to) = (*conn.tuple(direction), conn.target(direction));
    let changed = |from: (Addr, u16), to: (Addr, u16)| (from != to).then_some(to);
    Some(Decision::FromCache {
        resumed,
        source: changed((from.src, from.src_port), (to.src, to.src_port)),
        destination: changed((from.dst, from.dst_port), (to.dst, to.dst_port)),
    })
}

/// The NAT rules that a packet has just matched: those of its connection, if it was the first of it.
fn take_rules(nat: &mut Vec<(ConnRef, RowId)>, meta: &Meta) -> Vec<RowId> {
    let (own, others) = nat.drain(..).partition(|(conn, _)| Some(*conn) == meta.conn);
    *nat = others;
    let own: Vec<(ConnRef, RowId)> = own;
    own.into_iter().map(|(_, row)| row).collect()
}

fn translation(destination: bool, seen: &Meta, meta: &Meta, no_rule: bool) -> Option<Decision> {
    let end = |tuple: &Tuple| {
        if destination { (tuple.dst, tuple.dst_port) } else { (tuple.src, tuple.src_port) }
    };
    let (before, (address, port)) = (end(&seen.tuple), end(&meta.tuple));
    if before != (address, port) {
        Some(Decision::Translated { address, port })
    } else if no_rule {
        None
    } else {
        Some(Decision::NotTranslated)
    }
}

/// Whether a route was sought for a packet: not for one to a group, nor for one that its source address has ended.
fn has_looked_up(meta: &Meta, dst: u32) -> bool {
    const BEFORE: [DropReason; 2] = [DropReason::MartianSource, DropReason::ReversePath];
    !is_group(dst) && !BEFORE.iter().any(|reason| meta.verdict == Verdict::Drop(*reason))
}

fn routed(meta: &Meta) -> Option<Decision> {
    if meta.is(flag::BROADCAST) {
        return Some(Decision::ToAll);
    }
    if meta.is(flag::TO_ROUTER) {
        return Some(Decision::ToRouter);
    }
    let next_hop = Addr::v4(meta.next_hop);
    Some(Decision::Routed { next_hop, direct: next_hop == meta.tuple.dst })
}

fn decided<F>(snapshot: &Snapshot, state: &WorkerState<F>, meta: &Meta) -> Option<Decision> {
    if !snapshot.tracking() || meta.is(flag::ATTACHED | flag::ICMP_ERROR) {
        return None;
    }
    let conn = meta.conn.and_then(|reference| state.table.line(reference));
    let uncached = conn.and_then(|conn| conn.slow_reason(meta.direction));
    Some(Decision::Decided { tracked: conn.is_some(), uncached })
}

/// What became of a packet at its queue.
fn in_queue<F: Frame>(
    snapshot: &Snapshot,
    state: &WorkerState<F>,
    (seen, meta): (&Meta, &Meta),
    rows: &mut Vec<RowId>,
) -> Option<Decision> {
    let complete = matches!(seen.verdict, Verdict::Tx(_) | Verdict::Local(_) | Verdict::Echo);
    if !complete && !meta.is(flag::FAST) && seen.verdict != Verdict::Continue {
        return None;
    }
    rows.extend(state.queues.leaves_of(seen.queue).iter().map(|leaf| leaf.row));
    // Whoever comes to the queue of an interface has passed those of its queue.
    let is_beyond = meta.queue.is_none() && matches!(meta.verdict, Verdict::Held | Verdict::Drop(_));
    if is_beyond && let Verdict::Tx(port) = seen.verdict {
        rows.extend(snapshot.port(port).map(|port| row_of(snapshot, port.interface)));
    }
    match meta.verdict {
        Verdict::Held if is_beyond => Some(Decision::WaitsForInterface),
        Verdict::Held => Some(Decision::WaitsInQueue),
        Verdict::Handover(worker) => Some(Decision::ToWorker(worker)),
        Verdict::Drop(reason) if meta.verdict != seen.verdict => Some(Decision::Dropped(reason)),
        Verdict::Tx(_) | Verdict::Local(_) => Some(Decision::Passed),
        _ => None,
    }
}
