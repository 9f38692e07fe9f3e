//! The state of a connection outside its flow entries and hot state.

use tollway_config::dataplane::RowId;

use super::evict::UNLISTED;
use crate::flow::conntrack::connection::{NIL, Totals};
use crate::ids::{Direction, EntryIndex};
use crate::packet::membership_slot::MembershipSlot;

/// The seldom used state of a connection.
#[derive(Debug, Clone)]
pub(super) struct ColdState {
    /// Number of allocations of the slot; never 0.
    pub serial: u32,
    /// The next older connection in the same list of evictable connections.
    pub older: u32,
    /// The next newer connection in that list; for a free slot, the next free slot.
    pub newer: u32,
    /// Connection mark.
    pub mark: u32,
    /// Interface row whose address a masquerade rule took; 0 without masquerade.
    pub masquerade: RowId,
    /// Number of packets being processed that refer to the connection while it is unconfirmed.
    pub pending: u16,
    /// Number of the list of evictable connections.
    pub list: u8,
}

impl ColdState {
    /// State of a slot that was just allocated.
    pub fn new(serial: u32) -> Self {
        Self { serial, older: NIL, newer: NIL, mark: 0, masquerade: 0, pending: 0, list: UNLISTED }
    }
}

const _: () = assert!(size_of::<ColdState>() == 24);

/// The address list lookups that cached actions depend on, by entry, in memory that is touched only for such actions.
#[derive(Debug)]
pub(super) struct Memberships(Vec<u32>);

impl Memberships {
    /// None for `entries` entries.
    pub fn new(entries: usize) -> Self {
        Self(vec![0; entries])
    }

    /// Grows to `entries` entries, and keeps the lookups of those before.
    pub fn grow(&mut self, entries: usize) {
        let old = std::mem::replace(self, Self::new(entries)).0;
        for (new, old) in self.0.iter_mut().zip(old).filter(|(_, old)| *old != 0) {
            *new = old;
        }
    }

    /// The lookups of an entry.
    pub fn get(&self, index: EntryIndex) -> [MembershipSlot; 2] {
        MembershipSlot::pair_of(self.0.get(index as usize).copied().unwrap_or(0))
    }

    /// Sets the lookups of an entry.
    pub fn set(&mut self, index: EntryIndex, lookups: [MembershipSlot; 2]) {
        if let Some(place) = self.0.get_mut(index as usize) {
            *place = MembershipSlot::number_of(lookups);
        }
    }
}

/// Counters of the few connections that need them, in memory that is touched only for those.
#[derive(Debug)]
pub(super) struct TotalsBySlot(Vec<[u64; 4]>);

impl TotalsBySlot {
    /// Counters of zero for `slots` slots.
    pub fn new(slots: usize) -> Self {
        Self(vec![[0; 4]; slots])
    }

    /// Grows to `slots` slots, and keeps the counters of those for which `used` holds.
    pub fn grow(&mut self, slots: usize, used: impl Fn(u32) -> bool) {
        let old = std::mem::replace(self, Self::new(slots));
        for (slot, cells) in (0..).zip(old.0).filter(|(slot, _)| used(*slot)) {
            if let Some(new) = self.0.get_mut(slot as usize) {
                *new = cells;
            }
        }
    }

    /// Counters of a slot; zero if it has none.
    pub fn get(&self, slot: u32) -> Totals {
        let [p0, p1, b0, b1] = self.0.get(slot as usize).copied().unwrap_or_default();
        Totals { packets: [p0, p1], bytes: [b0, b1] }
    }

    /// Replaces the counters of a slot.
    pub fn set(&mut self, slot: u32, totals: Totals) {
        if let Some(cells) = self.0.get_mut(slot as usize) {
            let ([p0, p1], [b0, b1]) = (totals.packets, totals.bytes);
            *cells = [p0, p1, b0, b1];
        }
    }

    /// Adds packets and bytes of both directions.
    pub fn add_both(&mut self, slot: u32, packets: [u64; 2], bytes: [u64; 2]) {
        self.set(slot, self.get(slot).plus(Totals { packets, bytes }));
    }

    /// Adds packets and bytes of a direction.
    pub fn add(&mut self, slot: u32, direction: Direction, packets: u32, bytes: u64) {
        self.set(slot, self.get(slot).plus(Totals::of(direction, packets, bytes)));
    }

    /// Subtracts packets and bytes of a direction.
    pub fn subtract(&mut self, slot: u32, direction: Direction, packets: u32, bytes: u64) {
        self.set(slot, self.get(slot).minus(Totals::of(direction, packets, bytes)));
    }
}
