//! From hash to entry: buckets of eight slots, one cache line each.
//!
//! A slot holds the whole 32-bit hash beside the entry's place, so that one line nearly always decides
//! which entry line to read. A full bucket overflows into the next one; a removal pulls overflowed slots
//! back, so there are no tombstones and a lookup ends at the first bucket with a free slot.

use super::entry::{EntryIndex, NO_ENTRY};

const SLOTS: usize = 8;

#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
struct Bucket([u64; SLOTS]);

#[derive(Debug)]
pub struct Buckets {
    buckets: Vec<Bucket>,
    mask: u32,
}

const fn slot(hash: u32, index: EntryIndex) -> u64 {
    (hash as u64) << 32 | index.wrapping_add(1) as u64
}

impl Buckets {
    /// For `entries` at a load of at most one half.
    pub fn new(entries: usize) -> Self {
        let count = (entries * 2).div_ceil(SLOTS).next_power_of_two().clamp(2, 1 << 28);
        Self { buckets: vec![Bucket::default(); count], mask: count as u32 - 1 }
    }

    fn bucket(&self, at: u32) -> &[u64; SLOTS] {
        const EMPTY: [u64; SLOTS] = [0; SLOTS];
        self.buckets.get((at & self.mask) as usize).map_or(&EMPTY, |bucket| &bucket.0)
    }

    /// Reads the home bucket's line, so that it is near when [`Self::probe`] comes. The value means nothing.
    #[inline]
    pub fn touch(&self, hash: u32) -> u64 {
        let [first, ..] = self.bucket(hash);
        *first
    }

    /// The first entry in the home bucket with this hash.
    #[inline]
    pub fn probe(&self, hash: u32) -> EntryIndex {
        for &slot in self.bucket(hash) {
            if (slot >> 32) as u32 == hash && slot as u32 != 0 {
                return (slot as u32).wrapping_sub(1);
            }
        }
        NO_ENTRY
    }

    /// The first entry with this hash that `accept` takes.
    #[inline]
    pub fn find(&self, hash: u32, mut accept: impl FnMut(EntryIndex) -> bool) -> Option<EntryIndex> {
        for step in 0..=self.mask {
            let mut full = true;
            for &slot in self.bucket(hash.wrapping_add(step)) {
                if slot as u32 == 0 {
                    full = false;
                } else if (slot >> 32) as u32 == hash {
                    let index = (slot as u32).wrapping_sub(1);
                    if accept(index) {
                        return Some(index);
                    }
                }
            }
            if !full {
                return None;
            }
        }
        None
    }

    /// Adds an entry; `false` when every slot is taken.
    pub fn insert(&mut self, hash: u32, index: EntryIndex) -> bool {
        for step in 0..=self.mask {
            let at = (hash.wrapping_add(step) & self.mask) as usize;
            let Some(bucket) = self.buckets.get_mut(at) else { return false };
            if let Some(free) = bucket.0.iter_mut().find(|slot| **slot == 0) {
                *free = slot(hash, index);
                return true;
            }
        }
        false
    }

    /// Removes an entry.
    pub fn remove(&mut self, hash: u32, index: EntryIndex) {
        let wanted = slot(hash, index);
        for step in 0..=self.mask {
            let at = hash.wrapping_add(step) & self.mask;
            let bucket = self.bucket(at);
            let full = !bucket.contains(&0);
            if let Some(place) = bucket.iter().position(|slot| *slot == wanted) {
                self.set(at, place, 0);
                if full {
                    self.pull_back(at, place);
                }
                return;
            }
            if !full {
                return;
            }
        }
    }

    fn set(&mut self, at: u32, place: usize, value: u64) {
        if let Some(slot) = self.buckets.get_mut((at & self.mask) as usize).and_then(|b| b.0.get_mut(place)) {
            *slot = value;
        }
    }

    /// Fills a hole in a bucket that was full with a slot that had overflowed past it, and so on.
    fn pull_back(&mut self, mut hole: u32, mut hole_place: usize) {
        let mut at = hole;
        for _ in 0..self.mask {
            at = at.wrapping_add(1) & self.mask;
            let bucket = *self.bucket(at);
            let past_hole = |slot: u64| {
                let home = (slot >> 32) as u32 & self.mask;
                let travelled = at.wrapping_sub(home) & self.mask;
                slot != 0 && travelled >= (at.wrapping_sub(hole) & self.mask)
            };
            let full = !bucket.contains(&0);
            if let Some(place) = bucket.iter().position(|slot| past_hole(*slot)) {
                self.set(hole, hole_place, bucket.get(place).copied().unwrap_or(0));
                self.set(at, place, 0);
                (hole, hole_place) = (at, place);
            }
            if !full {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Few buckets and few distinct hashes make every overflow path run.
        #[test]
        fn agrees_with_a_map(ops in proptest::collection::vec((any::<bool>(), 0u32..40, 0u32..6), 0..400)) {
            let mut buckets = Buckets::new(16);
            let mut model = BTreeMap::new();
            for (insert, index, hash) in ops {
                let hash = hash * 0x1000_0001;
                if insert && model.len() < 31 && !model.contains_key(&index) {
                    prop_assert!(buckets.insert(hash, index));
                    model.insert(index, hash);
                } else if let Some(old) = model.remove(&index) {
                    buckets.remove(old, index);
                }
                for index in 0..40 {
                    let known = model.get(&index).copied();
                    for hash in (0..6).map(|h| h * 0x1000_0001) {
                        let found = buckets.find(hash, |i| i == index).is_some();
                        prop_assert_eq!(found, known == Some(hash));
                    }
                }
            }
        }
    }
}
