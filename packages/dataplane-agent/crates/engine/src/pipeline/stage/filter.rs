//! The firewall filter: input, forward or output.

use crate::firewall::classifier::TableKind;
use crate::pipeline::slow_path::Pass;
use crate::pipeline::slow_path::StageOutcome;
use crate::pipeline::slow_path::each_slow;

use crate::firewall::classifier::{Position, RuleVerdict};
use crate::packet::frame::{Frame, FrameSource, VnetState};
use crate::packet::verdict::{DropReason, Verdict};
use crate::packet::{Meta, flag};
use crate::pipeline::rules::{RuleQuery, evaluate_rules};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    if pass.snapshot.filter.is_empty() {
        return 0;
    }
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue {
            return StageOutcome::Skip;
        }
        let start =
            snapshot.start(TableKind::Filter, packet.meta.hook).filter(|_| !packet.meta.is(flag::BYPASS));
        let Some(start) = start else { return StageOutcome::Next };
        let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
        match decide(snapshot, state, &mut packet.meta, &packet.vnet, head, start) {
            RuleVerdict::Accept | RuleVerdict::Nat { .. } => StageOutcome::Next,
            RuleVerdict::Drop => StageOutcome::Drop(DropReason::FilterDrop),
            RuleVerdict::Reject(with) => StageOutcome::Reject(with),
        }
    })
}

/// Runs a packet through the filter from `start`, with everything the rules do beside the verdict.
pub(crate) fn decide<F>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    meta: &mut Meta,
    vnet: &VnetState,
    head: &[u8],
    start: &Position,
) -> RuleVerdict {
    let hook = meta.hook;
    let query = RuleQuery { table: &snapshot.filter, start, hook, resumes: snapshot.filter_resumes };
    evaluate_rules(snapshot, state, meta, vnet, head, &query).0
}
