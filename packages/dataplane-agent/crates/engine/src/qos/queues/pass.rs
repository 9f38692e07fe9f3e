//! Packets that need not wait: a packet passes the leaves of its queue path one after the other, in place, for as long
//! as each of them is this worker's, empty and within its rate.

use crate::ids::{LeafId, QueueRef};
use crate::packet::frame::Frame;
use crate::qos::leaf::leaf_flag;
use crate::qos::queues::watch::Event;
use crate::qos::queues::{PathStep, Queues};
use crate::time::Now;

/// A super-frame that takes longer than 1/`WHOLE_PER_SECOND` of a second at the queue's rate is segmented: it would
/// delay all other packets.
const WHOLE_PER_SECOND: u64 = 1000;

impl<F: Frame> Queues<F> {
    /// Passes a packet through the leaves of its queue, of which `first` is the first ([`Self::first_leaf`]). Returns
    /// the leaf that does not let it pass at once, if there is one; nothing is counted there. `TREES`: many leaves are
    /// in trees.
    #[inline(always)]
    pub fn walk<const TREES: bool>(
        &mut self,
        queue: QueueRef,
        first: LeafId,
        segments: u32,
        bytes: u64,
        now: Now,
    ) -> Option<PathStep> {
        // A queue reference without leaves has an id of no leaf.
        let (mut step, mut leaf) = (queue.path_step(), first);
        loop {
            if !self.pass::<TREES>(leaf, segments, bytes, now) {
                return Some(PathStep { queue: queue.at(step), leaf });
            }
            if queue.is_short() {
                return None;
            }
            step += 1;
            leaf = self.paths.leaf(queue.path_index(), step)?;
        }
    }

    /// Walks like [`Self::walk`], from the present step of a packet's path.
    pub fn walk_on(&mut self, queue: QueueRef, segments: u32, bytes: u64, now: Now) -> Option<PathStep> {
        self.walk::<false>(queue, self.first_leaf(queue), segments, bytes, now)
    }

    /// Passes one leaf, like [`Self::walk`].
    pub fn pass_one(&mut self, leaf: LeafId, segments: u32, bytes: u64, now: Now) -> bool {
        self.pass::<false>(leaf, segments, bytes, now)
    }

    /// Passes a packet at once if this worker owns the leaf, nothing waits in it, and its rate allows the packet.
    /// Otherwise returns `false` and counts nothing.
    // Measured: inlined once in the loop over a batch, where it is most of the work, and once for all other callers.
    #[inline(always)]
    fn pass<const TREES: bool>(&mut self, leaf: LeafId, segments: u32, bytes: u64, now: Now) -> bool {
        let Some(hot) = self.leaves.get_mut(leaf.index()) else { return true };
        if hot.meter_is_due(now)
            && let Some(queue) = self.leaf_queues.get_mut(leaf.index())
        {
            queue.begin_second(hot, now);
        }
        if hot.is(leaf_flag::ALL) {
            if !TREES || hot.is(leaf_flag::ALL & !leaf_flag::TREE) {
                return self.pass_flagged(leaf, segments, bytes, now);
            }
            // A super-frame that would make others wait is segmented.
            let is_whole = segments == 1 || !is_long(self.htb.rate(hot.class), segments, bytes);
            let passes = hot.waiting == 0 && is_whole && self.htb.pass(hot.class, segments, bytes, now);
            if passes {
                hot.count(segments, bytes);
            }
            return passes;
        }
        hot.bucket.fill(now, hot.waiting != 0);
        if hot.waiting != 0 || !hot.bucket.is_open() || is_long(hot.bucket.rate(), segments, bytes) {
            return false;
        }
        hot.pass(segments, bytes);
        true
    }

    #[inline(never)]
    fn pass_flagged(&mut self, leaf: LeafId, segments: u32, bytes: u64, now: Now) -> bool {
        let Some(hot) = self.leaves.get_mut(leaf.index()) else { return true };
        if hot.waiting != 0 || hot.is(leaf_flag::EVERY_PACKET | leaf_flag::BLOCKED) {
            return false;
        }
        if hot.is(leaf_flag::TREE) {
            if segments > 1 && is_long(self.htb.rate(hot.class), segments, bytes)
                || !self.htb.pass(hot.class, segments, bytes, now)
            {
                return false;
            }
            hot.count(segments, bytes);
        } else {
            let Some(queue) = self.leaf_queues.get_mut(leaf.index()) else { return true };
            queue.apply_burst(hot, now);
            hot.bucket.fill(now, false);
            if !hot.bucket.is_open() || is_long(hot.bucket.rate(), segments, bytes) {
                return false;
            }
            queue.pass(hot, segments, bytes);
        }
        if hot.is(leaf_flag::WATCHED) {
            self.watches.now = now;
            self.record_event(leaf, Event { passed: bytes, ..Event::default() });
        }
        true
    }

    /// Highest rate of a leaf, bits/s; 0 no limit.
    fn rate(&self, leaf: LeafId) -> u64 {
        match self.leaves.get(leaf.index()) {
            Some(hot) if hot.is(leaf_flag::TREE) => self.htb.rate(hot.class),
            Some(hot) => hot.bucket.rate(),
            None => 0,
        }
    }

    /// Maximum number of wire segments, of `bytes` L3 bytes each, that a super-frame may have in a leaf.
    pub fn max_segments(&self, leaf: LeafId, bytes: u64) -> u32 {
        let rate = self.rate(leaf);
        let limit = self.leaf_queues.get(leaf.index()).map_or(1, |queue| queue.kind.max_segments(bytes));
        let timely = if rate == 0 { u64::MAX } else { rate / (bytes * 8 * WHOLE_PER_SECOND).max(1) };
        u32::try_from(timely).unwrap_or(u32::MAX).min(limit).max(1)
    }

    /// Counts wire segments out of order at all leaves of their queue.
    #[cold]
    pub fn count_out_of_order(&mut self, queue: QueueRef, segments: u32) {
        let (mut step, mut next) = (queue.path_step(), Some(self.first_leaf(queue)));
        while let Some(leaf) = next {
            if let Some(leaf_queue) = self.leaf_queues.get_mut(leaf.index()) {
                leaf_queue.out_of_order += u64::from(segments);
            }
            if queue.is_short() {
                return;
            }
            step += 1;
            next = self.paths.leaf(queue.path_index(), step);
        }
    }
}

/// Whether a super-frame would delay other packets for too long.
fn is_long(rate: u64, segments: u32, bytes: u64) -> bool {
    segments > 1 && rate != 0 && bytes * 8 * WHOLE_PER_SECOND > rate
}
