//! When a leaf with waiting packets may send: a timer until its bucket opens, then its place among the leaves that are
//! due. Leaves in trees are scheduled by the tree.

use tollway_config::protocol::QueueTotals;

use crate::ids::LeafId;
use crate::packet::frame::Frame;
use crate::qos::kind::Load;
use crate::qos::leaf::{Scheduled, leaf_flag};
use crate::qos::queues::Queues;
use crate::time::Now;

impl<F: Frame> Queues<F> {
    /// Updates totals and lists after the load of a leaf's queue has changed from `before`.
    pub(super) fn changed(&mut self, leaf: LeafId, before: Load) {
        let Some(queue) = self.leaf_queues.get(leaf.index()) else { return };
        let after = queue.kind.load();
        let QueueTotals { queued_bytes, queued_packets, .. } = &mut self.totals;
        *queued_bytes = (*queued_bytes + after.bytes).saturating_sub(before.bytes);
        *queued_packets =
            (*queued_packets + u64::from(after.segments)).saturating_sub(before.segments.into());
        if let Some(hot) = self.leaves.get_mut(leaf.index()).filter(|hot| !hot.is_unowned()) {
            hot.waiting = after.segments;
        }
        self.longest.update(&mut self.leaf_queues, leaf, after.frames);
        if after.frames == 0 {
            self.unschedule(leaf);
        }
    }

    /// Schedules a leaf in which packets wait: it is due now, or when its bucket opens.
    pub(super) fn schedule(&mut self, leaf: LeafId, now: Now) {
        let (Some(hot), Some(queue)) =
            (self.leaves.get_mut(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
        else {
            return;
        };
        if queue.scheduled == Scheduled::Due || hot.queued() == 0 || hot.is(leaf_flag::BLOCKED) {
            return;
        }
        if hot.is(leaf_flag::TREE) {
            self.htb.activate(hot.class, now);
            return self.unschedule(leaf);
        }
        hot.bucket.fill(now, true);
        if hot.bucket.is_open() {
            if queue.scheduled == Scheduled::Timer {
                self.wheel.disarm(leaf.0);
            }
            queue.scheduled = Scheduled::Due;
            self.due.push_back(leaf);
        } else if queue.scheduled == Scheduled::No {
            queue.scheduled = Scheduled::Timer;
            self.wheel.follow(now);
            self.wheel.arm(leaf.0, hot.bucket.opens_at());
        }
    }

    /// Sets the timer of a leaf whose kind has the next packet at a later time.
    pub(super) fn wake_at(&mut self, leaf: LeafId, at: Now, now: Now) {
        if let Some(queue) = self.leaf_queues.get_mut(leaf.index()) {
            queue.scheduled = Scheduled::Timer;
            self.wheel.follow(now);
            self.wheel.arm(leaf.0, at);
        }
    }

    /// Disarms the timer of a leaf. A leaf that is due stays so, and is passed over if nothing waits in it.
    pub(super) fn unschedule(&mut self, leaf: LeafId) {
        if let Some(queue) = self.leaf_queues.get_mut(leaf.index())
            && queue.scheduled == Scheduled::Timer
        {
            queue.scheduled = Scheduled::No;
            self.wheel.disarm(leaf.0);
        }
    }

    /// Deactivates a leaf in its tree if nothing waits in it.
    pub(super) fn deactivate(&mut self, leaf: LeafId) {
        if let (Some(hot), Some(queue)) = (self.leaves.get(leaf.index()), self.leaf_queues.get(leaf.index()))
            && hot.is(leaf_flag::TREE)
            && queue.kind.frames() == 0
        {
            self.htb.deactivate(hot.class);
        }
    }

    /// Removes leaves that are no longer scheduled from those that are due.
    pub(super) fn pass_over_removed(&mut self) {
        let queues = &self.leaf_queues;
        let waits =
            |leaf: &LeafId| queues.get(leaf.index()).is_some_and(|queue| queue.scheduled == Scheduled::Due);
        self.due.retain(waits);
        self.due_after_port.retain(waits);
    }

    /// Leaves in which packets wait.
    pub(super) fn waiting_leaves(&self) -> Vec<LeafId> {
        self.longest.all(&self.leaf_queues)
    }

    /// Collects the leaves whose time has come, for [`Self::dequeue`].
    pub fn wake(&mut self, now: Now) {
        self.due.extend(self.due_after_port.drain(..));
        let known = self.due.len();
        while let Some(leaf) = self.wheel.pop(now).map(LeafId) {
            if let (Some(hot), Some(queue)) =
                (self.leaves.get(leaf.index()), self.leaf_queues.get(leaf.index()))
            {
                tollway_prefetch::fetch_to_write(hot);
                queue.prefetch();
                self.due.push_back(leaf);
            }
        }
        let mut in_trees = false;
        for &leaf in self.due.range(known..) {
            if let (Some(hot), Some(queue)) =
                (self.leaves.get(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
            {
                queue.scheduled = Scheduled::Due;
                in_trees |= hot.is(leaf_flag::TREE);
            }
        }
        if in_trees {
            self.activate_woken(now);
        }
    }

    /// Activates woken leaves in their trees, and removes them from those that are due.
    fn activate_woken(&mut self, now: Now) {
        let (leaves, queues, htb) = (&self.leaves, &mut self.leaf_queues, &mut self.htb);
        self.due.retain(|leaf| match (leaves.get(leaf.index()), queues.get_mut(leaf.index())) {
            (Some(hot), Some(queue)) if hot.is(leaf_flag::TREE) => {
                queue.scheduled = Scheduled::No;
                htb.activate(hot.class, now);
                false
            }
            _ => true,
        });
    }

    /// When [`Self::dequeue`] has to be called next; `now` if it is not finished. `None` when nothing waits.
    pub fn next_deadline(&self, now: Now) -> Option<Now> {
        if self.is_changing() {
            return Some(now);
        }
        let trees = self.htb.next_deadline(now);
        // Leaves may still be due though their packets are gone.
        if self.slab.len() == 0 {
            return trees;
        }
        let leaves =
            if self.has_turns() || self.has_sendable() { Some(now) } else { self.wheel.next_deadline() };
        leaves.into_iter().chain(trees).min()
    }
}
