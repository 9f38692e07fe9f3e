//! Connection tracking: finds the connection of a packet, and the connection state that rules see.

use tollway_config::dataplane::ConnectionState;
use tollway_wire::{icmpv6, ipv4, ipv6};

use crate::flow::conntrack::tcp::Order;
use crate::flow::conntrack::{Flow, InvalidReason, Tracked, Transport};
use crate::flow::nat::icmp_error::embedded_tuple;
use crate::ids::{Direction, NO_ENTRY};
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::tuple::{icmp_kind, icmpv6_kind};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, Packet, flag};
use crate::pipeline::flow_handover;
use crate::pipeline::fragment_header::fragment_of;
use crate::pipeline::gateway_probe::is_answer;
use crate::pipeline::masqueraded::end_if_elsewhere;
use crate::pipeline::out_of_order::note_order;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::state::WorkerState;
use crate::pipeline::transport_checksum::is_intact;
use crate::snapshot::Snapshot;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    if pass.snapshot.gateway_checks().any() {
        each_slow(pass, |snapshot, state, packet| {
            let asked = packet.meta.verdict == Verdict::Continue && is_answer(snapshot, state, packet);
            if asked { StageOutcome::Drop(DropReason::GatewayAnswered) } else { StageOutcome::Skip }
        });
    }
    if !pass.snapshot.tracking() {
        return 0;
    }
    pass.state.table.begin_pass();
    let handovers_in = std::mem::take(&mut pass.batch.flow_handovers_in);
    let mut recirculated = Vec::new();
    let entered = each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue || packet.meta.is(flag::ROUTER_REPLY) {
            return StageOutcome::Skip;
        }
        if is_of_link(&packet.meta) {
            return StageOutcome::Next;
        }
        if is_first_answer(state, &packet.meta) {
            recirculated.push(for_another_pass(packet));
            return StageOutcome::Next;
        }
        let is_moved = packet.meta.is(flag::FLOW_MIGRATING);
        let Some(tracked) = track(snapshot, state, packet) else {
            packet.meta.state = ConnectionState::Invalid;
            flow_handover::drop_handover(&mut packet.meta);
            return StageOutcome::Next;
        };
        if tracked.reason == Some(InvalidReason::TableFull) {
            state.shared.log.connection_refused(state.now);
            return StageOutcome::Drop(DropReason::ConnectionTableFull);
        }
        note_order(state, &mut packet.meta, tracked.order);
        let meta = &mut packet.meta;
        (meta.state, meta.conn, meta.direction) = (tracked.state, tracked.conn, tracked.direction);
        if let Some(reference) = tracked.conn.filter(|_| tracked.direction == Direction::Reply) {
            // Replies go back to where the connection came from, by the routes of that zone.
            meta.tuple.zone = state.table.original_zone(reference);
        }
        if tracked.state != ConnectionState::Related
            && let Some(reference) = tracked.conn
        {
            let hot = state.table.hot(reference);
            meta.conn_version = hot.map_or(0, |hot| hot.version);
            if hot.is_some_and(|hot| !hot.status.source_bound()) {
                state.table.prefetch_reply(&meta.tuple);
            }
            state.table.count_slow(reference, tracked.direction, meta.segments, meta.wire_bytes());
            meta.connection_bytes = state.table.carried(reference.slot);
        }
        if is_moved {
            flow_handover::apply_handover(snapshot, state, meta, &handovers_in);
        }
        StageOutcome::Next
    });
    pass.batch.flow_handovers_in = handovers_in;
    pass.batch.packets.append(&mut recirculated);
    entered
}

/// Whether a packet is a message of neighbour or listener discovery, which belongs to no connection.
#[inline]
fn is_of_link(meta: &Meta) -> bool {
    meta.tuple.protocol == ipv6::ICMPV6 && meta.is_ipv6() && icmpv6::is_of_link(meta.tcp_flags_or_icmp_type)
}

/// Whether a packet without a connection travels in the reverse direction of a packet of this pass that has just opened
/// a connection. Only after this pass it is known how that connection is translated, and so whether this packet is a
/// reply.
#[inline]
fn is_first_answer<F>(state: &mut WorkerState<F>, meta: &Meta) -> bool {
    // A flow that has moved here is translated, so a packet with its reversed tuple is not a reply.
    const OTHERS: u32 = flag::RECIRCULATED | flag::FLOW_MIGRATING | flag::ICMP_ERROR;
    meta.entry == NO_ENTRY && !meta.is(OTHERS) && state.table.is_opened_from_other_side(&meta.tuple)
}

/// Takes a packet out of this pass, to be recirculated in the next one.
#[cold]
fn for_another_pass<F: Frame>(packet: &mut Packet<F>) -> Packet<F> {
    let again = Packet { frame: packet.frame.take(), vnet: packet.vnet, meta: packet.meta };
    (packet.meta.verdict, packet.meta.trace) = (Verdict::Held, 0);
    let meta = Meta { flags: again.meta.flags | flag::RECIRCULATED, ..again.meta };
    Packet { meta, ..again }
}

fn track<F: Frame>(snapshot: &Snapshot, state: &mut WorkerState<F>, packet: &Packet<F>) -> Option<Tracked> {
    let meta = &packet.meta;
    let head = packet.frame.as_ref()?.head();
    let related = |conn, direction| Tracked {
        state: ConnectionState::Related,
        conn,
        direction,
        reason: None,
        order: Order::InOrder,
    };
    if !is_intact(packet) {
        return None;
    }
    if meta.is(flag::ICMP_ERROR) {
        let embedded = embedded_tuple(head.get(usize::from(meta.l3)..)?, meta.tuple.zone)?;
        // The error must be addressed to the sender of the packet that it quotes. Otherwise a host could quote its own
        // flow to reach others.
        if embedded.src != meta.tuple.dst {
            return None;
        }
        let (conn, direction) = state.table.related(&embedded)?;
        return Some(related(Some(conn), direction));
    }
    // Neither a query nor an answer: it has no identifier by which it would belong to a connection.
    let has_kind = match (meta.tuple.protocol, meta.is_ipv6()) {
        (ipv4::ICMP, false) => icmp_kind(meta.tcp_flags_or_icmp_type).is_some(),
        (ipv6::ICMPV6, true) => icmpv6_kind(meta.tcp_flags_or_icmp_type).is_some(),
        _ => true,
    };
    if !has_kind {
        return None;
    }
    if meta.is(flag::LATER_FRAGMENT) && meta.tuple.protocol == ipv4::TCP {
        // The TCP header is in another fragment. This fragment belongs to the connection and only advances the end of
        // the data sent, which the peer acknowledges as a whole.
        let (_, range, _) = fragment_of(meta, head)?;
        let end = meta.sequence.wrapping_add(range.offset + range.len);
        return state.table.join(&meta.tuple, end, state.now);
    }
    let transport = Transport::read(meta, head)?;
    if state.table.is_purging() {
        state.table.purge_flow(&meta.tuple, |row, address| !snapshot.masquerades(row, address));
    }
    let flow = Flow { tuple: &meta.tuple, key: &meta.key, hash: meta.hash, entry: meta.entry };
    if meta.entry != NO_ENTRY && transport.may_open_anew() {
        end_if_elsewhere(snapshot, state, &flow, meta);
    }
    Some(state.table.track_flow(&flow, &transport, state.now, &snapshot.timeouts))
}
