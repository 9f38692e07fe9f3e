//! Rows that several workers use: which worker owns a row, the packets handed over for it, and when it is released.

use crate::ids::{LeafId, QueueRef};
use crate::packet::frame::Frame;
use crate::qos::forest::{ClassId, Context, Identity, PathClasses};
use crate::qos::htb::Htb;
use crate::qos::leaf::{Leaf, UNOWNED, leaf_flag};
use crate::qos::ownership::AcquireOutcome;
use crate::qos::queues::Queues;
use crate::qos::queues::queue_path::RemainingPath;
use crate::qos::queues::queue_row::QueueRow;
use crate::qos::queues::shared::SharedQueues;
use crate::time::Now;

/// Packets handed over in a row, with none of the owner's own between them, after which it releases a row. Less than a
/// batch, so that a fast flow soon wakes one worker instead of two; more than one or two, so that flows of two workers
/// do not move the row with every packet.
const MAX_HANDED_OVER_RUN: u32 = 16;

/// Times that a worker releases a row before it sleeps without another worker taking it; after that it keeps the row.
const MAX_IDLE_RELEASES: u8 = 16;

/// Maximum number of rows released before one sleep. Packets that arrive meanwhile wait about 0.3 µs for each row.
const MAX_RELEASED_AT_ONCE: usize = 256;

impl<F: Frame> Queues<F> {
    /// Acquires the row of a leaf if it has no owner. Otherwise returns the owner, to which the packet has been counted
    /// as in flight: it must be handed over, or [`Self::cancel_handover`] be called.
    #[cold]
    pub fn acquire_row(&mut self, leaf: LeafId, now: Now) -> Option<u32> {
        let at = self.leaf_queues.get(leaf.index())?.row;
        let queue_row = self.rows.get_mut(at as usize)?;
        match queue_row.ownership.acquire(self.worker) {
            AcquireOutcome::OwnedBy(worker) => {
                queue_row.handed_over.idle_releases = MAX_IDLE_RELEASES;
                Some(worker)
            }
            AcquireOutcome::Taken => {
                // `unacknowledged` stays: it may hold packets that passed the row at an owner before.
                (queue_row.handed_over.in_a_row, queue_row.handed_over.passed) = (0, 0);
                if queue_row.handed_over.idle_releases != 0 {
                    // The release was in vain if no other worker took the row meanwhile.
                    let in_vain = queue_row.ownership.was_last_owner(self.worker);
                    queue_row.handed_over.idle_releases =
                        if in_vain { queue_row.handed_over.idle_releases - 1 } else { MAX_IDLE_RELEASES };
                    queue_row.handed_over.list(at, &mut self.shared_rows);
                }
                let left = queue_row.parts.into_iter().zip(queue_row.ownership.tokens());
                for (part, (leaf, (tokens, counted))) in left.enumerate() {
                    let (Some(hot), Some(queue)) =
                        (self.leaves.get_mut(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
                    else {
                        continue;
                    };
                    if let Some(burst) = &mut queue.burst {
                        queue_row.ownership.restore_burst(part, burst);
                        burst.advance(now);
                        hot.bucket.set_rate(burst.ceiling(queue.max_limit), now, false);
                    }
                    hot.bucket.restore(tokens, counted);
                    hot.waiting = 0;
                    if hot.is(leaf_flag::TREE) {
                        acquire_leaf_in_tree(&mut self.htb, hot.class, tokens, now);
                    }
                }
                None
            }
        }
    }

    /// Metadata that goes with a packet to the owner of its next leaf, which [`Self::acquire_row`] has just returned.
    pub fn remaining_path(&self, leaf: LeafId, queue: QueueRef) -> Option<RemainingPath> {
        let leaf_queue = self.leaf_queues.get(leaf.index())?;
        let (classes, context, step) = match (self.paths.of(queue), queue.step()) {
            (Some(path), step) => (path.classes, path.context, step),
            (None, _) => {
                let mut classes = PathClasses::default();
                classes.push(self.leaves.get(leaf.index())?.class);
                (classes, Context::default(), 0)
            }
        };
        let before = step.checked_sub(1).and_then(|step| self.paths.at(queue, step));
        let before =
            before.filter(|leaf| !self.is_unowned(*leaf)).and_then(|leaf| self.leaf_queues.get(leaf.index()));
        if let Some(queue_row) = before.and_then(|before| self.rows.get(before.row as usize)) {
            queue_row.ownership.note_in_flight();
        }
        let before = before.map(|before| before.identity.first());
        let rank = usize::from(leaf_queue.rank);
        Some(RemainingPath { leaf: leaf_queue.identity, rank, step, classes, context, before })
    }

    /// Takes back the count of a packet in flight that will not arrive.
    pub fn cancel_handover(&self, remaining: &RemainingPath) {
        for row in [Some(remaining.leaf.first()), remaining.before].into_iter().flatten() {
            if let Some(queue_row) = self.row_of(row).and_then(|at| self.rows.get(at)) {
                queue_row.ownership.acknowledge(1);
            }
        }
    }

    /// Acknowledges a packet that came for a leaf which this worker does not have.
    pub fn acknowledge_missed(&self, remaining: &RemainingPath) {
        if let Some(queue_row) = self.row_of(remaining.leaf.first()).and_then(|at| self.rows.get(at)) {
            queue_row.ownership.acknowledge(1);
        }
    }

    /// Notes a packet to acknowledge when it has left: it passed this row at another worker, which may release the row
    /// then.
    pub fn note_upstream_to_acknowledge(&mut self, row: Identity) {
        if let Some(at) = self.row_of(row) {
            self.note_to_acknowledge(at as u32);
        }
    }

    fn note_to_acknowledge(&mut self, at: u32) {
        let Some(queue_row) = self.rows.get_mut(at as usize) else { return };
        if queue_row.handed_over.unacknowledged == 0 {
            self.unacknowledged.push(at);
        }
        queue_row.handed_over.unacknowledged = queue_row.handed_over.unacknowledged.saturating_add(1);
    }

    /// Counts a packet of another worker that is about to enter a leaf.
    pub fn enter_handed_over(&mut self, leaf: LeafId) {
        let Some(at) = self.leaf_queues.get(leaf.index()).map(|queue| queue.row) else { return };
        let passed = self.passed(at);
        if let Some(QueueRow { handed_over, .. }) = self.rows.get_mut(at as usize) {
            handed_over.in_a_row =
                if passed == handed_over.passed { handed_over.in_a_row.saturating_add(1) } else { 0 };
            handed_over.idle_releases = MAX_IDLE_RELEASES;
            handed_over.list(at, &mut self.shared_rows);
        }
        self.note_to_acknowledge(at);
    }

    /// To be called when the packet of [`Self::enter_handed_over`] has passed, or waits, or was dropped.
    pub fn leave_handed_over(&mut self, leaf: LeafId) {
        let Some(at) = self.leaf_queues.get(leaf.index()).map(|queue| queue.row) else { return };
        let passed = self.passed(at);
        if let Some(queue_row) = self.rows.get_mut(at as usize) {
            queue_row.handed_over.passed = passed;
        }
    }

    /// Number of packets that have passed a row at this worker, all parts together.
    fn passed(&self, at: u32) -> u64 {
        let leaves = self.rows.get(at as usize).into_iter().flat_map(QueueRow::leaves);
        let packets = |leaf: LeafId| self.leaves.get(leaf.index()).map_or(0, |hot| hot.passed().packets);
        leaves.map(packets).fold(0, u64::wrapping_add)
    }

    /// Called when all packets dequeued so far have left the router: acknowledges those of other workers, and
    /// releases rows that only other workers use.
    pub fn acknowledge(&mut self, shared: &SharedQueues, now: Now) {
        if self.is_changing() {
            self.advance_ordered_change(shared);
            if self.is_changing() {
                return;
            }
        }
        if self.unacknowledged.is_empty() || self.waits_for_ports() {
            return;
        }
        while let Some(at) = self.unacknowledged.pop() {
            let Some(queue_row) = self.rows.get_mut(at as usize) else { continue };
            queue_row.ownership.acknowledge(std::mem::take(&mut queue_row.handed_over.unacknowledged));
            if queue_row.handed_over.in_a_row >= MAX_HANDED_OVER_RUN {
                self.release_row(at, now);
            }
        }
    }

    /// Called when the worker is about to sleep and all packets dequeued so far have left the router, except those that
    /// wait for a port. Releases up to `MAX_RELEASED_AT_ONCE` rows that other workers use too, as each of their
    /// packets would wake this worker. Returns whether there were any.
    pub fn before_sleep(&mut self, now: Now) -> bool {
        if self.shared_rows.is_empty()
            || self.is_changing()
            || !self.unacknowledged.is_empty()
            || self.waits_for_ports()
        {
            return false;
        }
        for _ in 0..MAX_RELEASED_AT_ONCE {
            let Some(at) = self.shared_rows.pop() else { break };
            let Some(queue_row) = self.rows.get_mut(at as usize) else { continue };
            queue_row.handed_over.is_listed = false;
            let hot = |leaf: LeafId| self.leaves.get(leaf.index());
            // The state of a kind that has rates of its own does not move with the row.
            let may_go = |hot: &Leaf| !hot.is_unowned() && !hot.is(leaf_flag::EVERY_PACKET);
            if queue_row.handed_over.idle_releases != 0 && queue_row.leaves().filter_map(hot).all(may_go) {
                self.release_row(at, now);
            }
        }
        true
    }

    fn release_row(&mut self, at: u32, now: Now) {
        let Some(queue_row) = self.rows.get(at as usize) else { return };
        let idle = |leaf: LeafId| self.leaves.get(leaf.index()).is_some_and(|hot| hot.waiting == 0);
        if !queue_row.leaves().all(idle) {
            return;
        }
        let tokens = queue_row.parts.map(|leaf| {
            let Some(hot) = self.leaves.get(leaf.index()) else { return (0, now) };
            let tokens = match hot.is(leaf_flag::TREE) {
                true => i64::from(self.htb.release(hot.class, now)),
                false => hot.bucket.tokens(),
            };
            (tokens, hot.bucket.counted())
        });
        let bursts = queue_row.parts.map(|leaf| self.leaf_queues.get(leaf.index())?.burst.as_deref());
        if bursts.iter().any(Option::is_some) {
            queue_row.ownership.store_bursts(bursts);
        }
        if queue_row.ownership.release(self.worker, tokens) {
            for leaf in queue_row.leaves() {
                if let Some(hot) = self.leaves.get_mut(leaf.index()) {
                    hot.waiting = UNOWNED;
                }
            }
        } else {
            for (leaf, (tokens, _)) in queue_row.parts.into_iter().zip(tokens) {
                if let Some(hot) = self.leaves.get(leaf.index()).filter(|hot| hot.is(leaf_flag::TREE)) {
                    acquire_leaf_in_tree(&mut self.htb, hot.class, tokens, now);
                }
            }
        }
    }
}

/// Acquires a leaf in a tree. It has no tokens of its own; instead the row says whether the tree has stored a state for
/// it.
fn acquire_leaf_in_tree(htb: &mut Htb, class: ClassId, tokens: i64, now: Now) {
    match tokens {
        0 => htb.acquire_full(class, now),
        _ => htb.acquire(class, now),
    }
}
