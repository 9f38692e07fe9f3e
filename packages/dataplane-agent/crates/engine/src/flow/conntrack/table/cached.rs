//! Cached actions and traffic counters of the directions of a connection.

use super::ConnectionTable;
use crate::flow::change_counters::Stamp;
use crate::flow::conntrack::connection::Totals;
use crate::flow::conntrack::entry::{CachedAction, FlowEntry, action_flag};
use crate::flow::conntrack::validity::Validity;
use crate::ids::{ConnRef, Direction, EntryIndex};

impl ConnectionTable {
    /// The cached action of an entry, if it is still valid for packets from this port.
    #[inline]
    pub fn cached(
        &self,
        index: EntryIndex,
        cache_epoch: u32,
        stamp: Stamp,
        in_port: u16,
    ) -> Option<&CachedAction> {
        let entry = self.entries.get(index as usize)?;
        let action = &entry.action;
        let holds = action.cache_epoch == cache_epoch
            && action.stamp == stamp
            && entry.in_port() == in_port
            && self.connection_at(index).is_some_and(|hot| hot.version == action.version);
        holds.then_some(action)
    }

    /// Stamp at which the action of an entry was last found valid, and its flags.
    #[inline]
    pub fn stamp(&self, index: EntryIndex) -> (Stamp, u16) {
        self.entries.get(index as usize).map_or((0, 0), |entry| (entry.action.stamp, entry.action.flags))
    }

    /// The action that was last cached for an entry, whether or not it is still valid.
    pub fn installed(&self, index: EntryIndex) -> Option<&CachedAction> {
        let action = &self.entries.get(index as usize)?.action;
        (action.cache_epoch != 0).then_some(action)
    }

    /// Ingress port of the packets for which the action of an entry is valid.
    pub fn in_port(&self, index: EntryIndex) -> Option<u16> {
        self.entries.get(index as usize).map(FlowEntry::in_port)
    }

    /// Caches an action for a direction, for the present version of the connection and packets from `in_port`. Returns
    /// `false` if the connection is gone or not yet confirmed.
    // The action is written field by field: a copy of it would stall on the store buffer.
    #[inline(always)]
    pub fn install(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        in_port: u16,
        action: CachedAction,
    ) -> bool {
        let Some(slot) = self.slot(reference) else { return false };
        let Some(hot) = self.hot.get(slot).filter(|hot| hot.status.confirmed()) else { return false };
        let version = hot.version;
        let Some(entry) = self.entries.get_mut(Self::index(reference.slot, direction) as usize) else {
            return false;
        };
        entry.set(in_port, CachedAction { version, ..action });
        true
    }

    /// Caches an action with a limited validity. `false` also when there is no room for validities.
    pub fn install_with_validity(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        in_port: u16,
        action: CachedAction,
        validity: Validity,
    ) -> bool {
        let flags = action.flags | action_flag::LIMITED_VALIDITY;
        self.validities.set(Self::index(reference.slot, direction), validity)
            && self.install(reference, direction, in_port, CachedAction { flags, ..action })
    }

    /// L3 bytes that a connection has carried in both directions together.
    #[inline]
    pub fn carried(&self, slot: u32) -> u64 {
        let Some(hot) = self.hot.get(slot as usize) else { return 0 };
        let [original, reply] = if hot.status.spilled() { self.spilled.get(slot).bytes } else { [0; 2] };
        hot.carried().wrapping_add(original).wrapping_add(reply)
    }

    /// Counts packets that the flow cache did not forward.
    #[inline]
    pub fn count_slow(&mut self, reference: ConnRef, direction: Direction, packets: u32, bytes: u64) {
        if let Some(slot) = self.slot(reference) {
            let index = Self::index(slot as u32, direction);
            self.count(index, packets, bytes);
            if self.connection_at(index).is_some_and(|hot| hot.status.fasttrack()) {
                self.slow_part.add(reference.slot, direction, packets, bytes);
            }
        }
    }

    /// Counts packets as fasttracked that [`Self::count_slow`] has counted as not forwarded by the flow cache.
    pub fn count_fasttracked(&mut self, reference: ConnRef, direction: Direction, packets: u32, bytes: u64) {
        if self.slot(reference).is_some() {
            self.slow_part.subtract(reference.slot, direction, packets, bytes);
        }
    }

    /// Adds to the counters of a direction.
    #[inline]
    pub fn count(&mut self, index: EntryIndex, packets: u32, bytes: u64) {
        let direction = Self::direction_of(index);
        if !self.connection_at_mut(index).is_some_and(|hot| hot.count(direction, packets, bytes)) {
            self.spill(index, packets, bytes);
        }
    }

    /// Moves the counters of the hot state, which would overflow, to the spilled counters.
    #[cold]
    pub(super) fn spill(&mut self, index: EntryIndex, packets: u32, bytes: u64) {
        let (slot, direction) = (index >> 1, Self::direction_of(index));
        let Some(hot) = self.hot.get_mut(slot as usize) else { return };
        hot.status.set_spilled();
        let (hot_packets, hot_bytes) = hot.take_counts();
        self.spilled.add_both(slot, hot_packets, hot_bytes);
        self.spilled.add(slot, direction, packets, bytes);
    }

    /// Packets and bytes of a connection, and those of them that were fasttracked.
    pub fn totals(&self, slot: u32) -> (Totals, Totals) {
        let Some(hot) = self.hot.get(slot as usize) else { return Default::default() };
        let (packets, bytes) = hot.counts();
        let mut totals = Totals { packets, bytes };
        if hot.status.spilled() {
            totals = totals.plus(self.spilled.get(slot));
        }
        let fasttracked =
            if hot.status.fasttrack() { totals.minus(self.slow_part.get(slot)) } else { Totals::default() };
        (totals, fasttracked)
    }

    /// Marks a connection as fasttracked; `false` when it was already, or is gone.
    pub fn set_fasttrack(&mut self, reference: ConnRef) -> bool {
        let (totals, _) = self.totals(reference.slot);
        let Some(hot) = self.get_mut(reference).filter(|hot| !hot.status.fasttrack()) else {
            return false;
        };
        hot.status.set_fasttrack();
        hot.invalidate();
        self.slow_part.set(reference.slot, totals);
        self.counters.fasttracked += 1;
        true
    }
}
