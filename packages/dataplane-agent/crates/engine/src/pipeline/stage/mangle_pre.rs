//! Mangle before the destination is translated: the chain `prerouting`.

use crate::packet::frame::{Frame, FrameSource};
use crate::packet::verdict::Verdict;
use crate::packet::{Hook, Origin};
use crate::pipeline::batch::Batch;
use crate::pipeline::stage::mangle::{change, may_bypass};
use crate::pipeline::state::WorkerState;
use crate::snapshot::Snapshot;

pub(crate) fn run<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    _source: &mut S,
) -> u64 {
    if !snapshot.knows_marks() {
        return 0;
    }
    let mut entered = 0;
    for at in 0..batch.slow.len() {
        let Some((_, packet)) = batch.slow_packet(at) else { continue };
        if packet.meta.verdict != Verdict::Continue {
            continue;
        }
        if let Some(reference) = packet.meta.conn {
            packet.meta.connection_mark = state.table.mark(reference);
            packet.meta.mark_before = packet.meta.connection_mark;
        }
        let Some(start) = snapshot.prerouting().filter(|_| packet.meta.origin == Origin::Port) else {
            continue;
        };
        if may_bypass(snapshot, state, &packet.meta) {
            continue;
        }
        entered += 1;
        change(snapshot, state, packet, start, Hook::Input);
    }
    entered
}
