//! Stochastic fairness queuing (P. McKenney, "Stochastic Fairness Queuing", 1990): flows are hashed into buckets,
//! which are served in turn by bytes; when too many packets wait, the longest bucket loses one.

use tollway_config::dataplane::QueueType;

use super::frame_queue::FrameQueue;
use super::header::HeaderFields;
use super::pool::{Pool, SubQueueList};
use super::random::Random;
use super::{Dequeued, LEAST_TURN, Load, Qdisc};
use crate::packet::frame::Frame;
use crate::qos::slab::{NodeId, NodeQueue, Slab};
use crate::time::Now;

const BUCKETS: u32 = 1024;
/// Wire segments that may wait in all buckets.
const LIMIT: u32 = 128;
const NS_PER_SECOND: u64 = 1_000_000_000;

#[derive(Debug, Default)]
struct Bucket {
    queue: FrameQueue,
    number: u32,
    /// Bytes that are left of its turn.
    deficit: i64,
}

/// The kind.
#[derive(Debug)]
pub struct Sfq {
    buckets: Pool<Bucket>,
    active: SubQueueList,
    load: Load,
    occupied: u32,
    allot: i64,
    /// Time between changes of the hash, ns; 0 none.
    perturb: u64,
    /// When the hash is to change.
    changes_at: Option<Now>,
    seed: u64,
    random: Random,
}

fn parameters(config: &QueueType) -> Option<(i64, u64)> {
    let &QueueType::Sfq { perturb_s, allot } = config else { return None };
    Some((i64::from(allot.max(LEAST_TURN)), u64::from(perturb_s) * NS_PER_SECOND))
}

impl Sfq {
    /// Puts a frame into its bucket.
    fn push<F: Frame>(&mut self, slab: &mut Slab<F>, node: NodeId) {
        let Some(waiting) = slab.get(node) else { return };
        let hash = HeaderFields::of(waiting.frame.head()).flow_hash(self.seed);
        let number = hash as u32 % BUCKETS;
        let index = match self.buckets.find(number, |bucket| bucket.number == number) {
            Some(index) => index,
            None => {
                self.buckets.grow_heads();
                let bucket = Bucket { number, deficit: self.allot, ..Bucket::default() };
                let index = self.buckets.insert(number, bucket);
                self.buckets.push(&mut self.active, index);
                self.occupied += 1;
                index
            }
        };
        if let Some(bucket) = self.buckets.get_mut(index) {
            self.load = self.load.plus(bucket.queue.push(slab, node));
        }
    }

    /// Removes a bucket if nothing waits in it.
    fn remove_if_empty(&mut self, index: u32) {
        if self.buckets.get(index).is_some_and(|bucket| bucket.queue.is_empty()) {
            self.buckets.unlink(&mut self.active, index);
            self.buckets.remove(index);
            self.occupied -= 1;
        }
    }

    /// Changes the hash if it is time. Waiting packets go to their new buckets, or flows would be reordered.
    fn perturb<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now) {
        if self.perturb == 0 {
            return;
        }
        let due = *self.changes_at.get_or_insert(Now(now.0.saturating_add(self.perturb)));
        if now < due {
            return;
        }
        self.changes_at = Some(Now(now.0.saturating_add(self.perturb)));
        self.seed = u64::from(self.random.bits()) << 32 | u64::from(self.random.bits());
        let mut all = NodeQueue::default();
        self.take_out(slab, &mut all, &mut |_, _| true);
        while let Some(node) = all.pop(slab) {
            self.push(slab, node);
        }
    }
}

impl Qdisc for Sfq {
    fn new(config: &QueueType, seed: u64) -> Option<Self> {
        let (allot, perturb) = parameters(config)?;
        Some(Self {
            buckets: Pool::default(),
            active: SubQueueList::default(),
            load: Load::default(),
            occupied: 0,
            allot,
            perturb,
            changes_at: None,
            seed,
            random: Random::new(seed),
        })
    }

    fn change(&mut self, config: &QueueType) -> bool {
        let Some((allot, perturb)) = parameters(config) else { return false };
        if self.perturb != perturb {
            self.changes_at = None;
        }
        (self.allot, self.perturb) = (allot, perturb);
        true
    }

    fn load(&self) -> Load {
        self.load
    }

    fn max_segments(&self, segment_bytes: u64) -> u32 {
        // A frame is sent whole: a frame longer than a turn would delay the other buckets.
        u32::try_from(self.allot as u64 / segment_bytes).unwrap_or(u32::MAX).min(LIMIT)
    }

    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        now: Now,
        gone: &mut NodeQueue,
    ) -> NodeId {
        self.perturb(slab, now);
        self.push(slab, node);
        while self.load.segments > LIMIT {
            self.drop_from_longest(slab, gone);
        }
        node
    }

    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, _now: Now, _gone: &mut NodeQueue) -> Dequeued {
        while let Some(index) = self.active.first() {
            let Some(bucket) = self.buckets.get_mut(index) else { break };
            if bucket.deficit <= 0 {
                bucket.deficit += self.allot;
                self.buckets.rotate(&mut self.active);
                continue;
            }
            let Some((node, load)) = bucket.queue.pop(slab) else { break };
            bucket.deficit -= load.bytes as i64;
            self.load = self.load.minus(load);
            self.remove_if_empty(index);
            return Dequeued::Packet(node);
        }
        Dequeued::Empty
    }

    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        let mut taken = Load::default();
        for _ in 0..self.occupied {
            let Some(index) = self.active.first() else { break };
            self.buckets.rotate(&mut self.active);
            if let Some(bucket) = self.buckets.get_mut(index) {
                taken = taken.plus(bucket.queue.take_out(slab, to, pick));
            }
            self.remove_if_empty(index);
        }
        self.load = self.load.minus(taken);
        taken
    }

    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
        let longest = self.buckets.all().max_by_key(|(_, bucket)| bucket.queue.load().segments);
        let Some(index) = longest.map(|(index, _)| index) else { return };
        let Some(bucket) = self.buckets.get_mut(index) else { return };
        let Some((node, load)) = bucket.queue.pop(slab) else { return };
        gone.push(slab, node);
        self.load = self.load.minus(load);
        self.remove_if_empty(index);
    }

    fn sub_queues(&self) -> u32 {
        self.occupied
    }
}
