//! Mangle: the chains input, forward or output. Marks the packets that skip rules and queues with
//! `fasttrack-mode=bypass`.

use crate::firewall::rules::TableKind;
use crate::flow::paths::ROOT;
use crate::packet::count::Count;
use crate::packet::family::Family;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::membership_slot::MembershipSlot;
use crate::packet::verdict::Verdict;
use crate::packet::{Hook, Meta, flag};
use crate::pipeline::mangle::change;
use crate::pipeline::masqueraded::{open_own_anew_if_elsewhere, routed_by_marks};
use crate::pipeline::routing::Refusal;
use crate::pipeline::rules::may_bypass;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::state::WorkerState;
use crate::pipeline::{ipv4_route, ipv6_route};
use crate::snapshot::Snapshot;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    let bypass = Family::ALL.iter().any(|family| pass.snapshot.fasttrack_bypasses(*family));
    let marks_route = routed_by_marks(pass.snapshot);
    if !pass.snapshot.has_rules(|rules| &rules.mangle) && !bypass {
        return 0;
    }
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue || bypass && bypasses(snapshot, state, &mut packet.meta) {
            return StageOutcome::Skip;
        }
        let hook = packet.meta.hook;
        let Some(start) = snapshot.start_for(&packet.meta, TableKind::Mangle, hook) else {
            return StageOutcome::Skip;
        };
        let mark = packet.meta.routing_mark;
        change(snapshot, state, packet, start, hook);
        if hook != Hook::Output {
            return StageOutcome::Next;
        }
        if packet.meta.routing_mark != mark {
            match route_again(snapshot, state, &mut packet.meta) {
                Ok(()) => {}
                Err((reason, None)) => return StageOutcome::Drop(reason),
                Err((reason, Some(error))) => return StageOutcome::Error(reason, error),
            }
        }
        match marks_route.then(|| open_own_anew_if_elsewhere(snapshot, state, packet)) {
            None | Some(Ok(())) => StageOutcome::Next,
            Some(Err(reason)) => StageOutcome::Drop(reason),
        }
    })
}

/// Routes a packet of the router itself by the mark that a rule has set. Its source stays (ip-rule(8)). A packet to the
/// router itself, or to all stations of a link, goes where it was to go.
fn route_again<F>(snapshot: &Snapshot, state: &WorkerState<F>, meta: &mut Meta) -> Result<(), Refusal> {
    if meta.is(flag::TO_ROUTER | flag::BROADCAST) {
        return Ok(());
    }
    match meta.is_ipv6() {
        true => ipv6_route::decide(snapshot, &state.shared, meta),
        false => ipv4_route::decide(snapshot, meta),
    }
}

/// Whether a packet skips the rules, and later all queues except those of the interface. Counts it as fasttracked.
fn bypasses<F>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &mut Meta) -> bool {
    if meta.hook != Hook::Forward || !may_bypass(snapshot, state, meta) {
        return false;
    }
    let Some(reference) = meta.conn else { return false };
    let (packets, bytes) = (meta.segments, meta.wire_bytes());
    state.table.count_fasttracked(reference, meta.direction, packets, bytes);
    let count = Count { packets: packets.into(), bytes };
    state.fasttrack.add(count);
    if meta.is_ipv6() {
        state.ipv6_fasttrack.add(count);
    }
    meta.flags |= flag::BYPASS;
    (meta.cacheable_path, meta.resume, meta.validity) = (ROOT, 0, 0);
    (meta.lists, meta.mark) = ([MembershipSlot::NONE; 2], 0);
    true
}
