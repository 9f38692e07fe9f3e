//! Controlled delay (RFC 8289): the control law, which [`super::fq_codel`] uses too, and the kind with a single queue.

use tollway_config::dataplane::{self as config, QueueType};

use super::frame_queue::FrameQueue;
use super::header::mark;
use super::{Dequeued, Load, Qdisc};
use crate::packet::frame::Frame;
use crate::qos::slab::{NodeId, NodeQueue, Slab};
use crate::time::Now;

/// A dropping state left longer ago than so many intervals is forgotten (RFC 8289 §4.3).
const MEMORY: u64 = 16;

/// When the next packet after `count` drops is to be dropped (RFC 8289 §5.4): `interval / √count` after `at`, exact to
/// 2⁻¹⁶ of the root.
pub fn control_law(at: u64, interval: u64, count: u32) -> u64 {
    // Intervals are below 2⁴², roots at least 2¹⁶.
    at.saturating_add((interval << 16) / (u64::from(count.max(1)) << 32).isqrt())
}

/// Parameters of [`Control`], and the state that all queues of a kind share.
#[derive(Debug, Clone, Copy)]
pub struct Params {
    target: u64,
    interval: u64,
    ecn: bool,
    /// Delay beyond which every packet is marked, ns.
    ce_threshold: Option<u64>,
    /// The longest packet so far, L3 bytes: so many bytes may always wait.
    largest: u64,
    /// Wire segments that were marked.
    pub marked: u64,
}

impl Params {
    /// Parameters of the configuration.
    pub fn new(codel: &config::Codel) -> Self {
        let ce_threshold = (codel.ce_threshold_us != 0).then(|| ns(codel.ce_threshold_us));
        Self {
            target: ns(codel.target_us),
            interval: ns(codel.interval_us).max(1),
            ecn: codel.ecn,
            ce_threshold,
            largest: 0,
            marked: 0,
        }
    }

    /// Changes the parameters.
    pub fn change(&mut self, codel: &config::Codel) {
        let (largest, marked) = (self.largest, self.marked);
        *self = Self { largest, marked, ..Self::new(codel) };
    }

    /// Notes a packet that arrives.
    #[inline]
    pub fn see(&mut self, load: Load) {
        self.largest = self.largest.max(load.bytes / u64::from(load.segments.max(1)));
    }

    fn marks<F: Frame>(&mut self, slab: &mut Slab<F>, node: NodeId) -> bool {
        let Some(waiting) = slab.get_mut(node) else { return false };
        let marked = mark(&mut waiting.frame);
        if marked {
            self.marked += u64::from(waiting.segments);
        }
        marked
    }
}

fn ns(us: u32) -> u64 {
    u64::from(us) * 1000
}

/// The state of one queue (RFC 8289 §5.3).
#[derive(Debug, Clone, Copy, Default)]
pub struct Control {
    /// When the delay will have been above the target for an interval, ns; 0 while it is below.
    first_above: u64,
    /// When to drop next, ns.
    drop_next: u64,
    /// Packets dropped since the dropping state was entered.
    count: u32,
    /// `count` when it was entered last.
    last_count: u32,
    dropping: bool,
}

impl Control {
    /// Dequeues the next frame. Frames that are dropped before it are put into `gone`.
    #[inline]
    pub fn dequeue<F: Frame>(
        &mut self,
        params: &mut Params,
        queue: &mut FrameQueue,
        slab: &mut Slab<F>,
        now: Now,
        gone: &mut NodeQueue,
    ) -> Option<(NodeId, Load)> {
        let (mut first, mut droppable) = self.pop(params, queue, slab, now);
        let mut marked = false;
        if self.dropping {
            if !droppable {
                self.dropping = false;
            }
            while self.dropping
                && now.0 >= self.drop_next
                && let Some((node, _)) = first
            {
                self.count = self.count.saturating_add(1);
                if params.ecn && params.marks(slab, node) {
                    marked = true;
                    self.drop_next = control_law(self.drop_next, params.interval, self.count);
                    break;
                }
                gone.push(slab, node);
                (first, droppable) = self.pop(params, queue, slab, now);
                if droppable {
                    self.drop_next = control_law(self.drop_next, params.interval, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if droppable && let Some((node, _)) = first {
            marked = params.ecn && params.marks(slab, node);
            if !marked {
                gone.push(slab, node);
                (first, _) = self.pop(params, queue, slab, now);
            }
            self.enter(params, now);
        }
        // A packet that is marked already is not counted twice.
        if !marked
            && let Some(threshold) = params.ce_threshold
            && let Some((node, _)) = first
            && slab.get(node).is_some_and(|waiting| now.0.saturating_sub(waiting.enqueued.0) > threshold)
        {
            params.marks(slab, node);
        }
        first
    }

    /// Enters the dropping state, with the drop rate of the last dropping state if that has ended recently.
    fn enter(&mut self, params: &Params, now: Now) {
        self.dropping = true;
        let drops = self.count.wrapping_sub(self.last_count);
        let recent = now.0.saturating_sub(self.drop_next) < MEMORY * params.interval;
        self.count = if drops > 1 && recent { drops } else { 1 };
        self.drop_next = control_law(now.0, params.interval, self.count);
        self.last_count = self.count;
    }

    /// The first frame, and whether the delay has been too long for an interval.
    #[inline]
    fn pop<F>(
        &mut self,
        params: &Params,
        queue: &mut FrameQueue,
        slab: &mut Slab<F>,
        now: Now,
    ) -> (Option<(NodeId, Load)>, bool) {
        let Some((node, load)) = queue.pop(slab) else {
            self.first_above = 0;
            return (None, false);
        };
        let enqueued = slab.get(node).map_or(now, |waiting| waiting.enqueued);
        let delay = now.0.saturating_sub(enqueued.0);
        if delay < params.target || queue.load().bytes <= params.largest {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now.0.saturating_add(params.interval);
        } else if now.0 >= self.first_above {
            return (Some((node, load)), true);
        }
        (Some((node, load)), false)
    }

    /// Whether the dropping state ended so long ago that it has no effect any more.
    pub fn is_forgotten(&self, params: &Params, now: Now) -> bool {
        now.0.saturating_sub(self.drop_next) >= MEMORY * params.interval
    }
}

/// The kind: one queue.
#[derive(Debug)]
pub struct Codel {
    queue: FrameQueue,
    params: Params,
    control: Control,
    /// Wire segments that may wait.
    limit: u32,
}

impl Qdisc for Codel {
    fn new(config: &QueueType, _seed: u64) -> Option<Self> {
        let QueueType::Codel(codel) = config else { return None };
        let (queue, control) = (FrameQueue::default(), Control::default());
        Some(Self { queue, control, params: Params::new(codel), limit: codel.limit })
    }

    fn change(&mut self, config: &QueueType) -> bool {
        let QueueType::Codel(codel) = config else { return false };
        self.params.change(codel);
        self.limit = codel.limit;
        true
    }

    fn load(&self) -> Load {
        self.queue.load()
    }

    fn admits(&self, frame: Load, covered: Load) -> bool {
        self.queue.load().minus(covered).plus(frame).segments <= self.limit
    }

    fn max_segments(&self, _segment_bytes: u64) -> u32 {
        self.limit
    }

    fn enqueue<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        node: NodeId,
        _now: Now,
        _gone: &mut NodeQueue,
    ) -> NodeId {
        let load = self.queue.push(slab, node);
        self.params.see(load);
        node
    }

    fn dequeue<F: Frame>(&mut self, slab: &mut Slab<F>, now: Now, gone: &mut NodeQueue) -> Dequeued {
        match self.control.dequeue(&mut self.params, &mut self.queue, slab, now, gone) {
            Some((node, _)) => Dequeued::Packet(node),
            None => Dequeued::Empty,
        }
    }

    fn take_out<F: Frame>(
        &mut self,
        slab: &mut Slab<F>,
        to: &mut NodeQueue,
        pick: &mut impl FnMut(&Slab<F>, NodeId) -> bool,
    ) -> Load {
        self.queue.take_out(slab, to, pick)
    }

    fn drop_from_longest<F: Frame>(&mut self, slab: &mut Slab<F>, gone: &mut NodeQueue) {
        if let Some((node, _)) = self.queue.pop(slab) {
            gone.push(slab, node);
        }
    }

    fn marked(&self) -> u64 {
        self.params.marked
    }
}
