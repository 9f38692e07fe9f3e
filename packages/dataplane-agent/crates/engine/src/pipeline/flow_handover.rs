//! Hand-over of new flows to the worker that can give them a free reply tuple.
//!
//! The worker to which the first packet is steered evaluates the rules, up to those of source translation. If their
//! result leaves it no free reply tuple of its own, it records the new owner of the flow in the directory, and hands
//! the packet over with the decisions made so far. The other worker creates the connection and continues from there, so
//! that every rule is evaluated, counted and logged once.

use tollway_config::dataplane::ConnectionState;

use crate::flow::nat::NatTarget;
use crate::ids::{ConnRef, NO_INTERFACE, QueueRef, QueueRefKind};
use crate::packet::frame::Frame;
use crate::packet::tuple::{Tuple, steer};
use crate::packet::verdict::Verdict;
use crate::packet::{MAX_HANDOVERS, Meta, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::handover::{FlowHandover, FlowHandovers, HandedTarget, Marks};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// The hand-over with which the first packet of a flow has arrived here.
pub(super) fn flow<'a>(meta: &Meta, handovers: &'a FlowHandovers) -> Option<&'a FlowHandover> {
    let QueueRefKind::Handover(index) = meta.queue.kind() else { return None };
    handovers.get(index).filter(|_| meta.is(flag::FLOW_MIGRATING)).map(|(_, flow)| flow)
}

/// Moves the flow of an unconfirmed connection to another worker, and hands its packet over. Returns `false` if the
/// flow cannot move.
pub(super) fn hand_over_flow<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &mut Meta,
    handovers_out: &mut FlowHandovers,
    (reference, to): (ConnRef, u32),
    target: Option<NatTarget>,
) -> bool {
    let Some(conn) = state.table.tuples(reference) else { return false };
    let directory = &state.shared.directory;
    if meta.handovers >= MAX_HANDOVERS {
        return false;
    }
    if steer(&conn.original, state.workers) == to {
        // The directory holds only flows that are not at their home.
        directory.remove(&conn.original, state.worker);
    } else if directory.pass_on(conn.original, state.worker, to).is_err() {
        return false;
    }
    state.table.note_moved(reference);
    let mut flow = FlowHandover {
        destination: (conn.reply.src.into(), conn.reply.src_port),
        target: target.map(HandedTarget::from),
        first: true,
        hook: meta.hook,
        out_interface: snapshot.interface(meta.out_interface).map_or(0, |interface| interface.row),
        next_hop: meta.next_hop,
        table: snapshot.tables6().row(meta.table),
        marks: Marks { packet: 0, routing: 0, connection: 0 },
        new_dscp: None,
        fasttrack: false,
    };
    record_rule_results(state, meta, &mut flow, reference);
    attach(meta, (conn.original, flow), handovers_out, to);
    true
}

/// Hands over a later packet of a flow that an earlier packet of the same batch has moved, to the same worker.
pub(super) fn hand_over_packet<F>(
    state: &WorkerState<F>,
    meta: &mut Meta,
    handovers_out: &mut FlowHandovers,
    reference: ConnRef,
) -> bool {
    let Some(conn) = state.table.tuples(reference) else { return false };
    let home = steer(&conn.original, state.workers);
    let to = state.shared.directory.owner(&conn.original).unwrap_or(home);
    let Some((_, before)) = handovers_out.iter().find(|(original, _)| *original == conn.original) else {
        return false;
    };
    let mut flow = FlowHandover { first: false, ..*before };
    record_rule_results(state, meta, &mut flow, reference);
    attach(meta, (conn.original, flow), handovers_out, to);
    true
}

/// Copies the results of rules into the hand-over: marks, DSCP, fasttrack.
fn record_rule_results<F>(state: &WorkerState<F>, meta: &Meta, flow: &mut FlowHandover, reference: ConnRef) {
    flow.marks = Marks { packet: meta.mark, routing: meta.routing_mark, connection: meta.connection_mark };
    flow.new_dscp = meta.new_dscp;
    flow.fasttrack = state.table.hot(reference).is_some_and(|hot| hot.status.fasttrack());
}

/// Marks a packet as handed over, with the decisions made for its flow.
fn attach(meta: &mut Meta, flow: (Tuple, FlowHandover), handovers_out: &mut FlowHandovers, to: u32) {
    meta.tuple = flow.0;
    meta.flags |= flag::FLOW_MIGRATING;
    meta.queue = QueueRef::handover(handovers_out.len());
    meta.handovers += 1;
    meta.verdict = Verdict::Handover(to as u16);
    handovers_out.push(flow);
}

/// Hands a packet over once more, with the decisions that it arrived with: its flow has moved to a third worker
/// meanwhile.
pub(super) fn hand_over_again(meta: &mut Meta, handovers: &FlowHandovers, handovers_out: &mut FlowHandovers) {
    if let Some(flow) = flow(meta, handovers) {
        meta.queue = QueueRef::handover(handovers_out.len());
        handovers_out.push((meta.tuple, *flow));
    }
}

/// Discards the decisions that arrived with a packet: it has no connection here and passes all stages.
pub(super) fn drop_handover(meta: &mut Meta) {
    if meta.is(flag::FLOW_MIGRATING) {
        meta.flags &= !flag::FLOW_MIGRATING;
        meta.queue = QueueRef::NONE;
    }
}

/// Applies the decisions of another worker to a tracked packet and its connection. The next stage of the packet is
/// `src_nat`.
pub(super) fn apply_handover<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &mut Meta,
    handovers_in: &FlowHandovers,
) {
    let reference = meta.conn.filter(|_| meta.state != ConnectionState::Related);
    let conn = reference.and_then(|reference| Some((reference, state.table.tuples(reference)?)));
    let (Some(flow), Some((reference, conn))) = (flow(meta, handovers_in).copied(), conn) else {
        return drop_handover(meta);
    };
    let undecided = state.table.hot(reference).is_some_and(|hot| !hot.status.source_bound());
    let (address, port) = flow.destination;
    let mut reply = conn.original.reversed();
    (reply.src, reply.src_port) = (address.into(), port);
    if undecided {
        let translated = Some(reply).filter(|reply| *reply != conn.original.reversed());
        state.table.bind_destination(reference, translated);
        state.table.set_mark(reference, flow.marks.connection);
        if flow.fasttrack {
            state.table.set_fasttrack(reference);
        }
    }
    (meta.tuple.dst, meta.tuple.dst_port) = (reply.src, reply.src_port);
    meta.hook = flow.hook;
    meta.out_interface = snapshot.interface_index(flow.out_interface).unwrap_or(NO_INTERFACE);
    meta.next_hop = flow.next_hop;
    meta.table = snapshot.tables6().number_of(flow.table);
    (meta.mark, meta.routing_mark) = (flow.marks.packet, flow.marks.routing);
    (meta.connection_mark, meta.connection_mark_before) = (flow.marks.connection, flow.marks.connection);
    meta.new_dscp = flow.new_dscp;
    meta.conn_version = state.table.hot(reference).map_or(0, |hot| hot.version);
    meta.verdict = Verdict::DecidedElsewhere;
}

/// Removes from the directory, after a batch, the flows that moved to this worker but got no connection.
#[inline]
pub(crate) fn remove_unused<F: Frame>(state: &mut WorkerState<F>, batch: &mut Batch<F>) {
    for (original, _) in batch.flow_handovers_in.drain(..) {
        if state.table.find(&original).is_none() {
            state.shared.directory.remove(&original, state.worker);
        }
    }
}
