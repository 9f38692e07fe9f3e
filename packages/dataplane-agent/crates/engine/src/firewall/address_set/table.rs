//! A hash table of prefixes that is read without locks while one writer changes it.
//!
//! Linear hashing (Litwin, 1980): the table grows by one page at a time, so that no insertion does more than split one
//! page. A page has 64 buckets; a bucket is one cache line of seven slots for IPv4, two lines of five for IPv6, and a
//! word that counts the entries which found the bucket full and were placed in a later one. So a lookup reads one line,
//! rarely two, and removals leave no tombstones.
//!
//! A reader does not miss an entry that exists during the whole lookup. An entry that moves to a new page is written
//! there before the page is published, and is removed from its old page afterwards. A reader that finds nothing looks
//! again if pages were added meanwhile.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::packet::tuple::Addr;

const BUCKETS: usize = 64;
const LINE: usize = 8;
/// Number of pages of a group, and maximum number of groups.
const GROUP: usize = 256;
/// Load, in 256ths of the slots, from which on the table grows. The fullest pages have up to one and a half times this
/// load, so that even with bad luck none is full.
const LOAD: u64 = 120;

/// Bits of a slot's first word. The word also holds the list and the length, and for IPv4 the address, for IPv6 a
/// number that differs each time the slot is used.
pub mod mark {
    /// The slot is taken.
    pub const TAKEN: u64 = 1;
    /// The configuration contains the prefix.
    pub const CONFIGURED: u64 = 2;
    /// A rule or a client has added the prefix.
    pub const DYNAMIC: u64 = 4;
}

const MARKS: u64 = mark::CONFIGURED | mark::DYNAMIC;

/// A prefix in a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SetKey {
    /// Number of the list.
    pub list: u16,
    /// First address of the network.
    pub address: Addr,
    /// Length, bits: up to 32 for IPv4, up to 128 for IPv6.
    pub len: u8,
}

impl SetKey {
    /// The prefix of a length that contains an address.
    #[inline]
    pub const fn around(list: u16, address: Addr, len: u8) -> Self {
        let host_bits = if address.as_v4().is_some() { 32 } else { 128 } - len as u32;
        let mask = if host_bits >= 128 { 0 } else { u128::MAX << host_bits };
        // The mask does not cover the upper bits of an IPv4 address, which identify it as one.
        Self { list, address: Addr(address.0 & mask), len }
    }

    /// Whether it is a single address.
    pub const fn is_host(&self) -> bool {
        self.len == if self.address.as_v4().is_some() { 32 } else { 128 }
    }
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct CacheLine([AtomicU64; LINE]);

/// 64 buckets.
#[derive(Debug)]
struct Page {
    lines: Box<[CacheLine]>,
    /// Numbers of the dynamic entries, for the writer only. Allocated for the first one.
    records: OnceLock<Box<[AtomicU32]>>,
}

/// A group of pages.
type Group = Box<[OnceLock<Page>]>;

/// The location of an entry in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryLocation {
    page: u32,
    slot: u32,
    /// First word.
    word: u64,
}

impl EntryLocation {
    /// Whether any of the marks is set.
    pub const fn is(self, marks: u64) -> bool {
        self.word & marks != 0
    }
}

/// The table. `WORDS` is the number of words of a slot: 1 for IPv4, 3 for IPv6. Functions that change the table must
/// not run concurrently.
#[derive(Debug)]
pub struct PrefixTable<const WORDS: usize> {
    groups: Box<[OnceLock<Group>]>,
    pages: AtomicU32,
    seed: u64,
    /// Used only by the writer.
    entries: AtomicU64,
    used: AtomicU32,
}

impl<const WORDS: usize> PrefixTable<WORDS> {
    const LINES: usize = if WORDS == 1 { 1 } else { 2 };
    const SLOTS: usize = (Self::LINES * LINE - 1) / WORDS;
    const PAGE_SLOTS: usize = Self::SLOTS * BUCKETS;

    /// An empty table. `seed` should be hard to guess.
    pub fn new(seed: u64) -> Self {
        let table = Self {
            groups: (0..GROUP).map(|_| OnceLock::new()).collect(),
            pages: AtomicU32::new(1),
            seed: seed ^ 0xa076_1d64_78bd_642f,
            entries: AtomicU64::new(0),
            used: AtomicU32::new(0),
        };
        table.make_page(0);
        table
    }

    /// Number of prefixes.
    pub fn len(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Bytes of its pages.
    pub fn memory(&self) -> usize {
        let pages = (0..self.pages.load(Ordering::Relaxed)).filter_map(|page| self.page(page));
        pages
            .map(|page| {
                let records = page.records.get().map_or(0, |records| records.len() * 4);
                size_of::<OnceLock<Page>>() + page.lines.len() * size_of::<CacheLine>() + records
            })
            .sum()
    }

    /// Whether the table contains a prefix.
    #[inline]
    pub fn contains(&self, key: &SetKey) -> bool {
        self.find(key).is_some()
    }

    /// Location of a prefix.
    #[inline]
    pub fn find(&self, key: &SetKey) -> Option<EntryLocation> {
        let hash = self.hash(key);
        let mut pages = self.pages.load(Ordering::Acquire);
        loop {
            let number = page_of(hash, pages);
            let found = self.page(number).and_then(|page| Self::probe(page, key, hash));
            if let Some((slot, word)) = found {
                return Some(EntryLocation { page: number, slot, word });
            }
            let now = self.pages.load(Ordering::Acquire);
            if now == pages {
                return None;
            }
            pages = now;
        }
    }

    /// Sets a mark of a prefix. Adds the prefix if it is not in the table. Returns `None` if there is no room.
    pub fn insert(&self, key: &SetKey, mark: u64) -> Option<EntryLocation> {
        if let Some(place) = self.find(key) {
            return Some(self.set(place, place.word | mark));
        }
        let pages = self.pages.load(Ordering::Relaxed);
        if self.len() * 256 >= u64::from(pages) * Self::PAGE_SLOTS as u64 * LOAD {
            self.grow();
        }
        let (hash, word) = (self.hash(key), self.first_word(key) | mark);
        loop {
            let number = page_of(hash, self.pages.load(Ordering::Relaxed));
            if let Some(slot) = Self::put(self.page(number)?, key, hash, word) {
                self.entries.fetch_add(1, Ordering::Relaxed);
                return Some(EntryLocation { page: number, slot, word });
            }
            if !self.grow() {
                return None;
            }
        }
    }

    /// Clears a mark of an entry, and removes the entry if no mark is left.
    pub fn remove(&self, key: &SetKey, mark: u64) {
        let Some(place) = self.find(key) else { return };
        let word = place.word & !mark;
        if word & MARKS != 0 {
            self.set(place, word);
            return;
        }
        if let Some(page) = self.page(place.page) {
            Self::take(page, self.hash(key), place.slot);
            self.entries.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// The number of the dynamic entry at a location.
    pub fn record(&self, place: EntryLocation) -> Option<u32> {
        let records = self.page(place.page)?.records.get()?;
        Some(records.get(place.slot as usize)?.load(Ordering::Relaxed))
    }

    /// Sets the number of the dynamic entry at a location.
    pub fn set_record(&self, place: EntryLocation, record: u32) {
        if let Some(page) = self.page(place.page) {
            Self::put_record(page, place.slot, record);
        }
    }

    fn put_record(page: &Page, slot: u32, record: u32) {
        let make = || (0..Self::PAGE_SLOTS).map(|_| AtomicU32::new(0)).collect();
        if let Some(cell) = page.records.get_or_init(make).get(slot as usize) {
            cell.store(record, Ordering::Relaxed);
        }
    }

    fn set(&self, place: EntryLocation, word: u64) -> EntryLocation {
        if let Some(cell) = self.page(place.page).and_then(|page| Self::cell(page, place.slot, 0)) {
            cell.store(word, Ordering::Release);
        }
        EntryLocation { word, ..place }
    }

    #[inline]
    fn page(&self, number: u32) -> Option<&Page> {
        let number = number as usize;
        self.groups.get(number / GROUP)?.get()?.get(number % GROUP)?.get()
    }

    /// Creates a page. Returns `false` if there are as many as possible.
    fn make_page(&self, number: u32) -> bool {
        let number = number as usize;
        let Some(group) = self.groups.get(number / GROUP) else { return false };
        let group = group.get_or_init(|| (0..GROUP).map(|_| OnceLock::new()).collect());
        let Some(page) = group.get(number % GROUP) else { return false };
        page.get_or_init(|| Page {
            lines: (0..BUCKETS * Self::LINES).map(|_| CacheLine::default()).collect(),
            records: OnceLock::new(),
        });
        true
    }

    #[inline]
    fn hash(&self, key: &SetKey) -> u64 {
        let rest = u64::from(key.list) << 8 | u64::from(key.len);
        let upper = (key.address.0 >> 64) as u64 ^ rest.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let product = u128::from(key.address.0 as u64 ^ self.seed)
            .wrapping_mul(u128::from(upper ^ 0xe703_7ed1_a0b4_28db));
        let folded = product as u64 ^ (product >> 64) as u64;
        folded ^ folded >> 29
    }

    #[inline]
    fn bare_word(key: &SetKey) -> u64 {
        let address = if WORDS == 1 { key.address.0 as u64 } else { 0 };
        address << 32 | u64::from(key.list) << 16 | u64::from(key.len) << 8 | mark::TAKEN
    }

    fn first_word(&self, key: &SetKey) -> u64 {
        if WORDS == 1 {
            return Self::bare_word(key);
        }
        Self::bare_word(key) | u64::from(self.used.fetch_add(1, Ordering::Relaxed)) << 32
    }

    fn key_at(page: &Page, slot: u32, word: u64) -> SetKey {
        let (list, len) = ((word >> 16) as u16, (word >> 8) as u8);
        if WORDS == 1 {
            return SetKey { list, address: Addr::v4((word >> 32) as u32), len };
        }
        let half = |at| Self::cell(page, slot, at).map_or(0, |cell| cell.load(Ordering::Acquire));
        SetKey { list, address: Addr(u128::from(half(1)) << 64 | u128::from(half(2))), len }
    }

    #[inline]
    fn cell(page: &Page, slot: u32, at: usize) -> Option<&AtomicU64> {
        let (bucket, slot) = (slot as usize / Self::SLOTS, slot as usize % Self::SLOTS);
        let word = 1 + slot * WORDS + at;
        page.lines.get(bucket * Self::LINES + word / LINE)?.0.get(word % LINE)
    }

    /// Number of entries that were placed past a bucket.
    #[inline]
    fn passed(page: &Page, bucket: usize) -> Option<&AtomicU64> {
        page.lines.get(bucket * Self::LINES)?.0.first()
    }

    #[inline]
    fn home(hash: u64) -> usize {
        (hash >> 40) as usize % BUCKETS
    }

    #[inline]
    fn probe(page: &Page, key: &SetKey, hash: u64) -> Option<(u32, u64)> {
        let wanted = Self::bare_word(key);
        let ignored = if WORDS == 1 { MARKS } else { MARKS | !0 << 32 };
        for step in 0..BUCKETS {
            let bucket = (Self::home(hash) + step) % BUCKETS;
            for at in 0..Self::SLOTS {
                let slot = (bucket * Self::SLOTS + at) as u32;
                let Some(cell) = Self::cell(page, slot, 0) else { continue };
                let word = cell.load(Ordering::Acquire);
                if word & !ignored != wanted {
                    continue;
                }
                // The slot may have been reused between the two reads of its first word.
                let same = WORDS == 1
                    || (Self::key_at(page, slot, word).address == key.address
                        && cell.load(Ordering::Acquire) >> 32 == word >> 32);
                if same {
                    return Some((slot, word));
                }
            }
            if Self::passed(page, bucket).is_none_or(|passed| passed.load(Ordering::Acquire) == 0) {
                return None;
            }
        }
        None
    }

    /// Writes an entry into a page; `None` when the page is full.
    fn put(page: &Page, key: &SetKey, hash: u64, word: u64) -> Option<u32> {
        let free = |bucket: usize| {
            let slots = (0..Self::SLOTS).map(|at| (bucket * Self::SLOTS + at) as u32);
            slots
                .into_iter()
                .find(|slot| Self::cell(page, *slot, 0).is_some_and(|cell| cell.load(Ordering::Relaxed) == 0))
        };
        let buckets = (0..BUCKETS).map(|step| (Self::home(hash) + step) % BUCKETS);
        let (steps, slot) = buckets.enumerate().find_map(|(steps, bucket)| Some((steps, free(bucket)?)))?;
        for step in 0..steps {
            if let Some(passed) = Self::passed(page, (Self::home(hash) + step) % BUCKETS) {
                passed.store(passed.load(Ordering::Relaxed) + 1, Ordering::Release);
            }
        }
        if WORDS > 1 {
            for (at, half) in [(1, (key.address.0 >> 64) as u64), (2, key.address.0 as u64)] {
                Self::cell(page, slot, at)?.store(half, Ordering::Release);
            }
        }
        Self::cell(page, slot, 0)?.store(word, Ordering::Release);
        Some(slot)
    }

    /// Removes the entry of a slot from a page.
    fn take(page: &Page, hash: u64, slot: u32) {
        if let Some(cell) = Self::cell(page, slot, 0) {
            cell.store(0, Ordering::Release);
        }
        let last = slot as usize / Self::SLOTS;
        let mut bucket = Self::home(hash);
        while bucket != last {
            if let Some(passed) = Self::passed(page, bucket) {
                passed.store(passed.load(Ordering::Relaxed).saturating_sub(1), Ordering::Release);
            }
            bucket = (bucket + 1) % BUCKETS;
        }
    }

    /// Adds a page and moves the entries that belong there. Returns `false` if there are as many pages as possible.
    fn grow(&self) -> bool {
        let pages = self.pages.load(Ordering::Relaxed);
        if !self.make_page(pages) {
            return false;
        }
        let old_number = page_before(pages);
        let (Some(old), Some(new)) = (self.page(old_number), self.page(pages)) else { return false };
        let mut moved = Vec::new();
        for slot in 0..Self::PAGE_SLOTS as u32 {
            let word = Self::cell(old, slot, 0).map_or(0, |cell| cell.load(Ordering::Relaxed));
            if word == 0 {
                continue;
            }
            let key = Self::key_at(old, slot, word);
            let hash = self.hash(&key);
            if page_of(hash, pages + 1) == old_number {
                continue;
            }
            let Some(place) = Self::put(new, &key, hash, word) else { continue };
            if word & mark::DYNAMIC != 0
                && let Some(record) = old.records.get().and_then(|records| records.get(slot as usize))
            {
                Self::put_record(new, place, record.load(Ordering::Relaxed));
            }
            moved.push((hash, slot));
        }
        self.pages.store(pages + 1, Ordering::Release);
        for (hash, slot) in moved {
            Self::take(old, hash, slot);
        }
        true
    }
}

/// Number of pages up to the last power of two.
const fn round(pages: u32) -> u32 {
    1 << pages.ilog2()
}

/// The page of a hash when there are `pages` pages.
#[inline]
const fn page_of(hash: u64, pages: u32) -> u32 {
    let round = round(pages);
    let page = hash as u32 & (round * 2 - 1);
    if page < pages { page } else { page - round }
}

/// The page that is split when a page with this number is added.
const fn page_before(number: u32) -> u32 {
    number - round(number)
}
