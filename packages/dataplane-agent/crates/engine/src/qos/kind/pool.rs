//! Sub-queues, found by hash and linked into lists. There is memory for as many as there were at a time, so it
//! grows rarely, and no packet of a steady state has any taken for it.

const NIL: u32 = u32::MAX;

#[derive(Debug)]
struct Entry<T> {
    value: T,
    hash: u32,
    /// The next one of the same head, or that is free.
    chain: u32,
    previous: u32,
    next: u32,
}

/// Sub-queues.
#[derive(Debug)]
pub struct Pool<T> {
    entries: Vec<Entry<T>>,
    /// First of those with the same low bits of the hash; a power of two of them, or none yet.
    heads: Vec<u32>,
    free: u32,
    live: u32,
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), heads: Vec::new(), free: NIL, live: 0 }
    }
}

/// Some of a pool's sub-queues, in order; each is in at most one list.
#[derive(Debug, Clone, Copy)]
pub struct List {
    first: u32,
    last: u32,
}

impl Default for List {
    fn default() -> Self {
        Self { first: NIL, last: NIL }
    }
}

impl List {
    /// The first one.
    #[inline]
    pub fn first(&self) -> Option<u32> {
        (self.first != NIL).then_some(self.first)
    }
}

impl<T: Default> Pool<T> {
    /// Chooses how many heads there are to begin with, a power of two; [`Self::insert`] adds no others.
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
        // Those that are free hang on no head, and are told by their hash being of no use: walk the free ones first.
        let mut is_free = vec![false; self.entries.len()];
        let mut free = self.free;
        while let Some(entry) = self.entries.get(free as usize) {
            if let Some(place) = is_free.get_mut(free as usize) {
                *place = true;
            }
            free = entry.chain;
        }
        for (place, _) in is_free.iter().enumerate().filter(|(_, free)| !**free) {
            self.hang(place as u32);
        }
    }

    /// Puts an entry at the front of its chain.
    fn hang(&mut self, place: u32) {
        let Some(entry) = self.entries.get_mut(place as usize) else { return };
        let slot = entry.hash as usize & self.heads.len().wrapping_sub(1);
        if let Some(head) = self.heads.get_mut(slot) {
            entry.chain = std::mem::replace(head, place);
        }
    }

    /// Adds a sub-queue.
    pub fn insert(&mut self, hash: u32, value: T) -> u32 {
        let entry = Entry { value, hash, chain: NIL, previous: NIL, next: NIL };
        let place = self.free;
        let place = match self.entries.get_mut(place as usize) {
            Some(free) => {
                self.free = free.chain;
                *free = entry;
                place
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        self.hang(place);
        self.live += 1;
        place
    }

    /// Takes away a sub-queue that is in no list.
    pub fn remove(&mut self, place: u32) {
        let Some(entry) = self.entries.get_mut(place as usize) else { return };
        entry.value = T::default();
        let (hash, after) = (entry.hash, std::mem::replace(&mut entry.chain, self.free));
        self.free = place;
        self.live -= 1;
        let slot = hash as usize & self.heads.len().wrapping_sub(1);
        let Some(head) = self.heads.get_mut(slot) else { return };
        if *head == place {
            *head = after;
            return;
        }
        let mut at = *head;
        while let Some(entry) = self.entries.get_mut(at as usize) {
            if entry.chain == place {
                entry.chain = after;
                return;
            }
            at = entry.chain;
        }
    }

    /// Those whose hash has the same head.
    #[inline]
    pub fn chain(&self, hash: u32) -> impl Iterator<Item = (u32, &T)> {
        let slot = hash as usize & self.heads.len().wrapping_sub(1);
        let mut at = self.heads.get(slot).copied().unwrap_or(NIL);
        std::iter::from_fn(move || {
            let place = at;
            let entry = self.entries.get(place as usize)?;
            at = entry.chain;
            Some((place, &entry.value))
        })
    }

    /// The one with a hash that `is` it.
    #[inline]
    pub fn find(&self, hash: u32, is: impl Fn(&T) -> bool) -> Option<u32> {
        self.chain(hash).find(|(_, value)| is(value)).map(|(place, _)| place)
    }

    /// A sub-queue.
    #[inline]
    pub fn get(&self, place: u32) -> Option<&T> {
        self.entries.get(place as usize).map(|entry| &entry.value)
    }

    /// The same, to change.
    #[inline]
    pub fn get_mut(&mut self, place: u32) -> Option<&mut T> {
        self.entries.get_mut(place as usize).map(|entry| &mut entry.value)
    }

    /// How many there are.
    pub fn live(&self) -> u32 {
        self.live
    }

    /// All of them; what was taken away is as new.
    pub fn all(&self) -> impl Iterator<Item = (u32, &T)> {
        self.entries.iter().enumerate().map(|(place, entry)| (place as u32, &entry.value))
    }

    /// The same, to change.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().map(|entry| &mut entry.value)
    }

    /// Links one at the end of a list.
    #[inline]
    pub fn push(&mut self, list: &mut List, place: u32) {
        let last = std::mem::replace(&mut list.last, place);
        if let Some(entry) = self.entries.get_mut(place as usize) {
            (entry.previous, entry.next) = (last, NIL);
        }
        match self.entries.get_mut(last as usize) {
            Some(entry) => entry.next = place,
            None => list.first = place,
        }
    }

    /// Unlinks one from the list that it is in.
    #[inline]
    pub fn unlink(&mut self, list: &mut List, place: u32) {
        let Some(entry) = self.entries.get_mut(place as usize) else { return };
        let (previous, next) = (entry.previous, entry.next);
        (entry.previous, entry.next) = (NIL, NIL);
        match self.entries.get_mut(previous as usize) {
            Some(entry) => entry.next = next,
            None => list.first = next,
        }
        match self.entries.get_mut(next as usize) {
            Some(entry) => entry.previous = previous,
            None => list.last = previous,
        }
    }

    /// Takes the first one of a list to its end.
    #[inline]
    pub fn rotate(&mut self, list: &mut List) {
        if let Some(first) = list.first()
            && list.first != list.last
        {
            self.unlink(list, first);
            self.push(list, first);
        }
    }
}
