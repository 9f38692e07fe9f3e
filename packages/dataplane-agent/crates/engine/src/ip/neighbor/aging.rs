//! The timers of the neighbour state machine (RFC 4861 §7.3): retransmission of requests, expiry of confirmations,
//! removal of unused entries.

use std::sync::atomic::Ordering;

use tollway_config::protocol::NeighborStatus;

use super::{MAX_PROBES, NEGATIVE_TIME, NeighborRequest, Neighbors, PROBE_INTERVAL};
use crate::time::Now;

/// Minimum interval of two runs of the timers, ns.
const AGE_INTERVAL: u64 = 10_000_000;

impl Neighbors {
    /// Runs the timers that are due; `request` sends the requests. Returns `true` if all ids have become invalid,
    /// because many slots are exhausted: workers must drop their cached ids before their next batch.
    #[must_use]
    pub fn age(&self, now: Now, mut request: impl FnMut(NeighborRequest)) -> bool {
        if now.0 < self.next_due() {
            return false;
        }
        let mut guard = self.lock();
        let table = &mut *guard;
        let mut next = u64::MAX;
        for index in 0..u32::try_from(table.entries.len()).unwrap_or(0) {
            let Some(key) = table.entries.get(index as usize).map(|entry| entry.key) else { break };
            let (collection, is_small) = (table.collections.of(key), table.is_small(key));
            let Some(entry) = table.entries.get_mut(index as usize) else { break };
            if !entry.live {
                continue;
            }
            if now.0 >= entry.due {
                match entry.status {
                    NeighborStatus::Incomplete | NeighborStatus::Probe if entry.probes < MAX_PROBES => {
                        entry.probes += 1;
                        entry.due = now.0.saturating_add(PROBE_INTERVAL);
                        let unicast = (entry.status == NeighborStatus::Probe).then_some(entry.mac);
                        request(NeighborRequest { key: entry.key, unicast });
                    }
                    NeighborStatus::Incomplete => {
                        entry.status = NeighborStatus::Failed;
                        entry.due = now.0.saturating_add(NEGATIVE_TIME);
                    }
                    // The entry of a station that no longer answers is removed, so that the next packet asks by
                    // broadcast: the station may have another link-layer address now.
                    NeighborStatus::Probe | NeighborStatus::Failed => {
                        self.forget(table, index);
                        continue;
                    }
                    NeighborStatus::Reachable => {
                        entry.status = NeighborStatus::Stale;
                        entry.due = now.0.saturating_add(collection.stale_time);
                    }
                    NeighborStatus::Stale if is_small => {
                        entry.due = now.0.saturating_add(collection.interval)
                    }
                    NeighborStatus::Stale => {
                        self.forget(table, index);
                        continue;
                    }
                    NeighborStatus::Permanent => entry.due = u64::MAX,
                }
                let entry = *entry;
                self.publish(index, &entry);
            }
            if let Some(entry) = table.entries.get(index as usize) {
                next = next.min(entry.due);
            }
        }
        // Every run checks all entries, so timers that are close to each other share a run.
        let soonest = now.0.saturating_add(AGE_INTERVAL);
        let called_back = table.renumber(now);
        if let Some((_, until)) = &table.quarantined {
            next = next.min(*until);
        }
        self.next_due.store(next.max(soonest), Ordering::Relaxed);
        called_back
    }
}
