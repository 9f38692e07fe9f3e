//! Destination translation, before a packet is routed.

use crate::packet::frame::{Frame, FrameSource};
use crate::pipeline::nat;
use crate::pipeline::slow_path::Pass;

/// Runs the stage. Returns the number of packets that entered it.
pub(crate) fn run<F: Frame, S: FrameSource<F>>(pass: &mut Pass<'_, F, S>) -> u64 {
    nat::run::<F, S, false>(pass)
}
