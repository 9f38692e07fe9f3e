//! Which queue takes a packet. Here the destination is the one after its translation, and the source the
//! one before its own: both directions of a flow are seen from the side of the LAN.

use crate::batch::Batch;
use crate::frame::{Frame, FrameSource};
use crate::packet::flag;
use crate::qos::forest::Context;
use crate::snapshot::Snapshot;
use crate::state::WorkerState;
use crate::tuple::Addr;
use crate::verdict::Verdict;

pub(crate) fn run<F: Frame, S: FrameSource<F>>(
    snapshot: &Snapshot,
    state: &mut WorkerState<F>,
    batch: &mut Batch<F>,
    _source: &mut S,
) -> u64 {
    if snapshot.queues().is_empty() {
        return 0;
    }
    let mut entered = 0;
    for at in 0..batch.slow.len() {
        let Some((_, packet)) = batch.slow_packet(at) else { continue };
        let meta = &mut packet.meta;
        if meta.verdict == Verdict::Continue && !meta.is(flag::BYPASS) {
            entered += 1;
            let utc_ns = state.utc_ns();
            let context = Context::default();
            let src = if meta.lan_src == 0 { meta.tuple.src } else { Addr::v4(meta.lan_src) };
            let stations = snapshot.queues().stations(src, meta.tuple.dst, &context, utc_ns);
            meta.lane = state.queues.lane(snapshot.forest(), &stations, context, state.now);
            meta.lan_src = src.as_v4().unwrap_or(0);
        }
    }
    entered
}
