//! The connection table of one worker.
//!
//! A connection is a slot: two flow entries and a hot state of one cache line each, and a cold state that is rarely
//! needed. Memory per connection at most: 2 × 64 + 64 + 24 bytes, 12 of timer link and 25 of hash slots, 253 in all;
//! IPv6 connections store their addresses separately, 64 bytes more. Connections whose counters overflow, and
//! fasttracked ones, take 32 bytes more each. All of it is reserved at the start, but backed by memory only when it is
//! first used.

mod bind;
mod cached;
mod copy;
mod evict;
mod expiry;
mod find;
mod journaled;
mod masqueraded;
mod opened;
mod store;

pub(crate) use copy::Copied;

use self::evict::Evictables;
use self::opened::Opened;
use self::store::{ColdState, TotalsBySlot, V6};
use crate::flow::conntrack::buckets::Buckets;
use crate::flow::conntrack::connection::{Connection, NIL, Tuples};
use crate::flow::conntrack::entry::FlowEntry;
use crate::flow::conntrack::hot_state::HotState;
use crate::flow::conntrack::journal::Journal;
use crate::flow::conntrack::validity::{Validities, Validity};
use crate::flow::outside_ports::FreePortMaps;
use crate::ids::{ConnRef, Direction, EntryIndex};
use crate::packet::key::FlowKey;
use crate::packet::tuple::{Addr, Tuple};
use crate::time::wheel::Wheel;

/// Resolution of the expiry timers, ns.
const EXPIRY_TICK: u64 = 100_000_000;

/// A tuple that another connection holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clash;

/// Counters of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Number of IPv4 connections at present.
    pub ip4: u64,
    /// Number of IPv6 connections at present.
    pub ip6: u64,
    /// Number of fasttracked connections at present.
    pub fasttracked: u64,
    /// Number of connections evicted for newer ones since the start.
    pub evicted: u64,
}

/// Maximum number of slots of a table: as many as an id can number.
const MAX_SLOTS: u32 = 1 << SLOT_BITS;
/// Bits of an id that hold the slot.
const SLOT_BITS: u32 = 26;

/// Connections of one worker.
#[derive(Debug)]
pub struct ConnectionTable {
    buckets: Buckets,
    entries: Vec<FlowEntry>,
    /// State of the connections by slot, one cache line each.
    pub(in crate::flow::conntrack) hot: Vec<HotState>,
    records: Vec<ColdState>,
    v6: V6,
    /// Counts that did not fit into the counters of the hot states.
    spilled: TotalsBySlot,
    /// Packets and bytes of fasttracked connections that do not count as fasttracked.
    slow_part: TotalsBySlot,
    /// First free slot; the others follow by [`ColdState::newer`].
    free: u32,
    /// First slot of the ended connections that are freed after the batch; the others follow likewise.
    ended: u32,
    /// Translated source address of the last connection that was bound; the default if it kept its own.
    last_source: Addr,
    wheel: Wheel<EXPIRY_TICK>,
    /// Connections that may be evicted when the table is full.
    evictables: Evictables,
    /// Flows that packets of this pass have opened.
    opened: Opened,
    live: u32,
    max_entries: u32,
    /// Next slot to check for connections whose masqueraded address is gone; `None` if all have been checked.
    purge: Option<u32>,
    worker: u32,
    workers: u32,
    seed: u64,
    counters: Counters,
    /// Original tuples of removed connections that have to be removed from the directory.
    unpublished: Vec<Tuple>,
    /// Free ports, where they are scarce.
    ports: FreePortMaps,
    /// Changes of connections that are kept across a restart.
    pub(in crate::flow::conntrack) journal: Journal,
    validities: Validities,
    keeps_validities: bool,
}

impl ConnectionTable {
    /// A table for at most `max_entries` connections (at least 1). `seed` should be unpredictable: it keeps senders
    /// from choosing tuples that share a bucket.
    pub fn new(worker: u32, workers: u32, max_entries: u32, seed: u32) -> Self {
        let max_entries = max_entries.clamp(1, MAX_SLOTS);
        let capacity = max_entries as usize;
        Self {
            buckets: Buckets::new(capacity * 2),
            entries: Vec::with_capacity(capacity * 2),
            hot: Vec::with_capacity(capacity),
            records: Vec::with_capacity(capacity),
            v6: V6::default(),
            spilled: TotalsBySlot::new(capacity),
            slow_part: TotalsBySlot::new(capacity),
            free: NIL,
            ended: NIL,
            last_source: Addr::default(),
            wheel: Wheel::new(capacity),
            evictables: Evictables::default(),
            opened: Opened::default(),
            live: 0,
            max_entries,
            purge: None,
            worker,
            workers: workers.max(1),
            seed: u64::from(seed) << 32 ^ 0xa076_1d64_78bd_642f,
            counters: Counters::default(),
            unpublished: Vec::new(),
            ports: FreePortMaps::default(),
            journal: Journal::default(),
            validities: Validities::default(),
            keeps_validities: false,
        }
    }

    /// The worker that owns the table.
    pub fn worker(&self) -> u32 {
        self.worker
    }

    /// Number of workers.
    pub fn workers(&self) -> u32 {
        self.workers
    }

    /// Maximum number of connections.
    pub(in crate::flow::conntrack) fn max_entries(&self) -> usize {
        self.max_entries as usize
    }

    /// Number of connections, including unconfirmed ones.
    pub fn len(&self) -> usize {
        self.live as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }

    /// Counters of the table.
    pub fn counts(&self) -> Counters {
        self.counters
    }

    /// Changes the maximum number of connections. A lower one removes no connection; it applies to new ones. A higher
    /// one rebuilds the hash table.
    pub fn set_max_entries(&mut self, max_entries: u32) {
        let max_entries = max_entries.clamp(1, MAX_SLOTS);
        if max_entries as usize > self.hot.capacity() {
            let capacity = max_entries as usize;
            self.hot.reserve_exact(capacity - self.hot.len());
            self.records.reserve_exact(capacity - self.records.len());
            self.entries.reserve_exact(capacity * 2 - self.entries.len());
            let spilled = |slot: u32| self.hot.get(slot as usize).is_some_and(|hot| hot.status.spilled());
            self.spilled.grow(capacity, spilled);
            let marked = |slot: u32| self.hot.get(slot as usize).is_some_and(|hot| hot.status.fasttrack());
            self.slow_part.grow(capacity, marked);
            self.buckets = Buckets::new(capacity * 2);
            for slot in 0..self.hot.len() as u32 {
                for direction in [Direction::Original, Direction::Reply] {
                    if self.is_indexed(slot, direction) {
                        let hash = self.hash(&self.tuple(slot, direction));
                        self.buckets.insert(hash, Self::index(slot, direction));
                    }
                }
            }
        }
        self.max_entries = max_entries;
        self.keep_validities(self.keeps_validities);
    }

    /// Sets whether entries may have a limited validity: memory for it is reserved or freed.
    pub fn keep_validities(&mut self, keeps_validities: bool) {
        self.keeps_validities = keeps_validities;
        if keeps_validities {
            self.validities.reserve(self.hot.capacity() * 2);
        } else {
            self.validities.free();
        }
    }

    /// The validity of the cached action of an entry.
    #[inline]
    pub fn validity(&self, index: EntryIndex) -> Option<Validity> {
        self.validities.get(index)
    }

    /// A reference to the connection of an entry.
    #[inline]
    pub fn reference(&self, index: EntryIndex) -> Option<ConnRef> {
        let slot = index >> 1;
        self.records.get(slot as usize).map(|record| ConnRef { slot, serial: record.serial })
    }

    /// Direction of an entry.
    #[inline]
    pub const fn direction_of(index: EntryIndex) -> Direction {
        if index & 1 == 0 { Direction::Original } else { Direction::Reply }
    }

    const fn index(slot: u32, direction: Direction) -> EntryIndex {
        slot << 1 | direction as u32
    }

    /// Tuple of the packets of a direction, as they arrive.
    // Inlined, so that the tuple is built field by field in its destination: a copy from memory would stall on the
    // store buffer.
    #[inline(always)]
    fn tuple(&self, slot: u32, direction: Direction) -> Tuple {
        let Some(entry) = self.entries.get(Self::index(slot, direction) as usize) else {
            return Tuple::default();
        };
        let mut tuple = entry.key().tuple();
        if let Some(place) = entry.key().place() {
            (tuple.src, tuple.dst) = self.v6.get(place, direction);
        }
        tuple
    }

    /// Hashes of the tuples of both directions.
    fn hashes(&self, slot: u32) -> [u32; 2] {
        [Direction::Original, Direction::Reply].map(|direction| {
            let entry = self.entries.get(Self::index(slot, direction) as usize);
            match entry.map(FlowEntry::key).filter(|key| key.is_v4()) {
                Some(key) => self.hash_of(&key.without_port()),
                None => self.hash(&self.tuple(slot, direction)),
            }
        })
    }

    /// The key of packets of a connection's original direction; `None` for IPv6, whose keys do not contain the whole
    /// addresses.
    pub(in crate::flow::conntrack) fn original_key(&self, slot: u32) -> Option<FlowKey> {
        let entry = self.entries.get(Self::index(slot, Direction::Original) as usize)?;
        Some(entry.key().without_port()).filter(FlowKey::is_v4)
    }

    /// IP protocol number of a connection.
    pub(in crate::flow::conntrack) fn protocol(&self, slot: u32) -> u8 {
        let entry = self.entries.get(Self::index(slot, Direction::Original) as usize);
        entry.map_or(0, |entry| entry.key().protocol())
    }

    /// Writes the key of a direction. Returns the key that packets of the direction have.
    #[inline]
    fn set_tuple(&mut self, slot: u32, direction: Direction, tuple: &Tuple) -> FlowKey {
        let sought = FlowKey::of(tuple);
        let mut key = sought;
        if !key.is_v4() {
            let original = self.entries.get(Self::index(slot, Direction::Original) as usize);
            let place = original.and_then(|entry| entry.key().place());
            let place = place.unwrap_or_else(|| self.v6.take());
            self.v6.set(place, direction, (tuple.src, tuple.dst));
            key = key.with_place(place);
        }
        if let Some(entry) = self.entries.get_mut(Self::index(slot, direction) as usize) {
            *entry = FlowEntry::new(key);
        }
        sought
    }

    /// The hot state of an entry's connection.
    #[inline]
    pub fn connection_at(&self, index: EntryIndex) -> Option<&HotState> {
        self.hot.get((index >> 1) as usize)
    }

    /// Mutable [`Self::connection_at`].
    #[inline]
    pub fn connection_at_mut(&mut self, index: EntryIndex) -> Option<&mut HotState> {
        self.hot.get_mut((index >> 1) as usize)
    }

    /// An entry, and the hot state of its connection.
    #[inline]
    pub fn flow_mut(&mut self, index: EntryIndex) -> Option<(&mut FlowEntry, &mut HotState)> {
        Some((self.entries.get_mut(index as usize)?, self.hot.get_mut((index >> 1) as usize)?))
    }

    /// Slot of a reference, `None` when the connection is gone.
    #[inline]
    fn slot(&self, reference: ConnRef) -> Option<usize> {
        let slot = reference.slot as usize;
        let current = self.records.get(slot)?.serial == reference.serial;
        (current && self.hot.get(slot)?.status.used()).then_some(slot)
    }

    /// The hot state of a reference's connection; `None` if the connection is gone.
    #[inline]
    pub fn hot(&self, reference: ConnRef) -> Option<&HotState> {
        self.hot.get(self.slot(reference)?)
    }

    /// The tuples of a reference's connection, `None` when it is gone.
    #[inline(always)]
    pub fn tuples(&self, reference: ConnRef) -> Option<Tuples> {
        self.slot(reference).map(|_| self.tuples_of(reference.slot))
    }

    /// Keys of a connection's packets as they arrive, of a direction and of the other one; `None` when the connection
    /// is gone, or if it is of IPv6, whose keys do not contain the whole addresses.
    #[inline(always)]
    pub(crate) fn keys(&self, reference: ConnRef, direction: Direction) -> Option<(&FlowKey, &FlowKey)> {
        self.slot(reference)?;
        let key = |direction| {
            let entry = self.entries.get(Self::index(reference.slot, direction) as usize);
            entry.map(FlowEntry::key).filter(|key| key.is_v4())
        };
        Some((key(direction)?, key(direction.reverse())?))
    }

    /// Tuple of the packets of a direction of a reference's connection, as they arrive and as they leave; `None` when
    /// it is gone.
    #[inline(always)]
    pub(crate) fn translation(&self, reference: ConnRef, direction: Direction) -> Option<(Tuple, Tuple)> {
        self.slot(reference)?;
        let other = self.tuple(reference.slot, direction.reverse());
        Some((self.tuple(reference.slot, direction), other.reversed()))
    }

    /// Both tuples of a connection.
    #[inline(always)]
    pub(in crate::flow::conntrack) fn tuples_of(&self, slot: u32) -> Tuples {
        let tuple = |direction| self.tuple(slot, direction);
        Tuples { original: tuple(Direction::Original), reply: tuple(Direction::Reply) }
    }

    /// A copy of the connection of a reference; `None` if it is gone. Collects all of its state; packets use
    /// [`ConnectionTable::hot`] and [`ConnectionTable::tuples`].
    pub fn get(&self, reference: ConnRef) -> Option<Connection> {
        self.slot(reference)?;
        self.connection(reference.slot)
    }

    /// Mutable [`ConnectionTable::hot`].
    #[inline]
    pub fn get_mut(&mut self, reference: ConnRef) -> Option<&mut HotState> {
        let slot = self.slot(reference)?;
        self.hot.get_mut(slot)
    }

    /// A copy of a connection's state.
    pub(in crate::flow::conntrack) fn connection(&self, slot: u32) -> Option<Connection> {
        let hot = self.hot.get(slot as usize)?;
        let record = self.records.get(slot as usize)?;
        let tuples = self.tuples_of(slot);
        let id = self.id(slot, record.serial);
        Some(Connection::new(hot, id, record.mark, record.masquerade, tuples))
    }

    fn id(&self, slot: u32, serial: u32) -> u64 {
        u64::from(self.worker) << 56 | u64::from(serial) << SLOT_BITS | u64::from(slot)
    }

    /// Confirmed connections.
    pub fn connections(&self) -> impl Iterator<Item = Connection> {
        (0..self.hot.len() as u32)
            .filter(|slot| self.is_shown(*slot))
            .filter_map(|slot| self.connection(slot))
    }

    /// Whether a slot holds a confirmed connection.
    pub(in crate::flow::conntrack) fn is_shown(&self, slot: u32) -> bool {
        self.hot.get(slot as usize).is_some_and(|hot| hot.status.used() && hot.status.confirmed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::wheel;

    #[test]
    fn a_connection_takes_at_most_256_bytes_and_64_more_with_ipv6() {
        for slots in [1000, 65_536, 200_000, 1 << 20] {
            let fixed = 2 * size_of::<FlowEntry>()
                + size_of::<HotState>()
                + size_of::<ColdState>()
                + wheel::SLOT_BYTES;
            let hashed = Buckets::new(2 * slots).bytes().div_ceil(slots);
            assert!(fixed + hashed <= 256, "{fixed} + {hashed} with {slots} connections");
        }
        assert_eq!(V6::BYTES, 64);
    }
}
