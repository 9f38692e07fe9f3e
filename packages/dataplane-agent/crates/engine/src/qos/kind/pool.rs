//! Sub-queues, found by hash and linked into lists. The slots of removed sub-queues are used again: memory grows only
//! when there are more sub-queues than ever before, and in a steady state no packet allocates any.

const NIL: u32 = u32::MAX;
/// Length classes, powers of two; all longer sub-queues are in the last one.
const CLASSES: usize = 48;
/// Number of sub-queues of the highest class that are compared.
const COMPARED: usize = 8;

#[derive(Debug)]
struct Slot<T> {
    value: T,
    hash: u32,
    /// Length class, the power of two of its length; 0 if it is empty. `before` and `after` are its neighbours in the
    /// list of the class.
    class: u8,
    before: u32,
    after: u32,
    /// The next slot in the chain of the same head, or in the list of free slots.
    chain: u32,
    previous: u32,
    next: u32,
}

/// A pool of sub-queues.
#[derive(Debug)]
pub struct Pool<T> {
    slots: Vec<Slot<T>>,
    /// First slot of each chain, by the low bits of the hash. The number of heads is a power of two, or 0 at first.
    heads: Vec<u32>,
    free: u32,
    live: u32,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), heads: Vec::new(), free: NIL, live: 0 }
    }
}

/// A list of a pool's sub-queues, in order; each is in at most one list.
#[derive(Debug, Clone, Copy)]
pub struct SubQueueList {
    first: u32,
    last: u32,
}

impl Default for SubQueueList {
    fn default() -> Self {
        Self { first: NIL, last: NIL }
    }
}

impl SubQueueList {
    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.first != NIL).then_some(self.first)
    }
}

/// The non-empty sub-queues of a pool, by length class, so that the longest is found without looking at all of them.
#[derive(Debug)]
pub struct Lengths {
    heads: [u32; CLASSES],
    occupied: u64,
}

impl Default for Lengths {
    fn default() -> Self {
        Self { heads: [NIL; CLASSES], occupied: 0 }
    }
}

impl<T: Default> Pool<T> {
    /// Sets the number of heads, rounded up to a power of two, unless there are some already. [`Self::insert`] adds
    /// none.
    pub fn fix_heads(&mut self, heads: usize) {
        if self.heads.is_empty() {
            self.heads.resize(heads.next_power_of_two(), NIL);
        }
    }

    /// Doubles the heads when there are more sub-queues than heads.
    pub fn grow_heads(&mut self) {
        if (self.live as usize) < self.heads.len() {
            return;
        }
        let heads = (self.heads.len() * 2).max(16);
        self.heads.clear();
        self.heads.resize(heads, NIL);
        // Free slots are on no chain of a head: mark them first.
        let mut is_free = vec![false; self.slots.len()];
        let mut free = self.free;
        while let Some(slot) = self.slots.get(free as usize) {
            if let Some(is_free) = is_free.get_mut(free as usize) {
                *is_free = true;
            }
            free = slot.chain;
        }
        for (index, _) in is_free.iter().enumerate().filter(|(_, free)| !**free) {
            self.hang(index as u32);
        }
    }

    /// Puts a slot at the front of its chain.
    fn hang(&mut self, index: u32) {
        let Some(slot) = self.slots.get_mut(index as usize) else { return };
        let head_index = slot.hash as usize & self.heads.len().wrapping_sub(1);
        if let Some(head) = self.heads.get_mut(head_index) {
            slot.chain = std::mem::replace(head, index);
        }
    }

    /// Adds a sub-queue.
    pub fn insert(&mut self, hash: u32, value: T) -> u32 {
        let (chain, previous, next) = (NIL, NIL, NIL);
        let slot = Slot { value, hash, class: 0, before: NIL, after: NIL, chain, previous, next };
        let index = self.free;
        let index = match self.slots.get_mut(index as usize) {
            Some(free) => {
                self.free = free.chain;
                *free = slot;
                index
            }
            None => {
                self.slots.push(slot);
                (self.slots.len() - 1) as u32
            }
        };
        self.hang(index);
        self.live += 1;
        index
    }

    /// Removes a sub-queue that is in no list, and in which nothing waits.
    pub fn remove(&mut self, index: u32) {
        let Some(slot) = self.slots.get_mut(index as usize) else { return };
        slot.value = T::default();
        let (hash, after) = (slot.hash, std::mem::replace(&mut slot.chain, self.free));
        self.free = index;
        self.live -= 1;
        let head_index = hash as usize & self.heads.len().wrapping_sub(1);
        let Some(head) = self.heads.get_mut(head_index) else { return };
        if *head == index {
            *head = after;
            return;
        }
        let mut at = *head;
        while let Some(slot) = self.slots.get_mut(at as usize) {
            if slot.chain == index {
                slot.chain = after;
                return;
            }
            at = slot.chain;
        }
    }

    /// The sub-queues in the chain of a hash. Their hashes may differ.
    #[inline]
    pub fn chain(&self, hash: u32) -> impl Iterator<Item = (u32, &T)> {
        let head_index = hash as usize & self.heads.len().wrapping_sub(1);
        let mut at = self.heads.get(head_index).copied().unwrap_or(NIL);
        std::iter::from_fn(move || {
            let index = at;
            let slot = self.slots.get(index as usize)?;
            at = slot.chain;
            Some((index, &slot.value))
        })
    }

    /// The sub-queue with a hash for which `is` holds.
    #[inline]
    pub fn find(&self, hash: u32, is: impl Fn(&T) -> bool) -> Option<u32> {
        self.chain(hash).find(|(_, value)| is(value)).map(|(index, _)| index)
    }

    /// A sub-queue.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&T> {
        self.slots.get(index as usize).map(|slot| &slot.value)
    }

    /// Mutable [`Self::get`].
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut T> {
        self.slots.get_mut(index as usize).map(|slot| &mut slot.value)
    }

    /// Number of items.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// Every slot's sub-queue; a removed one has the default value.
    pub fn all(&self) -> impl Iterator<Item = (u32, &T)> {
        self.slots.iter().enumerate().map(|(index, slot)| (index as u32, &slot.value))
    }

    /// Mutable [`Self::all`].
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().map(|slot| &mut slot.value)
    }

    /// Records the new length of a sub-queue.
    #[inline]
    pub fn measure(&mut self, lengths: &mut Lengths, index: u32, length: u64) {
        let class = ((u64::BITS - length.leading_zeros()) as usize).min(CLASSES - 1);
        if self.slots.get(index as usize).is_some_and(|slot| usize::from(slot.class) != class) {
            self.reclass(lengths, index, class);
        }
    }

    fn reclass(&mut self, lengths: &mut Lengths, index: u32, class: usize) {
        let Some(slot) = self.slots.get_mut(index as usize) else { return };
        let from = usize::from(std::mem::replace(&mut slot.class, class as u8));
        let (before, after) = (slot.before, slot.after);
        if from != 0 {
            if let Some(slot) = self.slots.get_mut(after as usize) {
                slot.before = before;
            }
            if let Some(slot) = self.slots.get_mut(before as usize) {
                slot.after = after;
            } else if let Some(head) = lengths.heads.get_mut(from) {
                *head = after;
                lengths.occupied &= !(u64::from(after == NIL) << from);
            }
        }
        let Some(head) = lengths.heads.get_mut(class).filter(|_| class != 0) else { return };
        let after = std::mem::replace(head, index);
        lengths.occupied |= 1 << class;
        if let Some(slot) = self.slots.get_mut(after as usize) {
            slot.before = index;
        }
        if let Some(slot) = self.slots.get_mut(index as usize) {
            (slot.before, slot.after) = (NIL, after);
        }
    }

    /// The longest sub-queue; if several are in the highest class, the longest of [`COMPARED`] of them.
    pub fn longest(&self, lengths: &Lengths, length: impl Fn(&T) -> u64) -> Option<u32> {
        let class = (u64::BITS - 1).checked_sub(lengths.occupied.leading_zeros())?;
        let mut at = *lengths.heads.get(class as usize)?;
        let of_class = std::iter::from_fn(|| {
            let (index, slot) = (at, self.slots.get(at as usize)?);
            at = slot.after;
            Some((index, length(&slot.value)))
        });
        of_class.take(COMPARED).max_by_key(|(_, length)| *length).map(|(index, _)| index)
    }

    /// Links a sub-queue at the end of a list.
    #[inline]
    pub fn push(&mut self, list: &mut SubQueueList, index: u32) {
        let last = std::mem::replace(&mut list.last, index);
        if let Some(slot) = self.slots.get_mut(index as usize) {
            (slot.previous, slot.next) = (last, NIL);
        }
        match self.slots.get_mut(last as usize) {
            Some(slot) => slot.next = index,
            None => list.first = index,
        }
    }

    /// Unlinks a sub-queue from the list that it is in.
    #[inline]
    pub fn unlink(&mut self, list: &mut SubQueueList, index: u32) {
        let Some(slot) = self.slots.get_mut(index as usize) else { return };
        let (previous, next) = (slot.previous, slot.next);
        (slot.previous, slot.next) = (NIL, NIL);
        match self.slots.get_mut(previous as usize) {
            Some(slot) => slot.next = next,
            None => list.first = next,
        }
        match self.slots.get_mut(next as usize) {
            Some(slot) => slot.previous = previous,
            None => list.last = previous,
        }
    }

    /// Moves the first sub-queue of a list to its end.
    #[inline]
    pub fn rotate(&mut self, list: &mut SubQueueList) {
        if let Some(first) = list.first()
            && list.first != list.last
        {
            self.unlink(list, first);
            self.push(list, first);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn the_longest_is_at_most_twice_as_long_as_what_is_found(
            steps in proptest::collection::vec((0usize..40, prop_oneof![Just(0u64), 1..100u64, any::<u64>()]), 1..200),
        ) {
            let (mut pool, mut lengths) = (Pool::<u64>::default(), Lengths::default());
            for index in 0..40 {
                prop_assert_eq!(pool.insert(index, 0), index);
            }
            for (at, length) in steps {
                let length = length % (1 << 46);
                let index = at as u32;
                if let Some(value) = pool.get_mut(index) {
                    *value = length;
                }
                pool.measure(&mut lengths, index, length);
                let most = pool.all().map(|(_, length)| *length).max().unwrap_or(0);
                let found = pool.longest(&lengths, |length| *length).and_then(|index| pool.get(index)).copied();
                prop_assert_eq!(found.is_some(), most != 0);
                prop_assert!(found.unwrap_or(0) >= most / 2);
                // Those that were removed are not found again.
                if length == 0 && at % 3 == 0 {
                    pool.remove(index);
                    prop_assert_eq!(pool.insert(index, 0), index);
                }
            }
        }
    }

    #[test]
    fn among_any_number_only_some_are_looked_at() {
        let (mut pool, mut lengths) = (Pool::<u64>::default(), Lengths::default());
        for hash in 0..10_000 {
            let index = pool.insert(hash, 100);
            pool.measure(&mut lengths, index, 100);
        }
        let looked = Cell::new(0);
        let longest = pool.longest(&lengths, |length| {
            looked.set(looked.get() + 1);
            *length
        });
        assert!(longest.is_some() && looked.get() <= COMPARED);
    }
}
