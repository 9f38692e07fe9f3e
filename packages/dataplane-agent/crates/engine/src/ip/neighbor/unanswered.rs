//! The entries that have not answered yet, in the order in which they give way to others: a scan of the addresses behind an
//! interface does not keep its neighbours out of the table (RFC 6583 §7.1).

use std::collections::{HashMap, VecDeque};

use tollway_config::dataplane::RowId;
use tollway_config::protocol::NeighborStatus;

use super::collection::family;
use super::entry::NeighborEntry;
use super::{NeighborKey, PROBE_INTERVAL};
use crate::time::Now;

/// Number of unanswered entries that an interface may always have, regardless of the size of the table.
const ALWAYS: usize = 64;
/// Time for which a neighbour that has been asked for does not give way to another, ns: a station of the same link has
/// answered by then. Otherwise none would find the time where more are asked for at once than there is room for.
pub(super) const ANSWER_TIME: u64 = 20_000_000;
/// Records of a queue that are kept beside the entries that they are of.
const OUTDATED: usize = 64;

const _: () = assert!(ANSWER_TIME < PROBE_INTERVAL);

/// Which entries may give way to another neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Victims {
    /// Those of stations that have only asked: for another one that asks.
    Asking,
    /// Those too that have been asked for, after [`ANSWER_TIME`]: for one that the router has packets for.
    Asked,
}

/// An entry as it was when it was put into a queue. It is outdated when the entry has changed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Queued {
    index: u32,
    reuse: u16,
    since: u64,
}

/// The unanswered entries of an interface and family; the eldest first in each queue.
#[derive(Debug, Default, Clone)]
struct Unanswered {
    count: usize,
    /// Of stations that have asked the router, and that it has not asked for.
    asking: VecDeque<Queued>,
    /// That the router has asked for.
    asked: VecDeque<Queued>,
}

/// The unanswered entries by interface and family.
#[derive(Debug, Default, Clone)]
pub(super) struct UnansweredEntries(HashMap<(RowId, usize), Unanswered>);

impl UnansweredEntries {
    /// Adds an entry to, or removes it from, the count of its interface.
    pub fn count(&mut self, key: NeighborKey, added: bool) {
        let place = (key.0, family(key));
        let unanswered = self.0.entry(place).or_default();
        unanswered.count = if added { unanswered.count + 1 } else { unanswered.count.saturating_sub(1) };
        if unanswered.count == 0 {
            self.0.remove(&place);
        }
    }

    /// Whether those of an interface are as many as it may always have in a table of `limit` entries.
    pub fn has_share(&self, key: NeighborKey, limit: usize) -> bool {
        let count = self.0.get(&(key.0, family(key))).map_or(0, |unanswered| unanswered.count);
        count >= (limit / 4).max(ALWAYS)
    }

    /// Puts an entry that has come, or whose state has changed, to the end of its queue, unless it has answered.
    pub fn enqueue(&mut self, entries: &mut [NeighborEntry], index: u32, now: Now) {
        let Some(entry) = entries.get_mut(index as usize) else { return };
        if entry.confirmed || !entry.live {
            return;
        }
        entry.since = now.0;
        let entry = *entry;
        let unanswered = self.0.entry((entry.key.0, family(entry.key))).or_default();
        let most = 2 * unanswered.count + OUTDATED;
        let asking = is_asking(&entry);
        let queue = if asking { &mut unanswered.asking } else { &mut unanswered.asked };
        if queue.len() >= most {
            queue.retain(|queued| is_current(entries, queued, asking));
        }
        queue.push_back(Queued { index, reuse: entry.reuse, since: entry.since });
    }

    /// An entry that gives way to another neighbour in a full table: of the same interface if that has its share, else of
    /// the one that has most. Those that only asked go first, then those that have been asked for longest ago.
    pub fn next_victim(
        &mut self,
        entries: &[NeighborEntry],
        key: NeighborKey,
        limit: u32,
        victims: Victims,
        now: Now,
    ) -> Option<u32> {
        let family = family(key);
        let interface = if self.has_share(key, limit as usize) {
            key.0
        } else {
            let of_family = self.0.iter().filter(|((_, its), _)| *its == family);
            of_family.max_by_key(|((row, _), unanswered)| (unanswered.count, *row))?.0.0
        };
        let unanswered = self.0.get_mut(&(interface, family))?;
        if let Some(queued) = first(entries, &mut unanswered.asking, true) {
            return Some(queued.index);
        }
        let queued = first(entries, &mut unanswered.asked, false)?;
        let gives_way = victims == Victims::Asked && queued.since.saturating_add(ANSWER_TIME) <= now.0;
        gives_way.then_some(queued.index)
    }
}

fn is_asking(entry: &NeighborEntry) -> bool {
    entry.status == NeighborStatus::Stale
}

/// The first record of a queue that is not outdated.
fn first(entries: &[NeighborEntry], queue: &mut VecDeque<Queued>, asking: bool) -> Option<Queued> {
    while let Some(queued) = queue.front() {
        if is_current(entries, queued, asking) {
            return Some(*queued);
        }
        queue.pop_front();
    }
    None
}

fn is_current(entries: &[NeighborEntry], queued: &Queued, asking: bool) -> bool {
    entries.get(queued.index as usize).is_some_and(|entry| {
        entry.live
            && !entry.confirmed
            && (entry.reuse, entry.since) == (queued.reuse, queued.since)
            && is_asking(entry) == asking
    })
}
