//! What others see of the queues: packed records (see [`tollway_config::protocol::ReplyBody::Queues`]).

use tollway_config::dataplane::RowId;

use super::Way;
use super::leaf::{Backlog, Leaf};
use super::simple::{NIL, SimpleQueues};
use crate::frame::Frame;
use crate::time::Now;

impl<F: Frame> SimpleQueues<F> {
    /// Appends the records of at most `most` queues with rows from `from` on, by ascending row. Returns the
    /// row to go on from if there are more. Only queues whose packets have come to this worker have records.
    pub fn dump(&self, from: RowId, most: u32, now: Now, out: &mut Vec<u8>) -> Option<RowId> {
        let from = self.entries.partition_point(|entry| entry.row < from);
        let rest = self.entries.get(from..).unwrap_or_default();
        let (part, more) = rest.split_at_checked(most as usize).unwrap_or((rest, &[]));
        for entry in part {
            if entry.first == NIL {
                continue;
            }
            for (part, number) in (0u8..).zip([entry.first, entry.first.saturating_add(1)]) {
                if let (Some(leaf), Some(backlog)) =
                    (self.leaves.get(number as usize), self.backlogs.get(number as usize))
                {
                    out.extend_from_slice(&entry.row.to_le_bytes());
                    out.extend_from_slice(&(self.worker as u16).to_le_bytes());
                    out.extend_from_slice(&[part, 0]);
                    direction(leaf, backlog, now, out);
                }
            }
        }
        more.first().map(|entry| entry.row)
    }

    /// Sets the counters of these queues to zero; no rows means all.
    pub fn reset(&mut self, rows: &[RowId]) {
        if rows.is_empty() {
            for (leaf, backlog) in self.leaves.iter().zip(&mut self.backlogs) {
                backlog.reset(leaf);
            }
        }
        for (&row, way) in rows.iter().flat_map(|row| [(row, Way::Upload), (row, Way::Download)]) {
            let place = self.leaf_of(row, way).map_or(usize::MAX, |number| number as usize);
            if let (Some(leaf), Some(backlog)) = (self.leaves.get(place), self.backlogs.get_mut(place)) {
                backlog.reset(leaf);
            }
        }
    }
}

fn direction(leaf: &Leaf, backlog: &Backlog, now: Now, out: &mut Vec<u8>) {
    let passed = backlog.passed(leaf);
    let rate = backlog.last_second(leaf, now);
    for value in [passed.bytes, passed.packets, backlog.dropped, rate.bytes * 8, rate.packets, backlog.bytes]
    {
        out.extend_from_slice(&value.to_le_bytes());
    }
    out.extend_from_slice(&leaf.queued().to_le_bytes());
    out.extend_from_slice(&[0; 36]);
}
