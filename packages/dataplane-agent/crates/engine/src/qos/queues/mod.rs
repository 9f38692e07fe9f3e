//! A worker's queues: the leaves it has, what waits in them, and who is due.

mod changeover;
mod handover;
mod port;
pub(crate) mod queue_path;
mod record;
mod scope;
pub mod swap;

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use tollway_config::protocol::QueueTotals;

use crate::ids::QueueRef;
use crate::observe::trace::Ended;
use crate::packet::frame::Frame;
use crate::packet::verdict::DropReason;
use crate::qos::classify::QueueTable;
use crate::qos::forest::{Context, Forest, Identity};
use crate::qos::htb::Htb;
use crate::qos::kind::{Dequeued, Load};
use crate::qos::leaf::{Backlog, Leaf, WakeBy, leaf_flag};
use crate::qos::longest::Longest;
use crate::qos::queues::changeover::{Changeover, SLOTS};
use crate::qos::queues::handover::QueueRow;
use crate::qos::queues::port::Ports;
use crate::qos::queues::queue_path::QueuePaths;
use crate::qos::queues::record::{CarriedCounters, ResetCounters};
use crate::qos::queues::scope::{Event, Scopes};
use crate::qos::slab::{NodeId, NodeQueue, Slab};
use crate::time::Now;
use crate::time::wheel::Wheel;

pub use super::slab::Waiting;

/// Resolution of the wheel, ns. Tokens go on gathering while a leaf waits for its tick, so none are lost.
const TICK: u64 = 100_000;
/// Frames a due leaf sends before others get their turn.
pub(super) const QUANTUM: usize = 16;
/// A super-frame whose time on the wire at the queue's rate is longer than one in so many of a second is
/// cut into pieces: it would make everybody else wait.
const WHOLE_PER_SECOND: u64 = 1000;

pub(super) const NIL: u32 = u32::MAX;

/// Wire segments that the queues dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The queue's kind had no room for them, or dropped them to keep delays short.
    pub full: u32,
    /// As many waited in all queues as there is memory for.
    pub memory: u32,
}

/// What came of a frame that was to wait in a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HoldOutcome {
    /// It waits.
    Waits,
    /// The leaf's queue dropped it. The next one may be taken.
    Dropped,
    /// The leaf's queue has no room for it, nor for more of the same.
    NoRoom,
    /// There is no memory for it.
    NoMemory,
}

/// How packets find their leaves.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'a> {
    /// The leaves.
    pub forest: &'a Arc<Forest>,
    /// Which of them a packet passes.
    pub table: &'a Arc<QueueTable>,
    /// Wall clock, ns since 1970 UTC.
    pub utc_ns: i64,
}

/// A leaf on a packet's queue.
#[derive(Debug, Clone, Copy)]
pub struct PathStep {
    /// From it on.
    pub queue: QueueRef,
    /// Its number.
    pub leaf: u32,
}

/// The queues.
#[derive(Debug)]
pub struct Queues<F> {
    pub(super) worker: u32,
    /// See [`Backlog::seed`].
    pub(super) salt: u64,
    /// Those of rows whose packets have come to this worker.
    pub(super) leaves: Vec<Leaf>,
    /// What is seldom touched of each leaf.
    pub(super) backlogs: Vec<Backlog>,
    /// Every row of the configuration, by ascending identity.
    pub(super) rows: Vec<QueueRow>,
    /// Leaf of each class, or [`NIL`].
    pub(super) class_leaves: Vec<u32>,
    /// Leaves that are nobody's.
    pub(super) free: Vec<u32>,
    pub(super) paths: QueuePaths,
    pub(super) htb: Htb,
    pub(super) ports: Ports,
    /// Counters of classes in trees that were reset.
    pub(super) reset_counters: HashMap<Identity, ResetCounters>,
    /// What classes counted before they became leaves, or ceased to be.
    pub(super) carried: HashMap<Identity, CarriedCounters>,
    pub(super) scopes: Scopes,
    pub(super) slab: Slab<F>,
    wheel: Wheel<TICK>,
    /// Leaves whose time has come, in turn.
    pub(super) due: VecDeque<u32>,
    /// It is the turn of a leaf in a tree.
    trees_turn: bool,
    /// Leaves that have had their turn until the port behind them was asked.
    again: Vec<u32>,
    /// What must not wait any longer where it did, by what it has passed: see [`super::changeover`].
    pub(super) leaving: [NodeQueue; SLOTS],
    changeover: Changeover,
    /// When the configuration was taken over.
    pub(super) swapped: Now,
    /// Rows to which other workers' packets came that have not left the router.
    pub(super) unacknowledged: Vec<u32>,
    /// Rows that this worker took, or got packets for, while others use them too.
    pub(super) shared_rows: Vec<u32>,
    longest: Longest,
    totals: QueueTotals,
    dropped: Dropped,
    /// Traced packets that ended where they waited.
    pub(crate) ended: Ended,
}

impl<F: Frame> Queues<F> {
    /// No queues yet. At most `max_frames` frames that keep at most `max_footprint` bytes will wait. `salt` should be
    /// hard to guess.
    pub fn new(worker: u32, workers: u32, (max_frames, max_footprint): (u32, u64), salt: u64) -> Self {
        Self {
            worker,
            salt,
            leaves: Vec::new(),
            backlogs: Vec::new(),
            rows: Vec::new(),
            class_leaves: Vec::new(),
            free: Vec::new(),
            paths: QueuePaths::default(),
            htb: Htb::new(worker, workers),
            ports: Ports::default(),
            reset_counters: HashMap::new(),
            carried: HashMap::new(),
            scopes: Scopes::default(),
            slab: Slab::new(max_frames, max_footprint),
            wheel: Wheel::new(0),
            due: VecDeque::new(),
            trees_turn: false,
            again: Vec::new(),
            leaving: [NodeQueue::default(); SLOTS],
            changeover: Changeover::new(workers),
            swapped: Now(0),
            unacknowledged: Vec::new(),
            shared_rows: Vec::new(),
            longest: Longest::default(),
            totals: QueueTotals::default(),
            dropped: Dropped::default(),
            ended: Ended::default(),
        }
    }

    /// All packets of a batch have been here.
    #[inline]
    pub fn end_batch(&mut self) {
        self.htb.end_runs();
    }

    /// Lets a packet pass the leaves of its queue. `first` is the first of them, [`Self::first_leaf`]. Says which
    /// does not let it pass at once, if one does not; nothing is counted there. `TREES`: many leaves are in trees.
    #[inline(always)]
    pub fn walk<const TREES: bool>(
        &mut self,
        queue: QueueRef,
        first: u32,
        segments: u32,
        bytes: u64,
        now: Now,
    ) -> Option<PathStep> {
        // A queue that leads nowhere has numbers of none.
        let (mut step, mut leaf) = (queue.path_step(), first);
        loop {
            if !self.pass::<TREES>(leaf, segments, bytes, now) {
                return Some(PathStep { queue: queue.at(step), leaf });
            }
            if queue.is_short() {
                return None;
            }
            step += 1;
            leaf = self.paths.leaf(queue.path_number(), step)?;
        }
    }

    /// The same for a packet on its way.
    pub fn walk_on(&mut self, queue: QueueRef, segments: u32, bytes: u64, now: Now) -> Option<PathStep> {
        self.walk::<false>(queue, self.first_leaf(queue), segments, bytes, now)
    }

    /// As [`Self::walk`], at one leaf.
    pub fn pass_one(&mut self, number: u32, segments: u32, bytes: u64, now: Now) -> bool {
        self.pass::<false>(number, segments, bytes, now)
    }

    /// Lets a packet pass at once, if this worker has the leaf, nothing waits before it and it keeps to the rate.
    /// `false`, counting nothing, if not.
    // Measured: once in the loop over a batch, where it is most of the work, and once for all others.
    #[inline(always)]
    fn pass<const TREES: bool>(&mut self, number: u32, segments: u32, bytes: u64, now: Now) -> bool {
        let Some(leaf) = self.leaves.get_mut(number as usize) else { return true };
        if leaf.meter_is_due(now)
            && let Some(backlog) = self.backlogs.get_mut(number as usize)
        {
            backlog.turn_meter(leaf, now);
        }
        if leaf.is(leaf_flag::ALL) {
            if !TREES || leaf.is(leaf_flag::ALL & !leaf_flag::TREE) {
                return self.pass_flagged(number, segments, bytes, now);
            }
            // A super-frame that would make others wait goes in pieces.
            let is_whole = segments == 1 || !is_long(self.htb.rate(leaf.class), segments, bytes);
            let passes = leaf.waiting == 0 && is_whole && self.htb.pass(leaf.class, segments, bytes, now);
            if passes {
                leaf.count(segments, bytes);
            }
            return passes;
        }
        leaf.bucket.fill(now, leaf.waiting != 0);
        if leaf.waiting != 0 || !leaf.bucket.is_open() || is_long(leaf.bucket.rate(), segments, bytes) {
            return false;
        }
        leaf.pass(segments, bytes);
        true
    }

    #[inline(never)]
    fn pass_flagged(&mut self, number: u32, segments: u32, bytes: u64, now: Now) -> bool {
        let place = number as usize;
        let Some(leaf) = self.leaves.get_mut(place) else { return true };
        if leaf.waiting != 0 || leaf.is(leaf_flag::METERED | leaf_flag::BLOCKED) {
            return false;
        }
        if leaf.is(leaf_flag::TREE) {
            if segments > 1 && is_long(self.htb.rate(leaf.class), segments, bytes)
                || !self.htb.pass(leaf.class, segments, bytes, now)
            {
                return false;
            }
            leaf.count(segments, bytes);
        } else {
            let Some(backlog) = self.backlogs.get_mut(place) else { return true };
            backlog.turn_burst(leaf, now);
            leaf.bucket.fill(now, false);
            if !leaf.bucket.is_open() || is_long(leaf.bucket.rate(), segments, bytes) {
                return false;
            }
            backlog.pass(leaf, segments, bytes);
        }
        if leaf.is(leaf_flag::WATCHED) {
            self.scopes.now = now;
            self.record_event(number, Event { passed: bytes, ..Event::default() });
        }
        true
    }

    /// Highest rate of a leaf, bits/s; 0 no limit.
    fn rate(&self, number: u32) -> u64 {
        match self.leaves.get(number as usize) {
            Some(leaf) if leaf.is(leaf_flag::TREE) => self.htb.rate(leaf.class),
            Some(leaf) => leaf.bucket.rate(),
            None => 0,
        }
    }

    /// Wire segments of `bytes` each that may stay together in a leaf.
    pub fn max_segments(&self, number: u32, bytes: u64) -> u32 {
        let rate = self.rate(number);
        let limit = self.backlogs.get(number as usize).map_or(1, |backlog| backlog.queue.max_segments(bytes));
        let timely = if rate == 0 { u64::MAX } else { rate / (bytes * 8 * WHOLE_PER_SECOND).max(1) };
        u32::try_from(timely).unwrap_or(u32::MAX).min(limit).max(1)
    }

    /// Lets a frame wait in a leaf. What is dropped instead is counted for [`Self::take_dropped`].
    // In line, as it is put together where it waits then, not copied there.
    #[inline(always)]
    pub fn hold(&mut self, number: u32, waiting: Waiting<F>, now: Now) -> HoldOutcome {
        let load = Load::frame(waiting.segments, waiting.bytes);
        if let Err(refused) = self.make_room(number, load, waiting.frame.footprint() as u64, now) {
            return refused;
        }
        self.paths.hold(waiting.queue);
        let node = self.slab.insert(Waiting { enqueued: now, ..waiting });
        self.put(number, node, now)
    }

    /// Sees to it that a frame can wait in a leaf. If it cannot, counts it as dropped and says why.
    fn make_room(&mut self, number: u32, frame: Load, footprint: u64, now: Now) -> Result<(), HoldOutcome> {
        self.scopes.now = now;
        if !self.admits(number, frame.segments, frame.bytes, now) {
            self.refuse(number, frame.segments);
            return Err(HoldOutcome::NoRoom);
        }
        while !self.slab.has_room(footprint) {
            if !self.drop_from_longest() {
                self.dropped.memory = self.dropped.memory.saturating_add(frame.segments);
                self.count_drop(number, frame.segments);
                return Err(HoldOutcome::NoMemory);
            }
        }
        Ok(())
    }

    /// A frame that has a place goes into a leaf's queue, which may drop it nevertheless.
    fn put(&mut self, number: u32, node: NodeId, now: Now) -> HoldOutcome {
        let Some(backlog) = self.backlogs.get_mut(number as usize) else { return HoldOutcome::NoRoom };
        let before = backlog.queue.load();
        let mut gone = NodeQueue::default();
        let node = backlog.queue.enqueue(&mut self.slab, node, now, &mut gone);
        let refused =
            if backlog.queue.drops_at_random() { HoldOutcome::Dropped } else { HoldOutcome::NoRoom };
        let stays = !self.drop_frames(number, &mut gone, Some(node));
        self.changed(number, before);
        self.schedule(number, now);
        if self.is_watched(number) {
            self.record_event(number, Event::default());
        }
        if stays { HoldOutcome::Waits } else { refused }
    }

    /// Counts wire segments for which a leaf's queue has no room.
    pub fn refuse(&mut self, number: u32, segments: u32) {
        self.dropped.full = self.dropped.full.saturating_add(segments);
        self.count_drop(number, segments);
    }

    /// Whether a leaf's queue has room for a frame. What the bucket already has tokens for does not count: it goes as
    /// soon as the leaf has its turn.
    pub fn admits(&mut self, number: u32, segments: u32, bytes: u64, now: Now) -> bool {
        let (Some(leaf), Some(backlog)) =
            (self.leaves.get(number as usize), self.backlogs.get(number as usize))
        else {
            return false;
        };
        let frame = Load::frame(segments, bytes);
        if backlog.queue.admits(frame, Load::default()) {
            return true;
        }
        if leaf.is(leaf_flag::BLOCKED) {
            return false;
        }
        let load = backlog.queue.load();
        let tokens = if leaf.is(leaf_flag::TREE) {
            self.htb.tokens(leaf.class, now)
        } else {
            u64::try_from(leaf.bucket.tokens()).unwrap_or(0)
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
        backlog.queue.admits(frame, covered)
    }

    /// Counts wire segments out of order at all leaves of their queue.
    #[cold]
    pub fn count_out_of_order(&mut self, queue: QueueRef, segments: u32) {
        let (mut step, mut leaf) = (queue.path_step(), Some(self.first_leaf(queue)));
        while let Some(number) = leaf {
            if let Some(backlog) = self.backlogs.get_mut(number as usize) {
                backlog.out_of_order += u64::from(segments);
            }
            if queue.is_short() {
                return;
            }
            step += 1;
            leaf = self.paths.leaf(queue.path_number(), step);
        }
    }

    /// Counts wire segments that a leaf has lost, for whatever reason.
    pub fn count_drop(&mut self, number: u32, segments: u32) {
        self.totals.dropped_packets += u64::from(segments);
        if let Some(backlog) = self.backlogs.get_mut(number as usize) {
            backlog.dropped += u64::from(segments);
        }
        if self.is_watched(number) {
            self.record_event(number, Event { dropped: segments, ..Event::default() });
        }
    }

    /// Counts wire segments for which there is no memory, of no leaf.
    pub(super) fn drop_for_memory(&mut self, segments: u32) {
        self.dropped.memory = self.dropped.memory.saturating_add(segments);
        self.totals.dropped_packets += u64::from(segments);
    }

    fn is_watched(&self, number: u32) -> bool {
        self.leaves.get(number as usize).is_some_and(|leaf| leaf.is(leaf_flag::WATCHED))
    }

    /// Drops what a leaf's queue gave away. Says whether `this` was among it.
    pub(super) fn drop_frames(&mut self, number: u32, gone: &mut NodeQueue, this: Option<NodeId>) -> bool {
        let mut found = false;
        while let Some(node) = gone.pop(&mut self.slab) {
            found |= this == Some(node);
            if let Some(waiting) = self.slab.remove(node) {
                self.paths.release(waiting.queue);
                self.refuse(number, waiting.segments);
                self.ended.note(waiting.trace, DropReason::QueueFull);
            }
        }
        found
    }

    /// Makes room at the cost of the longest queue. `false` when nothing waits in any.
    fn drop_from_longest(&mut self) -> bool {
        let Some(number) = self.longest.first(&mut self.backlogs) else { return false };
        let Some(backlog) = self.backlogs.get_mut(number as usize) else { return false };
        let before = backlog.queue.load();
        let mut gone = NodeQueue::default();
        backlog.queue.drop_from_longest(&mut self.slab, &mut gone);
        let Some(waiting) = gone.pop(&mut self.slab).and_then(|node| self.slab.remove(node)) else {
            return false;
        };
        self.paths.release(waiting.queue);
        self.ended.note(waiting.trace, DropReason::QueueMemory);
        self.dropped.memory = self.dropped.memory.saturating_add(waiting.segments);
        self.count_drop(number, waiting.segments);
        self.drop_frames(number, &mut gone, None);
        self.changed(number, before);
        self.rest(number);
        true
    }

    /// Takes the frame that goes first out of a leaf's queue; it keeps its place.
    fn take_next(&mut self, number: u32, now: Now) -> Result<NodeId, Option<Now>> {
        let Some(backlog) = self.backlogs.get_mut(number as usize) else { return Err(None) };
        let before = backlog.queue.load();
        let mut gone = NodeQueue::default();
        let next = backlog.queue.dequeue(&mut self.slab, now, &mut gone);
        if gone.len() != 0 {
            self.drop_frames(number, &mut gone, None);
        }
        let taken = match next {
            Dequeued::Packet(node) => Ok(node),
            Dequeued::Wait(until) => Err(Some(until)),
            Dequeued::Empty => Err(None),
        };
        self.changed(number, before);
        taken
    }

    /// What waits in a leaf's queue has changed from `before`.
    pub(super) fn changed(&mut self, number: u32, before: Load) {
        let Some(backlog) = self.backlogs.get(number as usize) else { return };
        let after = backlog.queue.load();
        let QueueTotals { queued_bytes, queued_packets, .. } = &mut self.totals;
        *queued_bytes = (*queued_bytes + after.bytes).saturating_sub(before.bytes);
        *queued_packets =
            (*queued_packets + u64::from(after.segments)).saturating_sub(before.segments.into());
        if let Some(leaf) = self.leaves.get_mut(number as usize).filter(|leaf| !leaf.is_away()) {
            leaf.waiting = after.segments;
        }
        self.longest.update(&mut self.backlogs, number, after.frames);
        if after.frames == 0 {
            self.unschedule(number);
        }
    }

    /// Sees to it that a leaf in which packets wait is woken when its bucket opens.
    pub(super) fn schedule(&mut self, number: u32, now: Now) {
        let (Some(leaf), Some(backlog)) =
            (self.leaves.get_mut(number as usize), self.backlogs.get_mut(number as usize))
        else {
            return;
        };
        if backlog.wake == WakeBy::Turn || leaf.queued() == 0 || leaf.is(leaf_flag::BLOCKED) {
            return;
        }
        if leaf.is(leaf_flag::TREE) {
            self.htb.activate(leaf.class, now);
            return self.unschedule(number);
        }
        leaf.bucket.fill(now, true);
        if leaf.bucket.is_open() {
            if backlog.wake == WakeBy::Wheel {
                self.wheel.disarm(number);
            }
            backlog.wake = WakeBy::Turn;
            self.due.push_back(number);
        } else if backlog.wake == WakeBy::Nobody {
            backlog.wake = WakeBy::Wheel;
            self.wheel.follow(now);
            self.wheel.arm(number, leaf.bucket.opens_at());
        }
    }

    /// Wakes a leaf whose kind lets nothing go before.
    fn wake_at(&mut self, number: u32, at: Now, now: Now) {
        if let Some(backlog) = self.backlogs.get_mut(number as usize) {
            backlog.wake = WakeBy::Wheel;
            self.wheel.follow(now);
            self.wheel.arm(number, at);
        }
    }

    /// Takes a leaf's timer away. One whose turn is due is passed over then if nothing waits in it.
    pub(super) fn unschedule(&mut self, number: u32) {
        if let Some(backlog) = self.backlogs.get_mut(number as usize)
            && backlog.wake == WakeBy::Wheel
        {
            backlog.wake = WakeBy::Nobody;
            self.wheel.disarm(number);
        }
    }

    /// A tree does not have to think of a leaf any more, if nothing waits in it.
    pub(super) fn rest(&mut self, number: u32) {
        if let (Some(leaf), Some(backlog)) =
            (self.leaves.get(number as usize), self.backlogs.get(number as usize))
            && leaf.is(leaf_flag::TREE)
            && backlog.queue.frames() == 0
        {
            self.htb.deactivate(leaf.class);
        }
    }

    /// Takes leaves that are nobody's any more out of the row of those that are due.
    pub(super) fn pass_over_retired(&mut self) {
        let backlogs = &self.backlogs;
        let waits =
            |number: &u32| backlogs.get(*number as usize).is_some_and(|backlog| backlog.wake == WakeBy::Turn);
        self.due.retain(waits);
        self.again.retain(waits);
    }

    /// Leaves in which packets wait.
    pub(super) fn waiting_leaves(&self) -> Vec<u32> {
        self.longest.all(&self.backlogs)
    }

    /// Makes room for so many leaves, so that no packet has to.
    pub(super) fn reserve(&mut self, leaves: usize) {
        self.due.reserve(leaves.saturating_sub(self.due.len()));
        self.wheel.reserve(leaves);
        self.leaves.reserve(leaves.saturating_sub(self.leaves.len()));
        self.backlogs.reserve(leaves.saturating_sub(self.backlogs.len()));
        for rows in [&mut self.unacknowledged, &mut self.shared_rows] {
            rows.reserve(self.rows.len().saturating_sub(rows.len()));
        }
    }

    /// Finds out whose time has come, for [`Self::release`].
    pub fn wake(&mut self, now: Now) {
        self.due.extend(self.again.drain(..));
        let known = self.due.len();
        while let Some(number) = self.wheel.pop(now) {
            if let (Some(leaf), Some(backlog)) =
                (self.leaves.get(number as usize), self.backlogs.get(number as usize))
            {
                tollway_prefetch::fetch_to_write(leaf);
                backlog.prefetch();
                self.due.push_back(number);
            }
        }
        let mut in_trees = false;
        for &number in self.due.range(known..) {
            if let (Some(leaf), Some(backlog)) =
                (self.leaves.get(number as usize), self.backlogs.get_mut(number as usize))
            {
                backlog.wake = WakeBy::Turn;
                in_trees |= leaf.is(leaf_flag::TREE);
            }
        }
        if in_trees {
            self.activate_woken(now);
        }
    }

    /// Leaves in trees have no turn among those that are due.
    fn activate_woken(&mut self, now: Now) {
        let (leaves, backlogs, htb) = (&self.leaves, &mut self.backlogs, &mut self.htb);
        self.due.retain(|number| {
            let place = *number as usize;
            match (leaves.get(place), backlogs.get_mut(place)) {
                (Some(leaf), Some(backlog)) if leaf.is(leaf_flag::TREE) => {
                    backlog.wake = WakeBy::Nobody;
                    htb.activate(leaf.class, now);
                    false
                }
                _ => true,
            }
        });
    }

    /// One leaf that is due sends, at most `most` frames; leaves have turns. The queue of what is sent leads to the leaves
    /// that are still before it: it has to go there before others send, or it would be overtaken. `None` when none is
    /// due.
    pub fn release(
        &mut self,
        plan: &Plan<'_>,
        now: Now,
        most: usize,
        mut send: impl FnMut(Waiting<F>),
    ) -> Option<usize> {
        self.trees_turn = !self.trees_turn;
        if self.trees_turn {
            let sent = self.turn_of_tree(plan, now, most.min(QUANTUM), &mut send);
            if sent != 0 {
                return Some(sent);
            }
        }
        if let Some(number) = self.due.pop_front() {
            self.prefetch_due();
            return Some(self.turn(number, plan, now, most.min(QUANTUM), &mut send));
        }
        let sent = self.turn_of_tree(plan, now, most.min(QUANTUM), &mut send);
        (sent != 0).then_some(sent)
    }

    /// A leaf that has a bucket of its own has its turn. Says how many frames it sent.
    fn turn(
        &mut self,
        number: u32,
        plan: &Plan<'_>,
        now: Now,
        most: usize,
        send: &mut impl FnMut(Waiting<F>),
    ) -> usize {
        let (sent, until) = self.serve(number, plan, now, most, send);
        let place = number as usize;
        let (Some(leaf), Some(backlog)) = (self.leaves.get(place), self.backlogs.get_mut(place)) else {
            return sent;
        };
        if backlog.is_port() && leaf.queued() != 0 && until.is_none() && !leaf.is(leaf_flag::BLOCKED) {
            self.again.push(number);
            return sent;
        }
        // A kind that has nothing to give though packets wait is asked again, but not at once.
        let until = until.or_else(|| {
            let stuck = sent == 0 && leaf.queued() != 0 && leaf.bucket.is_open();
            (stuck && !leaf.is(leaf_flag::TREE | leaf_flag::BLOCKED)).then_some(Now(now.0 + TICK))
        });
        backlog.wake = WakeBy::Nobody;
        match until {
            Some(until) => self.wake_at(number, until, now),
            None => self.schedule(number, now),
        }
        sent
    }

    /// Sends up to `most` frames of a leaf. Says how many, and when its kind has the next one to go, if that is later.
    fn serve(
        &mut self,
        number: u32,
        plan: &Plan<'_>,
        now: Now,
        most: usize,
        send: &mut impl FnMut(Waiting<F>),
    ) -> (usize, Option<Now>) {
        let place = number as usize;
        let (Some(leaf), Some(backlog)) = (self.leaves.get_mut(place), self.backlogs.get_mut(place)) else {
            return (0, None);
        };
        if leaf.meter_is_due(now) {
            backlog.turn_meter(leaf, now);
        }
        if leaf.is(leaf_flag::BLOCKED | leaf_flag::TREE) {
            return (0, None);
        }
        backlog.turn_burst(leaf, now);
        leaf.bucket.fill(now, true);
        for sent in 0..most {
            if !self.leaves.get(place).is_some_and(|leaf| leaf.bucket.is_open()) {
                return (sent, None);
            }
            match self.take_next(number, now) {
                Ok(node) => self.release_frame(number, node, plan, now, send),
                Err(until) => return (sent, until),
            }
        }
        (most, None)
    }

    /// A frame that has waited passes its leaf.
    fn release_frame(
        &mut self,
        number: u32,
        node: NodeId,
        plan: &Plan<'_>,
        now: Now,
        send: &mut impl FnMut(Waiting<F>),
    ) {
        let place = number as usize;
        let Some(waiting) = self.slab.get(node) else { return };
        let (bytes, addresses) = (waiting.bytes, waiting.addresses);
        let (enqueued, mut queue) = (waiting.enqueued, waiting.queue);
        if let (Some(leaf), Some(backlog)) = (self.leaves.get_mut(place), self.backlogs.get_mut(place)) {
            backlog.pass(leaf, waiting.segments, waiting.bytes);
            let micros = now.0.saturating_sub(waiting.enqueued.0) / 1000;
            let wait = u32::try_from(micros).unwrap_or(u32::MAX);
            backlog.note_wait(wait);
            if leaf.is(leaf_flag::WATCHED) {
                self.scopes.now = now;
                self.record_event(number, Event { passed: bytes, dropped: 0, wait });
            }
        }
        if self.is_changing() {
            let passed = Some(self.rank(number));
            if self.waits_for_older(plan, passed, addresses) {
                if let Some(waiting) = self.slab.remove(node) {
                    self.push_to_slot(passed, waiting);
                }
                return;
            }
        }
        if self.backlogs.get(place).is_some_and(Backlog::is_port) {
            queue = QueueRef::DONE;
        } else if !queue.is_none() {
            queue = self.next_queue(number, queue, addresses, plan, now);
        } else if enqueued <= self.swapped {
            // It may have been the only one of an older configuration.
            let rank = self.rank(number);
            queue = self.queue_after_rank(plan, addresses, Context::default(), rank, now);
        }
        // Only here is it moved, to where it goes.
        if let Some(waiting) = self.slab.remove(node) {
            send(Waiting { queue, ..waiting });
        }
    }

    /// A leaf whose turn it is in the trees sends. Says how many frames.
    fn turn_of_tree(
        &mut self,
        plan: &Plan<'_>,
        now: Now,
        most: usize,
        send: &mut impl FnMut(Waiting<F>),
    ) -> usize {
        let Some(turn) = self.htb.next(now) else { return 0 };
        let number = self.class_leaves.get(turn.leaf.0 as usize).copied().unwrap_or(NIL);
        let place = number as usize;
        let (Some(leaf), Some(backlog)) = (self.leaves.get_mut(place), self.backlogs.get_mut(place)) else {
            self.htb.deactivate(turn.leaf);
            return 0;
        };
        if leaf.meter_is_due(now) {
            backlog.turn_meter(leaf, now);
        }
        let (mut frames, mut bytes) = (0, 0);
        while frames < most {
            match self.take_next(number, now) {
                Ok(node) => {
                    let load = Load::of(&self.slab, node);
                    (frames, bytes) = (frames + 1, bytes + load.bytes);
                    self.htb.sent(turn.leaf, load.segments, load.bytes, now);
                    self.release_frame(number, node, plan, now, send);
                }
                Err(Some(until)) => {
                    self.htb.deactivate(turn.leaf);
                    self.wake_at(number, until, now);
                    return frames;
                }
                Err(None) => break,
            }
            if bytes >= turn.bytes {
                break;
            }
        }
        self.rest(number);
        frames
    }

    /// Where a frame goes that has passed a leaf after it waited there.
    fn next_queue(
        &mut self,
        number: u32,
        waited_on: QueueRef,
        addresses: (u32, u32),
        plan: &Plan<'_>,
        now: Now,
    ) -> QueueRef {
        let next = self.paths.after_wait(waited_on).unwrap_or_else(|context| {
            // It was found for an older configuration.
            let class = self.class(number);
            let classes = plan.path_classes(addresses, &context);
            let Some(step) = classes.iter().position(|passed| Some(passed) == class) else {
                return QueueRef::NONE;
            };
            let queue = self.queue_ref(plan.forest, &classes, context, now);
            self.paths.after(queue, step as u8)
        });
        self.paths.release(waited_on);
        next
    }

    /// What beside its addresses decided where a frame waits.
    pub(super) fn context(paths: &QueuePaths, waiting: &Waiting<F>) -> Context {
        paths.of(waiting.queue).map_or(Context::default(), |path| path.context)
    }

    /// Takes the next of those that must not wait any longer where they did. Those that were farther on their path come
    /// first. The queue leads to what is still before it.
    pub fn take_leaving(&mut self, plan: &Plan<'_>, now: Now) -> Option<Waiting<F>> {
        let open = self.changeover.open()..;
        let slot =
            (0..SLOTS).zip(&self.leaving).rev().find(|(slot, all)| open.contains(slot) && all.len() != 0)?.0;
        let node = self.leaving.get_mut(slot)?.pop(&mut self.slab)?;
        let mut waiting = self.slab.remove(node)?;
        let context = Self::context(&self.paths, &waiting);
        self.paths.release(waiting.queue);
        if let Some(rank) = slot.checked_sub(1) {
            waiting.queue = self.queue_after_rank(plan, waiting.addresses, context, rank, now);
        }
        Some(waiting)
    }

    /// When [`Self::release`] wants to run next; `now` when it was not finished. `None` when nothing waits.
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
            if self.has_turns() || self.has_leaving() { Some(now) } else { self.wheel.next_deadline() };
        leaves.into_iter().chain(trees).min()
    }
}

impl<F> Queues<F> {
    /// Whether there is nothing to queue and nothing queued.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.rows.is_empty() && self.slab.len() == 0 && self.changeover.open() == 0
    }

    /// Whether frames must leave before any others, and may.
    #[inline]
    pub fn has_leaving(&self) -> bool {
        self.leaving.iter().skip(self.changeover.open()).any(|all| all.len() != 0)
    }

    /// Whether a leaf could go on at once, as far as is known.
    fn has_turns(&self) -> bool {
        !self.due.is_empty() || !self.again.is_empty()
    }

    /// Frames that wait.
    pub fn frames(&self) -> u32 {
        self.slab.len()
    }

    /// All queues together.
    pub fn totals(&self) -> QueueTotals {
        self.totals
    }

    /// What was dropped since the last call.
    pub fn take_dropped(&mut self) -> Dropped {
        std::mem::take(&mut self.dropped)
    }
}

/// Whether a super-frame would make others wait for long.
fn is_long(rate: u64, segments: u32, bytes: u64) -> bool {
    segments > 1 && rate != 0 && bytes * 8 * WHOLE_PER_SECOND > rate
}
