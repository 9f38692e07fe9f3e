//! What the NAT rules of a chain say about the first packet of a connection; shared by `dst_nat` and
//! `src_nat`.

use crate::firewall::classifier::{Position, Rule, Verdict};
use crate::packet::frame::VnetState;
use crate::packet::{Hook, Meta};
use crate::pipeline::log;
use crate::pipeline::rules::{add_to_lists, view};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

/// The rule that decides, `None` when none does. Counts and logs the rules that matched: NAT rules count
/// first packets only. `head` is the front of the frame; `hook` decides which interfaces rules see.
pub(super) fn ask<'a, F>(
    snapshot: &'a Snapshot,
    state: &mut WorkerState<F>,
    meta: &Meta,
    vnet: &VnetState,
    head: &[u8],
    start: &Position,
    hook: Hook,
) -> Option<&'a Rule> {
    let mut view = view(state, meta, vnet, head, hook);
    let mut evaluation = state.evaluation.take().unwrap_or_default();
    snapshot.nat().evaluate(&mut view, start, &mut evaluation);
    if let Some(tracer) = &mut state.trace {
        tracer.nat_rules(meta.conn, &evaluation.matched);
    }
    for row in &evaluation.matched {
        state.paths.count_rule(*row, u64::from(meta.segments), meta.wire_bytes());
    }
    log::rules(snapshot, &state.shared, snapshot.nat(), &evaluation.logs, meta, &view, head);
    add_to_lists(state, snapshot.lists().0, &evaluation.adds);
    let verdict = evaluation.verdict;
    state.evaluation = Some(evaluation);
    match verdict {
        Verdict::Nat { rule } => snapshot.nat().rule(rule),
        Verdict::Accept | Verdict::Drop | Verdict::Reject(_) => None,
    }
}
