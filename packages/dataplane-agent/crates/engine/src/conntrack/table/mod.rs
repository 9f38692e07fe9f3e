//! The connection table of one worker.
//!
//! A connection is a slot: two direction entries of one cache line, one line of its own, and a record of
//! what is seldom asked. Memory per connection at most: 2 × 64 + 64 + 24 bytes, 12 of timer link and 25 of
//! hash slots, 253 in all; IPv6 connections have their addresses beside, 64 bytes more. Where counters run
//! over, or a connection is fasttracked, 32 bytes each. All of it is reserved at start but touched, and so
//! backed by memory, only as it is used for the first time.

mod copy;
mod lifecycle;
mod store;

pub(crate) use copy::Copied;

use self::store::{Cells, Record, V6};
use crate::conntrack::bound::{Bound, EntryBounds};
use crate::conntrack::buckets::Buckets;
use crate::conntrack::connection::{ConnRef, Connection, Direction, NIL, Totals, Tuples};
use crate::conntrack::entry::{CachedAction, Entry, EntryIndex, Key, NO_ENTRY, action_flag};
use crate::conntrack::journal::Journal;
use crate::conntrack::line::Line;
use crate::conntrack::tcp::Tracker;
use crate::epochs::Stamp;
use crate::tuple::{Addr, Tuple};
use crate::wheel::Wheel;
use tollway_config::dataplane::RowId;

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

/// Most slots of a table: as many as an id has room for.
const MAX_SLOTS: u32 = 1 << SLOT_BITS;
/// Bits of an id that name the slot.
const SLOT_BITS: u32 = 26;

/// Connections of one worker.
#[derive(Debug)]
pub struct Table {
    buckets: Buckets,
    entries: Vec<Entry>,
    pub(in crate::conntrack) lines: Vec<Line>,
    records: Vec<Record>,
    v6: V6,
    /// What did not fit into the counters of the lines.
    spilled: Cells,
    /// Of fasttracked connections what does not count as fasttracked.
    slow_part: Cells,
    /// First free slot; the others follow by [`Record::newer`].
    free: u32,
    /// First slot of those that end with the batch; the others follow likewise.
    ended: u32,
    /// Source that was given to a connection last; none when the last one kept its own.
    last_source: Addr,
    wheel: Wheel,
    /// Confirmed, not assured connections in order of their confirmation.
    oldest: u32,
    newest: u32,
    live: u32,
    max_entries: u32,
    /// Next slot to look at for connections whose masqueraded address is gone; `None` when all have been.
    purge: Option<u32>,
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
        let max_entries = max_entries.clamp(1, MAX_SLOTS);
        let capacity = max_entries as usize;
        Self {
            buckets: Buckets::new(capacity * 2),
            entries: Vec::with_capacity(capacity * 2),
            lines: Vec::with_capacity(capacity),
            records: Vec::with_capacity(capacity),
            v6: V6::default(),
            spilled: Cells::new(capacity),
            slow_part: Cells::new(capacity),
            free: NIL,
            ended: NIL,
            last_source: Addr::default(),
            wheel: Wheel::new(capacity, EXPIRY_TICK),
            oldest: NIL,
            newest: NIL,
            live: 0,
            max_entries,
            purge: None,
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
        let max_entries = max_entries.clamp(1, MAX_SLOTS);
        if max_entries as usize > self.lines.capacity() {
            let capacity = max_entries as usize;
            self.lines.reserve_exact(capacity - self.lines.len());
            self.records.reserve_exact(capacity - self.records.len());
            self.entries.reserve_exact(capacity * 2 - self.entries.len());
            let spilled = |slot: u32| self.lines.get(slot as usize).is_some_and(|line| line.status.spilled());
            self.spilled.grow(capacity, spilled);
            let marked =
                |slot: u32| self.lines.get(slot as usize).is_some_and(|line| line.status.fasttrack());
            self.slow_part.grow(capacity, marked);
            self.buckets = Buckets::new(capacity * 2);
            for slot in 0..self.lines.len() as u32 {
                for direction in [Direction::Original, Direction::Reply] {
                    if self.is_indexed(slot, direction) {
                        let hash = self.hash(&self.tuple(slot, direction));
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
            self.bounds.reserve(self.lines.capacity() * 2);
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
        self.hash_of(&Key::of(tuple))
    }

    /// The same of its key.
    #[inline]
    pub fn hash_of(&self, key: &Key) -> u32 {
        key.hash(self.seed)
    }

    /// Before the first step: has the line fetched that it will read.
    #[inline]
    pub fn fetch_bucket(&self, hash: u32) {
        self.buckets.fetch(hash);
    }

    /// Has the line fetched in which the answers to a new connection's first packet will probably stand:
    /// with the address that the last translation chose.
    #[inline]
    pub fn foresee_reply(&self, tuple: &Tuple) {
        let mut reply = tuple.reversed();
        if self.last_source != Addr::default() {
            reply.dst = self.last_source;
        }
        self.buckets.fetch(self.hash(&reply));
    }

    /// First step of a lookup: the likely entry, [`NO_ENTRY`] if there is none in the home bucket. Reads
    /// one cache line. With `NO_ENTRY` the tuple is new, or in an overflow bucket.
    #[inline]
    pub fn probe(&self, hash: u32) -> EntryIndex {
        self.buckets.probe(hash)
    }

    /// Between the first two steps: has the lines of an entry and of its connection fetched.
    #[inline]
    pub fn fetch_entry(&self, index: EntryIndex) {
        if let (Some(entry), Some(line)) = (self.entries.get(index as usize), self.connection_at(index)) {
            tollway_prefetch::fetch(entry);
            tollway_prefetch::fetch(line);
        }
    }

    /// Third step: the entry of the tuple with this key, [`NO_ENTRY`] if there is none. Usually `candidate`.
    #[inline]
    pub fn verify(&self, candidate: EntryIndex, key: &Key, tuple: &Tuple) -> EntryIndex {
        match self.entries.get(candidate as usize) {
            Some(entry) if entry.is_exactly(key) => candidate,
            _ => self.search(key, tuple),
        }
    }

    #[cold]
    #[inline(never)]
    fn search(&self, key: &Key, tuple: &Tuple) -> EntryIndex {
        let found = self.buckets.find(self.hash_of(key), |index| self.is_entry_of(index, tuple, key));
        found.unwrap_or(NO_ENTRY)
    }

    #[inline]
    fn is_entry_of(&self, index: EntryIndex, tuple: &Tuple, key: &Key) -> bool {
        let Some(entry) = self.entries.get(index as usize) else { return false };
        entry.is(key)
            && entry
                .key()
                .place()
                .is_none_or(|place| self.v6.get(place, Self::direction_of(index)) == (tuple.src, tuple.dst))
    }

    #[inline]
    pub(in crate::conntrack) fn find_entry(&self, tuple: &Tuple, hash: u32) -> Option<EntryIndex> {
        self.find_key(tuple, &Key::of(tuple), hash)
    }

    #[inline]
    pub(in crate::conntrack) fn find_key(&self, tuple: &Tuple, key: &Key, hash: u32) -> Option<EntryIndex> {
        self.buckets.find(hash, |index| self.is_entry_of(index, tuple, key))
    }

    /// Whether an entry can be found, and by this key only. Never with IPv6, where keys are ambiguous.
    #[inline]
    pub(in crate::conntrack) fn is_entry(&self, index: EntryIndex, key: &Key) -> bool {
        self.entries.get(index as usize).is_some_and(|entry| entry.is_exactly(key))
            && self.is_indexed(index >> 1, Self::direction_of(index))
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
    #[inline]
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

    /// Hashes of both directions, as they stand in the entries.
    fn hashes(&self, slot: u32) -> [u32; 2] {
        [Direction::Original, Direction::Reply].map(|direction| {
            let entry = self.entries.get(Self::index(slot, direction) as usize);
            match entry.map(Entry::key).filter(|key| key.is_v4()) {
                Some(key) => self.hash_of(&key.without_port()),
                None => self.hash(&self.tuple(slot, direction)),
            }
        })
    }

    /// IP protocol number of a connection.
    pub(in crate::conntrack) fn protocol(&self, slot: u32) -> u8 {
        let entry = self.entries.get(Self::index(slot, Direction::Original) as usize);
        entry.map_or(0, |entry| entry.key().protocol())
    }

    /// Writes the key of a direction.
    fn set_tuple(&mut self, slot: u32, direction: Direction, tuple: &Tuple) {
        let mut key = Key::of(tuple);
        if !key.is_v4() {
            let original = self.entries.get(Self::index(slot, Direction::Original) as usize);
            let place = original.and_then(|entry| entry.key().place());
            let place = place.unwrap_or_else(|| self.v6.take());
            self.v6.set(place, direction, (tuple.src, tuple.dst));
            key = key.with_place(place);
        }
        if let Some(entry) = self.entries.get_mut(Self::index(slot, direction) as usize) {
            *entry = Entry::new(key);
        }
    }

    /// The line of an entry's connection.
    #[inline]
    pub fn connection_at(&self, index: EntryIndex) -> Option<&Line> {
        self.lines.get((index >> 1) as usize)
    }

    /// The same, writable.
    #[inline]
    pub fn connection_at_mut(&mut self, index: EntryIndex) -> Option<&mut Line> {
        self.lines.get_mut((index >> 1) as usize)
    }

    /// An entry, and the line of its connection.
    #[inline]
    pub fn flow_mut(&mut self, index: EntryIndex) -> Option<(&mut Entry, &mut Line)> {
        Some((self.entries.get_mut(index as usize)?, self.lines.get_mut((index >> 1) as usize)?))
    }

    /// Slot of a reference, `None` when the connection is gone.
    #[inline]
    fn slot(&self, reference: ConnRef) -> Option<usize> {
        let slot = reference.slot as usize;
        let current = self.records.get(slot)?.serial == reference.serial;
        (current && self.lines.get(slot)?.status.used()).then_some(slot)
    }

    /// The line of a reference's connection, `None` when it is gone.
    #[inline]
    pub fn line(&self, reference: ConnRef) -> Option<&Line> {
        self.lines.get(self.slot(reference)?)
    }

    /// The tuples of a reference's connection, `None` when it is gone.
    #[inline]
    pub fn tuples(&self, reference: ConnRef) -> Option<Tuples> {
        self.slot(reference).map(|_| self.tuples_of(reference.slot))
    }

    #[inline]
    pub(in crate::conntrack) fn tuples_of(&self, slot: u32) -> Tuples {
        let tuple = |direction| self.tuple(slot, direction);
        Tuples { original: tuple(Direction::Original), reply: tuple(Direction::Reply) }
    }

    /// The connection of a reference as it is now, `None` when it is gone. Puts all of it together; what
    /// packets need is to be had from [`Table::line`] and [`Table::tuples`].
    pub fn get(&self, reference: ConnRef) -> Option<Connection> {
        self.slot(reference)?;
        self.connection(reference.slot)
    }

    /// The same as [`Table::line`], writable.
    #[inline]
    pub fn get_mut(&mut self, reference: ConnRef) -> Option<&mut Line> {
        let slot = self.slot(reference)?;
        self.lines.get_mut(slot)
    }

    pub(in crate::conntrack) fn connection(&self, slot: u32) -> Option<Connection> {
        let line = self.lines.get(slot as usize)?;
        let record = self.records.get(slot as usize)?;
        let tuples = self.tuples_of(slot);
        let id = self.id(slot, record.serial);
        Some(Connection::new(line, id, record.mark, record.masquerade, tuples))
    }

    fn id(&self, slot: u32, serial: u32) -> u64 {
        u64::from(self.worker) << 56 | u64::from(serial) << SLOT_BITS | u64::from(slot)
    }

    /// The cached action of an entry, if it still holds for packets from this port.
    #[inline]
    pub fn cached(
        &self,
        index: EntryIndex,
        policy: u32,
        stamp: Stamp,
        in_port: u16,
    ) -> Option<&CachedAction> {
        let entry = self.entries.get(index as usize)?;
        let action = &entry.action;
        let holds = action.policy == policy
            && action.stamp == stamp
            && entry.in_port() == in_port
            && self.connection_at(index).is_some_and(|line| line.version == action.version);
        holds.then_some(action)
    }

    /// When the action of an entry was found to be right, and its flags.
    #[inline]
    pub fn stamp(&self, index: EntryIndex) -> (Stamp, u16) {
        self.entries.get(index as usize).map_or((0, 0), |entry| (entry.action.stamp, entry.action.flags))
    }

    /// The action that was cached last for an entry, whether or not it still holds.
    pub fn installed(&self, index: EntryIndex) -> Option<&CachedAction> {
        let action = &self.entries.get(index as usize)?.action;
        (action.policy != 0).then_some(action)
    }

    /// Port by which the packets come that the action of an entry is for.
    pub fn in_port(&self, index: EntryIndex) -> Option<u16> {
        self.entries.get(index as usize).map(Entry::in_port)
    }

    /// Caches an action for a direction, for the connection as it is and packets from `in_port`. `false`
    /// when the connection is gone or not yet confirmed.
    pub fn install(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        in_port: u16,
        action: CachedAction,
    ) -> bool {
        let Some(slot) = self.slot(reference) else { return false };
        let Some(line) = self.lines.get(slot).filter(|line| line.status.confirmed()) else { return false };
        let version = line.version;
        let Some(entry) = self.entries.get_mut(Self::index(reference.slot, direction) as usize) else {
            return false;
        };
        entry.set(in_port, CachedAction { version, ..action });
        true
    }

    /// Caches an action for as long as its bound lets it. `false` also when there is no room for bounds.
    pub fn install_bounded(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        in_port: u16,
        action: CachedAction,
        bound: Bound,
    ) -> bool {
        let flags = action.flags | action_flag::BOUNDED;
        self.bounds.set(Self::index(reference.slot, direction), bound)
            && self.install(reference, direction, in_port, CachedAction { flags, ..action })
    }

    /// L3 bytes that a connection has carried in both directions together.
    pub fn carried(&self, slot: u32) -> u64 {
        let [original, reply] = self.totals(slot).0.bytes;
        original.wrapping_add(reply)
    }

    /// Counts packets that did not go by the flow cache.
    #[inline]
    pub fn count_slow(&mut self, reference: ConnRef, direction: Direction, packets: u32, bytes: u64) {
        if let Some(slot) = self.slot(reference) {
            let index = Self::index(slot as u32, direction);
            self.count(index, packets, bytes);
            if self.connection_at(index).is_some_and(|line| line.status.fasttrack()) {
                self.slow_part.add(reference.slot, direction, packets, bytes);
            }
        }
    }

    /// Of what was counted as not gone by the flow cache, this counts as fasttracked all the same.
    pub fn count_fasttracked(&mut self, reference: ConnRef, direction: Direction, packets: u32, bytes: u64) {
        if self.slot(reference).is_some() {
            self.slow_part.subtract(reference.slot, direction, packets, bytes);
        }
    }

    /// Adds to the counters of a direction.
    #[inline]
    pub fn count(&mut self, index: EntryIndex, packets: u32, bytes: u64) {
        let direction = Self::direction_of(index);
        if !self.connection_at_mut(index).is_some_and(|line| line.count(direction, packets, bytes)) {
            self.spill(index, packets, bytes);
        }
    }

    /// Empties the counters in the line, which would run over.
    #[cold]
    fn spill(&mut self, index: EntryIndex, packets: u32, bytes: u64) {
        let (slot, direction) = (index >> 1, Self::direction_of(index));
        let Some(line) = self.lines.get_mut(slot as usize) else { return };
        line.status.set_spilled();
        let (line_packets, line_bytes) = line.take_counts();
        self.spilled.add_both(slot, line_packets, line_bytes);
        self.spilled.add(slot, direction, packets, bytes);
    }

    /// Packets and bytes of a connection, and those of them that were fasttracked.
    pub fn totals(&self, slot: u32) -> (Totals, Totals) {
        let Some(line) = self.lines.get(slot as usize) else { return Default::default() };
        let (packets, bytes) = line.counts();
        let mut totals = Totals { packets, bytes };
        if line.status.spilled() {
            totals = totals.plus(self.spilled.get(slot));
        }
        let fasttracked =
            if line.status.fasttrack() { totals.minus(self.slow_part.get(slot)) } else { Totals::default() };
        (totals, fasttracked)
    }

    /// Marks a connection as fasttracked; `false` when it was already, or is gone.
    pub fn set_fasttrack(&mut self, reference: ConnRef) -> bool {
        let (totals, _) = self.totals(reference.slot);
        let Some(line) = self.get_mut(reference).filter(|line| !line.status.fasttrack()) else {
            return false;
        };
        line.status.set_fasttrack();
        line.invalidate();
        self.slow_part.set(reference.slot, totals);
        self.counters.fasttracked += 1;
        true
    }

    /// Makes an unconfirmed connection, found by its original tuple only. It is to be given a lifetime.
    pub(in crate::conntrack) fn create(&mut self, tuple: Tuple, tracker: Tracker) -> Option<u32> {
        if self.live >= self.max_entries && !self.evict() {
            return None;
        }
        let slot = self.take_slot(Line::new(tracker))?;
        self.live += 1;
        if tuple.src.as_v4().is_some() {
            self.counters.ip4 += 1;
        } else {
            self.counters.ip6 += 1;
        }
        self.enter(slot, Direction::Original, &tuple);
        self.set_tuple(slot, Direction::Reply, &tuple.reversed());
        Some(slot)
    }

    fn take_slot(&mut self, line: Line) -> Option<u32> {
        if self.free == NIL {
            let slot = self.lines.len() as u32;
            self.lines.push(line);
            self.records.push(Record::new(1));
            self.entries.extend([Entry::default(); 2]);
            return Some(slot);
        }
        let slot = self.free;
        let record = self.records.get_mut(slot as usize)?;
        self.free = record.newer;
        *record = Record::new(record.serial);
        *self.lines.get_mut(slot as usize)? = line;
        Some(slot)
    }

    #[inline]
    fn is_indexed(&self, slot: u32, direction: Direction) -> bool {
        self.lines.get(slot as usize).is_some_and(|line| match direction {
            Direction::Original => line.status.original_indexed(),
            Direction::Reply => line.status.reply_indexed(),
        })
    }

    fn enter(&mut self, slot: u32, direction: Direction, tuple: &Tuple) {
        self.set_tuple(slot, direction, tuple);
        let entered = self.buckets.insert(self.hash(tuple), Self::index(slot, direction));
        if let Some(line) = self.lines.get_mut(slot as usize).filter(|_| entered) {
            match direction {
                Direction::Original => line.status.set_original_indexed(),
                Direction::Reply => line.status.set_reply_indexed(),
            }
        }
    }

    /// Whether no other connection holds a tuple.
    pub fn is_free_for(&self, reference: ConnRef, tuple: &Tuple) -> bool {
        self.find_entry(tuple, self.hash(tuple)).is_none_or(|index| index >> 1 == reference.slot)
    }

    /// Decides the destination of a connection: its answers come as `reply`, or as they would anyway.
    pub fn bind_destination(&mut self, reference: ConnRef, reply: Option<Tuple>) {
        let Some(line) = self.get_mut(reference) else { return };
        line.status.set_destination_bound();
        if reply.is_some() {
            line.status.set_dstnat();
            line.invalidate();
        }
        if let Some(reply) = reply {
            self.set_tuple(reference.slot, Direction::Reply, &reply);
        }
    }

    /// Decides the source of a connection, of which the reply tuple tells whether it changes.
    /// `masquerade` is the interface row whose address it takes, 0 without masquerade.
    pub fn bind_source(&mut self, reference: ConnRef, masquerade: RowId) {
        let Some(conn) = self.tuples(reference) else { return };
        let translated = (conn.reply.dst, conn.reply.dst_port) != (conn.original.src, conn.original.src_port);
        self.last_source = if translated { conn.reply.dst } else { Addr::default() };
        if let Some(line) = self.get_mut(reference) {
            line.status.set_source_bound();
            if translated {
                line.status.set_srcnat();
                line.invalidate();
            }
        }
        if let Some(record) = self.records.get_mut(reference.slot as usize) {
            record.masquerade = masquerade;
        }
    }

    /// Notes that the reply tuple, which is given back, stands in the directory.
    pub fn publish(&mut self, reference: ConnRef) -> Option<Tuple> {
        self.get_mut(reference)?.status.set_published();
        let reply = self.tuple(reference.slot, Direction::Reply);
        // The connection may take the place of one with the same tuples that has just ended.
        self.unpublished.retain(|ended| *ended != reply);
        Some(reply)
    }

    /// Mark of a connection; 0 none.
    pub fn mark(&self, reference: ConnRef) -> u32 {
        let slot = self.slot(reference);
        slot.and_then(|slot| self.records.get(slot)).map_or(0, |record| record.mark)
    }

    /// Sets the connection mark. Who does it sees to it that cached actions which rest on it end.
    pub(crate) fn set_mark(&mut self, reference: ConnRef, mark: u32) {
        if let Some(record) = self.slot(reference).and_then(|slot| self.records.get_mut(slot)) {
            record.mark = mark;
        }
    }

    /// Gives an unconfirmed connection its reply tuple and makes it findable by it.
    pub fn reserve_reply(&mut self, reference: ConnRef, reply: Tuple) -> Result<(), Clash> {
        if !self.is_free_for(reference, &reply) {
            return Err(Clash);
        }
        self.reserve_free_reply(reference, reply)
    }

    /// The same for a tuple that is known to be free for it.
    pub fn reserve_free_reply(&mut self, reference: ConnRef, reply: Tuple) -> Result<(), Clash> {
        let Some(conn) = self.tuples(reference) else { return Err(Clash) };
        if self.is_indexed(reference.slot, Direction::Reply) {
            let index = Self::index(reference.slot, Direction::Reply);
            self.buckets.remove(self.hash(&conn.reply), index);
        }
        // A flow whose answers look like its questions is found by its original tuple.
        if conn.original == reply {
            self.set_tuple(reference.slot, Direction::Reply, &reply);
        } else {
            self.enter(reference.slot, Direction::Reply, &reply);
        }
        Ok(())
    }

    /// Another packet holds a connection while it is unconfirmed.
    pub(in crate::conntrack) fn hold(&mut self, slot: u32) {
        if let Some(record) = self.records.get_mut(slot as usize) {
            record.pending = record.pending.saturating_add(1);
        }
    }

    /// A packet of the connection leaves the router or is delivered: the connection stays. Again for a
    /// confirmed one does nothing.
    pub fn confirm(&mut self, reference: ConnRef) -> Result<(), Clash> {
        let Some(line) = self.get_mut(reference) else { return Ok(()) };
        if line.status.confirmed() {
            return Ok(());
        }
        let status = line.status;
        if !status.reply_indexed() {
            self.reserve_reply(reference, self.tuple(reference.slot, Direction::Reply))?;
        }
        if let Some(line) = self.get_mut(reference) {
            line.status.set_confirmed();
        }
        if !status.assured() {
            self.link(reference.slot);
        }
        Ok(())
    }

    /// A packet of the connection was dropped. Removes the connection when it is unconfirmed and no other
    /// packet holds it.
    pub fn abandon(&mut self, reference: ConnRef) {
        let Some(slot) = self.slot(reference) else { return };
        if self.lines.get(slot).is_some_and(|line| line.status.confirmed()) {
            return;
        }
        let Some(record) = self.records.get_mut(slot) else { return };
        record.pending = record.pending.saturating_sub(1);
        if record.pending == 0 {
            self.remove_slot(reference.slot);
        }
    }

    /// All confirmed connections.
    pub fn connections(&self) -> impl Iterator<Item = Connection> {
        (0..self.lines.len() as u32)
            .filter(|slot| self.is_shown(*slot))
            .filter_map(|slot| self.connection(slot))
    }

    /// Whether a slot is in use, for a connection that others may know of.
    pub(in crate::conntrack) fn is_shown(&self, slot: u32) -> bool {
        self.lines.get(slot as usize).is_some_and(|line| line.status.used() && line.status.confirmed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_takes_at_most_256_bytes_and_64_more_with_ipv6() {
        for slots in [1000, 65_536, 200_000, 1 << 20] {
            let fixed = 2 * size_of::<Entry>() + size_of::<Line>() + size_of::<Record>() + Wheel::SLOT_BYTES;
            let hashed = Buckets::new(2 * slots).bytes().div_ceil(slots);
            assert!(fixed + hashed <= 256, "{fixed} + {hashed} with {slots} connections");
        }
        assert_eq!(V6::BYTES, 64);
    }
}
