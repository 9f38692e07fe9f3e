//! A queue of frames that counts the waiting frames, segments and bytes.

use super::{Load, footprint, split_off};
use crate::packet::frame::Frame;
use crate::qos::slab::{NodeId, NodeQueue, Slab};

/// Frames in order.
#[derive(Debug, Clone, Copy, Default)]
pub struct FrameQueue {
    nodes: NodeQueue,
    load: Load,
}

impl FrameQueue {
    /// The frames that wait.
    #[inline]
    pub fn load(&self) -> Load {
        self.load
    }

    /// Whether nothing waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.load.frames == 0
    }

    /// Appends a frame. Returns its load.
    #[inline]
    pub fn push<F>(&mut self, slab: &mut Slab<F>, node: NodeId) -> Load {
        let load = Load::of(slab, node);
        self.load = self.load.plus(load);
        self.nodes.push(slab, node);
        load
    }

    /// Takes the first frame.
    #[inline]
    pub fn pop<F>(&mut self, slab: &mut Slab<F>) -> Option<(NodeId, Load)> {
        let node = self.nodes.pop(slab)?;
        let load = Load::of(slab, node);
        self.load = self.load.minus(load);
        Some((node, load))
    }

    /// The last frame.
    #[inline]
    pub fn last(&self) -> Option<NodeId> {
        self.nodes.last()
    }

    /// Replaces the last frame by the one at `node`, which keeps the place of the last one.
    pub fn replace_last<F>(&mut self, slab: &mut Slab<F>, node: NodeId) {
        if let Some(last) = self.nodes.last() {
            self.load = self.load.minus(Load::of(slab, last)).plus(Load::of(slab, node));
            slab.swap(last, node);
        }
    }

    /// Moves the frames for which `pick` holds to `to`. Returns their load.
    pub fn take_out<F>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        let taken = split_off(&mut self.nodes, slab, to, pick);
        self.load = self.load.minus(taken);
        taken
    }

    /// Takes frames out like [`Self::take_out`]. Returns also their memory, bytes.
    pub fn take_out_weighed<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> (Load, u64) {
        let mut memory = 0;
        let taken = self.take_out(slab, to, &mut |slab: &Slab<F>, node| {
            let goes = pick(slab, node);
            memory += if goes { footprint(slab, node) } else { 0 };
            goes
        });
        (taken, memory)
    }
}
