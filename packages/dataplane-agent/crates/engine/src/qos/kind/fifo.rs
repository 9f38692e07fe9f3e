//! First in, first out: `pfifo` and `mq-pfifo`, bounded in packets, `bfifo`, bounded in bytes, and `none`, where at
//! most one packet waits. A packet that arrives while the limit is reached is refused.

use tollway_config::dataplane::QueueType;

use super::{Dequeued, End, Load, Qdisc, split_off};
use crate::packet::frame::Frame;
use crate::qos::slab::{NodeId, NodeQueue, Slab};
use crate::time::Now;

/// The bound of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    /// Wire segments.
    Packets(u32),
    /// L3 bytes.
    Bytes(u64),
}

impl Limit {
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
    queue: NodeQueue,
    load: Load,
    limit: Limit,
}

impl Default for Fifo {
    fn default() -> Self {
        Self { queue: NodeQueue::default(), load: Load::default(), limit: Limit::Packets(1) }
    }
}

impl Qdisc for Fifo {
    fn new(config: &QueueType, _seed: u64) -> Option<Self> {
        Limit::of(config).map(|limit| Self { limit, ..Self::default() })
    }

    fn change(&mut self, config: &QueueType) -> bool {
        let limit = Limit::of(config);
        self.limit = limit.unwrap_or(self.limit);
        limit.is_some()
    }

    #[inline]
    fn load(&self) -> Load {
        self.load
    }

    #[inline]
    fn admits(&self, frame: Load, covered: Load) -> bool {
        let all = self.load.minus(covered).plus(frame);
        match self.limit {
            Limit::Packets(limit) => all.segments <= limit,
            Limit::Bytes(limit) => all.bytes <= limit,
        }
    }

    fn max_segments(&self, segment_bytes: u64) -> u32 {
        match self.limit {
            Limit::Packets(limit) => limit,
            Limit::Bytes(limit) => u32::try_from(limit / segment_bytes).unwrap_or(u32::MAX),
        }
    }

    #[inline]
    fn prefetch<F>(&self, slab: &Slab<F>, end: End) {
        let node = match end {
            End::First => self.queue.first(),
            End::Last => self.queue.last(),
        };
        if let Some(node) = node {
            slab.prefetch(node);
        }
    }

    #[inline]
    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        _now: Now,
        _gone: &mut NodeQueue,
    ) -> NodeId {
        self.load = self.load.plus(Load::of(slab, node));
        self.queue.push(slab, node);
        node
    }

    #[inline]
    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, _now: Now, _gone: &mut NodeQueue) -> Dequeued {
        let Some(node) = self.queue.pop(slab) else { return Dequeued::Empty };
        self.load = self.load.minus(Load::of(slab, node));
        Dequeued::Packet(node)
    }

    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        let taken = split_off(&mut self.queue, slab, to, pick);
        self.load = self.load.minus(taken);
        taken
    }

    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
        if let Dequeued::Packet(node) = self.dequeue(slab, Now(0), &mut NodeQueue::default()) {
            gone.push(slab, node);
        }
    }
}
