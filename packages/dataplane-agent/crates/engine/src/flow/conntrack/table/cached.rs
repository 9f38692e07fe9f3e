//! Cached actions and traffic counters of the directions of a connection.

use super::ConnectionTable;
use crate::flow::change_counters::Stamp;
use crate::flow::conntrack::connection::Totals;
use crate::flow::conntrack::entry::{CachedAction, NewEnds, action_flag};
use crate::flow::conntrack::validity::Validity;
use crate::ids::{ConnRef, Direction, EntryIndex};
use crate::packet::membership_slot::MembershipSlot;

impl ConnectionTable {
    /// The cached action of an entry, if the connection has not changed since. Whether it is valid also depends on the
    /// [flow action](crate::flow::actions::FlowActions) and on the stamp.
    #[inline]
    pub fn cached(&self, index: EntryIndex) -> Option<&CachedAction> {
        let cached = self.installed(index)?;
        self.connection_at(index).is_some_and(|hot| hot.version == cached.version).then_some(cached)
    }

    /// Notes that the action of an entry has been found valid.
    pub(crate) fn set_stamp(&mut self, index: EntryIndex, stamp: Stamp) {
        if let Some(entry) = self.entries.get_mut(index) {
            entry.cached.stamp = stamp;
        }
    }

    /// The action that was last cached for an entry, whether or not it is still valid.
    pub fn installed(&self, index: EntryIndex) -> Option<&CachedAction> {
        Some(&self.entries.get(index)?.cached).filter(|cached| cached.is_some())
    }

    /// The address list lookups that the action of an entry depends on.
    pub(crate) fn memberships(&self, index: EntryIndex) -> [MembershipSlot; 2] {
        let listed = self.installed(index).is_some_and(|cached| cached.has(action_flag::LISTED));
        if listed { self.memberships.get(index) } else { [MembershipSlot::NONE; 2] }
    }

    /// Removes the cached actions of all entries, before the numbers of flow actions begin anew.
    #[cold]
    pub fn forget_actions(&mut self) {
        self.entries.forget_actions();
    }

    /// Caches an action for a direction, for the present version of the connection. Returns `false` if the connection is
    /// gone or not yet confirmed.
    // The action is written field by field: a copy of it would stall on the store buffer.
    #[inline(always)]
    pub fn install(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        cached: CachedAction,
        lists: [MembershipSlot; 2],
    ) -> bool {
        let Some(slot) = self.slot(reference) else { return false };
        let Some(hot) = self.hot.get(slot).filter(|hot| hot.status.confirmed()) else { return false };
        let version = hot.version;
        let index = Self::index(reference.slot, direction);
        let Some(entry) = self.entries.get_mut(index) else { return false };
        entry.cached = CachedAction { version, ..cached };
        if lists != [MembershipSlot::NONE; 2] {
            entry.cached.flags |= action_flag::LISTED;
            self.memberships.set(index, lists);
        }
        true
    }

    /// Sets the new addresses and ports of a direction of an IPv6 connection whose action is translated.
    pub fn set_new_ends(&mut self, reference: ConnRef, direction: Direction, ends: NewEnds) {
        if let Some(entry) = self.entries.get_mut(Self::index(reference.slot, direction)) {
            entry.set_new_ends(ends);
        }
    }

    /// Caches an action with a limited validity. `false` also when there is no room for validities.
    pub fn install_with_validity(
        &mut self,
        reference: ConnRef,
        direction: Direction,
        cached: CachedAction,
        lists: [MembershipSlot; 2],
        validity: Validity,
    ) -> bool {
        let flags = cached.flags | action_flag::LIMITED_VALIDITY;
        self.validities.set(Self::index(reference.slot, direction), validity)
            && self.install(reference, direction, CachedAction { flags, ..cached }, lists)
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
        self.note_fasttracked(reference.slot);
        true
    }
}
