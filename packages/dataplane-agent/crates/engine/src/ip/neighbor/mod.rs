//! The neighbour table (ARP cache) of all workers: who has which link-layer address.
//!
//! The address of a neighbour stands in an atomic *cell* that the fast path reads without a lock; the
//! state machine behind it (RFC 826 for the exchange, RFC 4861 §7.3 for the states, as Linux applies
//! them to ARP) runs under a mutex that only the slow path takes. Building and parsing ARP packets is in
//! [`arp`]; packets that wait for an answer are in [`hold`].

use crate::ids::AdjacencyId;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tollway_config::dataplane::RowId;
use tollway_config::protocol::NeighborStatus;

use crate::ids::NONE;
use crate::time::Now;

pub mod arp;
pub mod hold;

#[cfg(test)]
mod tests;

/// Requests sent for one address before giving up (RFC 4861 §10, MAX_MULTICAST_SOLICIT and
/// MAX_UNICAST_SOLICIT).
pub const MAX_PROBES: u8 = 3;
/// Time between two requests, ns (RFC 4861 §10, RETRANS_TIMER).
pub const PROBE_INTERVAL: u64 = 1_000_000_000;
/// How long an address that did not answer is not asked for again, ns: requests for it have no shorter distance than those
/// before had.
pub const NEGATIVE_TIME: u64 = PROBE_INTERVAL;
/// Shortest distance between two runs of the timers, ns.
const AGE_INTERVAL: u64 = 10_000_000;
/// How long a neighbour that has answered is kept in a full table after its confirmation ran out, ns: if it is
/// used at all, it is asked again within that time. Linux's forced collection spares entries for as long.
const SPARED_TIME: u64 = 5_000_000_000;
/// Entries that have not answered that an interface may have in any case, however small the table.
const UNCONFIRMED: usize = 64;
/// How long an unconfirmed entry that nobody uses is kept, ns (Linux's `gc_stale_time`).
pub const STALE_TIME: u64 = 60_000_000_000;

/// How long slots whose numbers have come to an end are left alone once all ids were called back, ns: no batch of
/// packets takes as long.
const RENUMBER_TIME: u64 = 60_000_000_000;
/// Slots whose numbers have come to an end before all ids are called back. With the fastest change of neighbours
/// that a table of 16,384 allows that is once in an hour.
const RENUMBER: usize = if cfg!(test) { 16 } else { 4096 };

const CHUNK: usize = 1024;
const CHUNKS: usize = 1024;
const INDEX_BITS: u32 = 20;
const INDEX_MASK: u32 = (1 << INDEX_BITS) - 1;
/// Last number of a slot's use; the one after it marks an empty slot.
const LAST_USAGE: u16 = 0xffe;
const MAC_MASK: u64 = (1 << 48) - 1;

/// State in the cell, as far as the packet path distinguishes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Adjacency {
    /// The address is known and needs no attention.
    Ready([u8; 6]),
    /// The address is known but must be confirmed: use it, and call [`Neighbors::resolve`].
    Stale([u8; 6]),
    /// Being asked for.
    Incomplete,
    /// Does not answer.
    Failed,
    /// The slot belongs to another neighbour now.
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell(u64);

impl Cell {
    fn new(mac: [u8; 6], status: NeighborStatus, usage: u16) -> Self {
        let [a, b, c, d, e, f] = mac;
        let mac = u64::from_be_bytes([0, 0, a, b, c, d, e, f]);
        let status = match status {
            NeighborStatus::Incomplete => 1,
            NeighborStatus::Reachable => 2,
            NeighborStatus::Stale => 3,
            NeighborStatus::Probe => 4,
            NeighborStatus::Failed => 5,
            NeighborStatus::Permanent => 6,
        };
        Self(u64::from(usage & 0xfff) << 52 | status << 48 | mac)
    }
    #[inline]
    fn adjacency(self, id: AdjacencyId) -> Adjacency {
        if (self.0 >> 52) as u32 != id >> INDEX_BITS {
            return Adjacency::Gone;
        }
        let [_, _, a, b, c, d, e, f] = (self.0 & MAC_MASK).to_be_bytes();
        let mac = [a, b, c, d, e, f];
        match self.0 >> 48 & 15 {
            2 | 4 | 6 => Adjacency::Ready(mac),
            3 => Adjacency::Stale(mac),
            1 => Adjacency::Incomplete,
            5 => Adjacency::Failed,
            _ => Adjacency::Gone,
        }
    }
}

type Chunk = Box<[AtomicU64]>;

/// Identity of a neighbour: interface row and IPv4 address in host order.
pub type Key = (RowId, u32);

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: Key,
    /// Static entry's row, 0 for a learned one.
    row: RowId,
    mac: [u8; 6],
    status: NeighborStatus,
    /// Requests sent in this state.
    probes: u8,
    /// When the state ends; `u64::MAX` never.
    due: u64,
    usage: u16,
    live: bool,
    /// It has answered: both directions worked once.
    confirmed: bool,
}

/// An ARP request that is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Solicit {
    /// Interface and address asked for.
    pub key: Key,
    /// To this station only; `None` broadcasts.
    pub unicast: Option<[u8; 6]>,
}

/// What [`Neighbors::resolve`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resolution {
    /// For [`Neighbors::peek`]; [`NONE`] when there is no entry.
    pub id: AdjacencyId,
    /// State after the call.
    pub adjacency: Adjacency,
    /// A request to send now.
    pub solicit: Option<Solicit>,
    /// There was no room for another entry.
    pub full: bool,
}

/// A static entry of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixed {
    /// Interface row and address.
    pub key: Key,
    /// Row of `/ip/arp`.
    pub row: RowId,
    /// Link-layer address.
    pub mac: [u8; 6],
}

/// How a station's address became known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Learned {
    /// It answered: both directions work.
    Reply,
    /// It asked for one of our addresses: it may not hear us.
    Request,
    /// It announced itself; only changes what is known already.
    Announcement,
}

#[derive(Debug, Default, Clone)]
struct Table {
    index: HashMap<Key, u32>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// Free slots whose numbers have come to an end.
    spent: Vec<u32>,
    /// Such slots after the ids were called back, and when they may be used again, ns.
    resting: Option<(Vec<u32>, u64)>,
    /// Generation whose static entries are in place; `None` before the first.
    synced: Option<u32>,
    /// Next time at which a full table may be searched for entries to forget, ns.
    collect_after: u64,
    /// Entries that have not answered, by interface.
    unconfirmed: HashMap<RowId, usize>,
}

/// The table.
pub struct Neighbors {
    cells: Box<[OnceLock<Chunk>]>,
    table: Mutex<Table>,
    next_due: AtomicU64,
}

impl Table {
    /// Whether there is no room for another neighbour of an interface. In a table that is half full an interface may not
    /// have more than a quarter of it in entries that have not answered: a scan of the addresses behind one interface
    /// leaves room for the neighbours at the others.
    fn is_full(&self, interface: RowId, limit: u32) -> bool {
        let (limit, used) = (limit as usize, self.index.len());
        let unconfirmed = || self.unconfirmed.get(&interface).copied().unwrap_or(0);
        used >= limit || used >= limit / 2 && unconfirmed() >= (limit / 4).max(UNCONFIRMED)
    }

    /// Counts an entry among those that have not answered, or takes it out.
    fn count_unconfirmed(&mut self, interface: RowId, added: bool) {
        let count = self.unconfirmed.entry(interface).or_default();
        *count = if added { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            self.unconfirmed.remove(&interface);
        }
    }

    /// Gives slots whose numbers have come to an end back, in two steps. `true` when all ids have to be called back.
    fn renumber(&mut self, now: Now) -> bool {
        if let Some((slots, until)) = &mut self.resting {
            if now.0 < *until {
                return false;
            }
            self.free.append(slots);
            self.resting = None;
        }
        if self.spent.len() < RENUMBER {
            return false;
        }
        self.resting = Some((std::mem::take(&mut self.spent), now.0.saturating_add(RENUMBER_TIME)));
        true
    }
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

    /// The same neighbours under the same ids, in a table of their own.
    pub fn copy(&self) -> Self {
        let table = self.lock().clone();
        let copy = Self::new();
        for (index, entry) in (0u32..).zip(&table.entries) {
            copy.publish(index, entry);
        }
        *copy.lock() = table;
        copy
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn cell(&self, index: u32) -> Option<&AtomicU64> {
        self.cells.get(index as usize / CHUNK)?.get()?.get(index as usize % CHUNK)
    }

    /// State of a neighbour; lock-free.
    #[inline]
    pub fn peek(&self, id: AdjacencyId) -> Adjacency {
        match self.cell(id & INDEX_MASK) {
            Some(cell) => Cell(cell.load(Ordering::Relaxed)).adjacency(id),
            None => Adjacency::Gone,
        }
    }

    /// When [`Self::age`] wants to run next, ns; `u64::MAX` never.
    pub fn next_due(&self) -> u64 {
        self.next_due.load(Ordering::Relaxed)
    }

    fn publish(&self, index: u32, entry: &Entry) {
        if let Some(chunk) = self.cells.get(index as usize / CHUNK) {
            let chunk = chunk.get_or_init(|| (0..CHUNK).map(|_| AtomicU64::new(0)).collect());
            if let Some(cell) = chunk.get(index as usize % CHUNK) {
                let value = if entry.live {
                    Cell::new(entry.mac, entry.status, entry.usage)
                } else {
                    Cell(0xfff << 52)
                };
                cell.store(value.0, Ordering::Relaxed);
            }
        }
        self.next_due.fetch_min(entry.due, Ordering::Relaxed);
    }

    fn insert(&self, table: &mut Table, mut entry: Entry) -> Option<AdjacencyId> {
        let index = match table.free.pop() {
            Some(index) => index,
            None => {
                u32::try_from(table.entries.len()).ok().filter(|&index| (index as usize) < CHUNK * CHUNKS)?
            }
        };
        match table.entries.get_mut(index as usize) {
            Some(slot) => {
                entry.usage = if slot.usage >= LAST_USAGE { 0 } else { slot.usage + 1 };
                *slot = entry;
            }
            None => table.entries.push(entry),
        }
        table.index.insert(entry.key, index);
        if !entry.confirmed {
            table.count_unconfirmed(entry.key.0, true);
        }
        self.publish(index, &entry);
        Some(u32::from(entry.usage) << INDEX_BITS | index)
    }

    fn forget(&self, table: &mut Table, index: u32) {
        if let Some(entry) = table.entries.get_mut(index as usize)
            && entry.live
        {
            entry.live = false;
            entry.due = u64::MAX;
            table.index.remove(&entry.key);
            let entry = *entry;
            if !entry.confirmed {
                table.count_unconfirmed(entry.key.0, false);
            }
            self.publish(index, &entry);
            if entry.usage < LAST_USAGE {
                table.free.push(index);
            } else {
                table.spent.push(index);
            }
        }
    }

    /// Looks a neighbour up, and starts or restarts asking for it where that is due. With `ask` false
    /// (ARP does not ask on the interface) only known neighbours are found. `limit` bounds the table.
    pub fn resolve(&self, key: Key, ask: bool, limit: u32, now: Now) -> Resolution {
        let mut guard = self.lock();
        let table = &mut *guard;
        let none = Resolution { id: NONE, adjacency: Adjacency::Failed, solicit: None, full: false };
        if let Some(&index) = table.index.get(&key) {
            let Some(entry) = table.entries.get_mut(index as usize) else { return none };
            let id = u32::from(entry.usage) << INDEX_BITS | index;
            let mut solicit = None;
            match entry.status {
                NeighborStatus::Stale if ask => {
                    entry.status = NeighborStatus::Probe;
                    entry.probes = 1;
                    entry.due = now.0.saturating_add(PROBE_INTERVAL);
                    solicit = Some(Solicit { key, unicast: Some(entry.mac) });
                }
                NeighborStatus::Failed if ask && now.0 >= entry.due => {
                    entry.status = NeighborStatus::Incomplete;
                    entry.probes = 1;
                    entry.due = now.0.saturating_add(PROBE_INTERVAL);
                    solicit = Some(Solicit { key, unicast: None });
                }
                _ => {}
            }
            let entry = *entry;
            self.publish(index, &entry);
            let adjacency = Cell::new(entry.mac, entry.status, entry.usage).adjacency(id);
            return Resolution { id, adjacency, solicit, full: false };
        }
        if !ask {
            return none;
        }
        if table.is_full(key.0, limit) && !self.collect(table, key.0, limit, now) {
            return Resolution { full: true, ..none };
        }
        let entry = Entry {
            key,
            row: 0,
            mac: [0; 6],
            status: NeighborStatus::Incomplete,
            probes: 1,
            due: now.0.saturating_add(PROBE_INTERVAL),
            usage: 0,
            live: true,
            confirmed: false,
        };
        match self.insert(table, entry) {
            Some(id) => Resolution {
                id,
                adjacency: Adjacency::Incomplete,
                solicit: Some(Solicit { key, unicast: None }),
                full: false,
            },
            None => Resolution { full: true, ..none },
        }
    }

    /// Makes room for a neighbour of an interface by forgetting entries that nobody confirmed, or nobody used of late;
    /// searched at most once a second.
    fn collect(&self, table: &mut Table, interface: RowId, limit: u32, now: Now) -> bool {
        if now.0 < table.collect_after {
            return false;
        }
        table.collect_after = now.0.saturating_add(PROBE_INTERVAL);
        let spared = |entry: &Entry| {
            entry.confirmed && now.0.saturating_add(STALE_TIME) < entry.due.saturating_add(SPARED_TIME)
        };
        let idle = |entry: &Entry| match entry.status {
            NeighborStatus::Failed => entry.live,
            NeighborStatus::Stale => entry.live && !spared(entry),
            _ => false,
        };
        let old: Vec<u32> =
            (0u32..).zip(&table.entries).filter(|(_, entry)| idle(entry)).map(|(index, _)| index).collect();
        for index in old {
            self.forget(table, index);
        }
        !table.is_full(interface, limit)
    }

    /// Notes a station's link-layer address. `reachable_ms` is the base reachable time of the interface.
    pub fn learn(&self, key: Key, mac: [u8; 6], how: Learned, reachable_ms: u32, limit: u32, now: Now) {
        let mut guard = self.lock();
        let table = &mut *guard;
        let reachable_until = now.0.saturating_add(u64::from(reachable_ms).saturating_mul(1_000_000));
        let stale_until = now.0.saturating_add(STALE_TIME);
        if let Some(&index) = table.index.get(&key) {
            let Some(entry) = table.entries.get_mut(index as usize) else { return };
            if entry.status == NeighborStatus::Permanent {
                return;
            }
            let known = !matches!(entry.status, NeighborStatus::Incomplete | NeighborStatus::Failed);
            let confirms = how == Learned::Reply && !entry.confirmed;
            match how {
                Learned::Reply => {
                    (entry.status, entry.due) = (NeighborStatus::Reachable, reachable_until);
                    entry.confirmed = true;
                }
                // The same address again confirms nothing about our direction.
                _ if known && entry.mac == mac => {}
                _ => (entry.status, entry.due) = (NeighborStatus::Stale, stale_until),
            }
            entry.mac = mac;
            entry.probes = 0;
            let entry = *entry;
            if confirms {
                table.count_unconfirmed(key.0, false);
            }
            self.publish(index, &entry);
            return;
        }
        if how != Learned::Request || (table.is_full(key.0, limit) && !self.collect(table, key.0, limit, now))
        {
            return;
        }
        let entry = Entry {
            key,
            row: 0,
            mac,
            status: NeighborStatus::Stale,
            probes: 0,
            due: stale_until,
            usage: 0,
            live: true,
            confirmed: false,
        };
        self.insert(table, entry);
    }

    /// Runs the timers that are due; `solicit` sends the requests. `true` calls all ids back: workers have to
    /// forget those that they have before their next batch, because the numbers of many slots have come to an end.
    #[must_use]
    pub fn age(&self, now: Now, mut solicit: impl FnMut(Solicit)) -> bool {
        if now.0 < self.next_due() {
            return false;
        }
        let mut guard = self.lock();
        let table = &mut *guard;
        let mut next = u64::MAX;
        for index in 0..u32::try_from(table.entries.len()).unwrap_or(0) {
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
                        solicit(Solicit { key: entry.key, unicast });
                    }
                    NeighborStatus::Incomplete => {
                        entry.status = NeighborStatus::Failed;
                        entry.due = now.0.saturating_add(NEGATIVE_TIME);
                    }
                    // A confirmed station that fell silent is asked for by broadcast at once: it may
                    // have come back with another link-layer address.
                    NeighborStatus::Probe | NeighborStatus::Failed => {
                        self.forget(table, index);
                        continue;
                    }
                    NeighborStatus::Reachable => {
                        entry.status = NeighborStatus::Stale;
                        entry.due = now.0.saturating_add(STALE_TIME);
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
        // Every run looks at all entries, so timers that are close to each other share one.
        let soonest = now.0.saturating_add(AGE_INTERVAL);
        let called_back = table.renumber(now);
        if let Some((_, until)) = &table.resting {
            next = next.min(*until);
        }
        self.next_due.store(next.max(soonest), Ordering::Relaxed);
        called_back
    }

    /// Puts the static entries of a configuration in place, once per generation, and forgets learned
    /// entries of interfaces that `keep` does not want any more.
    pub fn sync(&self, generation: u32, fixed: &[Fixed], keep: impl Fn(RowId) -> bool) {
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
        let stays = |entry: &Entry| match entry.status {
            NeighborStatus::Permanent => wanted.get(&entry.key) == Some(&(entry.mac, entry.row)),
            _ => keep(entry.key.0) && !wanted.contains_key(&entry.key),
        };
        let gone: Vec<u32> = (0u32..)
            .zip(&table.entries)
            .filter(|(_, entry)| entry.live && !stays(entry))
            .map(|(index, _)| index)
            .collect();
        for index in gone {
            self.forget(table, index);
        }
        for new in fixed {
            if !table.index.contains_key(&new.key) {
                let entry = Entry {
                    key: new.key,
                    row: new.row,
                    mac: new.mac,
                    status: NeighborStatus::Permanent,
                    probes: 0,
                    due: u64::MAX,
                    usage: 0,
                    live: true,
                    confirmed: true,
                };
                self.insert(table, entry);
            }
        }
    }

    /// Forgets a learned entry.
    pub fn remove(&self, key: Key) -> bool {
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

    /// Every entry: key, row, link-layer address if known, status; ascending by key.
    pub fn list(&self) -> Vec<(Key, RowId, Option<[u8; 6]>, NeighborStatus)> {
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
