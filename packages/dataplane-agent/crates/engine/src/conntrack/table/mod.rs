//! The connection table of one worker.
//!
//! Memory per connection at most: 320 bytes of record, two entries of 64, two slots of 16 (8 at load one
//! half), 24 of timer link: 504 bytes. Records and entries are reserved at start but touched, and so
//! backed by memory, only as they are used for the first time.

mod copy;
mod lifecycle;

pub(crate) use copy::Copied;

use crate::conntrack::bound::{Bound, EntryBounds};
use crate::conntrack::buckets::Buckets;
use crate::conntrack::connection::{ConnRef, Connection, Direction, NIL};
use crate::conntrack::entry::{CachedAction, Entry, EntryIndex, NO_ENTRY, action_flag, fingerprint, mix};
use crate::conntrack::journal::Journal;
use crate::conntrack::tcp::Tracker;
use crate::time::Now;
use crate::tuple::Tuple;
use crate::wheel::Wheel;

/// Resolution of the expiry timers, ns.
const EXPIRY_TICK: u64 = 100_000_000;

/// A tuple that another connection holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clash;

/// Figures of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Connections now, IPv4.
    pub ip4: u64,
    /// Connections now, IPv6.
    pub ip6: u64,
    /// Fasttracked connections now.
    pub fasttracked: u64,
    /// Connections given up for newer ones since start.
    pub evicted: u64,
}

/// Connections of one worker.
#[derive(Debug)]
pub struct Table {
    buckets: Buckets,
    entries: Vec<Entry>,
    pub(in crate::conntrack) connections: Vec<Connection>,
    free: Vec<u32>,
    wheel: Wheel,
    /// Confirmed, not assured connections in order of their confirmation.
    oldest: u32,
    newest: u32,
    live: u32,
    max_entries: u32,
    next_serial: u64,
    worker: u32,
    workers: u32,
    seed: u64,
    counters: Counters,
    /// Reply tuples of removed connections that stood in the directory.
    unpublished: Vec<Tuple>,
    pub(in crate::conntrack) journal: Journal,
    bounds: EntryBounds,
    bounded: bool,
}

impl Table {
    /// For at most `max_entries` connections (at least 1). `seed` should be unpredictable: it keeps
    /// senders from choosing tuples that share a bucket.
    pub fn new(worker: u32, workers: u32, max_entries: u32, seed: u32) -> Self {
        let max_entries = max_entries.clamp(1, 1 << 26);
        let capacity = max_entries as usize;
        Self {
            buckets: Buckets::new(capacity * 2),
            entries: Vec::with_capacity(capacity * 2),
            connections: Vec::with_capacity(capacity),
            free: Vec::with_capacity(capacity),
            wheel: Wheel::new(capacity, EXPIRY_TICK),
            oldest: NIL,
            newest: NIL,
            live: 0,
            max_entries,
            next_serial: 1,
            worker,
            workers: workers.max(1),
            seed: u64::from(seed) << 32 ^ 0xa076_1d64_78bd_642f,
            counters: Counters::default(),
            unpublished: Vec::new(),
            journal: Journal::default(),
            bounds: EntryBounds::default(),
            bounded: false,
        }
    }

    /// The worker that owns the table.
    pub fn worker(&self) -> u32 {
        self.worker
    }
    /// How many workers there are.
    pub fn workers(&self) -> u32 {
        self.workers
    }
    /// Most connections it takes.
    pub(in crate::conntrack) fn max_entries(&self) -> usize {
        self.max_entries as usize
    }
    /// Connections it holds, unconfirmed ones included.
    pub fn len(&self) -> usize {
        self.live as usize
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.live == 0
    }
    /// Figures.
    pub fn counts(&self) -> Counters {
        self.counters
    }

    /// Changes the bound. A lower bound removes nothing; it holds for new connections. A higher one
    /// rebuilds the hash structure.
    pub fn set_max_entries(&mut self, max_entries: u32) {
        let max_entries = max_entries.clamp(1, 1 << 26);
        if max_entries as usize > self.connections.capacity() {
            let capacity = max_entries as usize;
            self.connections.reserve_exact(capacity - self.connections.len());
            self.entries.reserve_exact(capacity * 2 - self.entries.len());
            self.free.reserve_exact(capacity - self.free.len());
            self.buckets = Buckets::new(capacity * 2);
            for slot in 0..self.connections.len() as u32 {
                for direction in [Direction::Original, Direction::Reply] {
                    let Some(conn) = self.connections.get(slot as usize) else { continue };
                    if conn.indexed.get(direction.index()) == Some(&true) {
                        let hash = self.hash(&conn.tuple(direction));
                        self.buckets.insert(hash, Self::index(slot, direction));
                    }
                }
            }
        }
        self.max_entries = max_entries;
        self.set_bounded(self.bounded);
    }

    /// Whether entries may have bounds, for which room is then made.
    pub fn set_bounded(&mut self, bounded: bool) {
        self.bounded = bounded;
        if bounded {
            self.bounds.reserve(self.connections.capacity() * 2);
        } else {
            self.bounds.release();
        }
    }

    /// What the cached action of an entry is bounded by.
    #[inline]
    pub fn bound(&self, index: EntryIndex) -> Option<Bound> {
        self.bounds.get(index)
    }

    /// Hash of a tuple, for [`Table::probe`] and [`Table::verify`].
    #[inline]
    pub fn hash(&self, tuple: &Tuple) -> u32 {
        let addresses = match (tuple.src.as_v4(), tuple.dst.as_v4()) {
            (Some(src), Some(dst)) => u64::from(src) << 32 | u64::from(dst),
            _ => fingerprint(tuple),
        };
        let rest =
            u64::from(tuple.src_port) << 24 | u64::from(tuple.dst_port) << 40 | u64::from(tuple.protocol);
        let hash = mix(addresses ^ self.seed, rest ^ 0xe703_7ed1_a0b4_28db);
        (hash ^ hash >> 32) as u32
    }

    /// Before the first step, for all packets of a batch at once: fetches the line it will read.
    #[inline]
    pub fn touch(&self, hash: u32) -> u64 {
        self.buckets.touch(hash)
    }

    /// First step of a lookup: the likely entry, [`NO_ENTRY`] if there is none in the home bucket. Reads
    /// one cache line. With `NO_ENTRY` the tuple is new, or rarely in an overflow bucket.
    #[inline]
    pub fn probe(&self, hash: u32) -> EntryIndex {
        self.buckets.probe(hash)
    }

    /// Second step: the entry itself.
    #[inline]
    pub fn entry(&self, index: EntryIndex) -> Option<&Entry> {
        self.entries.get(index as usize)
    }

    /// Between the first two steps, for many packets at once: fetches the lines of an entry and of what
    /// every packet needs of its connection. The value means nothing.
    #[inline]
    pub fn touch_entry(&self, index: EntryIndex) -> u32 {
        let entry = self.entries.get(index as usize).map_or(0, |entry| entry.action.generation);
        let (windows, counters) =
            self.connection_at(index).map_or((0, 0), |conn| (u32::from(conn.status.0), conn.version));
        entry ^ windows ^ counters
    }

    /// Third step: the entry of the tuple, [`NO_ENTRY`] if there is none. Usually `candidate`.
    #[inline]
    pub fn verify(&self, candidate: EntryIndex, tuple: &Tuple, hash: u32) -> EntryIndex {
        if self.is_entry_of(candidate, tuple, &Entry::key(tuple)) {
            return candidate;
        }
        self.find_entry(tuple, hash).unwrap_or(NO_ENTRY)
    }

    #[inline]
    fn is_entry_of(&self, index: EntryIndex, tuple: &Tuple, key: &Entry) -> bool {
        let Some(entry) = self.entries.get(index as usize) else { return false };
        entry.is(key)
            && (entry.is_exact()
                || self
                    .connection_at(index)
                    .is_some_and(|conn| conn.tuple(Self::direction_of(index)) == *tuple))
    }

    #[inline]
    pub(in crate::conntrack) fn find_entry(&self, tuple: &Tuple, hash: u32) -> Option<EntryIndex> {
        let key = Entry::key(tuple);
        self.buckets.find(hash, |index| self.is_entry_of(index, tuple, &key))
    }

    /// The connection that packets with this tuple belong to, and their direction.
    pub fn find(&self, tuple: &Tuple) -> Option<(ConnRef, Direction)> {
        let index = self.find_entry(tuple, self.hash(tuple))?;
        Some((self.reference(index)?, Self::direction_of(index)))
    }

    /// The connection that an ICMP error is about, from the tuple of the quoted packet as quoted, and the
    /// direction in which the error travels: against the quoted packet.
    pub fn related(&self, embedded: &Tuple) -> Option<(ConnRef, Direction)> {
        self.find(&embedded.reversed())
    }

    /// A reference to the connection of an entry.
    #[inline]
    pub fn reference(&self, index: EntryIndex) -> Option<ConnRef> {
        self.connection_at(index).map(|conn| ConnRef { slot: index >> 1, serial: conn.id as u32 })
    }

    /// Direction of an entry.
    #[inline]
    pub const fn direction_of(index: EntryIndex) -> Direction {
        if index & 1 == 0 { Direction::Original } else { Direction::Reply }
    }

    const fn index(slot: u32, direction: Direction) -> EntryIndex {
        slot << 1 | direction as u32
    }

    /// The connection of an entry.
    #[inline]
    pub fn connection_at(&self, index: EntryIndex) -> Option<&Connection> {
        self.connections.get((index >> 1) as usize)
    }

    /// The connection of an entry, writable.
    #[inline]
    pub fn connection_at_mut(&mut self, index: EntryIndex) -> Option<&mut Connection> {
        self.connections.get_mut((index >> 1) as usize)
    }

    /// The connection of a reference, `None` when it is gone.
    #[inline]
    pub fn get(&self, reference: ConnRef) -> Option<&Connection> {
        self.connections
            .get(reference.slot as usize)
            .filter(|conn| conn.id != 0 && conn.id as u32 == reference.serial)
    }

    /// The same, writable.
    #[inline]
    pub fn get_mut(&mut self, reference: ConnRef) -> Option<&mut Connection> {
        self.connections
            .get_mut(reference.slot as usize)
            .filter(|conn| conn.id != 0 && conn.id as u32 == reference.serial)
    }

    /// The cached action of an entry, if it still holds for packets from this port.
    #[inline]
    pub fn cached(&self, index: EntryIndex, generation: u32, in_port: u16) -> Option<&CachedAction> {
        let action = &self.entries.get(index as usize)?.action;
        let holds = action.flags & action_flag::INSTALLED != 0
            && action.generation == generation
            && action.in_port == in_port
            && self.connection_at(index).is_some_and(|conn| conn.version == action.version);
        holds.then_some(action)
    }

    /// The action that was cached last for an entry, whether or not it still holds.
    pub fn installed(&self, index: EntryIndex) -> Option<&CachedAction> {
        let action = &self.entries.get(index as usize)?.action;
        (action.flags & action_flag::INSTALLED != 0).then_some(action)
    }

    /// Caches an action for a direction, for the connection as it is. `false` when the connection is gone
    /// or not yet confirmed.
    pub fn install(&mut self, reference: ConnRef, direction: Direction, action: CachedAction) -> bool {
        let Some(conn) = self.get(reference).filter(|conn| conn.status.confirmed()) else { return false };
        let version = conn.version;
        let Some(entry) = self.entries.get_mut(Self::index(reference.slot, direction) as usize) else {
            return false;
        };
        entry.action = CachedAction { version, flags: action.flags | action_flag::INSTALLED, ..action };
        true
    }

    /// Caches an action for as long as its bound lets it. `false` also when there is no room for bounds.
    pub fn install_bounded(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        action: CachedAction,
        bound: Bound,
    ) -> bool {
        let flags = action.flags | action_flag::BOUNDED;
        self.bounds.set(Self::index(reference.slot, direction), bound)
            && self.install(reference, direction, CachedAction { flags, ..action })
    }

    /// Adds to the counters of a direction.
    #[inline]
    pub fn count(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        packets: u32,
        bytes: u64,
        fasttrack: bool,
    ) {
        if let Some(conn) = self.get_mut(reference) {
            conn.count(direction, packets, bytes, fasttrack);
        }
    }

    /// Marks a connection as fasttracked; `false` when it was already, or is gone.
    pub fn set_fasttrack(&mut self, reference: ConnRef) -> bool {
        match self.get_mut(reference) {
            Some(conn) if !conn.status.fasttrack() => {
                conn.status.set_fasttrack();
                conn.invalidate();
                self.counters.fasttracked += 1;
                true
            }
            _ => false,
        }
    }

    /// Makes an unconfirmed connection, found by its original tuple only.
    pub(in crate::conntrack) fn create(
        &mut self,
        tuple: Tuple,
        tracker: Tracker,
        expires: Now,
    ) -> Option<u32> {
        if self.live >= self.max_entries && !self.evict() {
            return None;
        }
        let serial = self.next_serial;
        self.next_serial += 1;
        let id = u64::from(self.worker) << 56 | (serial & ((1 << 56) - 1));
        let mut conn = Connection::new(id, tuple, tracker);
        conn.expires = expires;
        let slot = match self.free.pop() {
            Some(slot) => {
                *self.connections.get_mut(slot as usize)? = conn;
                slot
            }
            None => {
                let slot = self.connections.len() as u32;
                self.connections.push(conn);
                self.entries.extend([Entry::default(); 2]);
                slot
            }
        };
        self.live += 1;
        if tuple.src.as_v4().is_some() {
            self.counters.ip4 += 1;
        } else {
            self.counters.ip6 += 1;
        }
        self.enter(slot, Direction::Original, &tuple);
        self.arm(slot, expires);
        Some(slot)
    }

    fn enter(&mut self, slot: u32, direction: Direction, tuple: &Tuple) {
        let index = Self::index(slot, direction);
        if let Some(entry) = self.entries.get_mut(index as usize) {
            *entry = Entry::key(tuple);
        }
        let entered = self.buckets.insert(self.hash(tuple), index);
        if let Some(conn) = self.connections.get_mut(slot as usize) {
            if let Some(indexed) = conn.indexed.get_mut(direction.index()) {
                *indexed = entered;
            }
        }
    }

    /// Whether no other connection holds a tuple.
    pub fn is_free_for(&self, reference: ConnRef, tuple: &Tuple) -> bool {
        self.find_entry(tuple, self.hash(tuple)).is_none_or(|index| index >> 1 == reference.slot)
    }

    /// Gives an unconfirmed connection its reply tuple and makes it findable by it.
    pub fn reserve_reply(&mut self, reference: ConnRef, reply: Tuple) -> Result<(), Clash> {
        if !self.is_free_for(reference, &reply) {
            return Err(Clash);
        }
        let Some(conn) = self.get_mut(reference) else { return Err(Clash) };
        let [_, indexed] = conn.indexed;
        let own = conn.original == reply;
        let old = std::mem::replace(&mut conn.reply, reply);
        if indexed {
            let index = Self::index(reference.slot, Direction::Reply);
            self.buckets.remove(self.hash(&old), index);
        }
        // A flow whose answers look like its questions is found by its original tuple.
        if !own {
            self.enter(reference.slot, Direction::Reply, &reply);
        }
        Ok(())
    }

    /// A packet of the connection leaves the router or is delivered: the connection stays. Again for a
    /// confirmed one does nothing.
    pub fn confirm(&mut self, reference: ConnRef) -> Result<(), Clash> {
        let Some(conn) = self.get(reference) else { return Ok(()) };
        if conn.status.confirmed() {
            return Ok(());
        }
        let (reply, [_, indexed], assured) = (conn.reply, conn.indexed, conn.status.assured());
        if !indexed {
            self.reserve_reply(reference, reply)?;
        }
        if let Some(conn) = self.get_mut(reference) {
            conn.status.set_confirmed();
            conn.pending = 0;
        }
        if !assured {
            self.link(reference.slot);
        }
        Ok(())
    }

    /// A packet of the connection was dropped. Removes the connection when it is unconfirmed and no other
    /// packet holds it.
    pub fn abandon(&mut self, reference: ConnRef) {
        let Some(conn) = self.get_mut(reference) else { return };
        if conn.status.confirmed() {
            return;
        }
        conn.pending = conn.pending.saturating_sub(1);
        if conn.pending == 0 {
            self.remove_slot(reference.slot);
        }
    }

    /// All confirmed connections.
    pub fn connections(&self) -> impl Iterator<Item = &Connection> {
        self.connections.iter().filter(|conn| Self::is_shown(conn))
    }

    /// Whether a record is in use, for a connection that others may know of.
    pub(in crate::conntrack) fn is_shown(conn: &Connection) -> bool {
        conn.id != 0 && conn.status.confirmed()
    }
}

impl Connection {
    /// Adds to the counters of a direction.
    #[inline]
    pub fn count(&mut self, direction: Direction, packets: u32, bytes: u64, fasttrack: bool) {
        add(&mut self.packets, direction, u64::from(packets));
        add(&mut self.bytes, direction, bytes);
        if fasttrack {
            self.count_fasttracked(direction, packets, bytes);
        }
    }

    /// Adds to the fasttracked part of the counters of a direction.
    #[inline]
    pub(crate) fn count_fasttracked(&mut self, direction: Direction, packets: u32, bytes: u64) {
        add(&mut self.fasttrack_packets, direction, u64::from(packets));
        add(&mut self.fasttrack_bytes, direction, bytes);
    }
}

#[inline]
fn add(cells: &mut [u64; 2], direction: Direction, amount: u64) {
    if let Some(cell) = cells.get_mut(direction.index()) {
        *cell += amount;
    }
}
