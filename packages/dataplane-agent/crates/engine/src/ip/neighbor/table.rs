//! The entries of the neighbour table, under its lock.

use std::collections::HashMap;

use super::collection::family;
use super::entry::NeighborEntry;
use super::unanswered::{UnansweredEntries, Victims};
use super::{Collections, NeighborKey};
use crate::time::Now;

/// Time for which exhausted slots stay unused after all ids were invalidated, ns: no batch of packets takes this long.
pub(super) const RENUMBER_TIME: u64 = 60_000_000_000;
/// Number of exhausted slots at which all ids are invalidated: a slot is exhausted by 4,095 neighbours, so that a scan of
/// 10,000 addresses a second does this every half an hour.
const RENUMBER: usize = if cfg!(test) { 16 } else { 4096 };

/// The entries and the free slots.
#[derive(Debug, Default, Clone)]
pub(super) struct NeighborTable {
    /// Slots by interface and address.
    pub index: HashMap<NeighborKey, u32>,
    /// Entries by slot.
    pub entries: Vec<NeighborEntry>,
    /// Free slots.
    pub free: Vec<u32>,
    /// Free slots whose reuse number is exhausted.
    pub exhausted: Vec<u32>,
    /// Exhausted slots after the ids were invalidated, and when they may be used again, ns.
    pub quarantined: Option<(Vec<u32>, u64)>,
    /// Generation whose static entries are in place; `None` before the first.
    pub synced: Option<u32>,
    /// Next time at which a full table may be searched for entries to forget, ns.
    pub collect_after: u64,
    /// When entries are forgotten.
    pub collections: Collections,
    /// Entries by family.
    used: [usize; 2],
    /// Entries that have not answered.
    pub unanswered: UnansweredEntries,
}

impl NeighborTable {
    /// Whether there is no room for another neighbour of an interface. Families do not share their limits. Once half of
    /// the limit is reached, unanswered entries of an interface may take at most a quarter of it, so that a scan of the
    /// addresses behind one interface leaves room for the neighbours of the others.
    pub fn is_full(&self, key: NeighborKey, limit: u32) -> bool {
        let used = self.used.get(family(key)).copied().unwrap_or(0);
        let limit = limit as usize;
        used >= limit || used >= limit / 2 && self.unanswered.has_share(key, limit)
    }

    /// Whether a family has more entries than expire at their leisure.
    pub fn is_above_soft_max(&self, key: NeighborKey) -> bool {
        self.used.get(family(key)).is_some_and(|used| *used >= self.collections.of(key).soft_max)
    }

    /// Whether a family has so few entries that none is forgotten.
    pub fn is_small(&self, key: NeighborKey) -> bool {
        self.used.get(family(key)).is_some_and(|used| *used <= self.collections.of(key).kept)
    }

    /// Adds an entry to, or removes it from, the count of its family.
    pub fn count(&mut self, key: NeighborKey, added: bool) {
        if let Some(count) = self.used.get_mut(family(key)) {
            *count = if added { *count + 1 } else { count.saturating_sub(1) };
        }
    }

    /// Puts an entry that has come, or whose state has changed, to the end of its queue, unless it has answered.
    pub fn enqueue_unanswered(&mut self, index: u32, now: Now) {
        self.unanswered.enqueue(&mut self.entries, index, now);
    }

    /// An entry that gives way to another neighbour in a full table.
    pub fn next_victim(&mut self, key: NeighborKey, limit: u32, victims: Victims, now: Now) -> Option<u32> {
        self.unanswered.next_victim(&self.entries, key, limit, victims, now)
    }

    /// Makes exhausted slots usable again, in two steps. `true` when all ids have to be invalidated.
    pub fn renumber(&mut self, now: Now) -> bool {
        if let Some((slots, until)) = &mut self.quarantined {
            if now.0 < *until {
                return false;
            }
            self.free.append(slots);
            self.quarantined = None;
        }
        if self.exhausted.len() < RENUMBER {
            return false;
        }
        self.quarantined = Some((std::mem::take(&mut self.exhausted), now.0.saturating_add(RENUMBER_TIME)));
        true
    }
}
