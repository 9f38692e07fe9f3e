//! Expiry and removal of connections. Eviction from a full table is in `evict.rs`.

use arrayvec::ArrayVec;
use tollway_config::dataplane::RowId;

use super::{ConnectionTable, SLOT_BITS};
use crate::flow::conntrack::connection::{NIL, Totals};
use crate::flow::conntrack::tcp::State;
use crate::flow::conntrack::timeouts::Timeouts;
use crate::ids::Direction;
use crate::packet::tuple::{Addr, Tuple};
use crate::time::Now;

/// Number of allocations of a slot after which its ids repeat. The bits above hold the worker's number.
const MAX_SERIAL: u32 = 1 << (56 - SLOT_BITS);
/// Number of expired connections that are processed together: a core has 10 to 24 fetches in flight, and each
/// connection needs about six.
const MAX_BATCH: usize = 8;

impl ConnectionTable {
    /// Removes a connection by id; `false` when there is none.
    pub fn remove(&mut self, id: u64) -> bool {
        self.remove_all(&[id]) != 0
    }

    /// Removes connections by id. Returns the number removed.
    pub fn remove_all(&mut self, ids: &[u64]) -> usize {
        let mut removed = 0;
        for &id in ids {
            let slot = (id & ((1 << SLOT_BITS) - 1)) as u32;
            let current = self.records.get(slot as usize).map(|record| self.id(slot, record.serial));
            if current == Some(id) && self.hot.get(slot as usize).is_some_and(|hot| hot.status.used()) {
                self.remove_slot(slot);
                removed += 1;
            }
        }
        removed
    }

    /// Called when an address with which connections may be masqueraded is gone: begins to remove these connections
    /// step by step.
    pub fn begin_purge(&mut self) {
        self.purge = Some(0);
    }

    /// Whether such a removal is under way.
    #[inline]
    pub fn is_purging(&self) -> bool {
        self.purge.is_some()
    }

    /// Removes masqueraded connections for which `gone` holds, given the interface row and its address, in the next
    /// `budget` slots. Returns the number removed.
    pub fn purge_masqueraded(&mut self, budget: u32, mut gone: impl FnMut(RowId, Addr) -> bool) -> usize {
        let Some(from) = self.purge else { return 0 };
        let slots = self.hot.len() as u32;
        let end = from.saturating_add(budget).min(slots);
        self.purge = (end < slots).then_some(end);
        (from..end).filter(|slot| self.purge_slot(*slot, &mut gone)).count()
    }

    /// [`Self::purge_masqueraded`] for the connection of a tuple.
    pub fn purge_flow(&mut self, tuple: &Tuple, mut gone: impl FnMut(RowId, Addr) -> bool) -> bool {
        let found = self.find_entry(tuple, self.hash(tuple));
        found.is_some_and(|index| self.purge_slot(index >> 1, &mut gone))
    }

    /// Interface row whose address a masqueraded connection uses; 0 without masquerade.
    #[inline]
    pub(super) fn masquerade(&self, slot: u32) -> RowId {
        self.records.get(slot as usize).map_or(0, |record| record.masquerade)
    }

    fn purge_slot(&mut self, slot: u32, gone: &mut impl FnMut(RowId, Addr) -> bool) -> bool {
        let used = self.hot.get(slot as usize).is_some_and(|hot| hot.status.used());
        let masquerade = self.masquerade(slot);
        let purge = used && masquerade != 0 && gone(masquerade, self.tuple(slot, Direction::Reply).dst);
        if purge {
            self.remove_slot(slot);
        }
        purge
    }

    /// Removes expired connections; looks at no more than `budget` timers. Returns the number removed. If some may be
    /// left, [`ConnectionTable::next_deadline`] is in the past.
    ///
    /// The memory that a removal needs is scattered. It is prefetched for some connections while those before are
    /// removed.
    pub fn expire(&mut self, now: Now, budget: usize, timeouts: &Timeouts) -> usize {
        let (mut removed, mut left) = (0, budget);
        let mut over = ArrayVec::<(u32, [u32; 2]), MAX_BATCH>::new();
        loop {
            let due = self.take_due(now, left);
            left -= due.len();
            removed += over.len();
            for (slot, hashes) in over.drain(..) {
                if self.end(slot, hashes) {
                    self.free_slot(slot);
                }
            }
            if due.is_empty() {
                return removed;
            }
            over.extend(due.into_iter().filter_map(|slot| Some((slot, self.expired(slot, now, timeouts)?))));
        }
    }

    /// Takes at most `most` connections whose timers have expired.
    fn take_due(&mut self, now: Now, most: usize) -> ArrayVec<u32, MAX_BATCH> {
        let mut due = ArrayVec::new();
        while due.len() < most.min(MAX_BATCH)
            && let Some(slot) = self.wheel.pop(now)
        {
            self.prefetch_slot(slot);
            due.push(slot);
        }
        due
    }

    /// The hashes of both directions of a connection, if it has expired; otherwise rearms its timer and returns `None`.
    fn expired(&mut self, slot: u32, now: Now, timeouts: &Timeouts) -> Option<[u32; 2]> {
        let hot = self.hot.get(slot as usize).filter(|hot| hot.status.used())?;
        if hot.is_alive(now) {
            let left = hot.left(now).min(self.shortest_timeout(slot, timeouts));
            self.wheel.arm(slot, now.after(left));
            return None;
        }
        let hashes = self.hashes(slot);
        hashes.iter().for_each(|hash| self.buckets.prefetch(*hash));
        Some(hashes)
    }

    /// Prefetches the memory that the removal of a connection needs, except for its place in the hash index.
    fn prefetch_slot(&self, slot: u32) {
        let (hot, record) = (self.hot.get(slot as usize), self.records.get(slot as usize));
        if let (Some(hot), Some(record)) = (hot, record) {
            tollway_prefetch::fetch(hot);
            tollway_prefetch::fetch(record);
        }
        self.entries.prefetch_slot(slot);
    }

    /// The shortest lifetime that the fast path may set for a connection, ns.
    fn shortest_timeout(&self, slot: u32, timeouts: &Timeouts) -> u64 {
        match self.hot.get(slot as usize) {
            // Others have no TCP state; their entry need not be read.
            Some(hot) if hot.protocol_state.state() != State::None => {
                hot.protocol_state.shortest_timeout(timeouts)
            }
            _ => u64::MAX,
        }
    }

    /// Sets the expiry of a connection to `lifetime` ns from now. The timer is armed for the earliest expiry that the
    /// fast path may set; when it expires too early it is rearmed.
    pub(in crate::flow::conntrack) fn extend(
        &mut self,
        slot: u32,
        now: Now,
        lifetime: u64,
        timeouts: &Timeouts,
    ) {
        if let Some(hot) = self.hot.get_mut(slot as usize) {
            hot.extend(now, lifetime);
        }
        let deadline = now.after(lifetime.min(self.shortest_timeout(slot, timeouts)));
        self.wheel.arm_by(slot, deadline);
    }

    /// Takes the original tuple of a removed connection that has to be removed from the directory.
    pub fn take_unpublished(&mut self) -> Option<Tuple> {
        self.unpublished.pop()
    }

    /// When [`ConnectionTable::expire`] should run next; `None` when the table is empty.
    pub fn next_deadline(&self) -> Option<Now> {
        self.wheel.next_deadline()
    }

    /// Removes a connection.
    pub(in crate::flow::conntrack) fn remove_slot(&mut self, slot: u32) {
        if self.end(slot, self.hashes(slot)) {
            self.free_slot(slot);
        }
    }

    /// Ends a connection so that a new one with the same tuple can be created. Packets of the same batch that refer to
    /// the old connection still find it; [`ConnectionTable::free_ended`] frees it. If the table is full, or the old
    /// connection is unconfirmed, it is removed at once.
    pub(in crate::flow::conntrack) fn replace(&mut self, slot: u32) {
        let confirmed = self.hot.get(slot as usize).is_some_and(|hot| hot.status.confirmed());
        if !confirmed || self.live >= self.max_entries {
            self.remove_slot(slot);
        } else if self.end(slot, self.hashes(slot))
            && let Some(record) = self.records.get_mut(slot as usize)
        {
            record.newer = std::mem::replace(&mut self.ended, slot);
        }
    }

    /// Frees connections that ended while packets referred to them; to be called when no packet is being processed.
    #[inline]
    pub fn free_ended(&mut self) {
        while self.ended != NIL {
            let slot = self.ended;
            self.ended = self.records.get(slot as usize).map_or(NIL, |record| record.newer);
            self.free_slot(slot);
        }
    }

    /// Ends a connection, given the hashes of its directions: it is found only by references any more. Returns `false`
    /// if the slot is not in use.
    fn end(&mut self, slot: u32, hashes: [u32; 2]) -> bool {
        let Some(hot) = self.hot.get_mut(slot as usize).filter(|hot| hot.status.used()) else {
            return false;
        };
        let (status, state) = (hot.status, hot.protocol_state.state());
        hot.status.clear_indexed();
        let (original, reply) = (self.tuple(slot, Direction::Original), self.tuple(slot, Direction::Reply));
        let [original_hash, reply_hash] = hashes;
        if status.original_indexed() {
            self.buckets.remove(original_hash, Self::index(slot, Direction::Original));
            self.note_port(&original, true);
        }
        if status.reply_indexed() {
            self.buckets.remove(reply_hash, Self::index(slot, Direction::Reply));
            self.note_port(&reply, true);
        }
        self.note_ended(slot, status, state);
        if status.published() {
            self.unpublished.push(original);
        }
        self.wheel.disarm(slot);
        self.unlist(slot);
        true
    }

    /// Frees the slot of an ended connection.
    fn free_slot(&mut self, slot: u32) {
        let Some(hot) = self.hot.get_mut(slot as usize) else { return };
        let status = std::mem::take(&mut hot.status);
        let [v4_list, v6_list] = &mut self.free;
        let original = self.entries.get(Self::index(slot, Direction::Original));
        let is_v6 = original.is_some_and(|entry| entry.key().is_v6());
        let (family, list) = match is_v6 {
            false => (&mut self.counters.ip4, v4_list),
            true => (&mut self.counters.ip6, v6_list),
        };
        *family -= 1;
        self.entries.clear(slot);
        if status.spilled() {
            self.spilled.set(slot, Totals::default());
        }
        if let Some(record) = self.records.get_mut(slot as usize) {
            record.serial = (record.serial + 1) % MAX_SERIAL;
            record.serial += u32::from(record.serial == 0);
            record.newer = std::mem::replace(list, slot);
        }
        self.live -= 1;
        self.counters.fasttracked -= u64::from(status.fasttrack());
        self.counters.fasttracked_ip6 -= u64::from(status.fasttrack() & is_v6);
    }
}
