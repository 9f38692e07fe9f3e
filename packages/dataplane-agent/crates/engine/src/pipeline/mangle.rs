//! Common part of the three mangle stages: evaluates the rules, and applies the changes that they ask for.

use crate::firewall::rules::{Changes, Position};
use crate::packet::frame::Frame;
use crate::packet::{Hook, Packet};
use crate::pipeline::header_changes::{lower_mss, mss_for, set_dscp};
use crate::pipeline::rules::{RuleQuery, evaluate_rules};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// Evaluates the rules from `start` on, and applies their changes to the packet and its connection.
pub(super) fn change<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    start: &Position,
    hook: Hook,
) {
    let query = RuleQuery { table: &snapshot.rules_for(&packet.meta).mangle, start, hook, resumes: false };
    let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
    let (_, changes) = evaluate_rules(snapshot, state, &mut packet.meta, &packet.vnet, head, &query);
    if changes != Changes::default() {
        apply(snapshot, state, packet, &changes);
    }
}

fn apply<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    changes: &Changes,
) {
    let meta = &mut packet.meta;
    meta.mark = changes.packet_mark.unwrap_or(meta.mark);
    meta.routing_mark = changes.routing_mark.unwrap_or(meta.routing_mark);
    if let (Some(mark), Some(reference)) = (changes.connection_mark, meta.conn) {
        meta.connection_mark = mark;
        state.table.set_mark(reference, mark);
    }
    let Some(frame) = &mut packet.frame else { return };
    let family = meta.family();
    if let Some(dscp) = changes.dscp {
        set_dscp(family, frame.head_mut().get_mut(usize::from(meta.l3)..).unwrap_or_default(), dscp);
        meta.new_dscp = Some(dscp);
    }
    // The MSS limits segments of the opposite direction, which use both interfaces, too.
    let interfaces = [meta.in_interface, meta.out_interface].into_iter().filter(|_| changes.clamp_mss);
    let mtus =
        interfaces.filter_map(|interface| snapshot.interface(interface)).map(|interface| interface.mtu);
    let clamped = mtus.min().map(|mtu| mss_for(family, mtu));
    if let Some(most) = changes.mss.into_iter().chain(clamped).min() {
        lower_mss(meta, frame.head_mut(), most, packet.vnet.needs_csum);
    }
}
