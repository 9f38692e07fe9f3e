//! Reconfiguration of a worker's queues: tokens, counters and packets stay with their classes.

use tollway_config::dataplane::QueueType;

use crate::ids::LeafId;
use crate::packet::frame::Frame;
use crate::qos::addresses::QueueAddresses;
use crate::qos::burst::Burst;
use crate::qos::forest::{Class, ClassId, Context, Forest, Identity, RowPart};
use crate::qos::kind::{LeafQdisc, Load};
use crate::qos::leaf::{Scheduled, UNOWNED, leaf_flag};
use crate::qos::ownership::{LockedOwnerships, ROW_PARTS};
use crate::qos::queues::queue_row::{HandedOverCounts, QueueRow};
use crate::qos::queues::rows::own_limit;
use crate::qos::queues::shared::SharedQueues;
use crate::qos::queues::{LeafLookup, LinkInterface, Queues};
use crate::qos::slab::NodeQueue;
use crate::time::Now;

impl<F: Frame> Queues<F> {
    /// Takes over another configuration in place of `before`. Classes that are not touched keep tokens, counters and
    /// packets; a changed limit, parent or queue type keeps the packets. Packets that wait in a leaf which is no longer
    /// on their path are sent at once, so that later packets, which pass another leaf, do not overtake them. `epoch` is
    /// the number of the configuration, by which the workers know that all of them have it; `interfaces` are those of
    /// the links, by number.
    pub fn reconfigure(
        &mut self,
        before: &LeafLookup<'_>,
        lookup: &LeafLookup<'_>,
        (epoch, interfaces): (u32, &[LinkInterface]),
        shared: &SharedQueues,
        now: Now,
    ) {
        self.begin_ordered_change(before, lookup, epoch, shared, now);
        if lookup.shares_queues_with(before) && self.ports.are_of(interfaces) {
            // Only rules or neighbours have changed: nothing to do here, and a worker with 25,000 rows would stall for
            // 1.5 ms.
            return;
        }
        self.reconfigured_at = now;
        let forest = lookup.forest;
        let queue_rows = std::mem::take(&mut self.rows);
        self.unacknowledged.clear();
        self.shared_rows.clear();
        self.class_leaves.clear();
        self.class_leaves.resize(forest.classes().len(), LeafId::NONE);
        self.paths.retire_all(lookup.table.keeps_context_of(before.table));
        self.ports.set_interfaces(interfaces);
        let mut changed = Vec::new();
        let mut old = queue_rows.into_iter().peekable();
        let mut ownerships = shared.ownerships.lock();
        let mut queue_rows = Vec::with_capacity(forest.rows().len());
        for &first in forest.rows() {
            let Some(row) = forest.class(first).map(|class| class.identity) else { continue };
            while let Some(gone) = old.next_if(|queue_row| queue_row.identity < row) {
                self.remove_row(gone, now);
            }
            let at = queue_rows.len() as u32;
            let queue_row = match old.next_if(|queue_row| queue_row.identity == row) {
                Some(queue_row) => {
                    self.keep_row(queue_row, (at, first), before.forest, forest, now, &mut changed)
                }
                None => new_row(row, first, &mut ownerships),
            };
            if queue_row.handed_over.unacknowledged != 0 {
                self.unacknowledged.push(at);
            }
            if queue_row.handed_over.is_listed {
                self.shared_rows.push(at);
            }
            queue_rows.push(queue_row);
        }
        old.for_each(|gone| self.remove_row(gone, now));
        drop(ownerships);
        self.rows = queue_rows;
        self.carry_inner(before.forest, forest, now);
        self.htb.reconfigure(forest, &shared.shared_trees, now);
        self.forget_resets(before.forest, forest);
        // The ids of removed leaves are used again from now on.
        self.pass_over_removed();
        self.apply_changes(forest, changed, now);
        self.pass_over_removed();
        self.reserve(forest.classes().len());
        let is_plain = |class: &Class| matches!(class.identity.part, RowPart::Upload | RowPart::Download);
        if !forest.classes().iter().all(is_plain) {
            self.paths.reserve(forest.classes().len());
        }
        if !lookup.table.matches_as(before.table) {
            self.flush_reclassified(lookup, now);
        }
        self.reclassify_unpassed(lookup, now);
    }

    /// Keeps a row: its leaves get their new class ids, and those that have changed are noted.
    fn keep_row(
        &mut self,
        mut queue_row: QueueRow,
        (at, first): (u32, ClassId),
        before: &Forest,
        forest: &Forest,
        now: Now,
        changed: &mut Vec<LeafId>,
    ) -> QueueRow {
        let was_begun = queue_row.leaves().next().is_some();
        for (index, new) in forest.parts(first).into_iter().enumerate() {
            let Some(known) = queue_row.parts.get_mut(index).filter(|leaf| **leaf != LeafId::NONE) else {
                continue;
            };
            let leaf = *known;
            let new = new.and_then(|id| Some((id, forest.class(id)?)));
            let Some((id, class)) = new.filter(|(_, class)| class.is_leaf) else {
                *known = LeafId::NONE;
                if let Some((_, class)) = new {
                    self.carry_leaf(leaf, class.identity, before);
                }
                self.remove_leaf(leaf, now);
                continue;
            };
            let (Some(hot), Some(queue)) =
                (self.leaves.get_mut(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
            else {
                continue;
            };
            let known = before.class(std::mem::replace(&mut hot.class, id));
            (queue.row, queue.rank) = (at, class.rank() as u8);
            if !known.is_some_and(|known| has_same_settings(known, class, before, forest)) {
                changed.push(leaf);
            }
            if let Some(known) = self.class_leaves.get_mut(id.0 as usize) {
                *known = leaf;
            }
            self.place_before_port(leaf, class, now);
        }
        (queue_row.class, queue_row.identity) = (first, queue_row.identity);
        if was_begun && queue_row.leaves().next().is_none() {
            self.ordered_change.release_removed_row(self.worker, queue_row.identity, &queue_row.ownership);
        }
        queue_row
    }

    /// Applies changed settings to leaves, and adds leaves to rows that have some and lack others.
    fn apply_changes(&mut self, forest: &Forest, changed: Vec<LeafId>, now: Now) {
        for leaf in changed {
            let class = self.class(leaf).and_then(|id| forest.class(id));
            if let Some(class) = class {
                self.change(leaf, class, forest, now);
            }
        }
        for at in 0..self.rows.len() {
            let Some(queue_row) = self.rows.get(at) else { break };
            let is_port = queue_row.identity.part == RowPart::Interface;
            let sibling = queue_row.leaves().next();
            if is_port && sibling.is_none() {
                self.begin_interface_queue(at, forest, now);
            } else if let Some(sibling) = sibling
                && queue_row.parts.contains(&LeafId::NONE)
                && !is_port
            {
                let (parts, away) = (queue_row.parts, self.is_unowned(sibling));
                self.begin_row(at, forest, now);
                if !away {
                    self.own_added_leaves(at, parts, now);
                }
            }
        }
    }

    /// Makes this worker the owner of leaves that were added to a row which it owns.
    fn own_added_leaves(&mut self, at: usize, before: [LeafId; ROW_PARTS], now: Now) {
        let Some(queue_row) = self.rows.get(at) else { return };
        for leaf in
            queue_row.parts.into_iter().zip(before).filter(|(new, old)| new != old).map(|(new, _)| new)
        {
            if let Some(hot) = self.leaves.get_mut(leaf.index()) {
                hot.waiting = 0;
                if hot.is(leaf_flag::TREE) {
                    self.htb.acquire(hot.class, now);
                }
            }
        }
    }

    /// Creates the queue of an interface. It exists before the first packet, as it has to know when its port accepts no
    /// packets.
    fn begin_interface_queue(&mut self, at: usize, forest: &Forest, now: Now) {
        let Some(queue_row) = self.rows.get(at) else { return };
        let kind = forest.class(queue_row.class).and_then(|class| forest.type_of(class));
        let waits = kind.is_some_and(|kind| *kind != QueueType::None);
        if waits && self.ports.has(queue_row.identity.row) {
            self.begin_row(at, forest, now);
        }
    }

    /// Applies the limits, the parent and the queue type of a class that stays.
    fn change(&mut self, leaf: LeafId, class: &Class, forest: &Forest, now: Now) {
        let kind = forest.type_of(class).unwrap_or(&QueueType::None);
        self.change_kind(leaf, kind, now);
        let (Some(hot), Some(queue)) =
            (self.leaves.get_mut(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
        else {
            return;
        };
        let limit = own_limit(class);
        let (was_tree, waits) = (hot.is(leaf_flag::TREE), hot.queued() != 0);
        hot.bucket.change(limit.max_limit, limit.bucket_ms, now, waits);
        queue.max_limit = limit.max_limit;
        queue.burst = Burst::change(queue.burst.take().map(|burst| *burst), &limit, now).map(Box::new);
        if let Some(burst) = &queue.burst {
            hot.bucket.set_rate(burst.ceiling(limit.max_limit), now, waits);
        }
        hot.set(leaf_flag::BURST, queue.burst.is_some());
        hot.set(leaf_flag::EVERY_PACKET, LeafQdisc::needs_every_packet(kind));
        hot.set(leaf_flag::TREE, class.parent.is_some());
        if class.parent.is_some() || class.interface.is_none() {
            hot.set(leaf_flag::BLOCKED, false);
        }
        let is_tree = class.parent.is_some();
        if is_tree && !was_tree && !hot.is_unowned() {
            self.htb.acquire(hot.class, now);
        }
        if is_tree != was_tree && queue.scheduled == Scheduled::Due && is_tree {
            queue.scheduled = Scheduled::No;
        }
        let Some(hot) = self.leaves.get(leaf.index()) else { return };
        // The time at which the kind has the next packet may have changed.
        if hot.queued() != 0 {
            self.unschedule(leaf);
            self.schedule(leaf, now);
        }
    }

    /// Changes the queue type. If the kind changes, the waiting packets are enqueued in the new queue, in the order in
    /// which the old one holds them.
    fn change_kind(&mut self, leaf: LeafId, kind: &QueueType, now: Now) {
        let Some(queue) = self.leaf_queues.get_mut(leaf.index()) else { return };
        if queue.kind.change(kind) {
            return;
        }
        let before = queue.kind.load();
        let mut new = LeafQdisc::new(kind, queue.seed(self.salt));
        let mut all = NodeQueue::default();
        queue.kind.take_out(&mut self.slab, &mut all, |_, _| true);
        let mut gone = NodeQueue::default();
        while let Some(node) = all.pop(&mut self.slab) {
            if new.admits(Load::of(&self.slab, node), Load::default()) {
                new.enqueue(&mut self.slab, node, now, &mut gone);
            } else {
                gone.push(&mut self.slab, node);
            }
        }
        queue.replace(new);
        self.drop_frames(leaf, &mut gone, None);
        self.changed(leaf, before);
    }

    /// Removes a row.
    fn remove_row(&mut self, queue_row: QueueRow, now: Now) {
        let mut begun = false;
        for leaf in queue_row.leaves() {
            begun = true;
            self.remove_leaf(leaf, now);
        }
        queue_row.ownership.acknowledge(queue_row.handed_over.unacknowledged);
        if begun {
            self.ordered_change.release_removed_row(self.worker, queue_row.identity, &queue_row.ownership);
        }
    }

    /// Removes a leaf.
    fn remove_leaf(&mut self, leaf: LeafId, now: Now) {
        self.flush_matching(leaf, now, |_, _| true);
        self.unschedule(leaf);
        if let Some(queue) = self.leaf_queues.get_mut(leaf.index()) {
            queue.scheduled = Scheduled::No;
        }
        if let Some(hot) = self.leaves.get_mut(leaf.index()) {
            (hot.waiting, hot.class) = (UNOWNED, ClassId(u32::MAX));
            hot.set(leaf_flag::ALL, false);
        }
        self.free.push(leaf);
    }

    /// Flushes packets that wait in a leaf which is not on their path any more.
    fn flush_reclassified(&mut self, lookup: &LeafLookup<'_>, now: Now) {
        for leaf in self.waiting_leaves() {
            let Some(class) = self.class(leaf) else { continue };
            if !self.leaf_queues.get(leaf.index()).is_some_and(|queue| queue.is_port()) {
                self.flush_matching(leaf, now, |addresses, context| {
                    !lookup.passes(addresses, context, class)
                });
            }
        }
    }

    /// Charges packets that a leaf dequeues before their turn, as it is no longer on their path.
    #[cold]
    pub fn charge(&mut self, leaf: LeafId, segments: u32, bytes: u64, now: Now) {
        if let (Some(hot), Some(queue)) =
            (self.leaves.get_mut(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
        {
            queue.pass(hot, segments, bytes);
            if hot.is(leaf_flag::TREE) {
                self.htb.sent(hot.class, segments, bytes, now);
            }
        }
    }

    /// Flushes the packets of a leaf for which `matches` holds, in order and charged.
    fn flush_matching(
        &mut self,
        leaf: LeafId,
        now: Now,
        mut matches: impl FnMut(&QueueAddresses, &Context) -> bool,
    ) {
        let Some(queue) = self.leaf_queues.get_mut(leaf.index()) else { return };
        let before = queue.kind.load();
        if before.frames == 0 {
            return;
        }
        let paths = &self.paths;
        let Some(deferred) = self.deferred.get_mut(usize::from(queue.rank) + 1) else { return };
        let taken = queue.kind.take_out(&mut self.slab, deferred, |slab, node| {
            slab.get(node)
                .is_some_and(|waiting| matches(&slab.addresses(node), &Self::context(paths, waiting)))
        });
        if taken.frames != 0 {
            self.charge(leaf, taken.segments, taken.bytes, now);
        }
        self.changed(leaf, before);
        self.deactivate(leaf);
    }
}

fn new_row(identity: Identity, class: ClassId, ownerships: &mut LockedOwnerships<'_>) -> QueueRow {
    let ownership = ownerships.of(identity);
    QueueRow {
        identity,
        class,
        parts: [LeafId::NONE; ROW_PARTS],
        ownership,
        handed_over: HandedOverCounts::default(),
    }
}

/// Whether a class has the same limits, queue type and kind of parent in both configurations.
fn has_same_settings(old: &Class, new: &Class, before: &Forest, forest: &Forest) -> bool {
    old.limit == new.limit
        && old.parent.is_some() == new.parent.is_some()
        && old.interface == new.interface
        && before.type_of(old) == forest.type_of(new)
}
