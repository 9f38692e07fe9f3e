//! Which queue takes a packet. The destination is taken after, the source before translation, so that queues see the
//! LAN addresses in both directions of a flow.

use crate::firewall::rules::OutcomeValidity;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::tuple::Addr;
use crate::packet::verdict::Verdict;
use crate::packet::{Meta, flag};
use crate::pipeline::out_of_order::count_out_of_order;
use crate::pipeline::rules::limit_validity;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;
use crate::time::Now;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    if pass.snapshot.queues.is_empty() {
        return 0;
    }
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue {
            return StageOutcome::Skip;
        }
        classify(snapshot, state, &mut packet.meta);
        count_out_of_order(state, &mut packet.meta);
        StageOutcome::Next
    })
}

fn classify<F: Frame>(snapshot: &Snapshot, state: &mut WorkerState<F>, meta: &mut Meta) {
    let context = snapshot.queue_context(meta);
    if meta.is(flag::BYPASS) {
        let classes = snapshot.queues.interface_path_classes(&context);
        meta.queue = state.queues.queue_ref(&snapshot.forest, &classes, context, state.now);
        return;
    }
    let src = if meta.untranslated_src != 0 {
        Addr::v4(meta.untranslated_src)
    } else if meta.is_ipv6() && meta.is(flag::TRANSLATED) {
        let translation = meta.conn.and_then(|conn| state.table.translation(conn, meta.direction));
        translation.map_or(meta.tuple.src, |(received, _)| received.src)
    } else {
        meta.tuple.src
    };
    let (classes, holds_ns) = snapshot.queues.path_classes_for(src, meta.tuple.dst, &context, state.utc_ns());
    meta.queue = state.queues.queue_ref(&snapshot.forest, &classes, context, state.now);
    meta.untranslated_src = src.as_v4().unwrap_or(0);
    if holds_ns != u64::MAX {
        let until = Now(state.now.0.saturating_add(holds_ns));
        limit_validity(state, meta, &OutcomeValidity { until, ..OutcomeValidity::default() });
    }
}
