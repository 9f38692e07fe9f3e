//! The state of a connection outside its flow entries and hot state.

use tollway_config::dataplane::RowId;

use super::evict::UNLISTED;
use crate::flow::conntrack::connection::{NIL, Totals};
use crate::ids::Direction;
use crate::packet::tuple::Addr;

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

/// Source and destination of both directions of the IPv6 connections.
#[derive(Debug, Default)]
pub(super) struct V6 {
    places: Vec<[(Addr, Addr); 2]>,
    free: Vec<u32>,
}

impl V6 {
    /// Memory of a connection here, bytes.
    #[cfg(test)]
    pub const BYTES: usize = size_of::<[(Addr, Addr); 2]>();

    /// Allocates a place for another connection.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.places.push(Default::default());
            self.places.len() as u32 - 1
        })
    }

    /// Frees a place.
    pub fn give(&mut self, place: u32) {
        self.free.push(place);
    }

    /// Source and destination of a direction.
    #[inline]
    pub fn get(&self, place: u32, direction: Direction) -> (Addr, Addr) {
        let pair = self.places.get(place as usize).and_then(|pair| pair.get(direction.index()));
        pair.copied().unwrap_or_default()
    }

    /// Stores source and destination of a direction.
    pub fn set(&mut self, place: u32, direction: Direction, addresses: (Addr, Addr)) {
        let pair = self.places.get_mut(place as usize).and_then(|pair| pair.get_mut(direction.index()));
        if let Some(pair) = pair {
            *pair = addresses;
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
