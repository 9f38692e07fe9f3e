//! Mangle before the source is translated: the chain `postrouting`.

use crate::firewall::rules::TableKind;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::Verdict;
use crate::packet::{Hook, flag};
use crate::pipeline::mangle::change;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    if !pass.snapshot.has_rules(|rules| &rules.mangle) {
        return 0;
    }
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue || packet.meta.is(flag::TO_ROUTER | flag::BYPASS) {
            return StageOutcome::Skip;
        }
        let Some(start) = snapshot.start_for(&packet.meta, TableKind::Mangle, Hook::Postrouting) else {
            return StageOutcome::Skip;
        };
        change(snapshot, state, packet, start, Hook::Postrouting);
        StageOutcome::Next
    })
}
