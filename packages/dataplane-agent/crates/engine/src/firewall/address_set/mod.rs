//! The contents of all address lists: the entries of the configuration, and those that rules and clients add. They are
//! shared by the workers and are not part of snapshots.
//!
//! Lists are identified by name across commits, and have a number. A prefix in a list is an entry of a hash table
//! ([`table`]) that workers read without locks; the lookup of an address takes one probe for each prefix length in the
//! list. A writer holds a lock, for a few entries at a time.
//!
//! Memory per entry: about 20 bytes of table for IPv4 and 50 for IPv6; dynamic entries take another 75 for their
//! timeout.

mod contents;
mod dynamic;
pub(crate) mod table;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use arrayvec::ArrayVec;

use crate::flow::change_counters::ChangeCounters;
use crate::packet::membership_slot::MembershipSlot;
use crate::packet::tuple::Addr;
use crate::time::wheel::{self, Wheel};

pub use contents::{Contents, Entries};
use dynamic::AddedEntry;
pub use dynamic::{Added, DynamicEntry, MAX_DYNAMIC};
pub use table::SetKey;
use table::{EntryLocation, PrefixTable, mark};

/// Maximum number of lists.
pub const MAX_LISTS: usize = 1 << 15;
/// Resolution of timeouts, ns.
const TICK: u64 = 100_000_000;
/// Maximum number of entries that are changed while the lock is held.
const SLICE: usize = 64;
/// Number of lists in a chunk.
const CHUNK: usize = 256;

/// Prefix lengths that occur in a list, one bit each.
#[derive(Debug, Default)]
struct Lengths {
    v4: AtomicU64,
    v6: [AtomicU64; 3],
}

/// The writer's state of a list.
#[derive(Debug, Default)]
struct List {
    name: String,
    /// Number of entries by prefix length: IPv4 at index 0 to 32, IPv6 from index 33 on.
    counts: Vec<u32>,
    entries: u32,
    dynamic: u32,
    /// In the configuration that was taken over last, or the one before.
    configured: bool,
    retired: bool,
}

#[derive(Debug)]
struct Writer {
    numbers: HashMap<String, u16>,
    lists: Vec<List>,
    /// Numbers that nothing refers to any more.
    free_lists: Vec<u16>,
    records: Vec<Option<AddedEntry>>,
    free_records: Vec<u32>,
    wheel: Wheel<TICK>,
    /// Lists of the configuration that was taken over last, by name.
    taken: Option<Arc<Contents>>,
    refused: u64,
}

impl Writer {
    /// Number of entries that are not part of the configuration.
    fn dynamic(&self) -> usize {
        self.records.len() - self.free_records.len()
    }
}

/// The contents of all lists.
#[derive(Debug)]
pub struct AddressSets {
    v4: PrefixTable<1>,
    v6: PrefixTable<3>,
    lengths: Box<[OnceLock<Box<[Lengths]>>]>,
    writer: Mutex<Writer>,
    /// When the next entry ends, ns.
    due: AtomicU64,
    /// No more entries can be added.
    full: AtomicBool,
}

impl AddressSets {
    /// Returns an instance without lists. `seed` should be hard to guess, since it keys the hash tables.
    pub fn new(seed: u64) -> Self {
        let writer = Writer {
            numbers: HashMap::new(),
            lists: Vec::new(),
            free_lists: Vec::new(),
            records: Vec::new(),
            free_records: Vec::new(),
            wheel: Wheel::new(0),
            taken: None,
            refused: 0,
        };
        Self {
            v4: PrefixTable::new(seed),
            v6: PrefixTable::new(seed),
            lengths: (0..MAX_LISTS / CHUNK).map(|_| OnceLock::new()).collect(),
            writer: Mutex::new(writer),
            due: AtomicU64::new(u64::MAX),
            full: AtomicBool::new(false),
        }
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn lengths(&self, list: u16) -> Option<&Lengths> {
        let list = usize::from(list);
        self.lengths.get(list / CHUNK)?.get()?.get(list % CHUNK)
    }

    /// Whether a list holds an address.
    #[inline]
    pub fn contains(&self, list: u16, address: Addr) -> bool {
        let Some(lengths) = self.lengths(list) else { return false };
        if address.as_v4().is_some() {
            let has = |len| self.v4.contains(&SetKey::around(list, address, len));
            return any_length(lengths.v4.load(Ordering::Acquire), 0, has);
        }
        let mut words = lengths.v6.iter().enumerate().rev();
        words.any(|(at, word)| {
            let has = |len| self.v6.contains(&SetKey::around(list, address, len));
            any_length(word.load(Ordering::Acquire), at as u8 * 64, has)
        })
    }

    /// Bytes of the tables.
    pub fn memory(&self) -> usize {
        let writer = self.writer();
        let records = writer.records.capacity() * (size_of::<Option<AddedEntry>>() + wheel::SLOT_BYTES);
        self.v4.memory() + self.v6.memory() + records
    }

    fn find(&self, key: &SetKey) -> Option<EntryLocation> {
        if key.address.as_v4().is_some() { self.v4.find(key) } else { self.v6.find(key) }
    }

    /// Sets a mark on an entry and adds the entry if it is missing; `None` when the table is full. The second value is
    /// true when the prefix is new in its list.
    fn mark(&self, writer: &mut Writer, key: &SetKey, mark: u64) -> Option<(EntryLocation, bool)> {
        let known = self.find(key).is_some();
        let place = if key.address.as_v4().is_some() {
            self.v4.insert(key, mark)
        } else {
            self.v6.insert(key, mark)
        }?;
        if !known && let Some(list) = writer.lists.get_mut(usize::from(key.list)) {
            list.entries += 1;
            if let Some(count) = list.counts.get_mut(length_place(key)) {
                *count += 1;
                if *count == 1 {
                    self.set_length(key, true);
                }
            }
        }
        Some((place, !known))
    }

    /// Clears a mark of an entry. Returns whether the prefix has left its list.
    fn unmark(&self, writer: &mut Writer, key: &SetKey, mark: u64) -> bool {
        if key.address.as_v4().is_some() {
            self.v4.remove(key, mark);
        } else {
            self.v6.remove(key, mark);
        }
        if self.find(key).is_some() {
            return false;
        }
        if let Some(list) = writer.lists.get_mut(usize::from(key.list)) {
            list.entries = list.entries.saturating_sub(1);
            if let Some(count) = list.counts.get_mut(length_place(key)) {
                *count = count.saturating_sub(1);
                if *count == 0 {
                    self.set_length(key, false);
                }
            }
        }
        true
    }

    fn set_length(&self, key: &SetKey, present: bool) {
        let Some(lengths) = self.lengths(key.list) else { return };
        let word = if key.address.as_v4().is_some() {
            Some(&lengths.v4)
        } else {
            lengths.v6.get(usize::from(key.len / 64))
        };
        if let Some(word) = word {
            let bit = 1 << (key.len % 64);
            if present {
                word.fetch_or(bit, Ordering::Release)
            } else {
                word.fetch_and(!bit, Ordering::Release)
            };
        }
    }

    /// Number of the list with this name; the list is created if it does not exist. `None` when there are
    /// [`MAX_LISTS`].
    fn number(&self, writer: &mut Writer, name: &str) -> Option<u16> {
        if let Some(number) = writer.numbers.get(name) {
            return Some(*number);
        }
        let number = match writer.free_lists.pop() {
            Some(number) => number,
            None if writer.lists.len() < MAX_LISTS => {
                writer.lists.push(List::default());
                (writer.lists.len() - 1) as u16
            }
            None => return None,
        };
        let make = || (0..CHUNK).map(|_| Lengths::default()).collect();
        self.lengths.get(usize::from(number) / CHUNK)?.get_or_init(make);
        let list = writer.lists.get_mut(usize::from(number))?;
        *list = List { name: name.to_owned(), counts: vec![0; 33 + 129], ..List::default() };
        writer.numbers.insert(name.to_owned(), number);
        Some(number)
    }

    /// Applies the lists of a configuration and returns the numbers of the lists that it names. Must be called just
    /// before the workers apply the configuration's rules. Entries take effect one after the other, and new ones are
    /// added before old ones are removed. Entries added by rules and clients remain.
    pub fn take_over(
        &self,
        names: &[String],
        contents: &Arc<Contents>,
        change_counters: &ChangeCounters,
    ) -> Box<[u16]> {
        let mut writer = self.writer();
        let numbers = names.iter().map(|name| self.number(&mut writer, name).unwrap_or(u16::MAX)).collect();
        Self::retire(&mut writer, names);
        let old = writer.taken.replace(Arc::clone(contents)).unwrap_or_default();
        drop(writer);
        if Arc::ptr_eq(&old, contents) {
            return numbers;
        }
        let nothing = Entries::default();
        for (name, entries) in contents.lists() {
            match old.list(name) {
                Some(before) if Arc::ptr_eq(before, entries) => {}
                before => {
                    self.replace(name, before.map_or(&nothing, |before| before), entries, change_counters)
                }
            }
        }
        for (name, entries) in old.lists() {
            if contents.list(name).is_none() {
                self.replace(name, entries, &nothing, change_counters);
            }
        }
        numbers
    }

    /// Frees the numbers of lists that have been out of the configuration since before the last commit and
    /// are empty: no worker can know them any more.
    fn retire(writer: &mut Writer, names: &[String]) {
        let named: std::collections::HashSet<&str> = names.iter().map(String::as_str).collect();
        for (number, list) in writer.lists.iter_mut().enumerate() {
            let present = named.contains(list.name.as_str());
            if !present && !list.configured && list.entries == 0 && !list.retired {
                list.retired = true;
                writer.numbers.remove(&list.name);
                writer.free_lists.push(number as u16);
            }
            list.configured = present;
        }
    }

    /// Replaces the configured entries of a list: adds those only in `new`, then removes those only in `old`.
    fn replace(&self, name: &str, old: &Entries, new: &Entries, change_counters: &ChangeCounters) {
        let Some(list) = self.number(&mut self.writer(), name) else { return };
        let change = |prefixes: &mut dyn Iterator<Item = (Addr, u8)>, adds: bool| {
            let mut prefixes = prefixes.peekable();
            while prefixes.peek().is_some() {
                let mut changed = Changed::default();
                let mut writer = self.writer();
                for (address, len) in prefixes.by_ref().take(SLICE) {
                    let key = SetKey { list, address, len };
                    let changes = if adds {
                        self.mark(&mut writer, &key, mark::CONFIGURED).is_some_and(|(_, new)| new)
                    } else {
                        self.unmark(&mut writer, &key, mark::CONFIGURED)
                    };
                    if changes {
                        changed.note(&key);
                    }
                }
                drop(writer);
                changed.count(change_counters);
            }
        };
        change(&mut new.missing_in(old), true);
        change(&mut old.missing_in(new), false);
    }
}

/// Whether `has` is true for one of the prefix lengths `base` + n for which bit n is set; the longest is tried first.
#[inline]
fn any_length(mut bits: u64, base: u8, has: impl Fn(u8) -> bool) -> bool {
    while bits != 0 {
        let bit = 63 - bits.leading_zeros();
        if has(base + bit as u8) {
            return true;
        }
        bits &= !(1 << bit);
    }
    false
}

fn length_place(key: &SetKey) -> usize {
    usize::from(key.len) + if key.address.as_v4().is_some() { 0 } else { 33 }
}

/// At most [`SLICE`] entries that were added or removed, for caches of lookup results.
#[derive(Debug, Default)]
struct Changed {
    cells: ArrayVec<MembershipSlot, SLICE>,
    /// Networks: first address and length.
    networks: ArrayVec<(Addr, u8), SLICE>,
    any: bool,
}

impl Changed {
    fn note(&mut self, key: &SetKey) {
        self.any = true;
        let noted = if key.is_host() {
            self.cells.try_push(MembershipSlot::of(u32::from(key.list), key.address)).is_ok()
        } else {
            self.networks.try_push((key.address, key.len)).is_ok()
        };
        debug_assert!(noted, "more than a slice has changed");
    }

    fn count(self, change_counters: &ChangeCounters) {
        if self.any {
            change_counters.lists_changed(self.cells, self.networks);
        }
    }
}
