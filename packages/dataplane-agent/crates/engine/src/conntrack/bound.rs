//! What cached actions are bounded by, beside the key lines: only flows that rest on volume, time or lists
//! have any, and only while such rules exist is there room for them.

use crate::time::Now;

/// Until when a cached action holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// While the connection has carried less, L3 bytes of both directions together.
    pub bytes: u64,
    /// Until this moment.
    pub until: Now,
    /// While the shared tables have changed so often; `u64::MAX` when it rests on none.
    pub epoch: u64,
}

impl Bound {
    /// Whether it is one at all.
    pub fn ends(self) -> bool {
        self.bytes != u64::MAX || self.until != Now(u64::MAX) || self.epoch != u64::MAX
    }
}

/// The bounds of a table's entries, by their index. Words, so that memory is backed only as it is used.
#[derive(Debug, Default)]
pub struct EntryBounds(Vec<[u64; 3]>);

impl EntryBounds {
    /// Makes room for so many entries.
    pub fn reserve(&mut self, entries: usize) {
        if self.0.len() < entries {
            let old = std::mem::replace(&mut self.0, vec![[0; 3]; entries]);
            if let Some(kept) = self.0.get_mut(..old.len()) {
                kept.copy_from_slice(&old);
            }
        }
    }

    /// Gives the memory back.
    pub fn release(&mut self) {
        self.0 = Vec::new();
    }

    /// Of an entry.
    pub fn get(&self, index: u32) -> Option<Bound> {
        let words = self.0.get(index as usize);
        words.map(|&[bytes, until, epoch]| Bound { bytes, until: Now(until), epoch })
    }

    /// Sets it; `false` without room.
    pub fn set(&mut self, index: u32, bound: Bound) -> bool {
        let Some(place) = self.0.get_mut(index as usize) else { return false };
        *place = [bound.bytes, bound.until.0, bound.epoch];
        true
    }
}
