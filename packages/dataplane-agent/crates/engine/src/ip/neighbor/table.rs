//! The entries of the neighbour table, under its lock.

use std::collections::HashMap;

use tollway_config::dataplane::RowId;
use tollway_config::protocol::NeighborStatus;

use super::collection::family;
use super::{Collections, NeighborKey};
use crate::time::Now;

/// Number of unanswered entries that an interface may always have, regardless of the size of the table.
const UNCONFIRMED: usize = 64;

/// Time for which exhausted slots stay unused after all ids were invalidated, ns: no batch of packets takes this long.
pub(super) const RENUMBER_TIME: u64 = 60_000_000_000;
/// Number of exhausted slots at which all ids are invalidated. With the fastest change of neighbours that a table of
/// 16,384 entries allows, this happens once an hour.
const RENUMBER: usize = if cfg!(test) { 16 } else { 4096 };

/// A neighbour, as the state machine keeps it.
#[derive(Debug, Clone, Copy)]
pub(super) struct NeighborEntry {
    /// Interface and address.
    pub key: NeighborKey,
    /// Static entry's row, 0 for a learned one.
    pub row: RowId,
    /// Link-layer address; zeros while it is unknown.
    pub mac: [u8; 6],
    /// State of the neighbour (RFC 4861 §7.3.2).
    pub status: NeighborStatus,
    /// Requests sent in this state.
    pub probes: u8,
    /// When the state ends; `u64::MAX` never.
    pub due: u64,
    /// Generation of the slot, a part of the ids of its neighbours.
    pub reuse: u16,
    /// The slot is in use.
    pub live: bool,
    /// The neighbour has answered: both directions worked once.
    pub confirmed: bool,
    /// The neighbour has said that it is a router (RFC 4861 §4.4).
    pub router: bool,
}

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
    /// Entries that have not answered, by interface and family.
    unconfirmed: HashMap<(RowId, usize), usize>,
}

impl NeighborTable {
    /// Whether there is no room for another neighbour of an interface. Families do not share their limits. Once half of
    /// the limit is reached, unanswered entries of an interface may take at most a quarter of it, so that a scan of the
    /// addresses behind one interface leaves room for the neighbours of the others.
    pub fn is_full(&self, key: NeighborKey, limit: u32) -> bool {
        let used = self.used.get(family(key)).copied().unwrap_or(0);
        let limit = limit as usize;
        let unconfirmed = || self.unconfirmed.get(&(key.0, family(key))).copied().unwrap_or(0);
        used >= limit || used >= limit / 2 && unconfirmed() >= (limit / 4).max(UNCONFIRMED)
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

    /// Adds an entry to, or removes it from, the count of unanswered entries.
    pub fn count_unconfirmed(&mut self, key: NeighborKey, added: bool) {
        let place = (key.0, family(key));
        let count = self.unconfirmed.entry(place).or_default();
        *count = if added { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            self.unconfirmed.remove(&place);
        }
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
