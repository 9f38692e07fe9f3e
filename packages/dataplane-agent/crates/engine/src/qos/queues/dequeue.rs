//! Dequeuing: leaves that are due send in turn, and each packet continues to the next leaf of its path.

use crate::ids::{LeafId, QueueRef};
use crate::packet::frame::Frame;
use crate::packet::tuple::Addr;
use crate::qos::forest::Context;
use crate::qos::kind::{Dequeued, Load};
use crate::qos::leaf::{LeafQueue, Scheduled, leaf_flag};
use crate::qos::queues::ordered_change::PHASES;
use crate::qos::queues::queue_path::QueuePaths;
use crate::qos::queues::watch::Event;
use crate::qos::queues::{LeafLookup, QUANTUM, Queues, TICK, Waiting};
use crate::qos::slab::{NodeId, NodeQueue};
use crate::time::Now;

impl<F: Frame> Queues<F> {
    /// Dequeues frames of one leaf that is due, at most `most`; leaves take turns. The queue reference of a frame that
    /// is sent is that of its remaining leaves: the caller passes the frame through them before the next call, or
    /// frames would be reordered. With a frame comes its source, as [`Slab::source`](crate::qos::slab::Slab::source) has it.
    /// `None` when no leaf is due.
    pub fn dequeue(
        &mut self,
        lookup: &LeafLookup<'_>,
        now: Now,
        most: usize,
        mut send: impl FnMut(Waiting<F>, Addr),
    ) -> Option<usize> {
        self.serve_trees_next = !self.serve_trees_next;
        if self.serve_trees_next {
            let sent = self.serve_tree(lookup, now, most.min(QUANTUM), &mut send);
            if sent != 0 {
                return Some(sent);
            }
        }
        if let Some(leaf) = self.due.pop_front() {
            self.prefetch_due();
            return Some(self.serve_leaf(leaf, lookup, now, most.min(QUANTUM), &mut send));
        }
        let sent = self.serve_tree(lookup, now, most.min(QUANTUM), &mut send);
        (sent != 0).then_some(sent)
    }

    /// Serves a leaf with a bucket of its own. Returns the number of frames sent.
    fn serve_leaf(
        &mut self,
        leaf: LeafId,
        lookup: &LeafLookup<'_>,
        now: Now,
        most: usize,
        send: &mut impl FnMut(Waiting<F>, Addr),
    ) -> usize {
        let (sent, until) = self.serve(leaf, lookup, now, most, send);
        let (Some(hot), Some(queue)) =
            (self.leaves.get(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
        else {
            return sent;
        };
        if queue.is_port() && hot.queued() != 0 && until.is_none() && !hot.is(leaf_flag::BLOCKED) {
            self.due_after_port.push(leaf);
            return sent;
        }
        // A kind that returns no frame although packets wait is asked again after a tick.
        let until = until.or_else(|| {
            let stuck = sent == 0 && hot.queued() != 0 && hot.bucket.is_open();
            (stuck && !hot.is(leaf_flag::TREE | leaf_flag::BLOCKED)).then_some(Now(now.0 + TICK))
        });
        queue.scheduled = Scheduled::No;
        match until {
            Some(until) => self.wake_at(leaf, until, now),
            None => self.schedule(leaf, now),
        }
        sent
    }

    /// Sends up to `most` frames of a leaf. Returns their number, and the time at which the kind has the next frame to
    /// send, if it is later.
    fn serve(
        &mut self,
        leaf: LeafId,
        lookup: &LeafLookup<'_>,
        now: Now,
        most: usize,
        send: &mut impl FnMut(Waiting<F>, Addr),
    ) -> (usize, Option<Now>) {
        let (Some(hot), Some(queue)) =
            (self.leaves.get_mut(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
        else {
            return (0, None);
        };
        if hot.meter_is_due(now) {
            queue.begin_second(hot, now);
        }
        if hot.is(leaf_flag::BLOCKED | leaf_flag::TREE) {
            return (0, None);
        }
        queue.apply_burst(hot, now);
        hot.bucket.fill(now, true);
        for sent in 0..most {
            if !self.leaves.get(leaf.index()).is_some_and(|hot| hot.bucket.is_open()) {
                return (sent, None);
            }
            match self.take_next(leaf, now) {
                Ok(node) => self.dequeue_frame(leaf, node, lookup, now, send),
                Err(until) => return (sent, until),
            }
        }
        (most, None)
    }

    /// Dequeues the next frame of a leaf. The frame keeps its node in the slab.
    fn take_next(&mut self, leaf: LeafId, now: Now) -> Result<NodeId, Option<Now>> {
        let Some(queue) = self.leaf_queues.get_mut(leaf.index()) else { return Err(None) };
        let before = queue.kind.load();
        let mut gone = NodeQueue::default();
        let next = queue.kind.dequeue(&mut self.slab, now, &mut gone);
        if gone.len() != 0 {
            self.drop_frames(leaf, &mut gone, None);
        }
        let taken = match next {
            Dequeued::Packet(node) => Ok(node),
            Dequeued::Wait(until) => Err(Some(until)),
            Dequeued::Empty => Err(None),
        };
        self.changed(leaf, before);
        taken
    }

    /// Passes a frame through the leaf in which it has waited, and sends it.
    fn dequeue_frame(
        &mut self,
        leaf: LeafId,
        node: NodeId,
        lookup: &LeafLookup<'_>,
        now: Now,
        send: &mut impl FnMut(Waiting<F>, Addr),
    ) {
        let Some(waiting) = self.slab.get(node) else { return };
        let (bytes, enqueued, mut queue) = (waiting.bytes, waiting.enqueued, waiting.queue);
        if let (Some(hot), Some(leaf_queue)) =
            (self.leaves.get_mut(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
        {
            leaf_queue.pass(hot, waiting.segments, waiting.bytes);
            let micros = now.0.saturating_sub(waiting.enqueued.0) / 1000;
            let wait = u32::try_from(micros).unwrap_or(u32::MAX);
            leaf_queue.note_wait(wait);
            if hot.is(leaf_flag::WATCHED) {
                self.watches.now = now;
                self.record_event(leaf, Event { passed: bytes, dropped: 0, wait });
            }
        }
        if self.is_changing() {
            let (passed, addresses) = (Some(self.rank(leaf)), self.slab.addresses(node));
            if self.waits_for_older(lookup, passed, &addresses) {
                if let Some(waiting) = self.slab.remove(node) {
                    self.push_deferred(passed, waiting, &addresses);
                }
                return;
            }
        }
        if self.leaf_queues.get(leaf.index()).is_some_and(LeafQueue::is_port) {
            queue = QueueRef::DONE;
        } else if !queue.is_none() {
            queue = self.next_queue(leaf, queue, node, lookup, now);
        } else if enqueued <= self.reconfigured_at {
            // In an older configuration the leaf may have been the only one on the path of the frame.
            let rank = self.rank(leaf);
            let addresses = self.slab.addresses(node);
            queue = self.queue_after_rank(lookup, &addresses, Context::default(), rank, now);
        }
        // The frame is moved only here, to its destination.
        let src = self.slab.source(node);
        if let Some(waiting) = self.slab.remove(node) {
            send(Waiting { queue, ..waiting }, src);
        }
    }

    /// Serves the leaf whose turn it is in a tree. Returns the number of frames sent.
    fn serve_tree(
        &mut self,
        lookup: &LeafLookup<'_>,
        now: Now,
        most: usize,
        send: &mut impl FnMut(Waiting<F>, Addr),
    ) -> usize {
        let Some(turn) = self.htb.next(now) else { return 0 };
        let leaf = self.class_leaves.get(turn.leaf.0 as usize).copied().unwrap_or(LeafId::NONE);
        let (Some(hot), Some(queue)) =
            (self.leaves.get_mut(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
        else {
            self.htb.deactivate(turn.leaf);
            return 0;
        };
        if hot.meter_is_due(now) {
            queue.begin_second(hot, now);
        }
        let (mut frames, mut bytes) = (0, 0);
        while frames < most {
            match self.take_next(leaf, now) {
                Ok(node) => {
                    let load = Load::of(&self.slab, node);
                    (frames, bytes) = (frames + 1, bytes + load.bytes);
                    self.htb.sent(turn.leaf, load.segments, load.bytes, now);
                    self.dequeue_frame(leaf, node, lookup, now, send);
                }
                Err(Some(until)) => {
                    self.htb.deactivate(turn.leaf);
                    self.wake_at(leaf, until, now);
                    return frames;
                }
                Err(None) => break,
            }
            if bytes >= turn.bytes {
                break;
            }
        }
        self.deactivate(leaf);
        frames
    }

    /// The next queue of a frame that has passed a leaf in which it waited.
    fn next_queue(
        &mut self,
        leaf: LeafId,
        waited_on: QueueRef,
        node: NodeId,
        lookup: &LeafLookup<'_>,
        now: Now,
    ) -> QueueRef {
        let next = self.paths.after_wait(waited_on).unwrap_or_else(|context| {
            // The path belongs to an older configuration: find the leaves again.
            let class = self.class(leaf);
            let classes = lookup.path_classes(&self.slab.addresses(node), &context);
            let Some(step) = classes.iter().position(|passed| Some(passed) == class) else {
                return QueueRef::NONE;
            };
            let queue = self.queue_ref(lookup.forest, &classes, context, now);
            self.paths.after(queue, step as u8)
        });
        self.paths.remove_waiting(waited_on);
        next
    }

    /// Properties beside the addresses by which the queue of a waiting frame was found.
    pub(super) fn context(paths: &QueuePaths, waiting: &Waiting<F>) -> Context {
        paths.of(waiting.queue).map_or(Context::default(), |path| path.context)
    }

    /// Takes the next packet that an ordered change has deferred and that may continue now. Packets farther along their
    /// queue path come first. The queue reference of the packet is that of the rest of its path. With it comes its source, as
    /// [`Slab::source`](crate::qos::slab::Slab::source) has it.
    pub fn take_sendable(&mut self, lookup: &LeafLookup<'_>, now: Now) -> Option<(Waiting<F>, Addr)> {
        let allowed = self.ordered_change.lowest_allowed()..;
        let phase = (0..PHASES)
            .zip(&self.deferred)
            .rev()
            .find(|(phase, all)| allowed.contains(phase) && all.len() != 0)?
            .0;
        let node = self.deferred.get_mut(phase)?.pop(&mut self.slab)?;
        let (src, addresses) = (self.slab.source(node), self.slab.addresses(node));
        let mut waiting = self.slab.remove(node)?;
        let context = Self::context(&self.paths, &waiting);
        self.paths.remove_waiting(waiting.queue);
        if let Some(rank) = phase.checked_sub(1) {
            waiting.queue = self.queue_after_rank(lookup, &addresses, context, rank, now);
        }
        Some((waiting, src))
    }
}
