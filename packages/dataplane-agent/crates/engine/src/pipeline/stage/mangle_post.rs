//! Mangle before the source is translated: the chain `postrouting`.

use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::Verdict;
use crate::packet::{Hook, flag};
use crate::pipeline::batch::Batch;
use crate::pipeline::stage::mangle::change;
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

pub(crate) fn run<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    _source: &mut S,
) -> u64 {
    let Some(start) = snapshot.postrouting() else { return 0 };
    let mut entered = 0;
    for at in 0..batch.slow.len() {
        let Some((_, packet)) = batch.slow_packet(at) else { continue };
        if packet.meta.verdict != Verdict::Continue || packet.meta.is(flag::TO_ROUTER | flag::BYPASS) {
            continue;
        }
        entered += 1;
        change(snapshot, state, packet, start, Hook::Forward);
    }
    entered
}
