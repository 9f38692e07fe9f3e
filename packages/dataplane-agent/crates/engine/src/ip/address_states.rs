//! States of the router's own IPv6 addresses: duplicate address detection (RFC 4862 §5.4), for all workers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tollway_config::protocol::Ipv6AddressState;

use super::neighbor::{NeighborKey, PROBE_INTERVAL};
use crate::time::Now;

/// An address of the configuration whose interface is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfiguredAddress {
    /// Interface row and address.
    pub key: NeighborKey,
    /// Other stations with the address are looked for before it is used.
    pub detects_duplicates: bool,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    state: Ipv6AddressState,
    /// The solicitation has been sent (DupAddrDetectTransmits is 1).
    asked: bool,
    /// When the next step is due, ns; `u64::MAX` never.
    due: u64,
}

#[derive(Debug, Default)]
struct Table {
    entries: HashMap<NeighborKey, Entry>,
    /// Generation of the configuration whose addresses are in place; `None` before the first.
    synced: Option<u32>,
}

/// The states.
#[derive(Debug)]
pub struct AddressStates {
    table: Mutex<Table>,
    /// Number of addresses that are tentative or duplicates.
    unusable: AtomicUsize,
    next_due: AtomicU64,
}

impl Default for AddressStates {
    fn default() -> Self {
        Self { table: Mutex::default(), unusable: AtomicUsize::new(0), next_due: AtomicU64::new(u64::MAX) }
    }
}

impl AddressStates {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes what readers and timers need of the table.
    fn publish(&self, table: &Table) {
        let entries = || table.entries.values();
        let unusable = entries().filter(|entry| entry.state != Ipv6AddressState::Preferred).count();
        self.unusable.store(unusable, Ordering::Relaxed);
        self.next_due.store(entries().map(|entry| entry.due).min().unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A copy for a dry run, without timers.
    pub(crate) fn copy(&self) -> Self {
        let entries = self.lock().entries.clone();
        let copy = Self::default();
        copy.publish(&Table { entries: entries.clone(), synced: None });
        copy.next_due.store(u64::MAX, Ordering::Relaxed);
        copy.lock().entries = entries;
        copy
    }

    /// Takes over the addresses of a configuration, once per generation. Detection begins for those that are new, or
    /// whose interface has come up.
    pub fn sync(&self, generation: u32, wanted: &[ConfiguredAddress], now: Now) {
        let mut guard = self.lock();
        let table = &mut *guard;
        if table.synced == Some(generation) {
            return;
        }
        table.synced = Some(generation);
        table.entries.retain(|key, _| wanted.iter().any(|address| address.key == *key));
        for address in wanted {
            let detects = address.detects_duplicates;
            table.entries.entry(address.key).or_insert_with(|| match detects {
                true => Entry { state: Ipv6AddressState::Tentative, asked: false, due: now.0 },
                false => Entry { state: Ipv6AddressState::Preferred, asked: true, due: u64::MAX },
            });
        }
        self.publish(table);
    }

    /// Whether an address of the router may be used. For nearly all calls this takes no lock.
    #[inline]
    pub fn is_usable(&self, key: NeighborKey) -> bool {
        self.unusable.load(Ordering::Relaxed) == 0 || self.state(key) == Ipv6AddressState::Preferred
    }

    /// State of an address of the router.
    #[cold]
    pub fn state(&self, key: NeighborKey) -> Ipv6AddressState {
        self.lock().entries.get(&key).map_or(Ipv6AddressState::Preferred, |entry| entry.state)
    }

    /// Notes that another station has an address. Returns whether the address was tentative and is a duplicate now.
    pub fn conflict(&self, key: NeighborKey) -> bool {
        let mut table = self.lock();
        let Some(entry) = table.entries.get_mut(&key) else { return false };
        if entry.state != Ipv6AddressState::Tentative {
            return false;
        }
        *entry = Entry { state: Ipv6AddressState::Duplicate, asked: true, due: u64::MAX };
        self.publish(&table);
        true
    }

    /// When [`Self::age`] wants to run next, ns; `u64::MAX` never.
    pub fn next_due(&self) -> u64 {
        self.next_due.load(Ordering::Relaxed)
    }

    /// Runs the timers that are due; `solicit` sends the solicitations for tentative addresses.
    pub fn age(&self, now: Now, mut solicit: impl FnMut(NeighborKey)) {
        if now.0 < self.next_due() {
            return;
        }
        let mut table = self.lock();
        for (key, entry) in table.entries.iter_mut().filter(|(_, entry)| entry.due <= now.0) {
            if entry.asked {
                *entry = Entry { state: Ipv6AddressState::Preferred, asked: true, due: u64::MAX };
            } else {
                solicit(*key);
                (entry.asked, entry.due) = (true, now.0.saturating_add(PROBE_INTERVAL));
            }
        }
        self.publish(&table);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::tuple::Addr;

    const KEY: NeighborKey = (1, Addr(0xfe80 << 112 | 1));
    const OTHER: NeighborKey = (2, Addr(0xfe80 << 112 | 1));

    fn configured(key: NeighborKey, detects_duplicates: bool) -> ConfiguredAddress {
        ConfiguredAddress { key, detects_duplicates }
    }

    fn aged(states: &AddressStates, ms: u64) -> Vec<NeighborKey> {
        let mut asked = Vec::new();
        states.age(Now::from_ms(ms), |key| asked.push(key));
        asked
    }

    #[test]
    fn an_address_is_used_when_nobody_has_answered_for_a_second() {
        let states = AddressStates::default();
        states.sync(1, &[configured(KEY, true), configured(OTHER, false)], Now::from_ms(5));
        assert!(!states.is_usable(KEY) && states.is_usable(OTHER));
        assert_eq!(aged(&states, 5), [KEY]);
        assert_eq!((aged(&states, 1004), states.is_usable(KEY)), (vec![], false));
        assert_eq!((aged(&states, 1005), states.is_usable(KEY)), (vec![], true));
        assert_eq!(states.next_due(), u64::MAX);
        assert!(!states.conflict(KEY), "an address in use is kept");
        // It is the same in the next configuration, until its interface goes down.
        states.sync(2, &[configured(KEY, true)], Now::from_ms(2000));
        assert!(states.is_usable(KEY));
        states.sync(3, &[], Now::from_ms(2000));
        states.sync(4, &[configured(KEY, true)], Now::from_ms(2000));
        assert!(!states.is_usable(KEY));
    }

    #[test]
    fn a_duplicate_is_not_used() {
        let states = AddressStates::default();
        states.sync(1, &[configured(KEY, true)], Now::from_ms(0));
        aged(&states, 0);
        assert!(states.conflict(KEY) && !states.conflict(KEY));
        assert_eq!(aged(&states, 5000), []);
        assert_eq!(states.state(KEY), Ipv6AddressState::Duplicate);
    }
}
