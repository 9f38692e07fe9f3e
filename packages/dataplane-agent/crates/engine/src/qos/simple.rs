//! A worker's simple queues: the leaves it has, what waits in them, and who is due.

use std::collections::VecDeque;

use tollway_config::protocol::QueueTotals;

use super::handover::Entry;
use super::leaf::{Backlog, Leaf, WakeBy};
use super::longest::Longest;
use super::slab::{Fifo, NodeId, Slab};
use crate::frame::Frame;
use crate::time::Now;
use crate::wheel::Wheel;

pub use super::slab::Waiting;

/// Resolution of the wheel, ns. Tokens go on gathering while a leaf waits for its tick, so none are lost.
const TICK: u64 = 100_000;
/// Frames a due leaf sends before others get their turn.
const QUANTUM: u32 = 16;
/// A super-frame whose time on the wire at the queue's rate is longer than one in so many of a second is
/// cut into pieces: it would make everybody else wait.
const WHOLE_PER_SECOND: u64 = 1000;

pub(super) const NIL: u32 = u32::MAX;

/// Wire segments that the queues dropped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Dropped {
    /// As many waited as the queue's kind allows.
    pub full: u32,
    /// As many waited in all queues as there is memory for.
    pub memory: u32,
}

/// The queues.
#[derive(Debug)]
pub struct SimpleQueues<F> {
    pub(super) worker: u32,
    /// Two for each queue whose packets have come to this worker: upload, download.
    pub(super) leaves: Vec<Leaf>,
    /// What is seldom touched of each leaf.
    pub(super) backlogs: Vec<Backlog>,
    /// Every queue of the configuration, by ascending row.
    pub(super) entries: Vec<Entry>,
    /// Place in the table to place in `entries`.
    pub(super) places: Vec<u32>,
    /// First leaves that are free.
    pub(super) free: Vec<u32>,
    pub(super) slab: Slab<F>,
    wheel: Wheel,
    /// Leaves whose time has come, in turn.
    due: VecDeque<u32>,
    /// What must not wait any longer.
    pub(super) leaving: Fifo,
    /// First leaves of queues to which other workers' packets came that have not left the router.
    pub(super) unsettled: Vec<u32>,
    longest: Longest,
    totals: QueueTotals,
    dropped: Dropped,
}

impl<F: Frame> SimpleQueues<F> {
    /// No queues yet. At most `max_frames` frames that keep at most `max_footprint` bytes will wait.
    pub fn new(worker: u32, max_frames: u32, max_footprint: u64) -> Self {
        Self {
            worker,
            leaves: Vec::new(),
            backlogs: Vec::new(),
            entries: Vec::new(),
            places: Vec::new(),
            free: Vec::new(),
            slab: Slab::new(max_frames, max_footprint),
            wheel: Wheel::new(0, TICK),
            due: VecDeque::new(),
            leaving: Fifo::default(),
            unsettled: Vec::new(),
            longest: Longest::default(),
            totals: QueueTotals::default(),
            dropped: Dropped::default(),
        }
    }

    /// Reads of a leaf what brings it into the cache.
    #[inline]
    pub fn touch(&self, number: u32) -> u32 {
        self.leaves.get(number as usize).map_or(0, |leaf| leaf.waiting)
    }

    /// Lets a packet pass at once, if this worker has the leaf, nothing waits before it and it keeps to the rate.
    /// `false`, counting nothing, if not.
    #[inline]
    pub fn pass(&mut self, number: u32, segments: u32, bytes: u64, now: Now) -> bool {
        let Some(leaf) = self.leaves.get_mut(number as usize) else { return true };
        if leaf.meter_is_due(now)
            && let Some(backlog) = self.backlogs.get_mut(number as usize)
        {
            backlog.turn_meter(leaf, now);
        }
        leaf.bucket.fill(now, leaf.waiting != 0);
        let rate = leaf.bucket.rate();
        let long = segments > 1 && rate != 0 && bytes * 8 * WHOLE_PER_SECOND > rate;
        if leaf.waiting != 0 || !leaf.bucket.is_open() || long {
            return false;
        }
        leaf.pass(segments, bytes);
        true
    }

    /// Wire segments of `bytes` each that may stay together in a leaf.
    pub fn segments_together(&self, number: u32, bytes: u64) -> u32 {
        let rate = self.leaves.get(number as usize).map_or(0, |leaf| leaf.bucket.rate());
        let limit = self.backlogs.get(number as usize).map_or(1, |backlog| backlog.queue.limit());
        let timely = if rate == 0 { u64::MAX } else { rate / (bytes * 8 * WHOLE_PER_SECOND).max(1) };
        u32::try_from(timely).unwrap_or(u32::MAX).min(limit).max(1)
    }

    /// Lets a frame wait in a leaf. `false` when it was dropped instead; [`Self::take_dropped`] knows why.
    pub fn hold(&mut self, number: u32, waiting: Waiting<F>, now: Now) -> bool {
        let footprint = waiting.frame.footprint() as u64;
        let (segments, bytes) = (waiting.segments, waiting.bytes);
        if !self.admits(number, segments) {
            self.refuse(number, segments);
            return false;
        }
        while !self.slab.has_room(footprint) {
            if !self.drop_from_longest() {
                self.dropped.memory = self.dropped.memory.saturating_add(segments);
                self.count_drop(number, segments);
                return false;
            }
        }
        let Some(backlog) = self.backlogs.get_mut(number as usize) else { return false };
        let node = self.slab.insert(waiting);
        let before = backlog.queue.frames();
        backlog.queue.offer(&mut self.slab, node, segments);
        backlog.bytes += bytes;
        self.totals.queued_bytes += bytes;
        self.totals.queued_packets += u64::from(segments);
        self.changed(number, before);
        self.schedule(number, now);
        true
    }

    /// Counts wire segments for which a leaf's queue has no room.
    pub fn refuse(&mut self, number: u32, segments: u32) {
        self.dropped.full = self.dropped.full.saturating_add(segments);
        self.count_drop(number, segments);
    }

    /// Whether a leaf's queue has room for so many wire segments. What the bucket already has tokens for
    /// does not count: it goes as soon as the leaf has its turn.
    pub fn admits(&self, number: u32, segments: u32) -> bool {
        let (Some(leaf), Some(backlog)) =
            (self.leaves.get(number as usize), self.backlogs.get(number as usize))
        else {
            return false;
        };
        if backlog.queue.admits(segments) {
            return true;
        }
        let tokens = u64::try_from(leaf.bucket.tokens()).unwrap_or(0);
        let bits = backlog.bytes.saturating_mul(8).max(1);
        let waiting = u64::from(backlog.queue.segments());
        let covered = if tokens >= bits { waiting } else { waiting * tokens / bits };
        waiting - covered + u64::from(segments) <= u64::from(backlog.queue.limit())
    }

    /// Counts wire segments that a leaf has lost, for whatever reason.
    pub fn count_drop(&mut self, number: u32, segments: u32) {
        self.totals.dropped_packets += u64::from(segments);
        if let Some(backlog) = self.backlogs.get_mut(number as usize) {
            backlog.dropped += u64::from(segments);
        }
    }

    /// Makes room at the cost of the longest queue. `false` when nothing waits in any.
    fn drop_from_longest(&mut self) -> bool {
        let Some(number) = self.longest.first() else { return false };
        let Some(node) = self.take_next(number) else { return false };
        let Some(waiting) = self.slab.remove(node) else { return false };
        self.dropped.memory = self.dropped.memory.saturating_add(waiting.segments);
        self.count_drop(number, waiting.segments);
        true
    }

    /// Takes the first frame out of a leaf's queue.
    fn take_next(&mut self, number: u32) -> Option<NodeId> {
        let backlog = self.backlogs.get_mut(number as usize)?;
        let before = backlog.queue.frames();
        let node = backlog.queue.next(&mut self.slab)?;
        let (segments, bytes) =
            self.slab.get(node).map_or((0, 0), |waiting| (waiting.segments, waiting.bytes));
        self.gone(number, before, segments, bytes);
        Some(node)
    }

    /// Packets have left a leaf's queue, which had `before` frames.
    pub(super) fn gone(&mut self, number: u32, before: u32, segments: u32, bytes: u64) {
        if let Some(backlog) = self.backlogs.get_mut(number as usize) {
            backlog.bytes = backlog.bytes.saturating_sub(bytes);
        }
        self.totals.queued_bytes = self.totals.queued_bytes.saturating_sub(bytes);
        self.totals.queued_packets = self.totals.queued_packets.saturating_sub(u64::from(segments));
        self.changed(number, before);
    }

    /// A leaf's queue had `before` frames and has others.
    fn changed(&mut self, number: u32, before: u32) {
        let Some(backlog) = self.backlogs.get(number as usize) else { return };
        let (after, segments) = (backlog.queue.frames(), backlog.queue.segments());
        if let Some(leaf) = self.leaves.get_mut(number as usize) {
            leaf.waiting = segments;
        }
        self.longest.update(&mut self.backlogs, number, before, after);
        if after == 0 {
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
        if backlog.wake == WakeBy::Turn || leaf.waiting == 0 {
            return;
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

    /// Takes a leaf's timer away. One whose turn is due is passed over then if nothing waits in it.
    pub(super) fn unschedule(&mut self, number: u32) {
        if let Some(backlog) = self.backlogs.get_mut(number as usize)
            && backlog.wake == WakeBy::Wheel
        {
            backlog.wake = WakeBy::Nobody;
            self.wheel.disarm(number);
        }
    }

    /// Takes leaves that are nobody's any more out of the row of those that are due.
    pub(super) fn pass_over_retired(&mut self) {
        let backlogs = &self.backlogs;
        let waits =
            |number: &u32| backlogs.get(*number as usize).is_some_and(|backlog| backlog.wake == WakeBy::Turn);
        self.due.retain(waits);
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
        self.unsettled.reserve((leaves / 2).saturating_sub(self.unsettled.len()));
    }

    /// Sends what is due, at most `budget` frames, the leaves in turn.
    pub fn release(&mut self, now: Now, budget: usize, mut send: impl FnMut(Waiting<F>)) -> usize {
        while let Some(number) = self.wheel.pop(now) {
            if let Some(backlog) = self.backlogs.get_mut(number as usize) {
                backlog.wake = WakeBy::Turn;
                self.due.push_back(number);
            }
        }
        let mut left = budget;
        while left > 0
            && let Some(number) = self.due.pop_front()
        {
            left -= self.serve(number, now, left.min(QUANTUM as usize), &mut send);
            if let Some(backlog) = self.backlogs.get_mut(number as usize) {
                backlog.wake = WakeBy::Nobody;
            }
            self.schedule(number, now);
        }
        budget - left
    }

    /// Sends up to `most` frames of a leaf. Says how many.
    fn serve(&mut self, number: u32, now: Now, most: usize, send: &mut impl FnMut(Waiting<F>)) -> usize {
        let place = number as usize;
        let (Some(leaf), Some(backlog)) = (self.leaves.get_mut(place), self.backlogs.get_mut(place)) else {
            return 0;
        };
        if leaf.meter_is_due(now) {
            backlog.turn_meter(leaf, now);
        }
        leaf.bucket.fill(now, true);
        for sent in 0..most {
            if !self.leaves.get(place).is_some_and(|leaf| leaf.bucket.is_open()) {
                return sent;
            }
            let Some(waiting) = self.take_next(number).and_then(|node| self.slab.remove(node)) else {
                return sent;
            };
            if let Some(leaf) = self.leaves.get_mut(place) {
                leaf.pass(waiting.segments, waiting.bytes);
            }
            send(waiting);
        }
        most
    }

    /// Takes the next of those that must not wait any longer.
    pub fn take_leaving(&mut self) -> Option<Waiting<F>> {
        let node = self.leaving.pop(&mut self.slab)?;
        self.slab.remove(node)
    }

    /// When [`Self::release`] wants to run next; `now` when it was not finished. `None` when nothing waits.
    pub fn next_deadline(&self, now: Now) -> Option<Now> {
        // Leaves may still be due though their packets are gone.
        if self.slab.len() == 0 {
            return None;
        }
        if self.due.is_empty() && self.leaving.len() == 0 { self.wheel.next_deadline() } else { Some(now) }
    }
}

impl<F> SimpleQueues<F> {
    /// Whether there is nothing to queue and nothing queued.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.places.is_empty() && self.slab.len() == 0
    }

    /// Whether frames must leave before any others.
    #[inline]
    pub fn has_leaving(&self) -> bool {
        self.leaving.len() != 0
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
