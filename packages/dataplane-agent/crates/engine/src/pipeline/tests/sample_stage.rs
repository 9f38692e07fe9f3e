//! The stage that docs/adding/stage.md would add for packets with IP options, which it drops. It is compiled with the
//! tests, by the macro that makes the stages of the router, so that the page stays true.

use std::sync::Arc;

use tollway_testkit::RouterConfig;

use super::super::{
    Batch, CycleClock, Frame, FrameSource, Pass, ProfilerClass, Snapshot, StageInfo, StageRuns, WorkerState,
};
use crate::observe::profiler::NoCycles;
use crate::packet::flag;
use crate::packet::frame::{HeapFrame, HeapFrames, VnetState};
use crate::packet::verdict::{DropReason, Verdict};
use crate::shared::Shared;
use crate::{Engine, EngineLimits};

mod stage {
    pub(crate) mod sample {
        use crate::packet::flag;
        use crate::packet::frame::{Frame, FrameSource};
        use crate::packet::verdict::{DropReason, Verdict};
        use crate::pipeline::slow_path::{Pass, StageOutcome, each_slow};

        pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
            each_slow(pass, |_, _, packet| {
                if packet.meta.verdict != Verdict::Continue {
                    StageOutcome::Skip
                } else if packet.meta.is(flag::OPTIONS) {
                    StageOutcome::Drop(DropReason::BadIpOptions)
                } else {
                    StageOutcome::Next
                }
            })
        }
    }
}

/// A trace has no decision of a stage that is not the router's.
mod trace_packets {
    use super::{Batch, Frame, Snapshot, Stage, WorkerState};

    pub(super) fn after<F: Frame>(_: Stage, _: &Snapshot, _: &WorkerState<F>, _: &Batch<F>) {}
}

stages! {
    Sample sample SlowPath Networking "Drops packets with IP options."
        [BadIpOptions];
}

#[test]
fn a_stage_drops_what_it_says_and_is_counted() {
    let config = RouterConfig::new().config;
    let snapshot = Arc::new(Snapshot::build(&config, &[], 1, 1).expect("an empty configuration"));
    let limits = EngineLimits { max_connections: 1, queue_frames: 1, queue_bytes: 1 << 20 };
    let mut engine = Engine::new(0, 1, Arc::new(Shared::new(1, 7)), snapshot, limits);
    let (snapshot, state) = engine.offload_parts();
    let mut batch = Batch::new();
    for flags in [0, flag::OPTIONS, flag::OPTIONS] {
        batch.push_rx(HeapFrame(vec![0; 64]), 0, VnetState::default());
        let index = batch.packets.len() - 1;
        batch.packets[index].meta.flags = flags;
        batch.slow.push(index as u32);
    }
    batch.packets[2].meta.verdict = Verdict::Forward;
    run(snapshot, state, &mut batch, &mut HeapFrames, &NoCycles);
    let verdicts: Vec<Verdict> = batch.packets.iter().map(|packet| packet.meta.verdict).collect();
    assert_eq!(verdicts, [Verdict::Continue, Verdict::Drop(DropReason::BadIpOptions), Verdict::Forward]);
    assert_eq!(state.drops[DropReason::BadIpOptions as usize], 1);
    assert_eq!((STAGES[0].name, state.stages[0].packets), ("sample", 2));
}
