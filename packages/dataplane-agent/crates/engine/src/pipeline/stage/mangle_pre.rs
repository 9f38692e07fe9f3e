//! Mangle before the destination is translated: the chain `prerouting`.

use crate::firewall::rules::TableKind;
use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::Verdict;
use crate::packet::{Hook, Origin};
use crate::pipeline::mangle::change;
use crate::pipeline::rules::may_bypass;
use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    if !pass.snapshot.knows_marks {
        return 0;
    }
    each_slow(pass, |snapshot, state, packet| {
        if packet.meta.verdict != Verdict::Continue {
            return StageOutcome::Skip;
        }
        if let Some(reference) = packet.meta.conn {
            packet.meta.connection_mark = state.table.mark(reference);
            packet.meta.connection_mark_before = packet.meta.connection_mark;
        }
        let start = snapshot
            .start_for(&packet.meta, TableKind::Mangle, Hook::Prerouting)
            .filter(|_| packet.meta.origin == Origin::Port);
        let Some(start) = start.filter(|_| !may_bypass(snapshot, state, &packet.meta)) else {
            return StageOutcome::Skip;
        };
        change(snapshot, state, packet, start, Hook::Prerouting);
        StageOutcome::Next
    })
}
