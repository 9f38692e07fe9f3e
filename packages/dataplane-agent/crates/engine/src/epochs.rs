//! What of the shared tables has changed since a flow was decided: routes and address lists, which change
//! far more often than the configuration and mostly concern other flows.
//!
//! One counter moves with every change. Beside it a cell for each block of destinations, and one for each
//! of many hashes of list entries, holds the count at which something in it changed last. A cached decision
//! remembers the count at which it was made: while the counter has not moved it holds, and when it has, the
//! cells it rests on say whether it still does.
//!
//! Writers make a change visible first and count it afterwards. A reader that decided by the old table has the
//! old count then, and looks again.

use std::sync::PoisonError;

use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::tuple::Addr;

/// Cells of each kind.
const CELLS: usize = 1 << BLOCK_BITS;
/// Destinations share a cell when the first so many bits of their addresses agree. Loom watches every cell, so there
/// it gets along with two.
const BLOCK_BITS: u8 = if cfg!(feature = "loom") { 1 } else { 16 };

/// What decisions that ask an address list remember of the question: a hash of list and address, never 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ListCell(u16);

impl ListCell {
    /// No question.
    pub const NONE: Self = Self(0);

    /// The cell of an address in the list with a number that stays the same as long as the list is there.
    #[inline]
    pub fn of(list: u32, address: Addr) -> Self {
        let mixed = u64::from(list) << 32 ^ u64::from(address.fold());
        let hash = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BLOCK_BITS);
        Self((hash as u16).max(1))
    }
}

/// Count of changes as a decision remembers it: the low half.
pub type Stamp = u32;

/// The counter and its cells.
#[derive(Debug)]
pub struct Epochs {
    count: AtomicU64,
    routes: Box<[AtomicU32]>,
    lists: Box<[AtomicU32]>,
    /// Held by whoever counts a change.
    writer: Mutex<()>,
}

impl Default for Epochs {
    fn default() -> Self {
        let cells = || (0..CELLS).map(|_| AtomicU32::new(0)).collect();
        Self { count: AtomicU64::new(0), routes: cells(), lists: cells(), writer: Mutex::new(()) }
    }
}

impl Epochs {
    /// Changes so far. What a reader finds in the shared tables after this call is at least as new.
    #[inline]
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// To be called when routes to these networks (first address in host order, prefix length) have changed,
    /// after the change can be seen. Many changes at once count as one.
    pub fn routes_changed(&self, networks: impl IntoIterator<Item = (u32, u8)>) {
        self.change(|stamp| {
            for (network, len) in networks {
                let first = (network >> (32 - BLOCK_BITS)) as usize;
                let blocks = 1_usize << BLOCK_BITS.saturating_sub(len);
                for cell in self.routes.iter().skip(first).take(blocks) {
                    cell.store(stamp, Ordering::Relaxed);
                }
            }
        });
    }

    /// To be called when single addresses have come into lists or gone out of them, after the change can be
    /// seen. Many changes at once count as one.
    pub fn lists_changed(&self, cells: impl IntoIterator<Item = ListCell>) {
        self.change(|stamp| {
            for cell in cells {
                if let Some(cell) = self.lists.get(usize::from(cell.0)) {
                    cell.store(stamp, Ordering::Relaxed);
                }
            }
        });
    }

    /// To be called when networks have come into lists or gone out of them: concerns every decision that
    /// asked a list.
    pub fn all_lists_changed(&self) {
        self.change(|stamp| {
            for cell in &self.lists {
                cell.store(stamp, Ordering::Relaxed);
            }
        });
    }

    /// Sets cells to the next count before it is counted, so that whoever sees the count sees the cells.
    fn change(&self, set: impl FnOnce(Stamp)) {
        let _writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let next = self.count.load(Ordering::Relaxed) + 1;
        set(next as Stamp);
        self.count.store(next, Ordering::Release);
    }

    /// Whether the routes to a destination may have changed since `stamp`.
    #[inline]
    pub fn route_changed_since(&self, destination: u32, stamp: Stamp) -> bool {
        let block = (destination >> (32 - BLOCK_BITS)) as usize;
        is_newer(self.routes.get(block), stamp)
    }

    /// Whether the answer to a question to a list may have changed since `stamp`.
    #[inline]
    pub fn list_changed_since(&self, cell: ListCell, stamp: Stamp) -> bool {
        cell != ListCell::NONE && is_newer(self.lists.get(usize::from(cell.0)), stamp)
    }
}

/// Stamps are compared as numbers on a circle; see [`Era`] for why none is ever half a circle old. A cell may
/// be, and then looks newer than it is, which costs a second look at the table.
fn is_newer(cell: Option<&AtomicU32>, stamp: Stamp) -> bool {
    cell.is_some_and(|cell| (cell.load(Ordering::Relaxed).wrapping_sub(stamp) as i32) > 0)
}

/// Changes that a worker lets pass before it decides every flow anew, so that stamps are never too far from
/// each other to be compared.
const ERA: u32 = 30;

/// Which quarter of the circle of stamps the counter is in, as a worker saw it last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Era(u64);

impl Era {
    /// Follows the counter. Says whether an era has ended: no stamp from before may be compared any more.
    #[inline]
    pub fn follow(&mut self, count: u64) -> bool {
        let era = count >> ERA;
        std::mem::replace(&mut self.0, era) != era
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_concerns_its_block_and_shorter_prefixes_all_they_cover() {
        let epochs = Epochs::default();
        let before = epochs.count() as Stamp;
        epochs.routes_changed([(0x0a01_0200, 24)]);
        assert_eq!(epochs.count(), 1);
        assert!(epochs.route_changed_since(0x0a01_ff00, before));
        assert!(!epochs.route_changed_since(0x0a02_0200, before));
        assert!(!epochs.route_changed_since(0x0a01_0200, epochs.count() as Stamp));
        epochs.routes_changed([(0x0a04_0000, 14)]);
        for (address, concerned) in
            [(0x0a03_ffff, false), (0x0a04_0000, true), (0x0a07_ffff, true), (0x0a08_0000, false)]
        {
            assert_eq!(epochs.route_changed_since(address, before), concerned, "{address:x}");
        }
        epochs.routes_changed([(0, 0)]);
        assert!(epochs.route_changed_since(0, 2) && epochs.route_changed_since(u32::MAX, 2));
    }

    #[test]
    fn a_list_change_concerns_those_who_asked_for_that_address() {
        let epochs = Epochs::default();
        let (one, other) = (ListCell::of(1, Addr::v4(7)), ListCell::of(2, Addr::v4(7)));
        assert_ne!(one, other);
        epochs.lists_changed([one]);
        assert!(epochs.list_changed_since(one, 0));
        assert!(!epochs.list_changed_since(other, 0));
        assert!(!epochs.list_changed_since(one, 1));
        epochs.all_lists_changed();
        assert!(epochs.list_changed_since(other, 1));
        assert!(!epochs.list_changed_since(ListCell::NONE, 0));
    }

    #[test]
    fn stamps_are_compared_across_the_turn_of_the_counter_and_eras_end_before_it_matters() {
        let cell = AtomicU32::new(2);
        assert!(is_newer(Some(&cell), u32::MAX - 5));
        assert!(!is_newer(Some(&cell), 2));
        let mut era = Era::default();
        assert!(!era.follow((1 << ERA) - 1));
        assert!(era.follow(1 << ERA));
        assert!(!era.follow((1 << ERA) + 5));
        assert!(era.follow(5 << ERA));
    }
}
