//! Per connection queuing: a sub-queue for each value of the classifier, each limited to a rate, or all with equal
//! shares.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tollway_config::dataplane::{PcqClassifier, QueueLimit, QueueType};

use super::frame_queue::FrameQueue;
use super::header::{HeaderFields, hash_addr, mix};
use super::pool::{Lengths, Pool, SubQueueList};
use super::{Dequeued, Load, Qdisc};
use crate::packet::frame::Frame;
use crate::packet::tuple::Addr;
use crate::qos::burst::Burst;
use crate::qos::slab::{NodeId, NodeQueue, Slab};
use crate::qos::token_bucket::TokenBucket;
use crate::time::Now;

/// Bytes of a turn: the longest packet of an Ethernet.
const QUANTUM: i64 = 1514;
/// Burst of a sub-queue after it was idle: what its rate brings in this time, ms.
const DEPTH_MS: u32 = 10;
/// A super-frame takes at most 1/`WHOLE_PER_SECOND` of a second at the sub-queue's rate, and at most 1/`PART_OF_LIMIT`
/// of its limit.
const WHOLE_PER_SECOND: u64 = 1000;
const PART_OF_LIMIT: u64 = 4;

/// Most empty sub-queues whose rate or burst is remembered.
const MAX_IDLE: u32 = 1 << 14;

/// The values by which packets are put into sub-queues.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct SubQueueKey {
    src: Addr,
    dst: Addr,
    ports: (u16, u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Classifier {
    src_address: bool,
    dst_address: bool,
    src_port: bool,
    dst_port: bool,
    src_masks: (u128, u128),
    dst_masks: (u128, u128),
}

/// Masks of the leading bits of an IPv4 address in [`Addr`], and of an IPv6 address.
fn masks(v4: u8, v6: u8) -> (u128, u128) {
    let leading = |bits: u8| u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
    (leading(v4.min(32) + 96), leading(v6))
}

fn masked(address: Addr, masks: (u128, u128)) -> Addr {
    Addr(address.0 & if address.as_v4().is_some() { masks.0 } else { masks.1 })
}

impl Classifier {
    fn key(&self, fields: &HeaderFields) -> SubQueueKey {
        let port = |wanted: bool, port: u16| if wanted { port } else { 0 };
        let address = |wanted: bool, address, masks| if wanted { masked(address, masks) } else { Addr(0) };
        SubQueueKey {
            src: address(self.src_address, fields.src, self.src_masks),
            dst: address(self.dst_address, fields.dst, self.dst_masks),
            ports: (port(self.src_port, fields.src_port), port(self.dst_port, fields.dst_port)),
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Parameters {
    classifier: Classifier,
    /// Rate and burst of a sub-queue.
    rates: QueueLimit,
    limit: u64,
    total_limit: u64,
}

impl Parameters {
    fn of(config: &QueueType) -> Option<Self> {
        let QueueType::Pcq {
            rate,
            limit,
            total_limit,
            classifier,
            burst_rate,
            burst_threshold,
            burst_time_ms,
            src_address_mask,
            dst_address_mask,
            src_address6_mask,
            dst_address6_mask,
        } = config
        else {
            return None;
        };
        let has = |one| classifier.contains(&one);
        let rates = QueueLimit {
            limit_at: 0,
            max_limit: *rate,
            burst_limit: if *rate == 0 { 0 } else { *burst_rate },
            burst_threshold: *burst_threshold,
            burst_time_ms: *burst_time_ms,
            bucket_ms: DEPTH_MS,
            priority: 8,
            queue_type: 0,
        };
        let classifier = Classifier {
            src_address: has(PcqClassifier::SrcAddress),
            dst_address: has(PcqClassifier::DstAddress),
            src_port: has(PcqClassifier::SrcPort),
            dst_port: has(PcqClassifier::DstPort),
            src_masks: masks(*src_address_mask, *src_address6_mask),
            dst_masks: masks(*dst_address_mask, *dst_address6_mask),
        };
        Some(Self { classifier, rates, limit: *limit, total_limit: *total_limit })
    }

    /// Time after which the state of an idle sub-queue equals that of a new one, ns.
    fn memory(&self) -> u64 {
        let burst = if self.rates.burst_limit == 0 { 0 } else { self.rates.burst_time_ms };
        // The slot in which it became idle, and the sixteen slots of the average.
        u64::from(burst.saturating_add(burst / 16).max(2 * DEPTH_MS)) * 1_000_000
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum State {
    /// Nothing waits.
    #[default]
    Idle,
    /// The sub-queue is in the round-robin list.
    Active,
    /// The sub-queue waits until its rate allows a packet.
    Until(Now),
}

#[derive(Debug)]
struct SubQueue {
    queue: FrameQueue,
    key: SubQueueKey,
    state: State,
    /// Bytes that are left of its turn.
    deficit: i64,
    bucket: TokenBucket,
    /// When it became idle.
    idle_since: Now,
}

impl Default for SubQueue {
    fn default() -> Self {
        Self {
            queue: FrameQueue::default(),
            key: SubQueueKey::default(),
            state: State::Idle,
            deficit: 0,
            bucket: TokenBucket::new(0, 0, Now(0)),
            idle_since: Now(0),
        }
    }
}

/// The kind.
#[derive(Debug)]
pub struct Pcq {
    subs: Pool<SubQueue>,
    /// Bursts by index in the pool; empty without bursts.
    bursts: Vec<Option<Burst>>,
    /// Sub-queues by waiting bytes.
    lengths: Lengths,
    active: SubQueueList,
    idle: SubQueueList,
    timed: BinaryHeap<Reverse<(Now, u32)>>,
    load: Load,
    waiting: u32,
    parameters: Parameters,
    seed: u64,
}

impl Pcq {
    fn sub_queue(&mut self, key: SubQueueKey, now: Now) -> u32 {
        let hash = mix(
            hash_addr(key.src, self.seed) ^ u64::from(key.ports.0) << 16 ^ u64::from(key.ports.1),
            hash_addr(key.dst, !self.seed),
        ) as u32;
        if let Some(index) = self.subs.find(hash, |sub| sub.key == key) {
            return index;
        }
        self.forget(now);
        self.subs.grow_heads();
        let rates = &self.parameters.rates;
        let burst = Burst::new(rates, now);
        let rate = burst.as_ref().map_or(rates.max_limit, |burst| burst.ceiling(rates.max_limit));
        let bucket = TokenBucket::new(rate, DEPTH_MS, now);
        let sub = SubQueue { key, bucket, idle_since: now, ..SubQueue::default() };
        let index = self.subs.insert(hash, sub);
        self.subs.push(&mut self.idle, index);
        if burst.is_some() {
            if self.bursts.len() <= index as usize {
                self.bursts.resize(index as usize + 1, None);
            }
            if let Some(slot) = self.bursts.get_mut(index as usize) {
                *slot = burst;
            }
        }
        index
    }

    /// Removes up to two sub-queues that have been idle so long that their state equals that of new ones, or regardless
    /// of their state if more than [`MAX_IDLE`] are idle.
    fn forget(&mut self, now: Now) {
        for _ in 0..2 {
            let Some(index) = self.idle.first() else { return };
            let Some(sub) = self.subs.get(index) else { return };
            let since = sub.idle_since.max(sub.bucket.opens_at());
            let is_new = now.0.saturating_sub(since.0) >= self.parameters.memory();
            if !is_new && self.subs.live() - self.waiting <= MAX_IDLE {
                return;
            }
            self.subs.unlink(&mut self.idle, index);
            self.subs.remove(index);
        }
    }

    /// Updates bucket and burst to `now`.
    fn fill(&mut self, index: u32, now: Now) {
        let max = self.parameters.rates.max_limit;
        let Some(sub) = self.subs.get_mut(index) else { return };
        if max == 0 {
            return;
        }
        let waits = !sub.queue.is_empty();
        sub.bucket.fill(now, waits);
        if let Some(Some(burst)) = self.bursts.get_mut(index as usize)
            && burst.advance(now)
        {
            sub.bucket.change(burst.ceiling(max), DEPTH_MS, now, waits);
        }
    }

    /// Schedules a sub-queue in which packets wait and that is in no list: in the round-robin list if its bucket is
    /// open, else by the time when the bucket opens.
    fn begin(&mut self, index: u32) {
        let Some(sub) = self.subs.get_mut(index) else { return };
        if sub.bucket.is_open() {
            sub.state = State::Active;
            self.subs.push(&mut self.active, index);
        } else {
            let at = sub.bucket.opens_at();
            sub.state = State::Until(at);
            self.timed.push(Reverse((at, index)));
        }
    }

    /// Makes a sub-queue idle once nothing waits in it.
    fn deactivate_if_empty(&mut self, index: u32, now: Now) {
        let Some(sub) = self.subs.get_mut(index) else { return };
        if !sub.queue.is_empty() || sub.state == State::Idle {
            return;
        }
        self.waiting -= 1;
        sub.idle_since = now;
        if std::mem::take(&mut sub.state) == State::Active {
            self.subs.unlink(&mut self.active, index);
        }
        self.subs.push(&mut self.idle, index);
    }

    /// Schedules the sub-queues whose time has come. Returns the time of the next one, if there is one.
    fn wake(&mut self, now: Now) -> Option<Now> {
        while let Some(&Reverse((at, index))) = self.timed.peek() {
            let waits = self.subs.get(index).is_some_and(|sub| sub.state == State::Until(at));
            if waits && at > now {
                return Some(at);
            }
            self.timed.pop();
            if waits {
                self.fill(index, now);
                self.begin(index);
            }
        }
        None
    }
}

impl Qdisc for Pcq {
    fn new(config: &QueueType, seed: u64) -> Option<Self> {
        Parameters::of(config).map(|parameters| Self {
            subs: Pool::default(),
            bursts: Vec::new(),
            lengths: Lengths::default(),
            active: SubQueueList::default(),
            idle: SubQueueList::default(),
            timed: BinaryHeap::new(),
            load: Load::default(),
            waiting: 0,
            parameters,
            seed,
        })
    }

    fn change(&mut self, config: &QueueType) -> bool {
        let Some(parameters) = Parameters::of(config) else { return false };
        if parameters.classifier != self.parameters.classifier {
            return false;
        }
        let rates_change = parameters.rates != self.parameters.rates;
        self.parameters = parameters;
        if !rates_change {
            return true;
        }
        let rates = &self.parameters.rates;
        let mut indices = Vec::new();
        for (index, sub) in self.subs.all() {
            let (now, index) = (sub.bucket.counted(), index as usize);
            indices.push((index as u32, sub.state));
            if self.bursts.len() <= index {
                self.bursts.resize(index + 1, None);
            }
            if let Some(burst) = self.bursts.get_mut(index) {
                *burst = Burst::change(burst.take(), rates, now);
            }
        }
        for (index, state) in indices {
            let burst = self.bursts.get(index as usize).and_then(|burst| burst.as_ref());
            let rate = burst.map_or(rates.max_limit, |burst| burst.ceiling(rates.max_limit));
            if let Some(sub) = self.subs.get_mut(index) {
                sub.bucket.change(rate, DEPTH_MS, sub.bucket.counted(), false);
                if let State::Until(_) = state {
                    sub.state = State::Active;
                    self.subs.push(&mut self.active, index);
                }
            }
        }
        self.timed.clear();
        true
    }

    fn needs_every_packet(config: &QueueType) -> bool {
        matches!(config, QueueType::Pcq { rate, .. } if *rate != 0)
    }

    fn load(&self) -> Load {
        self.load
    }

    fn max_segments(&self, segment_bytes: u64) -> u32 {
        let rate = self.parameters.rates.max_limit;
        let timely = if rate == 0 { u64::MAX } else { rate / (segment_bytes * 8 * WHOLE_PER_SECOND) };
        let room = self.parameters.limit.min(self.parameters.total_limit) / PART_OF_LIMIT / segment_bytes;
        u32::try_from(timely.min(room)).unwrap_or(u32::MAX)
    }

    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        now: Now,
        gone: &mut NodeQueue,
    ) -> NodeId {
        let Some(waiting) = slab.get(node) else { return node };
        let key = self.parameters.classifier.key(&HeaderFields::untranslated(slab, node));
        let bytes = waiting.bytes;
        let fits = self.load.bytes.saturating_add(bytes) <= self.parameters.total_limit;
        let index = if fits { self.sub_queue(key, now) } else { 0 };
        let room = |sub: &SubQueue| sub.queue.load().bytes.saturating_add(bytes) <= self.parameters.limit;
        if !fits || !self.subs.get(index).is_some_and(room) {
            gone.push(slab, node);
            return node;
        }
        self.fill(index, now);
        let Some(sub) = self.subs.get_mut(index) else { return node };
        self.load = self.load.plus(sub.queue.push(slab, node));
        let (length, begins) = (sub.queue.load().bytes, sub.state == State::Idle);
        if begins {
            sub.deficit = QUANTUM;
            self.waiting += 1;
            self.subs.unlink(&mut self.idle, index);
            self.begin(index);
        }
        self.subs.measure(&mut self.lengths, index, length);
        node
    }

    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now, _gone: &mut NodeQueue) -> Dequeued {
        let mut wakes = self.wake(now);
        while let Some(index) = self.active.first() {
            self.fill(index, now);
            let Some(sub) = self.subs.get_mut(index) else { break };
            if !sub.bucket.is_open() {
                self.subs.unlink(&mut self.active, index);
                self.begin(index);
                wakes = self.wake(now);
                continue;
            }
            if sub.deficit <= 0 {
                sub.deficit += QUANTUM;
                self.subs.rotate(&mut self.active);
                continue;
            }
            let Some((node, load)) = sub.queue.pop(slab) else { break };
            sub.deficit -= load.bytes as i64;
            sub.bucket.charge(load.bytes);
            let length = sub.queue.load().bytes;
            if let Some(Some(burst)) = self.bursts.get_mut(index as usize) {
                burst.count(load.bytes);
            }
            self.subs.measure(&mut self.lengths, index, length);
            self.load = self.load.minus(load);
            self.deactivate_if_empty(index, now);
            return Dequeued::Packet(node);
        }
        wakes.map_or(Dequeued::Empty, Dequeued::Wait)
    }

    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        let (mut taken, mut shorter) = (Load::default(), Vec::new());
        for (index, sub) in self.subs.all_mut().enumerate().filter(|(_, sub)| !sub.queue.is_empty()) {
            taken = taken.plus(sub.queue.take_out(slab, to, pick));
            shorter.push((index as u32, sub.queue.load().bytes, sub.bucket.counted()));
        }
        for (index, length, counted) in shorter {
            self.subs.measure(&mut self.lengths, index, length);
            self.deactivate_if_empty(index, counted);
        }
        self.load = self.load.minus(taken);
        taken
    }

    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
        let longest = self.subs.longest(&self.lengths, |sub| sub.queue.load().bytes);
        let Some(index) = longest else { return };
        let Some(sub) = self.subs.get_mut(index) else { return };
        let Some((node, load)) = sub.queue.pop(slab) else { return };
        let (length, counted) = (sub.queue.load().bytes, sub.bucket.counted());
        gone.push(slab, node);
        self.load = self.load.minus(load);
        self.subs.measure(&mut self.lengths, index, length);
        self.deactivate_if_empty(index, counted);
    }

    fn sub_queues(&self) -> u32 {
        self.waiting
    }
}
