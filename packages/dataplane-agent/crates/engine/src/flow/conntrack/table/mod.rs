//! The connection table of one worker.
//!
//! A connection is a slot: two flow entries in one cache line, or one each for IPv6, a hot state of another, and a cold
//! state that is rarely needed. Memory per connection at most: 64 + 64 + 24 bytes, 12 of timer link and 25 of hash slots,
//! 189 in all, and 64 more for IPv6. Connections whose counters overflow, and fasttracked ones, take 32 bytes more each,
//! those that depend on address lists 8.
//! All of it is reserved at the start, and backed by memory only when it is first used.

mod bind;
mod cached;
mod copy;
mod entries;
mod evict;
mod expiry;
mod find;
mod journaled;
mod masqueraded;
mod opened;
mod store;

pub(crate) use copy::Copied;

use self::entries::{BLOCK_BITS, Entries};
use self::evict::Evictables;
use self::opened::Opened;
use self::store::{ColdState, Memberships, TotalsBySlot};
use crate::flow::conntrack::buckets::Buckets;
use crate::flow::conntrack::connection::{Connection, NIL, Tuples};
use crate::flow::conntrack::entry::FlowEntry;
use crate::flow::conntrack::hot_state::HotState;
use crate::flow::conntrack::journal::Journal;
use crate::flow::conntrack::validity::{Validities, Validity};
use crate::flow::outside_ports::FreePortMaps;
use crate::ids::{ConnRef, Direction, EntryIndex};
use crate::packet::key::FlowKey;
use crate::packet::tuple::{Addr, Tuple, Zone};
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
    /// Number of those of IPv6.
    pub fasttracked_ip6: u64,
    /// Number of connections evicted for newer ones since the start.
    pub evicted: u64,
}

/// Maximum number of connections of a table, so that an id can number each slot.
const MAX_ENTRIES: u32 = (1 << SLOT_BITS) - (2 << BLOCK_BITS);
/// Bits of an id that hold the slot.
const SLOT_BITS: u32 = 26;

/// Number of slots for so many connections: whole blocks, and one more, so that while there are fewer connections a slot
/// is free or a block can be added.
fn slots_for(max_entries: u32) -> usize {
    ((max_entries >> BLOCK_BITS) as usize + 2) << BLOCK_BITS
}

/// Connections of one worker.
#[derive(Debug)]
pub struct ConnectionTable {
    buckets: Buckets,
    entries: Entries,
    /// State of the connections by slot, one cache line each.
    pub(in crate::flow::conntrack) hot: Vec<HotState>,
    records: Vec<ColdState>,
    /// Counts that did not fit into the counters of the hot states.
    spilled: TotalsBySlot,
    /// Packets and bytes of fasttracked connections that do not count as fasttracked.
    slow_part: TotalsBySlot,
    /// First free slot of those last used for IPv4 and for IPv6; the others follow by [`ColdState::newer`].
    free: [u32; 2],
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
    /// Address list lookups of the cached actions with the flag [`LISTED`](super::entry::action_flag::LISTED).
    memberships: Memberships,
    validities: Validities,
    keeps_validities: bool,
}

impl ConnectionTable {
    /// A table for at most `max_entries` connections (at least 1). `seed` should be unpredictable: it keeps senders
    /// from choosing tuples that share a bucket.
    pub fn new(worker: u32, workers: u32, max_entries: u32, seed: u32) -> Self {
        let max_entries = max_entries.clamp(1, MAX_ENTRIES);
        let slots = slots_for(max_entries);
        let mut entries = Entries::default();
        entries.reserve(slots);
        Self {
            buckets: Buckets::new(max_entries as usize * 2),
            entries,
            hot: Vec::with_capacity(slots),
            records: Vec::with_capacity(slots),
            spilled: TotalsBySlot::new(slots),
            slow_part: TotalsBySlot::new(slots),
            free: [NIL; 2],
            ended: NIL,
            last_source: Addr::default(),
            wheel: Wheel::new(slots),
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
            memberships: Memberships::new(2 * slots),
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

    /// Counts the connection of a slot, which has got the mark, as fasttracked.
    fn note_fasttracked(&mut self, slot: u32) {
        let original = self.entries.get(Self::index(slot, Direction::Original));
        self.counters.fasttracked += 1;
        self.counters.fasttracked_ip6 += u64::from(original.is_some_and(|entry| entry.key().is_v6()));
    }

    /// Changes the maximum number of connections. A lower one removes no connection; it applies to new ones. A higher
    /// one rebuilds the hash table.
    pub fn set_max_entries(&mut self, max_entries: u32) {
        let max_entries = max_entries.clamp(1, MAX_ENTRIES);
        let slots = slots_for(max_entries);
        if slots > self.hot.capacity() {
            self.hot.reserve_exact(slots - self.hot.len());
            self.records.reserve_exact(slots - self.records.len());
            self.entries.reserve(slots);
            let spilled = |slot: u32| self.hot.get(slot as usize).is_some_and(|hot| hot.status.spilled());
            self.spilled.grow(slots, spilled);
            let marked = |slot: u32| self.hot.get(slot as usize).is_some_and(|hot| hot.status.fasttrack());
            self.slow_part.grow(slots, marked);
            self.memberships.grow(2 * slots);
            self.buckets = Buckets::new(max_entries as usize * 2);
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
    #[inline(always)]
    fn tuple(&self, slot: u32, direction: Direction) -> Tuple {
        self.entries.tuple(slot, direction)
    }

    /// Hashes of the tuples of both directions.
    fn hashes(&self, slot: u32) -> [u32; 2] {
        match self.entries.keys_v4(slot) {
            Some(keys) => keys.map(|key| self.hash_v4(key)),
            None => [Direction::Original, Direction::Reply].map(|way| self.hash(&self.tuple(slot, way))),
        }
    }

    /// The key of packets of a connection's original direction; `None` for IPv6, whose keys do not contain the
    /// addresses.
    pub(in crate::flow::conntrack) fn original_key(&self, slot: u32) -> Option<FlowKey> {
        self.entries.keys_v4(slot).map(|[original, _]| *original)
    }

    /// IP protocol number of a connection.
    pub(in crate::flow::conntrack) fn protocol(&self, slot: u32) -> u8 {
        let entry = self.entries.get(Self::index(slot, Direction::Original));
        entry.map_or(0, |entry| entry.key().protocol())
    }

    /// Writes the key of a direction. Returns it.
    #[inline]
    fn set_tuple(&mut self, slot: u32, direction: Direction, tuple: &Tuple) -> FlowKey {
        let key = FlowKey::of(tuple);
        self.entries.set(slot, direction, key, tuple);
        key
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

    /// An entry, the key of the other direction, if it is of IPv4, and the hot state of the connection.
    #[inline]
    pub fn flow_mut(&mut self, index: EntryIndex) -> Option<(&mut FlowEntry, &FlowKey, &mut HotState)> {
        let (entry, other) = self.entries.pair_mut(index)?;
        Some((entry, other, self.hot.get_mut((index >> 1) as usize)?))
    }

    /// The keys of an entry of IPv4 and of the entry of the other direction; `None` for IPv6.
    #[inline(always)]
    pub(crate) fn keys_at(&self, index: EntryIndex) -> Option<(&FlowKey, &FlowKey)> {
        let [original, reply] = self.entries.keys_v4(index >> 1)?;
        Some(if index & 1 == 0 { (original, reply) } else { (reply, original) })
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
    /// is gone, or if it is of IPv6, whose keys do not contain the addresses.
    #[inline(always)]
    pub(crate) fn keys(&self, reference: ConnRef, direction: Direction) -> Option<(&FlowKey, &FlowKey)> {
        self.slot(reference)?;
        self.keys_at(Self::index(reference.slot, direction))
    }

    /// Zone of the packets of the original direction of a reference's connection, by whose routes both directions go; 0
    /// if it is gone.
    #[inline]
    pub(crate) fn original_zone(&self, reference: ConnRef) -> Zone {
        self.original_zone_at(Self::index(reference.slot, Direction::Original))
    }

    /// [`Self::original_zone`] of the connection of an entry.
    #[inline]
    pub(crate) fn original_zone_at(&self, index: EntryIndex) -> Zone {
        self.entries.get(index & !1).map_or(0, |entry| entry.key().zone())
    }

    /// Tuple of the packets of a direction of a reference's connection, as they arrive and as they leave; `None` when
    /// it is gone.
    #[inline(always)]
    pub(crate) fn translation(&self, reference: ConnRef, direction: Direction) -> Option<(Tuple, Tuple)> {
        self.slot(reference)?;
        let other = self.tuple(reference.slot, direction.reverse());
        Some((self.tuple(reference.slot, direction), other.reversed()))
    }

    /// [`Self::translation`] of the packets of an entry.
    #[inline]
    pub(crate) fn translation_at(&self, index: EntryIndex) -> (Tuple, Tuple) {
        let (slot, direction) = (index >> 1, Self::direction_of(index));
        (self.tuple(slot, direction), self.tuple(slot, direction.reverse()).reversed())
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
    fn a_connection_takes_at_most_200_bytes_and_256_with_ipv6() {
        for connections in [1000, 65_536, 200_000, 1 << 20] {
            let slots = slots_for(connections) as f64 / f64::from(connections);
            let line = 2 * size_of::<FlowEntry>();
            let fixed = line + size_of::<HotState>() + size_of::<ColdState>() + wheel::SLOT_BYTES;
            let hashed = Buckets::new(2 * connections as usize).bytes() as f64 / f64::from(connections);
            // Of a small table the spare blocks count, which are not backed by memory until they are used.
            let slots = if connections < 65_536 { 1.0 } else { slots };
            let (v4, v6) = (fixed as f64 * slots + hashed, (fixed + line) as f64 * slots + hashed);
            assert!(v4 <= 200.0 && v6 <= 256.0, "{v4}, {v6} with {connections} connections");
        }
    }
}
