//! What cached actions are bounded by, beside the key lines: only flows that rest on volume or time have
//! any, and only while such rules exist is there room for them.

use crate::time::Now;

/// Until when a cached action holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// While the connection has carried less, L3 bytes of both directions together.
    pub bytes: u64,
    /// Until this moment.
    pub until: Now,
}

impl Bound {
    /// Whether it is one at all.
    pub fn ends(self) -> bool {
        self.bytes != u64::MAX || self.until != Now(u64::MAX)
    }
}

/// The bounds of a table's entries, by their index. Words, so that memory is backed only as it is used.
#[derive(Debug, Default)]
pub struct EntryBounds(Vec<[u64; 2]>);

impl EntryBounds {
    /// Makes room for so many entries.
    pub fn reserve(&mut self, entries: usize) {
        if self.0.len() < entries {
            let old = std::mem::replace(&mut self.0, vec![[0; 2]; entries]);
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
        words.map(|&[bytes, until]| Bound { bytes, until: Now(until) })
    }

    /// Sets it; `false` without room.
    pub fn set(&mut self, index: u32, bound: Bound) -> bool {
        let Some(place) = self.0.get_mut(index as usize) else { return false };
        *place = [bound.bytes, bound.until.0];
        true
    }
}
