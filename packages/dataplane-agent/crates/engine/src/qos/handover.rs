//! A worker's leaves as far as other workers have to do with them: who has a queue, and what is handed over.

use std::sync::Arc;

use tollway_config::dataplane::RowId;

use super::forest::{ClassId, Context, Forest, Identity, Part, Stations};
use super::leaf::{AWAY, Backlog, Leaf};
use super::ownership::{Claim, Ownership};
use super::simple::{NIL, SimpleQueues};
use super::{Lane, Way};
use crate::frame::Frame;
use crate::time::Now;

/// Packets that others hand over, one after the other with none of its own between them, after which a worker lets
/// a queue go. Less than a worker's burst, so that a fast flow soon wakes one worker instead of two; more than one
/// or two, so that two workers' flows do not throw it to and fro.
const ENOUGH: u32 = 16;

/// A queue of the configuration.
#[derive(Debug)]
pub struct Entry {
    pub row: RowId,
    /// Its upload leaf, before its download leaf; [`NIL`] until a packet of it comes to this worker.
    pub first: u32,
    pub ownership: Arc<Ownership>,
}

impl<F: Frame> SimpleQueues<F> {
    /// Where packets go that pass these leaves. `context` is kept with those that wait, as far as it decides.
    #[inline]
    pub fn lane(&mut self, forest: &Forest, stations: &Stations, _context: Context, now: Now) -> Lane {
        let mut simple = stations.iter().filter_map(|id| {
            let Identity { row, part } = forest.class(id)?.identity;
            match part {
                Part::Upload => Some((row, id, Way::Upload)),
                Part::Download => Some((row, ClassId(id.0 - 1), Way::Download)),
                Part::Total | Part::Whole | Part::Interface => None,
            }
        });
        let Some((row, upload, way)) = simple.next() else { return Lane::NONE };
        let Ok(number) = self.entries.binary_search_by_key(&row, |entry| entry.row) else {
            return Lane::NONE;
        };
        match self.entries.get(number).map_or(NIL, |entry| entry.first) {
            NIL => self.begin(number as u32, forest, upload, way, now),
            first => Lane::leaf(first + way.index()),
        }
    }

    /// Gives a queue leaves at this worker.
    #[cold]
    fn begin(&mut self, number: u32, forest: &Forest, upload: ClassId, way: Way, now: Now) -> Lane {
        let Some(entry) = self.entries.get_mut(number as usize) else { return Lane::NONE };
        entry.first = self.free.pop().unwrap_or(self.leaves.len() as u32);
        let first = entry.first;
        for (place, way) in (first as usize..).zip([Way::Upload, Way::Download]) {
            let Some(class) = forest.class(ClassId(upload.0 + way.index())) else { continue };
            let limit = forest.resolved(class);
            let row = class.identity.row;
            let (leaf, backlog) = (Leaf::new(&limit, now), Backlog::new(row, number, way, &limit));
            match (self.leaves.get_mut(place), self.backlogs.get_mut(place)) {
                (Some(old_leaf), Some(old_backlog)) => (*old_leaf, *old_backlog) = (leaf, backlog),
                _ => {
                    self.leaves.push(leaf);
                    self.backlogs.push(backlog);
                }
            }
        }
        Lane::leaf(first + way.index())
    }

    /// A leaf by the place of its row among those of this configuration.
    #[inline]
    pub fn leaf_at(&self, entry: u32, way: Way) -> Option<u32> {
        let first = self.entries.get(entry as usize)?.first;
        (first != NIL).then(|| first + way.index())
    }

    /// A leaf by the row of its queue.
    pub fn leaf_of(&self, row: RowId, way: Way) -> Option<u32> {
        let at = self.entries.binary_search_by_key(&row, |entry| entry.row).ok()?;
        self.leaf_at(at as u32, way)
    }

    /// Row of a leaf's queue, its place among those of this configuration, and the direction.
    pub fn identity(&self, number: u32) -> Option<(RowId, u32, Way)> {
        self.backlogs.get(number as usize).map(|backlog| (backlog.row, backlog.entry, backlog.way))
    }

    /// Whether another worker may have a leaf.
    #[inline]
    pub fn is_away(&self, number: u32) -> bool {
        self.leaves.get(number as usize).is_some_and(Leaf::is_away)
    }

    /// Takes a queue that nobody has, for a packet of this leaf. Otherwise says who has it; the packet must go
    /// there, or else [`Self::withdraw`] be told.
    #[cold]
    pub fn take(&mut self, number: u32) -> Option<u32> {
        let entry = self.identity(number).and_then(|(_, entry, _)| self.entries.get(entry as usize))?;
        let (first, ownership) = (entry.first, Arc::clone(&entry.ownership));
        match ownership.claim(self.worker) {
            Claim::Theirs(worker) => Some(worker),
            Claim::Taken => {
                for (number, way) in [first, first + 1].into_iter().zip([Way::Upload, Way::Download]) {
                    if let Some(leaf) = self.leaves.get_mut(number as usize) {
                        let (tokens, counted) = ownership.tokens(way);
                        leaf.bucket.resume(tokens, counted);
                        leaf.waiting = 0;
                    }
                }
                if let Some(backlog) = self.backlogs.get_mut(first as usize) {
                    backlog.foreign = Default::default();
                }
                None
            }
        }
    }

    /// A packet will not arrive at the worker that expects it.
    pub fn withdraw(&self, row: RowId) {
        if let Ok(at) = self.entries.binary_search_by_key(&row, |entry| entry.row)
            && let Some(entry) = self.entries.get(at)
        {
            entry.ownership.settle(1);
        }
    }

    /// A packet of another worker is about to enter a leaf.
    pub fn arrives(&mut self, number: u32) {
        let first = number & !1;
        let passed = self.passed(first);
        let Some(backlog) = self.backlogs.get_mut(first as usize) else { return };
        let foreign = &mut backlog.foreign;
        foreign.in_a_row = if passed == foreign.passed { foreign.in_a_row.saturating_add(1) } else { 0 };
        if foreign.unsettled == 0 {
            self.unsettled.push(first);
        }
        foreign.unsettled = foreign.unsettled.saturating_add(1);
    }

    /// The packet of [`Self::arrives`] has passed, or waits, or was dropped.
    pub fn has_arrived(&mut self, number: u32) {
        let first = number & !1;
        let passed = self.passed(first);
        if let Some(backlog) = self.backlogs.get_mut(first as usize) {
            backlog.foreign.passed = passed;
        }
    }

    /// A packet that came for a leaf that is not its own any more goes on at once, charged.
    #[cold]
    pub fn pass_strange(&mut self, number: u32, segments: u32, bytes: u64) {
        if let Some(leaf) = self.leaves.get_mut(number as usize) {
            leaf.pass(segments, bytes);
        }
    }

    /// Packets that have passed a queue here, both ways.
    fn passed(&self, first: u32) -> u64 {
        let packets = |number: u32| self.leaves.get(number as usize).map_or(0, |leaf| leaf.passed().packets);
        packets(first).wrapping_add(packets(first + 1))
    }

    /// All packets that came out of the queues so far have left the router. Lets go of queues that only other
    /// workers use.
    pub fn settle(&mut self) {
        while let Some(first) = self.unsettled.pop() {
            let pair = (first as usize, first as usize + 1);
            let Some(backlog) = self.backlogs.get_mut(pair.0) else { continue };
            let Some(entry) = self.entries.get(backlog.entry as usize) else { continue };
            let foreign = &mut backlog.foreign;
            entry.ownership.settle(std::mem::take(&mut foreign.unsettled));
            let enough = foreign.in_a_row >= ENOUGH;
            let Some(Ok([upload, download])) =
                self.leaves.get_mut(pair.0..=pair.1).map(<&mut [Leaf; 2]>::try_from)
            else {
                continue;
            };
            let tokens = [upload.bucket, download.bucket].map(|bucket| (bucket.tokens(), bucket.counted()));
            let idle = upload.waiting == 0 && download.waiting == 0;
            if enough && idle && entry.ownership.release(self.worker, tokens) {
                (upload.waiting, download.waiting) = (AWAY, AWAY);
            }
        }
    }
}
