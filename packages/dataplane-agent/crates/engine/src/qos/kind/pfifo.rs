//! First in, first out, bounded in packets: what comes while the bound is reached is refused.

use crate::qos::slab::{Fifo, NodeId, Slab};

/// The queue.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pfifo {
    fifo: Fifo,
    /// Wire segments that may wait.
    limit: u32,
    /// Wire segments that wait.
    segments: u32,
}

impl Pfifo {
    /// An empty queue for `limit` wire segments.
    pub fn new(limit: u32) -> Self {
        Self { fifo: Fifo::default(), limit, segments: 0 }
    }

    /// Takes another bound; what waits stays.
    pub fn change(&mut self, limit: u32) {
        self.limit = limit;
    }

    /// Wire segments that may wait.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Whether there is room for a frame of so many wire segments.
    pub fn admits(&self, segments: u32) -> bool {
        self.segments.saturating_add(segments) <= self.limit
    }

    /// Puts a frame in, at the end; [`Self::admits`] was asked.
    pub fn offer<F>(&mut self, slab: &mut Slab<F>, node: NodeId, segments: u32) {
        self.fifo.push(slab, node);
        self.segments = self.segments.saturating_add(segments);
    }

    /// Takes the frame that goes first.
    pub fn next<F>(&mut self, slab: &mut Slab<F>) -> Option<NodeId> {
        let node = self.fifo.pop(slab)?;
        self.segments = self.segments.saturating_sub(slab.get(node).map_or(0, |waiting| waiting.segments));
        Some(node)
    }

    /// Takes out what `gone` says, in order, and puts it into `to`. Says how many wire segments and bytes.
    pub fn take_out<F>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut Fifo,
        mut gone: impl FnMut(&crate::qos::slab::Waiting<F>) -> bool,
    ) -> (u32, u64) {
        let mut stay = Fifo::default();
        let mut taken = (0u32, 0u64);
        while let Some(node) = self.fifo.pop(slab) {
            let Some(waiting) = slab.get(node) else { continue };
            if gone(waiting) {
                taken = (taken.0.saturating_add(waiting.segments), taken.1 + waiting.bytes);
                to.push(slab, node);
            } else {
                stay.push(slab, node);
            }
        }
        self.fifo = stay;
        self.segments = self.segments.saturating_sub(taken.0);
        taken
    }

    /// Frames that wait.
    pub fn frames(&self) -> u32 {
        self.fifo.len()
    }

    /// Wire segments that wait.
    pub fn segments(&self) -> u32 {
        self.segments
    }
}
