//! Packets that have to wait: admission to a leaf's queue, the memory of all queues, and drops.

use crate::ids::LeafId;
use crate::packet::frame::Frame;
use crate::packet::verdict::DropReason;
use crate::qos::addresses::QueueAddresses;
use crate::qos::kind::Load;
use crate::qos::leaf::leaf_flag;
use crate::qos::queues::watch::Event;
use crate::qos::queues::{EnqueueOutcome, Queues, Waiting};
use crate::qos::slab::{NodeId, NodeQueue};
use crate::time::Now;

impl<F: Frame> Queues<F> {
    /// Enqueues a frame in a leaf. Frames that are dropped instead are counted for [`Self::take_dropped`].
    // Inlined, so that the caller builds `Waiting` in the slab and does not copy it there.
    #[inline(always)]
    pub fn enqueue(
        &mut self,
        leaf: LeafId,
        waiting: Waiting<F>,
        addresses: &QueueAddresses,
        now: Now,
    ) -> EnqueueOutcome {
        let load = Load::frame(waiting.segments, waiting.bytes);
        if let Err(refused) = self.make_room(leaf, load, waiting.frame.footprint() as u64, now) {
            return refused;
        }
        self.paths.add_waiting(waiting.queue);
        let node = self.slab.insert(Waiting { enqueued: now, ..waiting }, addresses);
        self.put(leaf, node, now)
    }

    /// Makes room for a frame in a leaf. If there is none, counts the frame as dropped and returns the reason.
    fn make_room(
        &mut self,
        leaf: LeafId,
        frame: Load,
        footprint: u64,
        now: Now,
    ) -> Result<(), EnqueueOutcome> {
        self.watches.now = now;
        if !self.admits(leaf, frame.segments, frame.bytes, now) {
            self.refuse(leaf, frame.segments);
            return Err(EnqueueOutcome::NoRoom);
        }
        while !self.slab.has_room(footprint) {
            if !self.drop_from_longest() {
                self.dropped.memory = self.dropped.memory.saturating_add(frame.segments);
                self.count_drop(leaf, frame.segments);
                return Err(EnqueueOutcome::NoMemory);
            }
        }
        Ok(())
    }

    /// Puts a frame that is in the slab into a leaf's queue, which may still drop it.
    fn put(&mut self, leaf: LeafId, node: NodeId, now: Now) -> EnqueueOutcome {
        let Some(queue) = self.leaf_queues.get_mut(leaf.index()) else { return EnqueueOutcome::NoRoom };
        let before = queue.kind.load();
        let mut gone = NodeQueue::default();
        let node = queue.kind.enqueue(&mut self.slab, node, now, &mut gone);
        let refused =
            if queue.kind.drops_at_random() { EnqueueOutcome::Dropped } else { EnqueueOutcome::NoRoom };
        let stays = !self.drop_frames(leaf, &mut gone, Some(node));
        self.changed(leaf, before);
        self.schedule(leaf, now);
        if self.is_watched(leaf) {
            self.record_event(leaf, Event::default());
        }
        if stays { EnqueueOutcome::Waits } else { refused }
    }

    /// Counts wire segments for which a leaf's queue has no room.
    pub fn refuse(&mut self, leaf: LeafId, segments: u32) {
        self.dropped.full = self.dropped.full.saturating_add(segments);
        self.count_drop(leaf, segments);
    }

    /// Whether a leaf's queue has room for a frame. Packets for which the bucket already has tokens do not count: they
    /// are sent as soon as the leaf has its turn.
    pub fn admits(&mut self, leaf: LeafId, segments: u32, bytes: u64, now: Now) -> bool {
        let (Some(hot), Some(queue)) = (self.leaves.get(leaf.index()), self.leaf_queues.get(leaf.index()))
        else {
            return false;
        };
        let frame = Load::frame(segments, bytes);
        if queue.kind.admits(frame, Load::default()) {
            return true;
        }
        if hot.is(leaf_flag::BLOCKED) {
            return false;
        }
        let load = queue.kind.load();
        let tokens = if hot.is(leaf_flag::TREE) {
            self.htb.tokens(hot.class, now)
        } else {
            u64::try_from(hot.bucket.tokens()).unwrap_or(0)
        };
        let bits = load.bytes.saturating_mul(8).max(1);
        let share = |of: u64| {
            if tokens >= bits { of } else { (u128::from(of) * u128::from(tokens) / u128::from(bits)) as u64 }
        };
        let covered = Load {
            frames: share(load.frames.into()) as u32,
            segments: share(load.segments.into()) as u32,
            bytes: share(load.bytes),
        };
        queue.kind.admits(frame, covered)
    }

    /// Counts wire segments of a leaf that were dropped, for any reason.
    pub fn count_drop(&mut self, leaf: LeafId, segments: u32) {
        self.totals.dropped_packets += u64::from(segments);
        if let Some(queue) = self.leaf_queues.get_mut(leaf.index()) {
            queue.dropped += u64::from(segments);
        }
        if self.is_watched(leaf) {
            self.record_event(leaf, Event { dropped: segments, ..Event::default() });
        }
    }

    /// Counts wire segments dropped for lack of memory that belong to no leaf.
    pub(super) fn drop_for_memory(&mut self, segments: u32) {
        self.dropped.memory = self.dropped.memory.saturating_add(segments);
        self.totals.dropped_packets += u64::from(segments);
    }

    /// Whether somebody watches the leaf's token bucket.
    pub(super) fn is_watched(&self, leaf: LeafId) -> bool {
        self.leaves.get(leaf.index()).is_some_and(|hot| hot.is(leaf_flag::WATCHED))
    }

    /// Drops the frames that a leaf's queue returned in `gone`. Returns whether `this` was among them.
    pub(super) fn drop_frames(&mut self, leaf: LeafId, gone: &mut NodeQueue, this: Option<NodeId>) -> bool {
        let mut found = false;
        while let Some(node) = gone.pop(&mut self.slab) {
            found |= this == Some(node);
            if let Some(waiting) = self.slab.remove(node) {
                self.paths.remove_waiting(waiting.queue);
                self.refuse(leaf, waiting.segments);
                self.ended.note(waiting.trace, DropReason::QueueFull);
            }
        }
        found
    }

    /// Makes room by a drop from the longest queue. Returns `false` if nothing waits in any queue.
    fn drop_from_longest(&mut self) -> bool {
        let Some(leaf) = self.longest.first(&mut self.leaf_queues) else { return false };
        let Some(queue) = self.leaf_queues.get_mut(leaf.index()) else { return false };
        let before = queue.kind.load();
        let mut gone = NodeQueue::default();
        queue.kind.drop_from_longest(&mut self.slab, &mut gone);
        let Some(waiting) = gone.pop(&mut self.slab).and_then(|node| self.slab.remove(node)) else {
            return false;
        };
        self.paths.remove_waiting(waiting.queue);
        self.ended.note(waiting.trace, DropReason::QueueMemory);
        self.dropped.memory = self.dropped.memory.saturating_add(waiting.segments);
        self.count_drop(leaf, waiting.segments);
        self.drop_frames(leaf, &mut gone, None);
        self.changed(leaf, before);
        self.deactivate(leaf);
        true
    }
}
