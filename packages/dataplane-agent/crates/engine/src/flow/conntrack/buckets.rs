//! The hash index from tuples to flow entries: buckets of eight slots, one cache line each.
//!
//! A slot holds the whole 32-bit hash beside the entry's index, so that one cache line nearly always decides which
//! entry to read. A full bucket overflows into the next one; a removal pulls overflowed slots back, so there are no
//! tombstones and a lookup ends at the first bucket with a free slot. The number of buckets is not a power of two: a
//! hash is scaled to it.

use crate::ids::EntryIndex;

const SLOTS: usize = 8;

/// Hashes and entries in two arrays, so that all hashes are compared at once.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct HashBucket {
    hashes: [u32; SLOTS],
    /// Entry plus one; 0 in an empty slot.
    places: [u32; SLOTS],
}

/// The first slot of a mask; [`SLOTS`] if there is none.
#[inline]
fn first(slots: u64) -> usize {
    slots.trailing_zeros() as usize / 8
}

impl HashBucket {
    const EMPTY: Self = Self { hashes: [0; SLOTS], places: [0; SLOTS] };

    /// Mask of the slots with this hash, with a byte of 1 for each: a mask of bits takes twice the instructions. For a
    /// hash of 0, empty slots may be included.
    #[inline]
    fn matching(&self, hash: u32) -> u64 {
        u64::from_le_bytes(self.hashes.map(|known| u8::from(known == hash)))
    }

    #[inline]
    fn place(&self, slot: usize) -> u32 {
        self.places.get(slot).copied().unwrap_or(0)
    }

    fn is_full(&self) -> bool {
        !self.places.contains(&0)
    }

    fn set(&mut self, slot: usize, hash: u32, place: u32) {
        if let (Some(known), Some(cell)) = (self.hashes.get_mut(slot), self.places.get_mut(slot)) {
            (*known, *cell) = (hash, place);
        }
    }
}

/// The hash table: slots that hold tags and indices of entries.
#[derive(Debug)]
pub struct Buckets {
    buckets: Vec<HashBucket>,
    count: u32,
}

/// Load of the index when the table is full, percent of the slots: one bucket in twelve overflows then.
const LOAD_PERCENT: usize = 65;

impl Buckets {
    /// An index for `entries` entries.
    pub fn new(entries: usize) -> Self {
        let count = (entries * 100).div_ceil(SLOTS * LOAD_PERCENT).clamp(2, 1 << 28);
        Self { buckets: vec![HashBucket::EMPTY; count], count: count as u32 }
    }

    /// Memory in use when every bucket has been, bytes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.buckets.len() * size_of::<HashBucket>()
    }

    /// Home bucket of entries with a hash.
    #[inline]
    fn home(&self, hash: u32) -> u32 {
        ((u64::from(hash) * u64::from(self.count)) >> 32) as u32
    }

    /// The bucket after `at`.
    #[inline]
    fn next(&self, at: u32) -> u32 {
        if at + 1 < self.count { at + 1 } else { 0 }
    }

    /// Number of buckets from `from` on to `at`.
    fn distance(&self, from: u32, at: u32) -> u32 {
        if at >= from { at - from } else { at + self.count - from }
    }

    #[inline]
    fn bucket(&self, at: u32) -> &HashBucket {
        self.buckets.get(at as usize).unwrap_or(&HashBucket::EMPTY)
    }

    /// Prefetches the home bucket of a hash.
    #[inline]
    pub fn prefetch(&self, hash: u32) {
        tollway_prefetch::fetch(self.bucket(self.home(hash)));
    }

    /// An entry in the home bucket with this hash, [`NO_ENTRY`](crate::ids::NO_ENTRY) when there is none.
    #[inline]
    pub fn probe(&self, hash: u32) -> EntryIndex {
        let bucket = self.bucket(self.home(hash));
        bucket.place(first(bucket.matching(hash))).wrapping_sub(1)
    }

    /// The first entry with this hash that `accept` takes.
    #[inline]
    pub fn find(&self, hash: u32, mut accept: impl FnMut(EntryIndex) -> bool) -> Option<EntryIndex> {
        let mut at = self.home(hash);
        for _ in 0..self.count {
            let bucket = self.bucket(at);
            let mut matching = bucket.matching(hash);
            while matching != 0 {
                let place = bucket.place(first(matching));
                if place != 0 && accept(place - 1) {
                    return Some(place - 1);
                }
                matching &= matching - 1;
            }
            if !bucket.is_full() {
                return None;
            }
            at = self.next(at);
        }
        None
    }

    /// Adds an entry; `false` when every slot is taken.
    pub fn insert(&mut self, hash: u32, index: EntryIndex) -> bool {
        let mut at = self.home(hash);
        for _ in 0..self.count {
            let Some(bucket) = self.buckets.get_mut(at as usize) else { return false };
            if let Some(free) = bucket.places.iter().position(|place| *place == 0) {
                bucket.set(free, hash, index.wrapping_add(1));
                return true;
            }
            at = self.next(at);
        }
        false
    }

    /// Removes an entry.
    pub fn remove(&mut self, hash: u32, index: EntryIndex) {
        let wanted = index.wrapping_add(1);
        let mut at = self.home(hash);
        for _ in 0..self.count {
            let bucket = self.bucket(at);
            let full = bucket.is_full();
            if let Some(slot) = bucket.places.iter().position(|place| *place == wanted) {
                self.set(at, slot, 0, 0);
                if full {
                    self.pull_back(at, slot);
                }
                return;
            }
            if !full {
                return;
            }
            at = self.next(at);
        }
    }

    fn set(&mut self, at: u32, slot: usize, hash: u32, place: u32) {
        if let Some(bucket) = self.buckets.get_mut(at as usize) {
            bucket.set(slot, hash, place);
        }
    }

    /// Fills a free slot in a bucket that was full with a slot that had overflowed past it, then the slot that this
    /// frees, and so on.
    fn pull_back(&mut self, mut hole: u32, mut hole_slot: usize) {
        let mut at = hole;
        for _ in 1..self.count {
            at = self.next(at);
            let bucket = *self.bucket(at);
            let past_hole = |(hash, place): (&u32, &u32)| {
                *place != 0 && self.distance(self.home(*hash), at) >= self.distance(hole, at)
            };
            let full = bucket.is_full();
            if let Some(slot) = bucket.hashes.iter().zip(&bucket.places).position(past_hole) {
                let hash = bucket.hashes.get(slot).copied().unwrap_or(0);
                self.set(hole, hole_slot, hash, bucket.place(slot));
                self.set(at, slot, 0, 0);
                (hole, hole_slot) = (at, slot);
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
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(64)))]
        /// Few buckets and few distinct hashes make every overflow path run.
        #[test]
        fn agrees_with_a_map(ops in proptest::collection::vec((any::<bool>(), 0u32..40, 0u32..6), 0..400)) {
            let mut buckets = Buckets::new(20);
            let mut model = BTreeMap::new();
            for (insert, index, hash) in ops {
                let hash = hash * 0x2800_0001;
                if insert && model.len() < 31 && !model.contains_key(&index) {
                    prop_assert!(buckets.insert(hash, index));
                    model.insert(index, hash);
                } else if let Some(old) = model.remove(&index) {
                    buckets.remove(old, index);
                }
                for index in 0..40 {
                    let known = model.get(&index).copied();
                    for hash in (0..6).map(|h| h * 0x2800_0001) {
                        let found = buckets.find(hash, |i| i == index).is_some();
                        prop_assert_eq!(found, known == Some(hash));
                    }
                }
            }
        }
    }
}
