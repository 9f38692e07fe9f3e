//! The neighbour table of all workers: the link-layer address of each neighbour of IPv4 (the ARP cache) and of IPv6.
//!
//! The address of a neighbour stands in an atomic *cell* that the fast path reads without a lock; the
//! state machine behind it (RFC 826 and RFC 4861 §7.2 for the exchange, RFC 4861 §7.3 for the states, as Linux
//! applies them to ARP too) runs under a mutex that only the slow path takes. Building ARP frames is in [`arp`], building
//! solicitations and advertisements in [`nd`]; packets that wait for an answer are in [`hold`].

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tollway_config::dataplane::RowId;
use tollway_config::protocol::NeighborStatus;

use crate::ids::{AdjacencyId, NONE};
use crate::packet::tuple::Addr;
use crate::time::Now;

mod advertised;
mod aging;
pub mod arp;
mod cell;
mod collection;
mod entry;
pub mod hold;
pub mod nd;
mod table;
mod unanswered;

#[cfg(test)]
mod tests;

pub use advertised::Advertised;
pub use cell::Adjacency;
use cell::Cell;
pub use collection::Collections;
use entry::NeighborEntry;
use table::NeighborTable;
use unanswered::Victims;

/// Requests sent for one address before giving up (RFC 4861 §10, MAX_MULTICAST_SOLICIT and
/// MAX_UNICAST_SOLICIT).
pub const MAX_PROBES: u8 = 3;
/// Time between two requests, ns (RFC 4861 §10, RETRANS_TIMER).
pub const PROBE_INTERVAL: u64 = 1_000_000_000;
/// Time for which an address that did not answer is not requested again, ns. Requests are at least [`PROBE_INTERVAL`]
/// apart.
pub const NEGATIVE_TIME: u64 = PROBE_INTERVAL;
/// Time for which a neighbour that has answered is kept in a full table after its confirmation expired, ns. A neighbour
/// in use is probed again within this time. Linux's forced collection spares entries for as long.
const SPARED_TIME: u64 = 5_000_000_000;
/// Time for which an unconfirmed entry of IPv4 that nobody uses is kept, ns (Linux's `gc_stale_time`).
pub const STALE_TIME: u64 = 60_000_000_000;

const CHUNK: usize = 1024;
const CHUNKS: usize = 1024;
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
/// Highest reuse count of a slot; the number after it marks an empty slot.
const LAST_REUSE: u16 = 0xffe;

type Chunk = Box<[AtomicU64]>;

/// Identity of a neighbour: interface row and address.
pub type NeighborKey = (RowId, Addr);

/// An ARP request or neighbour solicitation to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NeighborRequest {
    /// Interface and address asked for.
    pub key: NeighborKey,
    /// Link-layer address to send it to; `None` for broadcast or multicast.
    pub unicast: Option<[u8; 6]>,
}

/// Result of [`Neighbors::resolve`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolution {
    /// For [`Neighbors::adjacency`]; [`NONE`] when there is no entry.
    pub id: AdjacencyId,
    /// State after the call.
    pub adjacency: Adjacency,
    /// A request to send now.
    pub request: Option<NeighborRequest>,
    /// The table had no room for another entry.
    pub full: bool,
}

/// A static entry of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StaticNeighbor {
    /// Interface row and address.
    pub key: NeighborKey,
    /// Row of `/ip/arp`.
    pub row: RowId,
    /// Link-layer address.
    pub mac: [u8; 6],
}

/// The packet from which a neighbour's link-layer address is learned. Advertisements of IPv6 have rules of their own:
/// [`Neighbors::learn_advertised`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LearnedFrom {
    /// An ARP reply: both directions work.
    Reply,
    /// An ARP request for one of the router's addresses, or a solicitation: the neighbour is not known to receive what
    /// the router sends.
    Request,
    /// A gratuitous ARP packet: changes an entry that exists and adds none.
    Announcement,
}

/// The table.
pub struct Neighbors {
    cells: Box<[OnceLock<Chunk>]>,
    table: Mutex<NeighborTable>,
    next_due: AtomicU64,
}

impl std::fmt::Debug for Neighbors {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Neighbors").field("table", &self.table).finish_non_exhaustive()
    }
}

impl Default for Neighbors {
    fn default() -> Self {
        Self::new()
    }
}

impl Neighbors {
    /// An empty table.
    pub fn new() -> Self {
        Self {
            cells: (0..CHUNKS).map(|_| OnceLock::new()).collect(),
            table: Mutex::default(),
            next_due: AtomicU64::new(u64::MAX),
        }
    }

    /// A copy of the table, with the same ids.
    pub fn copy(&self) -> Self {
        let table = self.lock().clone();
        let copy = Self::new();
        for (index, entry) in (0u32..).zip(&table.entries) {
            copy.publish(index, entry);
        }
        *copy.lock() = table;
        copy
    }

    fn lock(&self) -> MutexGuard<'_, NeighborTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cell(&self, index: u32) -> Option<&AtomicU64> {
        self.cells.get(index as usize / CHUNK)?.get()?.get(index as usize % CHUNK)
    }

    /// State of a neighbour, read without a lock.
    #[inline]
    pub fn adjacency(&self, id: AdjacencyId) -> Adjacency {
        match self.cell(id & INDEX_MASK) {
            Some(cell) => Cell(cell.load(Ordering::Relaxed)).adjacency(id),
            None => Adjacency::Gone,
        }
    }

    /// When [`Self::age`] wants to run next, ns; `u64::MAX` never.
    pub fn next_due(&self) -> u64 {
        self.next_due.load(Ordering::Relaxed)
    }

    fn publish(&self, index: u32, entry: &NeighborEntry) {
        if let Some(chunk) = self.cells.get(index as usize / CHUNK) {
            let chunk = chunk.get_or_init(|| (0..CHUNK).map(|_| AtomicU64::new(0)).collect());
            if let Some(cell) = chunk.get(index as usize % CHUNK) {
                let value = if entry.live {
                    Cell::new(entry.mac, entry.status, entry.reuse)
                } else {
                    Cell(0xfff << 52)
                };
                cell.store(value.0, Ordering::Relaxed);
            }
        }
        self.next_due.fetch_min(entry.due, Ordering::Relaxed);
    }

    fn insert(&self, table: &mut NeighborTable, mut entry: NeighborEntry, now: Now) -> Option<AdjacencyId> {
        let index = match table.free.pop() {
            Some(index) => index,
            None => {
                u32::try_from(table.entries.len()).ok().filter(|&index| (index as usize) < CHUNK * CHUNKS)?
            }
        };
        match table.entries.get_mut(index as usize) {
            Some(slot) => {
                entry.reuse = if slot.reuse >= LAST_REUSE { 0 } else { slot.reuse + 1 };
                *slot = entry;
            }
            None => table.entries.push(entry),
        }
        table.index.insert(entry.key, index);
        table.count(entry.key, true);
        if !entry.confirmed {
            table.unanswered.count(entry.key, true);
            table.enqueue_unanswered(index, now);
        }
        self.publish(index, &entry);
        Some(u32::from(entry.reuse) << INDEX_BITS | index)
    }

    fn forget(&self, table: &mut NeighborTable, index: u32) {
        if let Some(entry) = table.entries.get_mut(index as usize)
            && entry.live
        {
            entry.live = false;
            entry.due = u64::MAX;
            table.index.remove(&entry.key);
            let entry = *entry;
            table.count(entry.key, false);
            if !entry.confirmed {
                table.unanswered.count(entry.key, false);
            }
            self.publish(index, &entry);
            if entry.reuse < LAST_REUSE {
                table.free.push(index);
            } else {
                table.exhausted.push(index);
            }
        }
    }

    /// Looks a neighbour up, and starts or repeats address resolution when that is due. With `ask` false (the interface
    /// sends no ARP requests) only known neighbours are found. `limit` is the maximum number of neighbours of the
    /// family.
    pub fn resolve(&self, key: NeighborKey, ask: bool, limit: u32, now: Now) -> Resolution {
        let mut guard = self.lock();
        let table = &mut *guard;
        let none = Resolution { id: NONE, adjacency: Adjacency::Failed, request: None, full: false };
        if let Some(&index) = table.index.get(&key) {
            let Some(entry) = table.entries.get_mut(index as usize) else { return none };
            let id = u32::from(entry.reuse) << INDEX_BITS | index;
            let mut request = None;
            match entry.status {
                NeighborStatus::Stale if ask => {
                    entry.status = NeighborStatus::Probe;
                    entry.probes = 1;
                    entry.due = now.0.saturating_add(PROBE_INTERVAL);
                    request = Some(NeighborRequest { key, unicast: Some(entry.mac) });
                }
                NeighborStatus::Failed if ask && now.0 >= entry.due => {
                    entry.status = NeighborStatus::Incomplete;
                    entry.probes = 1;
                    entry.due = now.0.saturating_add(PROBE_INTERVAL);
                    request = Some(NeighborRequest { key, unicast: None });
                }
                _ => {}
            }
            let entry = *entry;
            if request.is_some() {
                table.enqueue_unanswered(index, now);
            }
            self.publish(index, &entry);
            let adjacency = Cell::new(entry.mac, entry.status, entry.reuse).adjacency(id);
            return Resolution { id, adjacency, request, full: false };
        }
        if !ask {
            return none;
        }
        if !self.make_room(table, key, limit, Victims::Asked, now) {
            return Resolution { full: true, ..none };
        }
        let entry = NeighborEntry {
            key,
            row: 0,
            mac: [0; 6],
            status: NeighborStatus::Incomplete,
            probes: 1,
            due: now.0.saturating_add(PROBE_INTERVAL),
            reuse: 0,
            since: now.0,
            live: true,
            confirmed: false,
            router: false,
        };
        match self.insert(table, entry, now) {
            Some(id) => Resolution {
                id,
                adjacency: Adjacency::Incomplete,
                request: Some(NeighborRequest { key, unicast: None }),
                full: false,
            },
            None => Resolution { full: true, ..none },
        }
    }

    /// Makes room for another neighbour if there is none: by entries that nobody uses, which go above the soft maximum in
    /// any case, or by one that has not answered. `false` when there is none that gives way.
    fn make_room(
        &self,
        table: &mut NeighborTable,
        key: NeighborKey,
        limit: u32,
        victims: Victims,
        now: Now,
    ) -> bool {
        let is_full = table.is_full(key, limit);
        if !is_full && !table.is_above_soft_max(key) {
            return true;
        }
        if self.collect(table, key, limit, now) || !is_full {
            return true;
        }
        let Some(index) = table.next_victim(key, limit, victims, now) else { return false };
        self.forget(table, index);
        true
    }

    /// Makes room for a neighbour by removing failed and stale entries of its family. A stale neighbour that has
    /// answered is spared for [`SPARED_TIME`]. The table is searched at most once a second.
    fn collect(&self, table: &mut NeighborTable, key: NeighborKey, limit: u32, now: Now) -> bool {
        if now.0 < table.collect_after {
            return false;
        }
        table.collect_after = now.0.saturating_add(PROBE_INTERVAL);
        let stale_time = table.collections.of(key).stale_time;
        let spared = |entry: &NeighborEntry| {
            entry.confirmed && now.0.saturating_add(stale_time) < entry.due.saturating_add(SPARED_TIME)
        };
        let idle = |entry: &NeighborEntry| match entry.status {
            _ if !entry.live || collection::family(entry.key) != collection::family(key) => false,
            NeighborStatus::Failed => true,
            NeighborStatus::Stale => !spared(entry),
            _ => false,
        };
        let old: Vec<u32> =
            (0u32..).zip(&table.entries).filter(|(_, entry)| idle(entry)).map(|(index, _)| index).collect();
        for index in old {
            self.forget(table, index);
        }
        !table.is_full(key, limit)
    }

    /// Notes a station's link-layer address. `reachable_ms` is the base reachable time of the interface.
    pub fn learn(
        &self,
        key: NeighborKey,
        mac: [u8; 6],
        how: LearnedFrom,
        reachable_ms: u32,
        limit: u32,
        now: Now,
    ) {
        let mut guard = self.lock();
        let table = &mut *guard;
        let reachable_until = now.0.saturating_add(u64::from(reachable_ms).saturating_mul(1_000_000));
        let stale_until = now.0.saturating_add(table.collections.of(key).stale_time);
        if let Some(&index) = table.index.get(&key) {
            let Some(entry) = table.entries.get_mut(index as usize) else { return };
            if entry.status == NeighborStatus::Permanent {
                return;
            }
            let known = !matches!(entry.status, NeighborStatus::Incomplete | NeighborStatus::Failed);
            let confirms = how == LearnedFrom::Reply && !entry.confirmed;
            let before = entry.status;
            match how {
                LearnedFrom::Reply => {
                    (entry.status, entry.due) = (NeighborStatus::Reachable, reachable_until);
                    entry.confirmed = true;
                }
                // The same address again does not confirm that the neighbour receives what the router sends.
                _ if known && entry.mac == mac => {}
                _ => (entry.status, entry.due) = (NeighborStatus::Stale, stale_until),
            }
            entry.mac = mac;
            entry.probes = 0;
            let entry = *entry;
            if confirms {
                table.unanswered.count(key, false);
            } else if entry.status != before {
                table.enqueue_unanswered(index, now);
            }
            self.publish(index, &entry);
            return;
        }
        if how != LearnedFrom::Request || !self.make_room(table, key, limit, Victims::Asking, now) {
            return;
        }
        let entry = NeighborEntry {
            key,
            row: 0,
            mac,
            status: NeighborStatus::Stale,
            probes: 0,
            due: stale_until,
            reuse: 0,
            since: now.0,
            live: true,
            confirmed: false,
            router: false,
        };
        self.insert(table, entry, now);
    }

    /// Puts the static entries of a configuration in place, and when others are forgotten, once per generation, and forgets
    /// learned entries of interfaces that `keep` does not want any more.
    pub fn sync(
        &self,
        generation: u32,
        fixed: &[StaticNeighbor],
        collections: Collections,
        keep: impl Fn(NeighborKey) -> bool,
    ) {
        if self.lock().synced == Some(generation) {
            return;
        }
        let mut wanted = HashMap::with_capacity(fixed.len());
        for new in fixed {
            wanted.entry(new.key).or_insert((new.mac, new.row));
        }
        let mut guard = self.lock();
        let table = &mut *guard;
        if table.synced == Some(generation) {
            return;
        }
        table.synced = Some(generation);
        table.collections = collections;
        let is_kept = |entry: &NeighborEntry| match entry.status {
            NeighborStatus::Permanent => wanted.get(&entry.key) == Some(&(entry.mac, entry.row)),
            _ => keep(entry.key) && !wanted.contains_key(&entry.key),
        };
        let gone: Vec<u32> = (0u32..)
            .zip(&table.entries)
            .filter(|(_, entry)| entry.live && !is_kept(entry))
            .map(|(index, _)| index)
            .collect();
        for index in gone {
            self.forget(table, index);
        }
        for new in fixed {
            if !table.index.contains_key(&new.key) {
                let entry = NeighborEntry {
                    key: new.key,
                    row: new.row,
                    mac: new.mac,
                    status: NeighborStatus::Permanent,
                    probes: 0,
                    due: u64::MAX,
                    reuse: 0,
                    since: 0,
                    live: true,
                    confirmed: true,
                    router: false,
                };
                self.insert(table, entry, Now(0));
            }
        }
    }

    /// Forgets a learned entry.
    pub fn remove(&self, key: NeighborKey) -> bool {
        let mut guard = self.lock();
        let table = &mut *guard;
        let Some(&index) = table.index.get(&key) else { return false };
        let learned =
            table.entries.get(index as usize).is_some_and(|entry| entry.status != NeighborStatus::Permanent);
        if learned {
            self.forget(table, index);
        }
        learned
    }

    /// Keys of the neighbours that are routers.
    pub fn routers(&self) -> HashSet<NeighborKey> {
        let table = self.lock();
        table.entries.iter().filter(|entry| entry.live && entry.router).map(|entry| entry.key).collect()
    }

    /// Every entry: key, row, link-layer address if known, status; ascending by key.
    pub fn list(&self) -> Vec<(NeighborKey, RowId, Option<[u8; 6]>, NeighborStatus)> {
        let table = self.lock();
        let mut list: Vec<_> = table
            .entries
            .iter()
            .filter(|entry| entry.live)
            .map(|entry| {
                let known = !matches!(entry.status, NeighborStatus::Incomplete | NeighborStatus::Failed);
                (entry.key, entry.row, known.then_some(entry.mac), entry.status)
            })
            .collect();
        list.sort_unstable_by_key(|(key, ..)| *key);
        list
    }
}
