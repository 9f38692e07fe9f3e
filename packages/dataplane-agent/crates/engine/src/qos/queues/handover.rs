//! Rows that several workers use: which worker owns a row, the packets handed over for it, and when it is released.

use crate::ids::QueueRef;
use crate::packet::frame::Frame;
use crate::qos::forest::{ClassId, Context, Identity, PathClasses};
use crate::qos::htb::Htb;
use crate::qos::leaf::{AWAY, Leaf, leaf_flag};
use crate::qos::ownership::Claim;
use crate::qos::queues::Queues;
use crate::qos::queues::queue_path::RemainingPath;
use crate::qos::queues::rows::QueueRow;
use crate::qos::queues::swap::SharedQueues;
use crate::time::Now;

/// Packets that others hand over, one after the other with none of its own between them, after which a worker lets
/// a queue go. Less than a worker's burst, so that a fast flow soon wakes one worker instead of two; more than one
/// or two, so that two workers' flows do not throw it to and fro.
const MAX_FOREIGN_RUN: u32 = 16;

/// Times that a worker which has nothing more to do lets a queue go for another one's sake, without that one taking it.
const MAX_IDLE_RELEASES: u8 = 16;

/// Most queues that it lets go before it sleeps: what comes meanwhile waits, some 0.3 µs for each.
const MAX_RELEASED_AT_ONCE: usize = 256;

/// Packets that other workers handed over.
#[derive(Debug, Clone, Copy, Default)]
pub struct Foreign {
    /// Those that have not left the router, as far as is known.
    pub unacknowledged: u64,
    /// Those since a packet of this worker's own.
    pub in_a_row: u32,
    /// Packets that had passed when the last one was through.
    pub passed: u64,
    /// Times that it still is let go when this worker has nothing to do; none of a row that no other worker uses.
    pub idle_releases: u8,
    /// In [`Queues::shared_rows`].
    pub is_listed: bool,
}

impl Foreign {
    /// The row is to be let go when this worker has nothing more to do.
    fn list(&mut self, at: u32, shared_rows: &mut Vec<u32>) {
        if !std::mem::replace(&mut self.is_listed, true) {
            shared_rows.push(at);
        }
    }
}

impl<F: Frame> Queues<F> {
    /// Takes a queue that nobody has, for a packet of this leaf. Otherwise says who has it; the packet must go
    /// there, or else [`Self::cancel_handover`] be told.
    #[cold]
    pub fn take(&mut self, number: u32, now: Now) -> Option<u32> {
        let at = self.backlogs.get(number as usize)?.row;
        let entry = self.rows.get_mut(at as usize)?;
        match entry.ownership.claim(self.worker) {
            Claim::OwnedBy(worker) => {
                entry.foreign.idle_releases = MAX_IDLE_RELEASES;
                Some(worker)
            }
            Claim::Taken => {
                // What it owes to others, among it what comes after this row, is still to be settled.
                (entry.foreign.in_a_row, entry.foreign.passed) = (0, 0);
                if entry.foreign.idle_releases != 0 {
                    // Nobody else had it meanwhile.
                    let in_vain = entry.ownership.was_last_at(self.worker);
                    entry.foreign.idle_releases =
                        if in_vain { entry.foreign.idle_releases - 1 } else { MAX_IDLE_RELEASES };
                    entry.foreign.list(at, &mut self.shared_rows);
                }
                let left = entry.parts.into_iter().zip(entry.ownership.tokens());
                for (part, (number, (tokens, counted))) in left.enumerate() {
                    let place = number as usize;
                    let (Some(leaf), Some(backlog)) =
                        (self.leaves.get_mut(place), self.backlogs.get_mut(place))
                    else {
                        continue;
                    };
                    if let Some(burst) = &mut backlog.burst {
                        entry.ownership.resume_burst(part, burst);
                        burst.advance(now);
                        leaf.bucket.set_rate(burst.ceiling(backlog.max_limit), now, false);
                    }
                    leaf.bucket.resume(tokens, counted);
                    leaf.waiting = 0;
                    if leaf.is(leaf_flag::TREE) {
                        take_in_tree(&mut self.htb, leaf.class, tokens, now);
                    }
                }
                None
            }
        }
    }

    /// What goes with a packet to the worker that has its next leaf, which [`Self::take`] has just named.
    pub fn remaining_path(&self, number: u32, queue: QueueRef) -> Option<RemainingPath> {
        let backlog = self.backlogs.get(number as usize)?;
        let (classes, context, step) = match (self.paths.of(queue), queue.step()) {
            (Some(path), step) => (path.classes, path.context, step),
            (None, _) => {
                let mut classes = PathClasses::default();
                classes.push(self.leaves.get(number as usize)?.class);
                (classes, Context::default(), 0)
            }
        };
        let before = step.checked_sub(1).and_then(|step| self.paths.at(queue, step));
        let before =
            before.filter(|leaf| !self.is_away(*leaf)).and_then(|leaf| self.backlogs.get(leaf as usize));
        if let Some(entry) = before.and_then(|before| self.rows.get(before.row as usize)) {
            entry.ownership.note_in_flight();
        }
        let before = before.map(|before| before.identity.first());
        let rank = usize::from(backlog.rank);
        Some(RemainingPath { leaf: backlog.identity, rank, step, classes, context, before })
    }

    /// A packet will not arrive at the worker that expects it.
    pub fn cancel_handover(&self, remaining: &RemainingPath) {
        for row in [Some(remaining.leaf.first()), remaining.before].into_iter().flatten() {
            if let Some(entry) = self.row_of(row).and_then(|at| self.rows.get(at)) {
                entry.ownership.acknowledge(1);
            }
        }
    }

    /// A packet came for a leaf that this worker does not have.
    pub fn acknowledge_missed(&self, remaining: &RemainingPath) {
        if let Some(entry) = self.row_of(remaining.leaf.first()).and_then(|at| self.rows.get(at)) {
            entry.ownership.acknowledge(1);
        }
    }

    /// A packet has come that passed this row at another worker, which may let the row go when the packet has left.
    pub fn expect_upstream(&mut self, row: Identity) {
        if let Some(at) = self.row_of(row) {
            self.expect(at as u32);
        }
    }

    fn expect(&mut self, at: u32) {
        let Some(entry) = self.rows.get_mut(at as usize) else { return };
        if entry.foreign.unacknowledged == 0 {
            self.unacknowledged.push(at);
        }
        entry.foreign.unacknowledged = entry.foreign.unacknowledged.saturating_add(1);
    }

    /// A packet of another worker is about to enter a leaf.
    pub fn begin_foreign(&mut self, number: u32) {
        let Some(at) = self.backlogs.get(number as usize).map(|backlog| backlog.row) else { return };
        let passed = self.passed(at);
        if let Some(QueueRow { foreign, .. }) = self.rows.get_mut(at as usize) {
            foreign.in_a_row = if passed == foreign.passed { foreign.in_a_row.saturating_add(1) } else { 0 };
            foreign.idle_releases = MAX_IDLE_RELEASES;
            foreign.list(at, &mut self.shared_rows);
        }
        self.expect(at);
    }

    /// The packet of [`Self::begin_foreign`] has passed, or waits, or was dropped.
    pub fn end_foreign(&mut self, number: u32) {
        let Some(at) = self.backlogs.get(number as usize).map(|backlog| backlog.row) else { return };
        let passed = self.passed(at);
        if let Some(entry) = self.rows.get_mut(at as usize) {
            entry.foreign.passed = passed;
        }
    }

    /// A packet that came for a leaf that is not its own any more goes on at once, charged.
    #[cold]
    pub fn pass_reclassified(&mut self, number: u32, segments: u32, bytes: u64, now: Now) {
        let place = number as usize;
        if let (Some(leaf), Some(backlog)) = (self.leaves.get_mut(place), self.backlogs.get_mut(place)) {
            backlog.pass(leaf, segments, bytes);
            if leaf.is(leaf_flag::TREE) {
                self.htb.sent(leaf.class, segments, bytes, now);
            }
        }
    }

    /// Packets that have passed a row here, whatever part.
    fn passed(&self, at: u32) -> u64 {
        let leaves = self.rows.get(at as usize).into_iter().flat_map(QueueRow::leaves);
        let packets = |number: u32| self.leaves.get(number as usize).map_or(0, |leaf| leaf.passed().packets);
        leaves.map(packets).fold(0, u64::wrapping_add)
    }

    /// All packets that came out of the queues so far have left the router. Lets go of queues that only other
    /// workers use.
    pub fn acknowledge(&mut self, shared: &SharedQueues, now: Now) {
        if self.is_changing() {
            self.follow_changeover(shared);
            if self.is_changing() {
                return;
            }
        }
        if self.unacknowledged.is_empty() || self.waits_for_ports() {
            return;
        }
        while let Some(at) = self.unacknowledged.pop() {
            let Some(entry) = self.rows.get_mut(at as usize) else { continue };
            entry.ownership.acknowledge(std::mem::take(&mut entry.foreign.unacknowledged));
            if entry.foreign.in_a_row >= MAX_FOREIGN_RUN {
                self.release_row(at, now);
            }
        }
    }

    /// The worker is about to sleep, and everything that came out of the queues has left the router, but for what waits for
    /// a port. Lets go of queues that other workers use too, or each of their packets would wake this one. What is left of
    /// thousands has its turn before the next sleep. Says whether there were any.
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
            let Some(entry) = self.rows.get_mut(at as usize) else { continue };
            entry.foreign.is_listed = false;
            let leaf = |number: u32| self.leaves.get(number as usize);
            // What a kind that has rates of its own has counted stays here.
            let may_go = |leaf: &Leaf| !leaf.is_away() && !leaf.is(leaf_flag::METERED);
            if entry.foreign.idle_releases != 0 && entry.leaves().filter_map(leaf).all(may_go) {
                self.release_row(at, now);
            }
        }
        true
    }

    fn release_row(&mut self, at: u32, now: Now) {
        let Some(entry) = self.rows.get(at as usize) else { return };
        let idle = |number: u32| self.leaves.get(number as usize).is_some_and(|leaf| leaf.waiting == 0);
        if !entry.leaves().all(idle) {
            return;
        }
        let tokens = entry.parts.map(|number| {
            let Some(leaf) = self.leaves.get(number as usize) else { return (0, now) };
            let tokens = match leaf.is(leaf_flag::TREE) {
                true => i64::from(self.htb.give_up(leaf.class, now)),
                false => leaf.bucket.tokens(),
            };
            (tokens, leaf.bucket.counted())
        });
        let bursts = entry.parts.map(|number| self.backlogs.get(number as usize)?.burst.as_deref());
        if bursts.iter().any(Option::is_some) {
            entry.ownership.store_bursts(bursts);
        }
        if entry.ownership.release(self.worker, tokens) {
            for number in entry.leaves() {
                if let Some(leaf) = self.leaves.get_mut(number as usize) {
                    leaf.waiting = AWAY;
                }
            }
        } else {
            for (number, (tokens, _)) in entry.parts.into_iter().zip(tokens) {
                if let Some(leaf) = self.leaves.get(number as usize).filter(|leaf| leaf.is(leaf_flag::TREE)) {
                    take_in_tree(&mut self.htb, leaf.class, tokens, now);
                }
            }
        }
    }
}

/// Takes a leaf in a tree. Instead of tokens, of which it has none of its own, the row says whether the tree has kept some.
fn take_in_tree(htb: &mut Htb, class: ClassId, tokens: i64, now: Now) {
    match tokens {
        0 => htb.take_full(class, now),
        _ => htb.take(class, now),
    }
}
