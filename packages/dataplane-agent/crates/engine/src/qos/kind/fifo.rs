//! First in, first out: `pfifo` and `mq-pfifo`, bounded in packets, `bfifo`, bounded in bytes, and `none`, where a
//! packet waits alone. What comes while the bound is reached is refused.

use tollway_config::dataplane::QueueType;

use super::{Discipline, End, Load, Next, split_off};
use crate::packet::frame::Frame;
use crate::qos::slab::{Fifo as Line, NodeId, Slab, Waiting};
use crate::time::Now;

/// What bounds a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bound {
    /// Wire segments.
    Packets(u32),
    /// L3 bytes.
    Bytes(u64),
}

impl Bound {
    fn of(config: &QueueType) -> Option<Self> {
        match config {
            QueueType::None => Some(Self::Packets(1)),
            QueueType::Pfifo { limit } | QueueType::MqPfifo { limit } => Some(Self::Packets(*limit)),
            QueueType::Bfifo { limit } => Some(Self::Bytes(*limit)),
            _ => None,
        }
    }
}

/// The queue.
#[derive(Debug)]
pub struct Fifo {
    line: Line,
    load: Load,
    bound: Bound,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { line: Line::default(), load: Load::default(), bound: Bound::Packets(1) }
    }
}

impl Discipline for Fifo {
    fn new(config: &QueueType, _seed: u64) -> Option<Self> {
        Bound::of(config).map(|bound| Self { bound, ..Self::default() })
    }

    fn change(&mut self, config: &QueueType) -> bool {
        let bound = Bound::of(config);
        self.bound = bound.unwrap_or(self.bound);
        bound.is_some()
    }

    #[inline]
    fn load(&self) -> Load {
        self.load
    }

    #[inline]
    fn admits(&self, frame: Load, covered: Load) -> bool {
        let all = self.load.minus(covered).plus(frame);
        match self.bound {
            Bound::Packets(limit) => all.segments <= limit,
            Bound::Bytes(limit) => all.bytes <= limit,
        }
    }

    fn together(&self, segment_bytes: u64) -> u32 {
        match self.bound {
            Bound::Packets(limit) => limit,
            Bound::Bytes(limit) => u32::try_from(limit / segment_bytes).unwrap_or(u32::MAX),
        }
    }

    #[inline]
    fn fetch<F>(&self, slab: &Slab<F>, end: End) {
        let node = match end {
            End::First => self.line.first(),
            End::Last => self.line.last(),
        };
        if let Some(node) = node {
            slab.fetch(node);
        }
    }

    #[inline]
    fn offer<F: Frame>(&mut self, slab: &mut Slab<F>, node: NodeId, _now: Now, _gone: &mut Line) -> NodeId {
        self.load = self.load.plus(Load::of(slab, node));
        self.line.push(slab, node);
        node
    }

    #[inline]
    fn next<F: Frame>(&mut self, slab: &mut Slab<F>, _now: Now, _gone: &mut Line) -> Next {
        let Some(node) = self.line.pop(slab) else { return Next::Empty };
        self.load = self.load.minus(Load::of(slab, node));
        Next::Packet(node)
    }

    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut Line,
        pick: &mut impl FnMut(&Waiting<F>) -> bool,
    ) -> Load {
        let taken = split_off(&mut self.line, slab, to, pick);
        self.load = self.load.minus(taken);
        taken
    }

    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut Line) {
        if let Next::Packet(node) = self.next(slab, Now(0), &mut Line::default()) {
            gone.push(slab, node);
        }
    }
}
