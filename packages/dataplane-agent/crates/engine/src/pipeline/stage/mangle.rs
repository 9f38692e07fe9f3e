//! Mangle: input, forward or output; and what `prerouting` and `postrouting` share with them.

use crate::firewall::classifier::TableKind;
use crate::firewall::classifier::{Changes, Position};
use crate::flow::conntrack::HotState;
use crate::flow::paths::ROOT;
use crate::packet::Packet;
use crate::packet::count::Count;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::membership_slot::MembershipSlot;
use crate::packet::verdict::Verdict;
use crate::packet::{Hook, Meta, flag};
use crate::pipeline::header_changes::{lower_mss, mss_for, set_dscp};
use crate::pipeline::rules::{RuleQuery, evaluate_rules};
use crate::pipeline::slow_path::Pass;
use crate::pipeline::slow_path::StageOutcome;
use crate::pipeline::slow_path::each_slow;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    let bypass = pass.snapshot.fasttrack_bypasses();
    if pass.snapshot.mangle.is_empty() && !bypass {
        return 0;
    }
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue || bypass && bypasses(snapshot, state, &mut packet.meta) {
            return StageOutcome::Skip;
        }
        let hook = packet.meta.hook;
        let Some(start) = snapshot.start(TableKind::Mangle, hook) else { return StageOutcome::Skip };
        change(snapshot, state, packet, start, hook);
        StageOutcome::Next
    })
}

/// Whether a packet would skip the rules if it is to be forwarded: with `fasttrack-mode=bypass` those of TCP and UDP
/// connections with the mark, unless they are of the kinds that always take the slow path (SYN, FIN, RST, fragments,
/// IP options, ICMP errors).
pub(crate) fn may_bypass<F>(snapshot: &Snapshot, state: &WorkerState<F>, meta: &Meta) -> bool {
    const SLOW: u32 = flag::SLOW | flag::FRAGMENT | flag::ICMP_ERROR | flag::ROUTER_REPLY;
    let marked = |hot: &HotState| hot.status.fasttrack();
    snapshot.fasttrack_bypasses()
        && !meta.is(SLOW)
        && !meta.closes()
        && meta.conn.and_then(|reference| state.table.hot(reference)).is_some_and(marked)
}

/// Whether a packet skips the rules, and later the queues but those of the interface. Counted with the fasttracked
/// ones.
fn bypasses<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &mut Meta) -> bool {
    if meta.hook != Hook::Forward || !may_bypass(snapshot, state, meta) {
        return false;
    }
    let Some(reference) = meta.conn else { return false };
    let (packets, bytes) = (meta.segments, meta.wire_bytes());
    state.table.count_fasttracked(reference, meta.direction, packets, bytes);
    state.fasttrack.add(Count { packets: packets.into(), bytes });
    meta.flags |= flag::BYPASS;
    (meta.cacheable_path, meta.resume, meta.validity) = (ROOT, 0, 0);
    (meta.lists, meta.mark) = ([MembershipSlot::NONE; 2], 0);
    true
}

/// Evaluates the rules from `start` on, and applies their changes to the packet and its connection.
pub(super) fn change<F: Frame>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    packet: &mut Packet<F>,
    start: &Position,
    hook: Hook,
) {
    let query = RuleQuery { table: &snapshot.mangle, start, hook, resumes: false };
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
    if let Some(dscp) = changes.dscp {
        set_dscp(frame.head_mut().get_mut(usize::from(meta.l3)..).unwrap_or_default(), dscp);
        meta.new_dscp = Some(dscp);
    }
    // The MSS limits segments of the opposite direction, which use both interfaces, too.
    let ways = [meta.in_interface, meta.out_interface].into_iter().filter(|_| changes.clamp_mss);
    let mtus = ways.filter_map(|interface| snapshot.interface(interface)).map(|interface| interface.mtu);
    let clamped = mtus.min().map(mss_for);
    if let Some(most) = changes.mss.into_iter().chain(clamped).min() {
        lower_mss(meta, frame.head_mut(), most, packet.vnet.needs_csum);
    }
}
