//! How connections end: timers, removal, eviction.

use tollway_config::dataplane::RowId;

use super::Table;
use crate::conntrack::connection::{Direction, NIL};
use crate::conntrack::entry::{Entry, EntryIndex};
use crate::time::Now;
use crate::tuple::{Addr, Tuple};

impl Table {
    /// Removes a connection by id; `false` when there is none.
    pub fn remove(&mut self, id: u64) -> bool {
        self.remove_all(&[id]) != 0
    }

    /// Removes connections by id, going through the table once however many they are. Says how many there
    /// were.
    pub fn remove_all(&mut self, ids: &[u64]) -> usize {
        let own = |id: &u64| *id != 0 && *id >> 56 == u64::from(self.worker);
        let mut wanted: Vec<u64> = ids.iter().copied().filter(own).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut removed = 0;
        for slot in 0..self.connections.len() {
            if removed == wanted.len() {
                break;
            }
            let id = self.connections.get(slot).map_or(0, |conn| conn.id);
            if wanted.binary_search(&id).is_ok() {
                self.remove_slot(slot as u32);
                removed += 1;
            }
        }
        removed
    }

    /// Removes the masqueraded connections for which `gone` holds, of the interface row whose address
    /// they took and that address. Says how many.
    pub fn purge_masqueraded(&mut self, mut gone: impl FnMut(RowId, Addr) -> bool) -> usize {
        let mut removed = 0;
        for slot in 0..self.connections.len() as u32 {
            let purge = self.connections.get(slot as usize).is_some_and(|conn| {
                conn.id != 0 && conn.nat.masquerade != 0 && gone(conn.nat.masquerade, conn.reply.dst)
            });
            if purge {
                self.remove_slot(slot);
                removed += 1;
            }
        }
        removed
    }

    /// Removes connections whose time is over, looking at no more than `budget` of them. Says how many
    /// were removed; when some may be left, [`Table::next_deadline`] lies in the past.
    pub fn expire(&mut self, now: Now, budget: usize) -> usize {
        let mut removed = 0;
        for _ in 0..budget {
            let Some(slot) = self.wheel.pop(now) else { break };
            match self.connections.get(slot as usize).filter(|conn| conn.id != 0).map(|conn| conn.expires) {
                Some(expires) if expires > now => self.arm(slot, expires),
                Some(_) => {
                    self.remove_slot(slot);
                    removed += 1;
                }
                None => {}
            }
        }
        removed
    }

    /// Takes the reply tuple of a removed connection that must leave the directory.
    pub fn take_unpublished(&mut self) -> Option<Tuple> {
        self.unpublished.pop()
    }

    /// When [`Table::expire`] should run next; `None` when the table is empty.
    pub fn next_deadline(&self) -> Option<Now> {
        self.wheel.next_deadline()
    }

    pub(super) fn arm(&mut self, slot: u32, deadline: Now) {
        if let Some(conn) = self.connections.get_mut(slot as usize) {
            conn.armed = deadline;
        }
        self.wheel.arm(slot, deadline);
    }

    /// The wheel finds later deadlines by itself, but must be told of sooner ones.
    #[inline]
    pub(in crate::conntrack) fn rearm_if_sooner(&mut self, index: EntryIndex) {
        let sooner =
            self.connection_at(index).filter(|conn| conn.expires < conn.armed).map(|conn| conn.expires);
        if let Some(expires) = sooner {
            self.arm(index >> 1, expires);
        }
    }

    pub(in crate::conntrack) fn remove_slot(&mut self, slot: u32) {
        let Some(conn) = self.connections.get(slot as usize).filter(|conn| conn.id != 0) else { return };
        let (original, reply, indexed, status) = (conn.original, conn.reply, conn.indexed, conn.status);
        let published = conn.nat.published;
        for (direction, tuple) in [(Direction::Original, original), (Direction::Reply, reply)] {
            let index = Self::index(slot, direction);
            if indexed.get(direction.index()) == Some(&true) {
                self.buckets.remove(self.hash(&tuple), index);
            }
            if let Some(entry) = self.entries.get_mut(index as usize) {
                *entry = Entry::default();
            }
        }
        self.note_ended(original, status);
        if published {
            self.unpublished.push(reply);
        }
        self.wheel.disarm(slot);
        self.unlink(slot);
        if let Some(conn) = self.connections.get_mut(slot as usize) {
            conn.id = 0;
        }
        self.free.push(slot);
        self.live -= 1;
        let family =
            if original.src.as_v4().is_some() { &mut self.counters.ip4 } else { &mut self.counters.ip6 };
        *family -= 1;
        self.counters.fasttracked -= u64::from(status.fasttrack());
    }

    /// Gives up the oldest connection that is not assured.
    pub(super) fn evict(&mut self) -> bool {
        if self.oldest == NIL {
            return false;
        }
        self.remove_slot(self.oldest);
        self.counters.evicted += 1;
        true
    }

    pub(super) fn link(&mut self, slot: u32) {
        let newest = std::mem::replace(&mut self.newest, slot);
        if let Some(conn) = self.connections.get_mut(slot as usize) {
            (conn.older, conn.newer) = (newest, NIL);
        }
        match self.connections.get_mut(newest as usize) {
            Some(conn) => conn.newer = slot,
            None => self.oldest = slot,
        }
    }

    pub(in crate::conntrack) fn unlink(&mut self, slot: u32) {
        let Some(conn) = self.connections.get_mut(slot as usize) else { return };
        let linked = conn.older != NIL || conn.newer != NIL || self.oldest == slot;
        if !linked {
            return;
        }
        let (older, newer) = (conn.older, conn.newer);
        (conn.older, conn.newer) = (NIL, NIL);
        match self.connections.get_mut(older as usize) {
            Some(conn) => conn.newer = newer,
            None => self.oldest = newer,
        }
        match self.connections.get_mut(newer as usize) {
            Some(conn) => conn.older = older,
            None => self.newest = older,
        }
    }
}
