//! Creation of connections: slots, reservation of tuples, translations, marks and confirmation.

use std::sync::Arc;

use tollway_config::dataplane::{PortRange, RowId};

use super::entries::BLOCK_BITS;
use super::store::ColdState;
use super::{Clash, ConnectionTable};
use crate::flow::conntrack::connection::NIL;
use crate::flow::conntrack::hot_state::HotState;
use crate::flow::conntrack::tcp::ProtocolState;
use crate::flow::outside_ports::{FreePorts, PortSpace, SharedFreePorts};
use crate::ids::{ConnRef, Direction};
use crate::packet::tuple::{Addr, Tuple, steer};

impl ConnectionTable {
    /// Creates an unconfirmed connection, which is found only by its original tuple. The caller sets its lifetime.
    #[inline(always)]
    pub(in crate::flow::conntrack) fn create(&mut self, tuple: Tuple, tracker: ProtocolState) -> Option<u32> {
        if self.live >= self.max_entries && !self.evict() {
            return None;
        }
        let v6 = !tuple.is_v4();
        let slot = self.take_slot(HotState::new(tracker), v6)?;
        self.live += 1;
        let family = if v6 { &mut self.counters.ip6 } else { &mut self.counters.ip4 };
        *family += 1;
        self.enter(slot, Direction::Original, &tuple);
        self.set_tuple(slot, Direction::Reply, &tuple.reversed());
        if self.workers > 1 && steer(&tuple, self.workers) != self.worker {
            self.note_published(slot, &tuple);
        }
        Some(slot)
    }

    /// Allocates a slot for a new connection: a free one that was last used for the same family, if there is one.
    #[inline(always)]
    pub(super) fn take_slot(&mut self, hot: HotState, v6: bool) -> Option<u32> {
        let [v4_list, v6_list] = &self.free;
        let (own, other) = if v6 { (*v6_list, *v4_list) } else { (*v4_list, *v6_list) };
        let (slot, from_v6) = if own != NIL {
            (own, v6)
        } else if let Some(slot) = self.add_block() {
            (slot, v6)
        } else {
            (other, !v6)
        };
        let record = self.records.get_mut(slot as usize)?;
        if let Some(list) = self.free.get_mut(usize::from(from_v6)) {
            *list = record.newer;
        }
        *record = ColdState::new(record.serial);
        *self.hot.get_mut(slot as usize)? = hot;
        Some(slot)
    }

    /// Adds a block of free slots, each of which is linked to the next one. Returns the first; `None` if there is no room
    /// for a block.
    #[cold]
    fn add_block(&mut self) -> Option<u32> {
        let (first, count) = (self.hot.len(), 1 << BLOCK_BITS);
        let end = first + count;
        if end > self.hot.capacity() {
            return None;
        }
        self.hot.resize(end, HotState::unused());
        let next = |slot: usize| if slot < end { slot as u32 } else { NIL };
        self.records
            .extend((first..end).map(|slot| ColdState { newer: next(slot + 1), ..ColdState::new(1) }));
        self.entries.add_slots(count);
        Some(first as u32)
    }

    /// Whether the tuple of a direction is in the hash table.
    #[inline]
    pub(super) fn is_indexed(&self, slot: u32, direction: Direction) -> bool {
        self.hot.get(slot as usize).is_some_and(|hot| match direction {
            Direction::Original => hot.status.original_indexed(),
            Direction::Reply => hot.status.reply_indexed(),
        })
    }

    /// Adds the tuple of a direction to the hash table.
    pub(super) fn enter(&mut self, slot: u32, direction: Direction, tuple: &Tuple) {
        let key = self.set_tuple(slot, direction, tuple);
        let entered = self.buckets.insert(self.hash_of(&key, tuple), Self::index(slot, direction));
        self.note_port(tuple, false);
        if let Some(hot) = self.hot.get_mut(slot as usize).filter(|_| entered) {
            match direction {
                Direction::Original => hot.status.set_original_indexed(),
                Direction::Reply => hot.status.set_reply_indexed(),
            }
        }
    }

    /// Whether no other connection holds a tuple.
    pub fn is_free_for(&self, reference: ConnRef, tuple: &Tuple) -> bool {
        self.find_entry(tuple, self.hash(tuple)).is_none_or(|index| index >> 1 == reference.slot)
    }

    /// Binds the destination of a connection: its replies have the tuple `reply`, or the reversed original tuple if
    /// `None`.
    pub fn bind_destination(&mut self, reference: ConnRef, reply: Option<Tuple>) {
        let Some(hot) = self.get_mut(reference) else { return };
        hot.status.set_destination_bound();
        if reply.is_some() {
            hot.status.set_dstnat();
            hot.invalidate();
        }
        if let Some(reply) = reply {
            self.set_tuple(reference.slot, Direction::Reply, &reply);
        }
    }

    /// Binds the source of a connection to the translated address; `None` if it keeps address and port. `masquerade` is
    /// the interface row whose address that is, 0 without masquerade.
    pub fn bind_source(&mut self, reference: ConnRef, address: Option<Addr>, masquerade: RowId) {
        let Some(hot) = self.get_mut(reference) else { return };
        hot.status.set_source_bound();
        if address.is_some() {
            hot.status.set_srcnat();
            hot.invalidate();
        }
        self.last_source = address.unwrap_or_default();
        if let Some(record) = self.records.get_mut(reference.slot as usize) {
            record.masquerade = masquerade;
        }
    }

    /// Notes that the directory holds a connection, as its original tuple is steered to another worker.
    #[cold]
    fn note_published(&mut self, slot: u32, tuple: &Tuple) {
        if let Some(hot) = self.hot.get_mut(slot as usize) {
            hot.status.set_published();
        }
        // The connection may replace one with the same tuple that has just ended.
        self.unpublished.retain(|ended| ended != tuple);
    }

    /// Notes that the flow of an unconfirmed connection moves to another worker. The directory has been updated
    /// already.
    pub fn note_moved(&mut self, reference: ConnRef) {
        if let Some(hot) = self.get_mut(reference) {
            hot.status.clear_published();
            hot.status.set_moved();
        }
    }

    /// The map of the free ports of a range, if this worker has one.
    pub(crate) fn port_map(&mut self, space: &PortSpace, range: PortRange) -> Option<Arc<FreePorts>> {
        self.ports.get(space, range)
    }

    /// Adds a map of the free ports of a range; other workers see it in `free_ports`.
    pub(crate) fn begin_port_map(
        &mut self,
        free_ports: Option<&SharedFreePorts>,
        space: PortSpace,
        range: PortRange,
    ) -> Arc<FreePorts> {
        match free_ports {
            Some(free_ports) => free_ports.begin(&mut self.ports, space, range, self.worker, self.workers),
            None => self.ports.add(space, range),
        }
    }

    /// Updates the maps of free ports: a connection has allocated (`free` is false) or released a tuple.
    #[inline]
    pub(super) fn note_port(&mut self, tuple: &Tuple, free: bool) {
        if !self.ports.is_empty() && steer(tuple, self.workers) == self.worker {
            self.ports.note(tuple, free);
        }
    }

    /// Mark of a connection; 0 none.
    pub fn mark(&self, reference: ConnRef) -> u32 {
        let slot = self.slot(reference);
        slot.and_then(|slot| self.records.get(slot)).map_or(0, |record| record.mark)
    }

    /// Sets the connection mark. The caller invalidates cached actions that depend on it.
    pub(crate) fn set_mark(&mut self, reference: ConnRef, mark: u32) {
        if let Some(record) = self.slot(reference).and_then(|slot| self.records.get_mut(slot)) {
            record.mark = mark;
        }
    }

    /// Sets the reply tuple of an unconfirmed connection and adds it to the hash table.
    pub fn reserve_reply(&mut self, reference: ConnRef, reply: Tuple) -> Result<(), Clash> {
        if !self.is_free_for(reference, &reply) {
            return Err(Clash);
        }
        self.reserve_free_reply(reference, reply)
    }

    /// [`Self::reserve_reply`] for a tuple that is known to be free.
    pub fn reserve_free_reply(&mut self, reference: ConnRef, reply: Tuple) -> Result<(), Clash> {
        self.slot(reference).ok_or(Clash)?;
        if self.is_indexed(reference.slot, Direction::Reply) {
            let held = self.tuple(reference.slot, Direction::Reply);
            let index = Self::index(reference.slot, Direction::Reply);
            self.buckets.remove(self.hash(&held), index);
            self.note_port(&held, true);
        }
        // If the reply tuple equals the original tuple, the connection is found by the original one.
        if self.tuple(reference.slot, Direction::Original) == reply {
            self.set_tuple(reference.slot, Direction::Reply, &reply);
        } else {
            self.enter(reference.slot, Direction::Reply, &reply);
        }
        Ok(())
    }

    /// Counts another packet that refers to an unconfirmed connection.
    pub(in crate::flow::conntrack) fn hold(&mut self, slot: u32) {
        if let Some(record) = self.records.get_mut(slot as usize) {
            record.pending = record.pending.saturating_add(1);
        }
    }

    /// Called when a packet of the connection leaves the router or is delivered: confirms the connection. Does nothing
    /// for a confirmed one.
    pub fn confirm(&mut self, reference: ConnRef) -> Result<(), Clash> {
        let Some(hot) = self.get_mut(reference) else { return Ok(()) };
        if hot.status.confirmed() {
            return Ok(());
        }
        if !hot.status.reply_indexed() {
            self.reserve_reply(reference, self.tuple(reference.slot, Direction::Reply))?;
        }
        if let Some(hot) = self.get_mut(reference) {
            hot.status.set_confirmed();
        }
        self.relist(reference.slot);
        Ok(())
    }

    /// Called when a packet of the connection was dropped. Removes the connection if it is unconfirmed and no other
    /// packet refers to it.
    pub fn abandon(&mut self, reference: ConnRef) {
        let Some(slot) = self.slot(reference) else { return };
        if self.hot.get(slot).is_some_and(|hot| hot.status.confirmed()) {
            return;
        }
        let Some(record) = self.records.get_mut(slot) else { return };
        record.pending = record.pending.saturating_sub(1);
        if record.pending == 0 {
            self.remove_slot(reference.slot);
        }
    }
}
