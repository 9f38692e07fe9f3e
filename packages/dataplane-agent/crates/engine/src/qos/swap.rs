//! Another configuration: what belongs to a row stays with it.

use super::Way;
use super::classify::{Queue, QueueTable};
use super::handover::Entry;
use super::leaf::{Foreign, WakeBy};
use super::ownership::Ownerships;
use super::simple::{NIL, SimpleQueues};
use crate::frame::Frame;
use crate::time::Now;

impl<F: Frame> SimpleQueues<F> {
    /// Takes over another table in place of `before`. Queues that are not touched keep tokens, counters and
    /// packets; a changed limit keeps the packets. Packets that wait in a queue that is not theirs any more
    /// go at once, so that what comes after them by another queue does not overtake them.
    pub fn swap(&mut self, before: &QueueTable, table: &QueueTable, ownerships: &Ownerships, now: Now) {
        // The entries are the rows of the table before, in its order.
        let old = std::mem::take(&mut self.entries).into_iter();
        let mut old = old.zip(before.by_row().map(|(_, queue)| queue)).peekable();
        let mut ownerships = ownerships.open();
        self.places.clear();
        self.places.resize(table.len(), NIL);
        let mut entries = Vec::with_capacity(table.len());
        for (number, (place, queue)) in (0..).zip(table.by_row()) {
            while let Some((entry, _)) = old.next_if(|(entry, _)| entry.row < queue.row) {
                self.retire(&entry);
            }
            let entry = match old.next_if(|(entry, _)| entry.row == queue.row) {
                Some((entry, known)) => {
                    if known != queue {
                        self.change(entry.first, queue, now);
                    }
                    self.renumber(entry.first, number);
                    entry
                }
                None => Entry { row: queue.row, first: NIL, ownership: ownerships.of(queue.row) },
            };
            entries.push(entry);
            if let Some(known) = self.places.get_mut(place as usize) {
                *known = number;
            }
        }
        for (entry, _) in old {
            self.retire(&entry);
        }
        self.entries = entries;
        self.pass_over_retired();
        self.reserve(2 * table.len());
        if !table.matches_as(before) {
            self.send_strangers(table);
        }
    }

    fn renumber(&mut self, first: u32, number: u32) {
        for leaf in [first, first.saturating_add(1)] {
            if let Some(backlog) = self.backlogs.get_mut(leaf as usize) {
                backlog.entry = number;
            }
        }
    }

    /// Takes the limits of a queue that stays.
    fn change(&mut self, first: u32, queue: &Queue, now: Now) {
        for (number, way) in [first, first.saturating_add(1)].into_iter().zip([Way::Upload, Way::Download]) {
            let limit = queue.limit(way);
            let (Some(leaf), Some(backlog)) =
                (self.leaves.get_mut(number as usize), self.backlogs.get_mut(number as usize))
            else {
                continue;
            };
            backlog.queue.change(limit.packet_limit);
            let before = leaf.bucket;
            leaf.bucket.change(limit.max_limit, limit.bucket_ms, now, leaf.queued() != 0);
            if leaf.bucket != before && leaf.queued() != 0 {
                self.unschedule(number);
                self.schedule(number, now);
            }
        }
    }

    /// A queue is gone.
    fn retire(&mut self, entry: &Entry) {
        if entry.first == NIL {
            return;
        }
        for number in [entry.first, entry.first + 1] {
            self.send_from(number, |_| true);
            if let Some(backlog) = self.backlogs.get_mut(number as usize) {
                backlog.wake = WakeBy::Nobody;
                backlog.foreign = Foreign::default();
            }
        }
        self.unsettled.retain(|first| *first != entry.first);
        entry.ownership.abandon(self.worker);
        self.free.push(entry.first);
    }

    /// Sends what waits in a queue that is not its own any more.
    fn send_strangers(&mut self, table: &QueueTable) {
        for number in self.waiting_leaves() {
            let Some(backlog) = self.backlogs.get(number as usize) else { continue };
            let (row, way) = (backlog.row, backlog.way);
            self.send_from(number, |(src, dst)| !table.takes(src, dst, row, way));
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
    pub(super) fn limit(&self, way: Way) -> &tollway_config::dataplane::QueueLimit {
        match way {
            Way::Upload => &self.upload,
            Way::Download => &self.download,
        }
    }
}
