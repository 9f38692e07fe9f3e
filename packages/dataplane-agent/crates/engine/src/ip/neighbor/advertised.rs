//! Neighbour advertisements (RFC 4861 §7.2.5).

use tollway_config::protocol::NeighborStatus;

use super::{NeighborKey, Neighbors};
use crate::time::Now;

/// The fields of a neighbour advertisement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advertised {
    /// Target link-layer address, if the message has one.
    pub mac: Option<[u8; 6]>,
    /// It answers a solicitation of the router.
    pub solicited: bool,
    /// It overrides a link-layer address that is known.
    pub overrides: bool,
    /// The neighbour is a router.
    pub router: bool,
}

impl Neighbors {
    /// Notes an advertisement. Nothing is learned of a neighbour without an entry. `reachable_ms` is the base reachable
    /// time of the interface.
    pub fn learn_advertised(&self, key: NeighborKey, message: Advertised, reachable_ms: u32, now: Now) {
        let mut guard = self.lock();
        let table = &mut *guard;
        let Some(&index) = table.index.get(&key) else { return };
        let stale_time = table.collections.of(key).stale_time;
        let Some(entry) = table.entries.get_mut(index as usize) else { return };
        let reachable_until = now.0.saturating_add(u64::from(reachable_ms).saturating_mul(1_000_000));
        let stale = (NeighborStatus::Stale, now.0.saturating_add(stale_time));
        let before = entry.status;
        let other = message.mac.filter(|mac| *mac != entry.mac);
        let after = match (entry.status, message.mac) {
            (NeighborStatus::Permanent, _) | (NeighborStatus::Incomplete | NeighborStatus::Failed, None) => {
                return;
            }
            (NeighborStatus::Incomplete | NeighborStatus::Failed, Some(mac)) => {
                entry.mac = mac;
                if message.solicited { (NeighborStatus::Reachable, reachable_until) } else { stale }
            }
            // Another station may have taken the address, or not: probes decide.
            (status, _) if other.is_some() && !message.overrides => {
                if status != NeighborStatus::Reachable {
                    return;
                }
                stale
            }
            (status, _) => {
                entry.mac = other.unwrap_or(entry.mac);
                match (message.solicited, other) {
                    (true, _) => (NeighborStatus::Reachable, reachable_until),
                    (false, Some(_)) => stale,
                    (false, None) => (status, entry.due),
                }
            }
        };
        (entry.status, entry.due) = after;
        entry.router = message.router;
        if entry.status != NeighborStatus::Probe {
            entry.probes = 0;
        }
        let confirms = message.solicited && !entry.confirmed && entry.status == NeighborStatus::Reachable;
        entry.confirmed |= confirms;
        let entry = *entry;
        if confirms {
            table.unanswered.count(key, false);
        } else if entry.status != before {
            table.enqueue_unanswered(index, now);
        }
        self.publish(index, &entry);
    }
}
