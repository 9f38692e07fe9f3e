//! Flow queues under controlled delay (RFC 8290): a queue for each bucket that flows are hashed into, served by deficit
//! round robin, new queues first.

use tollway_config::dataplane::QueueType;

use super::codel::{Control, Params};
use super::frame_queue::FrameQueue;
use super::header::HeaderFields;
use super::pool::{Lengths, Pool, SubQueueList};
use super::{Dequeued, LEAST_TURN, Load, Qdisc, footprint};
use crate::packet::frame::Frame;
use crate::qos::slab::{NodeId, NodeQueue, Slab};
use crate::time::Now;

/// Frames that are dropped in one go when too many wait (RFC 8290 §4.1.3).
const BATCH: u32 = 64;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum FlowList {
    /// In neither list: nothing waits.
    #[default]
    Idle,
    /// In the list of new flows.
    New,
    /// In the list of old flows.
    Old,
}

#[derive(Debug, Default)]
struct Flow {
    queue: FrameQueue,
    control: Control,
    /// Bytes it may send before its turn ends.
    deficit: i64,
    bucket: u32,
    list: FlowList,
}

/// The kind.
#[derive(Debug)]
pub struct FqCodel {
    flows: Pool<Flow>,
    /// Flows by waiting bytes.
    lengths: Lengths,
    new: SubQueueList,
    old: SubQueueList,
    /// Idle flows, the one that has been idle longest first.
    idle: SubQueueList,
    load: Load,
    /// Flows in which packets wait.
    waiting: u32,
    /// Memory of the waiting frames, bytes.
    memory: u64,
    params: Params,
    limit: u32,
    buckets: u32,
    quantum: i64,
    memory_limit: u64,
    seed: u64,
}

impl FqCodel {
    /// The flow of a bucket; a new one if there is none.
    fn flow(&mut self, bucket: u32, now: Now) -> u32 {
        if let Some(index) = self.flows.find(bucket, |flow| flow.bucket == bucket) {
            return index;
        }
        // A flow queue with idle CoDel state can be freed.
        if let Some(idle) = self.idle.first()
            && self.flows.get(idle).is_some_and(|flow| flow.control.is_forgotten(&self.params, now))
        {
            self.flows.unlink(&mut self.idle, idle);
            self.flows.remove(idle);
        }
        self.flows.grow_heads();
        let index = self.flows.insert(bucket, Flow { bucket, ..Flow::default() });
        self.flows.push(&mut self.idle, index);
        index
    }

    /// Drops from the front of the flow in which most bytes wait: half of them, or a batch.
    fn drop_batch<F: Frame>(&mut self, slab: &mut Slab<F>, most: u32, gone: &mut NodeQueue) {
        let longest = self.flows.longest(&self.lengths, |flow| flow.queue.load().bytes);
        let Some(index) = longest else { return };
        let Some(flow) = self.flows.get_mut(index) else { return };
        let half = flow.queue.load().bytes / 2;
        let before = flow.queue.load();
        for _ in 0..most {
            let Some((node, _)) = flow.queue.pop(slab) else { break };
            self.memory -= footprint(slab, node);
            gone.push(slab, node);
            if flow.queue.load().bytes <= half {
                break;
            }
        }
        let after = flow.queue.load();
        self.shortened(index, before, after);
    }

    /// Updates the counts after frames of a flow have left the queue.
    fn shortened(&mut self, index: u32, before: Load, after: Load) {
        self.load = self.load.minus(before.minus(after));
        self.waiting -= u32::from(before.frames != 0 && after.frames == 0);
        self.flows.measure(&mut self.lengths, index, after.bytes);
    }

    /// The flow whose turn it is; its deficit is above zero. `None` if there are neither new nor old flows.
    #[inline]
    fn turn(&mut self) -> Option<u32> {
        loop {
            let index = self.new.first().or(self.old.first())?;
            let flow = self.flows.get_mut(index)?;
            if flow.deficit > 0 {
                return Some(index);
            }
            flow.deficit += self.quantum;
            if flow.list == FlowList::New {
                flow.list = FlowList::Old;
                self.flows.unlink(&mut self.new, index);
                self.flows.push(&mut self.old, index);
            } else {
                self.flows.rotate(&mut self.old);
            }
        }
    }

    /// Called when the flow whose turn it is has become empty. If there are old flows, a new one is put behind them, as
    /// it would otherwise be new again with its next packet (RFC 8290 §4.2).
    fn retire(&mut self, index: u32) {
        let Some(flow) = self.flows.get_mut(index) else { return };
        let stays = flow.list == FlowList::New && self.old.first().is_some();
        let from = if flow.list == FlowList::New { &mut self.new } else { &mut self.old };
        flow.list = if stays { FlowList::Old } else { FlowList::Idle };
        self.flows.unlink(from, index);
        self.flows.push(if stays { &mut self.old } else { &mut self.idle }, index);
    }
}

/// Bucket of a hash.
fn bucket_of(hash: u64, buckets: u32) -> u32 {
    ((u64::from(hash as u32) * u64::from(buckets)) >> 32) as u32
}

impl Qdisc for FqCodel {
    fn new(config: &QueueType, seed: u64) -> Option<Self> {
        let QueueType::FqCodel { codel, flows, quantum, memory_limit } = config else { return None };
        Some(Self {
            flows: Pool::default(),
            lengths: Lengths::default(),
            new: SubQueueList::default(),
            old: SubQueueList::default(),
            idle: SubQueueList::default(),
            load: Load::default(),
            waiting: 0,
            memory: 0,
            params: Params::new(codel),
            limit: codel.limit,
            buckets: (*flows).max(1),
            quantum: i64::from((*quantum).max(LEAST_TURN)),
            memory_limit: *memory_limit,
            seed,
        })
    }

    fn change(&mut self, config: &QueueType) -> bool {
        match config {
            QueueType::FqCodel { codel, flows, quantum, memory_limit } if (*flows).max(1) == self.buckets => {
                self.params.change(codel);
                self.limit = codel.limit;
                self.quantum = i64::from((*quantum).max(LEAST_TURN));
                self.memory_limit = *memory_limit;
                true
            }
            _ => false,
        }
    }

    fn load(&self) -> Load {
        self.load
    }

    fn max_segments(&self, _segment_bytes: u64) -> u32 {
        self.limit
    }

    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        now: Now,
        gone: &mut NodeQueue,
    ) -> NodeId {
        let Some(waiting) = slab.get(node) else { return node };
        self.memory += waiting.frame.footprint() as u64;
        let hash = HeaderFields::of(waiting.frame.head()).flow_hash(self.seed);
        let index = self.flow(bucket_of(hash, self.buckets), now);
        let Some(flow) = self.flows.get_mut(index) else { return node };
        self.waiting += u32::from(flow.queue.is_empty());
        let load = flow.queue.push(slab, node);
        let (length, begins) = (flow.queue.load().bytes, flow.list == FlowList::Idle);
        if begins {
            (flow.list, flow.deficit) = (FlowList::New, self.quantum);
            self.flows.unlink(&mut self.idle, index);
            self.flows.push(&mut self.new, index);
        }
        self.flows.measure(&mut self.lengths, index, length);
        self.params.see(load);
        self.load = self.load.plus(load);
        while self.load.segments > self.limit || self.memory > self.memory_limit {
            let before = self.load.frames;
            self.drop_batch(slab, BATCH, gone);
            if self.load.frames == before {
                break;
            }
        }
        node
    }

    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now, gone: &mut NodeQueue) -> Dequeued {
        while let Some(index) = self.turn() {
            let Some(flow) = self.flows.get_mut(index) else { break };
            let before = flow.queue.load();
            let mut dropped = NodeQueue::default();
            let next = flow.control.dequeue(&mut self.params, &mut flow.queue, slab, now, &mut dropped);
            let after = flow.queue.load();
            if let Some((_, load)) = next {
                flow.deficit -= load.bytes as i64;
            }
            self.shortened(index, before, after);
            while let Some(node) = dropped.pop(slab) {
                self.memory -= footprint(slab, node);
                gone.push(slab, node);
            }
            match next {
                Some((node, _)) => {
                    self.memory -= footprint(slab, node);
                    return Dequeued::Packet(node);
                }
                None => self.retire(index),
            }
        }
        Dequeued::Empty
    }

    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        let (mut taken, mut shorter) = (Load::default(), Vec::new());
        for (index, flow) in self.flows.all_mut().enumerate().filter(|(_, flow)| !flow.queue.is_empty()) {
            let before = flow.queue.load();
            let (part, memory) = flow.queue.take_out_weighed(slab, to, pick);
            self.memory -= memory;
            taken = taken.plus(part);
            shorter.push((index as u32, before, flow.queue.load()));
        }
        for (index, before, after) in shorter {
            self.shortened(index, before, after);
        }
        taken
    }

    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
        self.drop_batch(slab, 1, gone);
    }

    fn sub_queues(&self) -> u32 {
        self.waiting
    }

    fn marked(&self) -> u64 {
        self.params.marked
    }
}
