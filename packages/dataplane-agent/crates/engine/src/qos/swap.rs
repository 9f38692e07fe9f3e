//! Another configuration: what belongs to a row stays with it.

use super::Way;
use super::classify::{Queue, QueueTable};
use super::leaf::{Backlog, Leaf, WakeBy};
use super::simple::{NIL, SimpleQueues, owner};
use crate::frame::Frame;
use crate::time::Now;

impl<F: Frame> SimpleQueues<F> {
    /// Takes over another table in place of `before`. Queues that are not touched keep tokens, counters and
    /// packets; a changed limit keeps the packets. Packets that wait in a queue that is not theirs any more
    /// go at once, so that what comes after them by another queue does not overtake them.
    pub fn swap(&mut self, before: &QueueTable, table: &QueueTable, now: Now) {
        let (worker, workers) = (self.worker, self.workers);
        let own = move |(_, queue): &(u32, &Queue)| owner(queue.row, workers) == worker;
        // The rows of this worker are those of the table before, in its order.
        let old = std::mem::take(&mut self.rows).into_iter();
        let mut old = old.zip(before.by_row().filter(own).map(|(_, queue)| queue)).peekable();
        self.places.clear();
        self.places.resize(table.len(), NIL);
        let mut rows = Vec::with_capacity(table.len() / self.workers.max(1) as usize + 1);
        for (place, queue) in table.by_row().filter(own) {
            while let Some(((_, first), _)) = old.next_if(|((row, _), _)| *row < queue.row) {
                self.retire(first);
            }
            let first = match old.next_if(|((row, _), _)| *row == queue.row) {
                Some(((_, first), known)) => {
                    if known != queue {
                        self.change(first, queue, now);
                    }
                    first
                }
                None => self.add(queue, now),
            };
            rows.push((queue.row, first));
            if let Some(known) = self.places.get_mut(place as usize) {
                *known = first;
            }
        }
        for ((_, first), _) in old {
            self.retire(first);
        }
        self.rows = rows;
        self.pass_over_retired();
        self.reserve(self.leaves.len());
        if !table.matches_as(before) {
            self.send_strangers(table);
        }
    }

    /// Leaves for a new queue.
    fn add(&mut self, queue: &Queue, now: Now) -> u32 {
        let leaf = |way| {
            let limit = queue.limit(way);
            (Leaf::new(limit, now), Backlog::new(queue.row, way, limit))
        };
        let first = self.free.pop().unwrap_or(self.leaves.len() as u32);
        for (place, way) in (first as usize..).zip([Way::Upload, Way::Download]) {
            let (leaf, backlog) = leaf(way);
            match (self.leaves.get_mut(place), self.backlogs.get_mut(place)) {
                (Some(old_leaf), Some(old_backlog)) => (*old_leaf, *old_backlog) = (leaf, backlog),
                _ => {
                    self.leaves.push(leaf);
                    self.backlogs.push(backlog);
                }
            }
        }
        first
    }

    /// Takes the limits of a queue that stays.
    fn change(&mut self, first: u32, queue: &Queue, now: Now) {
        for (number, way) in (first..).zip([Way::Upload, Way::Download]) {
            let limit = queue.limit(way);
            let (Some(leaf), Some(backlog)) =
                (self.leaves.get_mut(number as usize), self.backlogs.get_mut(number as usize))
            else {
                continue;
            };
            backlog.queue.change(limit.packet_limit);
            let before = leaf.bucket;
            leaf.bucket.change(limit.max_limit, limit.bucket_ms, now, leaf.waiting != 0);
            if leaf.bucket != before && leaf.waiting != 0 {
                self.unschedule(number);
                self.schedule(number, now);
            }
        }
    }

    /// A queue is gone.
    fn retire(&mut self, first: u32) {
        for number in [first, first + 1] {
            self.send_from(number, |_| true);
            if let Some(backlog) = self.backlogs.get_mut(number as usize) {
                backlog.wake = WakeBy::Nobody;
            }
        }
        self.free.push(first);
    }

    /// Sends what waits in a queue that is not its own any more.
    fn send_strangers(&mut self, table: &QueueTable) {
        for number in self.waiting_leaves() {
            let Some(backlog) = self.backlogs.get(number as usize) else { continue };
            let own = (backlog.row, backlog.way);
            self.send_from(number, |(src, dst)| {
                let found = table.classify(src, dst);
                found.and_then(|(place, way)| Some((table.queue(place)?.row, way))) != Some(own)
            });
        }
    }

    /// Sends the packets of a leaf that `gone` says, in order and charged.
    fn send_from(&mut self, number: u32, mut gone: impl FnMut((u32, u32)) -> bool) {
        let Some(backlog) = self.backlogs.get_mut(number as usize) else { return };
        let before = backlog.queue.frames();
        let (segments, bytes) =
            backlog.queue.take_out(&mut self.slab, &mut self.leaving, |waiting| gone(waiting.addresses));
        if let Some(leaf) = self.leaves.get_mut(number as usize) {
            leaf.pass(segments, bytes);
        }
        self.gone(number, before, segments, bytes);
    }
}

impl Queue {
    fn limit(&self, way: Way) -> &tollway_config::dataplane::QueueLimit {
        match way {
            Way::Upload => &self.upload,
            Way::Download => &self.download,
        }
    }
}
