//! Counters of the queues for readers: packed records (see [`tollway_config::protocol::ReplyBody::Queues`]).

use std::collections::HashMap;

use tollway_config::dataplane::RowId;
use tollway_config::protocol::record::QueueRecord;

use crate::ids::LeafId;
use crate::packet::frame::Frame;
use crate::qos::forest::{Class, ClassId, Forest, Identity};
use crate::qos::htb::ClassView;
use crate::qos::leaf::Passed;
use crate::qos::queues::Queues;
use crate::qos::queues::queue_row::QueueRow;
use crate::time::Now;

/// Counters of a tree's class as they stood at the last reset.
#[derive(Debug, Clone, Copy, Default)]
pub struct ResetCounters {
    passed: Passed,
    borrows: u64,
    lends: u64,
}

/// Counters of a class from before it became a leaf, or ceased to be one: its new counters begin at zero.
#[derive(Debug, Clone, Copy, Default)]
pub struct CarriedCounters {
    passed: Passed,
    dropped: u64,
    marked: u64,
    out_of_order: u64,
}

/// Bytes and packets that wait below a class.
type Queued = HashMap<ClassId, (u64, u32)>;

impl<F: Frame> Queues<F> {
    /// Appends the records of about `most` rows from `from` on, by ascending row. Returns the row to go on from if
    /// there are more. Only classes whose packets have come to this worker have records.
    pub fn dump(
        &self,
        forest: &Forest,
        from: RowId,
        most: u32,
        now: Now,
        out: &mut Vec<u8>,
    ) -> Option<RowId> {
        let first = self.rows.partition_point(|queue_row| queue_row.identity.row < from);
        let rest = self.rows.get(first..).unwrap_or_default();
        // Classes of the same row as the last one belong to the same part.
        let last = rest.get((most as usize).saturating_sub(1)).map(|queue_row| queue_row.identity.row);
        let end =
            last.map_or(rest.len(), |last| rest.partition_point(|queue_row| queue_row.identity.row <= last));
        let (part, more) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        let mut queued = None;
        for queue_row in part {
            self.dump_row(forest, queue_row, &mut queued, now, out);
        }
        more.first().map(|queue_row| queue_row.identity.row)
    }

    fn dump_row(
        &self,
        forest: &Forest,
        queue_row: &QueueRow,
        queued: &mut Option<Queued>,
        now: Now,
        out: &mut Vec<u8>,
    ) {
        for (id, &leaf) in forest.parts(queue_row.class).into_iter().zip(&queue_row.parts) {
            let Some((id, class)) = id.and_then(|id| Some((id, forest.class(id)?))) else { continue };
            let record = if class.is_leaf {
                self.leaf_record(id, class, leaf, now)
            } else {
                let queued = queued.get_or_insert_with(|| self.queued_below(forest));
                self.inner_record(id, class, queued, now)
            };
            let record = match self.carried.get(&class.identity) {
                Some(carried) => Some(carried.added_to(record.unwrap_or_default())),
                None => record,
            };
            if let Some(record) = record {
                let Identity { row, part } = class.identity;
                QueueRecord { row, worker: self.worker as u16, part: part as u8, ..record }.write(out);
            }
        }
    }

    /// The record of a leaf, without row, worker and part.
    fn leaf_record(&self, id: ClassId, class: &Class, leaf: LeafId, now: Now) -> Option<QueueRecord> {
        if leaf == LeafId::NONE {
            return None;
        }
        let (hot, queue) = (self.leaves.get(leaf.index())?, self.leaf_queues.get(leaf.index())?);
        let view = class.parent.and_then(|_| self.htb.view(id, now));
        let since = self.reset_counters.get(&class.identity).copied().unwrap_or_default();
        let (passed, second) = (queue.passed(hot), queue.last_second(hot, now));
        let waited = queue.waited(hot, now);
        Some(QueueRecord {
            bytes: passed.bytes,
            packets: passed.packets,
            dropped: queue.dropped,
            rate: second.bytes * 8,
            packet_rate: second.packets,
            queued_bytes: queue.kind.bytes(),
            queued_packets: hot.queued(),
            sub_queues: queue.kind.sub_queues(),
            borrows: view.map_or(0, |view| view.borrows.wrapping_sub(since.borrows)),
            lends: view.map_or(0, |view| view.lends.wrapping_sub(since.lends)),
            marked: queue.marked(),
            longest_wait: waited.longest,
            average_wait: waited.average(),
            out_of_order: queue.out_of_order,
            ..QueueRecord::default()
        })
    }

    /// The record of a class with children, without row, worker and part.
    fn inner_record(&self, id: ClassId, class: &Class, queued: &Queued, now: Now) -> Option<QueueRecord> {
        let view = self.htb.view(id, now)?;
        let (queued_bytes, queued_packets) = queued.get(&id).copied().unwrap_or_default();
        if view.packets == 0 && queued_packets == 0 {
            return None;
        }
        let since = self.reset_counters.get(&class.identity).copied().unwrap_or_default();
        let passed = Passed { packets: view.packets, bytes: view.bytes }.since(since.passed);
        Some(QueueRecord {
            bytes: passed.bytes,
            packets: passed.packets,
            rate: view.second_bytes * 8,
            packet_rate: view.second_packets,
            queued_bytes,
            queued_packets,
            borrows: view.borrows.wrapping_sub(since.borrows),
            lends: view.lends.wrapping_sub(since.lends),
            ..QueueRecord::default()
        })
    }

    /// Waiting packets below each class that has children.
    fn queued_below(&self, forest: &Forest) -> Queued {
        let mut queued = Queued::new();
        for leaf in self.waiting_leaves() {
            let Some(queue) = self.leaf_queues.get(leaf.index()) else { continue };
            let class = self.class(leaf).and_then(|id| forest.class(id));
            let mut above = class.and_then(|class| class.parent);
            while let Some(id) = above {
                let (bytes, packets) = queued.entry(id).or_default();
                *bytes += queue.kind.bytes();
                *packets = packets.saturating_add(queue.kind.segments());
                above = forest.class(id).and_then(|class| class.parent);
            }
        }
        queued
    }

    /// Forgets the reset counters of classes that were in no tree before, or are in none any more: they count from
    /// zero.
    pub(super) fn forget_resets(&mut self, before: &Forest, forest: &Forest) {
        let counts = |forest: &Forest, identity| {
            let class = forest.find(identity).and_then(|id| forest.class(id));
            class.is_some_and(|class| class.parent.is_some() || !class.is_leaf)
        };
        self.reset_counters.retain(|identity, _| counts(before, *identity) && counts(forest, *identity));
        self.carried.retain(|identity, _| forest.find(*identity).is_some());
    }

    /// Keeps the counters of a leaf whose class is not a leaf any more.
    pub(super) fn carry_leaf(&mut self, leaf: LeafId, identity: Identity, before: &Forest) {
        let (Some(hot), Some(queue)) = (self.leaves.get(leaf.index()), self.leaf_queues.get(leaf.index()))
        else {
            return;
        };
        // In a tree the class has counted the same packets, and its count continues.
        let counted = before.class(hot.class).is_some_and(|class| class.parent.is_some());
        // Packets that wait are sent at once, not counted by the class.
        let waits = Passed { packets: hot.queued().into(), bytes: queue.kind.bytes() };
        let carried = self.carried.entry(identity).or_default();
        carried.passed = carried.passed.plus(waits);
        if !counted {
            carried.passed = carried.passed.plus(queue.passed(hot));
        }
        carried.dropped += queue.dropped;
        carried.marked += queue.marked();
        carried.out_of_order += queue.out_of_order;
    }

    /// Keeps the counters of classes that become leaves; to be called before the trees change.
    pub(super) fn carry_inner(&mut self, before: &Forest, forest: &Forest, now: Now) {
        for (id, class) in (0..).map(ClassId).zip(before.classes()).filter(|(_, class)| !class.is_leaf) {
            let identity = class.identity;
            let new = forest.find(identity).and_then(|id| forest.class(id));
            let (true, Some(view)) = (new.is_some_and(|new| new.is_leaf), self.htb.view(id, now)) else {
                continue;
            };
            let total = Passed { packets: view.packets, bytes: view.bytes };
            let since = self.reset_counters.entry(identity).or_default();
            let carried = self.carried.entry(identity).or_default();
            carried.passed = carried.passed.plus(total.since(since.passed));
            since.passed = total;
        }
    }

    /// Sets the counters of these rows to zero; no rows means all. Appends the records with the counters before the
    /// reset, so that a reader that adds records up misses nothing.
    pub fn reset(&mut self, forest: &Forest, rows: &[RowId], now: Now, out: &mut Vec<u8>) {
        let all = rows.is_empty().then_some(0..self.rows.len());
        let of = |row: &RowId| {
            let end = |to: u64| self.rows.partition_point(|queue_row| u64::from(queue_row.identity.row) < to);
            end(u64::from(*row))..end(u64::from(*row) + 1)
        };
        let indices: Vec<usize> = all.into_iter().chain(rows.iter().map(of)).flatten().collect();
        let mut queued = None;
        for at in indices {
            let Some(queue_row) = self.rows.get(at) else { break };
            self.dump_row(forest, queue_row, &mut queued, now, out);
            for (id, leaf) in forest.parts(queue_row.class).into_iter().zip(queue_row.parts) {
                if let Some(class) = id.and_then(|id| forest.class(id)) {
                    self.carried.remove(&class.identity);
                }
                if let (Some(hot), Some(queue)) =
                    (self.leaves.get(leaf.index()), self.leaf_queues.get_mut(leaf.index()))
                {
                    queue.reset(hot);
                }
                if let Some(id) = id
                    && let Some(class) =
                        forest.class(id).filter(|class| class.parent.is_some() || !class.is_leaf)
                    && let Some(view) = self.htb.view(id, now)
                {
                    self.reset_counters.insert(class.identity, ResetCounters::of(&view));
                }
            }
        }
    }
}

impl ResetCounters {
    fn of(view: &ClassView) -> Self {
        let passed = Passed { packets: view.packets, bytes: view.bytes };
        Self { passed, borrows: view.borrows, lends: view.lends }
    }
}

impl CarriedCounters {
    /// A record with these counters added.
    fn added_to(&self, record: QueueRecord) -> QueueRecord {
        QueueRecord {
            bytes: record.bytes.wrapping_add(self.passed.bytes),
            packets: record.packets.wrapping_add(self.passed.packets),
            dropped: record.dropped + self.dropped,
            marked: record.marked + self.marked,
            out_of_order: record.out_of_order + self.out_of_order,
            ..record
        }
    }
}
