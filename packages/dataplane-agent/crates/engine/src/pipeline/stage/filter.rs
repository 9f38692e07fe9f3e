//! The firewall filter: input, forward or output.

use crate::firewall::rules::{RuleVerdict, TableKind};
use crate::packet::flag;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::{DropReason, Verdict};
use crate::pipeline::rules::evaluate_filter;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    if !pass.snapshot.has_rules(|rules| &rules.filter) {
        return 0;
    }
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue {
            return StageOutcome::Skip;
        }
        let start = snapshot
            .start_for(&packet.meta, TableKind::Filter, packet.meta.hook)
            .filter(|_| !packet.meta.is(flag::BYPASS));
        let Some(start) = start else { return StageOutcome::Next };
        let head = packet.frame.as_ref().map(|frame| frame.head()).unwrap_or_default();
        match evaluate_filter(snapshot, state, &mut packet.meta, &packet.vnet, head, start) {
            RuleVerdict::Accept | RuleVerdict::Nat { .. } => StageOutcome::Next,
            RuleVerdict::Drop => StageOutcome::Drop(DropReason::FilterDrop),
            RuleVerdict::Reject(with) => StageOutcome::Reject(with),
        }
    })
}
