//! Flows that move to the worker that can give them a reply tuple.
//!
//! The worker that the first packet is steered to asks the rules, up to those of source translation. If what they say
//! leaves no reply tuple of its own, it writes down in the directory who has the flow from then on, and hands the
//! packet over with what has been decided of it. The other worker makes the connection and goes on from there, so that
//! every rule is asked, counted and logged once.

use tollway_config::dataplane::ConnectionState;

use crate::flow::nat::Target;
use crate::ids::ConnRef;
use crate::ids::NO_INTERFACE;
use crate::ids::{Lane, Leads};
use crate::packet::frame::Frame;
use crate::packet::tuple::{Addr, Tuple, steer};
use crate::packet::verdict::Verdict;
use crate::packet::{MAX_HOPS, Meta, flag};
use crate::pipeline::batch::{Batch, Marks, Opening, Openings, TargetV4};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// The opening that came with a packet.
pub(super) fn opening<'a>(meta: &Meta, openings: &'a Openings) -> Option<&'a Opening> {
    let Leads::Ticket(number) = meta.lane.leads() else { return None };
    openings.get(number).filter(|_| meta.is(flag::MOVED)).map(|(_, opening)| opening)
}

/// Gives the flow of an unconfirmed connection, and the packet with it, to another worker. `false` when it cannot
/// move.
pub(super) fn give_away<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &mut Meta,
    moving: &mut Openings,
    (reference, to): (ConnRef, u32),
    target: Option<Target>,
) -> bool {
    let Some(conn) = state.table.tuples(reference) else { return false };
    // Only IPv4 is handed over.
    let (Some(_), Some(dst)) = (conn.original.src.as_v4(), conn.reply.src.as_v4()) else { return false };
    let target = match target.as_ref().map(TargetV4::of) {
        Some(None) => return false,
        target => target.flatten(),
    };
    let directory = &state.shared.directory;
    if meta.hops >= MAX_HOPS {
        return false;
    }
    if steer(&conn.original, state.workers) == to {
        // What is at home does not stand in the directory.
        directory.remove(&conn.original, state.worker);
    } else if directory.pass_on(conn.original, state.worker, to).is_err() {
        return false;
    }
    state.table.give_away(reference);
    let mut opening = Opening {
        destination: (dst, conn.reply.src_port),
        target,
        first: true,
        hook: meta.hook,
        out_interface: snapshot.interface(meta.out_interface).map_or(0, |interface| interface.row),
        next_hop: meta.next_hop,
        marks: Marks { packet: 0, routing: 0, connection: 0 },
        new_dscp: None,
        fasttrack: false,
    };
    follow(state, meta, &mut opening, reference);
    hand_over(meta, (conn.original, opening), moving, to);
    true
}

/// The same for a packet that comes after the first one, in the same batch.
pub(super) fn send_after<F>(
    state: &WorkerState<F>,
    meta: &mut Meta,
    moving: &mut Openings,
    reference: ConnRef,
) -> bool {
    let Some(conn) = state.table.tuples(reference) else { return false };
    let home = steer(&conn.original, state.workers);
    let to = state.shared.directory.owner(&conn.original).unwrap_or(home);
    let Some((_, before)) = moving.iter().find(|(original, _)| *original == conn.original) else {
        return false;
    };
    let mut opening = Opening { first: false, ..*before };
    follow(state, meta, &mut opening, reference);
    hand_over(meta, (conn.original, opening), moving, to);
    true
}

/// What rules have done to the packet.
fn follow<F>(state: &WorkerState<F>, meta: &Meta, opening: &mut Opening, reference: ConnRef) {
    opening.marks = Marks { packet: meta.mark, routing: meta.routing_mark, connection: meta.connection_mark };
    opening.new_dscp = meta.new_dscp;
    opening.fasttrack = state.table.line(reference).is_some_and(|line| line.status.fasttrack());
}

fn hand_over(meta: &mut Meta, opening: (Tuple, Opening), moving: &mut Openings, to: u32) {
    meta.tuple = opening.0;
    meta.flags |= flag::MOVED;
    meta.lane = Lane::ticket(moving.len());
    meta.hops += 1;
    meta.verdict = Verdict::Handover(to as u16);
    moving.push(opening);
}

/// A packet of a flow that has moved on meanwhile follows it, with what has been decided of it.
pub(super) fn go_on(meta: &mut Meta, openings: &Openings, moving: &mut Openings) {
    if let Some(opening) = opening(meta, openings) {
        meta.lane = Lane::ticket(moving.len());
        moving.push((meta.tuple, *opening));
    }
}

/// The packet is one like any other: it has no connection here.
pub(super) fn stay(meta: &mut Meta) {
    if meta.is(flag::MOVED) {
        meta.flags &= !flag::MOVED;
        meta.lane = Lane::NONE;
    }
}

/// Does to a tracked packet and to its connection what has been decided of it elsewhere. It goes on with
/// `src_nat`.
pub(super) fn take_in<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    index: usize,
) {
    let Some(packet) = batch.packets.get_mut(index) else { return };
    let meta = &mut packet.meta;
    let reference = meta.conn.filter(|_| meta.state != ConnectionState::Related);
    let conn = reference.and_then(|reference| Some((reference, state.table.tuples(reference)?)));
    let (Some(opening), Some((reference, conn))) = (opening(meta, &batch.openings).copied(), conn) else {
        return stay(meta);
    };
    let undecided = state.table.line(reference).is_some_and(|line| !line.status.source_bound());
    let (address, port) = opening.destination;
    let mut reply = conn.original.reversed();
    (reply.src, reply.src_port) = (Addr::v4(address), port);
    if undecided {
        let translated = Some(reply).filter(|reply| *reply != conn.original.reversed());
        state.table.bind_destination(reference, translated);
        state.table.set_mark(reference, opening.marks.connection);
        if opening.fasttrack {
            state.table.set_fasttrack(reference);
        }
    }
    (meta.tuple.dst, meta.tuple.dst_port) = (reply.src, reply.src_port);
    meta.hook = opening.hook;
    meta.out_interface = snapshot.interface_index(opening.out_interface).unwrap_or(NO_INTERFACE);
    meta.next_hop = opening.next_hop;
    (meta.mark, meta.routing_mark) = (opening.marks.packet, opening.marks.routing);
    (meta.connection_mark, meta.mark_before) = (opening.marks.connection, opening.marks.connection);
    meta.new_dscp = opening.new_dscp;
    meta.version = state.table.line(reference).map_or(0, |line| line.version);
    meta.verdict = Verdict::Resume;
}

/// After a batch: what came with a flow that moved here but has no connection leaves the directory.
#[inline]
pub(crate) fn settle<F: Frame>(state: &mut WorkerState<F>, batch: &mut Batch<F>) {
    for (original, _) in batch.openings.drain(..) {
        if state.table.find(&original).is_none() {
            state.shared.directory.remove(&original, state.worker);
        }
    }
}
