//! Dynamic entries, which rules and clients add to address lists, with or without a timeout. They are kept across
//! changes of the configuration.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::table::{EntryLocation, SetKey, mark};
use super::{AddressSets, Changed, SLICE, Writer};
use crate::flow::change_counters::ChangeCounters;
use crate::packet::tuple::Addr;
use crate::time::Now;

/// Maximum number of dynamic entries of all lists together, as a flood of addresses may create entries without limit.
pub const MAX_DYNAMIC: usize = 2 << 20;
/// Expiry of an entry without a timeout.
const NEVER: Now = Now(u64::MAX);

/// The writer's record of a dynamic entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct AddedEntry {
    key: SetKey,
    expires: Now,
    created: Now,
}

/// A dynamic entry, for clients.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DynamicEntry {
    /// Name of the list.
    pub list: Arc<str>,
    /// First address.
    pub address: Addr,
    /// Length of the prefix, bits.
    pub len: u8,
    /// Time until it expires, ms; `None` without a timeout.
    pub left_ms: Option<u64>,
    /// Age of the entry, ms.
    pub age_ms: u64,
}

/// The result of adding an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    /// The entry is new.
    New,
    /// The entry exists; its timeout begins again.
    Rebuilt,
    /// The configuration contains the entry already.
    Configured,
    /// There are too many entries.
    Full,
}

impl AddressSets {
    /// Adds an address to a list, for a rule. If the entry exists its timeout begins again. A `timeout_ms` of 0 is no
    /// timeout.
    pub fn add(
        &self,
        list: u16,
        address: Addr,
        timeout_ms: u64,
        now: Now,
        change_counters: &ChangeCounters,
    ) -> Added {
        let len = if address.as_v4().is_some() { 32 } else { 128 };
        let key = SetKey { list, address, len };
        if self.lengths(list).is_none() {
            return Added::Full;
        }
        if self.find(&key).is_some_and(|place| place.is(mark::CONFIGURED)) {
            return Added::Configured;
        }
        let mut changed = Changed::default();
        let added = self.add_locked(&mut self.writer(), &key, timeout_ms, now, &mut changed);
        changed.count(change_counters);
        added
    }

    /// [`Self::add`] for a prefix, to the list with a name.
    pub fn add_to(
        &self,
        name: &str,
        address: Addr,
        len: u8,
        timeout_ms: u64,
        now: Now,
        change_counters: &ChangeCounters,
    ) -> Added {
        let mut writer = self.writer();
        let Some(list) = self.number(&mut writer, name) else { return Added::Full };
        let key = SetKey::around(list, address, len);
        let mut changed = Changed::default();
        let added = self.add_locked(&mut writer, &key, timeout_ms, now, &mut changed);
        drop(writer);
        changed.count(change_counters);
        added
    }

    fn add_locked(
        &self,
        writer: &mut Writer,
        key: &SetKey,
        timeout_ms: u64,
        now: Now,
        changed: &mut Changed,
    ) -> Added {
        let life = timeout_ms.saturating_mul(1_000_000);
        let expires = if timeout_ms == 0 { NEVER } else { Now(now.0.saturating_add(life)) };
        let known = self.find(key).filter(|place| place.is(mark::DYNAMIC));
        if let Some(number) = known.and_then(|place| self.record(key, place)) {
            if let Some(record) = writer.records.get_mut(number as usize).and_then(Option::as_mut) {
                record.expires = expires;
            }
            self.arm(writer, number, expires);
            return Added::Rebuilt;
        }
        if writer.dynamic() >= MAX_DYNAMIC {
            writer.refused += 1;
            return Added::Full;
        }
        let Some((place, new)) = self.mark(writer, key, mark::DYNAMIC) else {
            writer.refused += 1;
            return Added::Full;
        };
        let record = Some(AddedEntry { key: *key, expires, created: now });
        let number = match writer.free_records.pop() {
            Some(number) => {
                if let Some(free) = writer.records.get_mut(number as usize) {
                    *free = record;
                }
                number
            }
            None => {
                writer.records.push(record);
                (writer.records.len() - 1) as u32
            }
        };
        self.full.store(writer.dynamic() >= MAX_DYNAMIC, Ordering::Relaxed);
        if key.address.as_v4().is_some() {
            self.v4.set_record(place, number);
        } else {
            self.v6.set_record(place, number);
        }
        if let Some(list) = writer.lists.get_mut(usize::from(key.list)) {
            list.dynamic += 1;
        }
        writer.wheel.follow(now);
        self.arm(writer, number, expires);
        if new {
            changed.note(key);
        }
        Added::New
    }

    fn record(&self, key: &SetKey, place: EntryLocation) -> Option<u32> {
        if key.address.as_v4().is_some() { self.v4.record(place) } else { self.v6.record(place) }
    }

    fn arm(&self, writer: &mut Writer, number: u32, expires: Now) {
        if expires == NEVER {
            writer.wheel.disarm(number);
        } else {
            writer.wheel.arm(number, expires);
        }
        let due = writer.wheel.next_deadline().unwrap_or(NEVER);
        self.due.store(due.0, Ordering::Relaxed);
    }

    fn forget(&self, writer: &mut Writer, number: u32, changed: &mut Changed) {
        let Some(record) = writer.records.get_mut(number as usize).and_then(Option::take) else { return };
        writer.wheel.disarm(number);
        writer.free_records.push(number);
        self.full.store(false, Ordering::Relaxed);
        if let Some(list) = writer.lists.get_mut(usize::from(record.key.list)) {
            list.dynamic = list.dynamic.saturating_sub(1);
        }
        if self.unmark(writer, &record.key, mark::DYNAMIC) {
            changed.note(&record.key);
        }
    }

    /// Removes a dynamic entry. Returns `false` if there is none.
    pub fn remove_from(&self, name: &str, address: Addr, len: u8, change_counters: &ChangeCounters) -> bool {
        let mut writer = self.writer();
        let Some(list) = writer.numbers.get(name).copied() else { return false };
        let key = SetKey { list, address, len };
        let known = self.find(&key).filter(|place| place.is(mark::DYNAMIC));
        let Some(number) = known.and_then(|place| self.record(&key, place)) else { return false };
        let mut changed = Changed::default();
        self.forget(&mut writer, number, &mut changed);
        let due = writer.wheel.next_deadline().unwrap_or(NEVER);
        self.due.store(due.0, Ordering::Relaxed);
        drop(writer);
        changed.count(change_counters);
        true
    }

    /// Removes expired entries; looks at no more than about `budget` of them. Returns the number removed.
    pub fn expire(&self, now: Now, budget: usize, change_counters: &ChangeCounters) -> usize {
        let (mut looked, mut removed) = (0, 0);
        while looked < budget && self.due.load(Ordering::Relaxed) <= now.0 {
            let mut writer = self.writer();
            let mut changed = Changed::default();
            for _ in 0..SLICE {
                let Some(number) = writer.wheel.pop(now) else { break };
                looked += 1;
                let record = writer.records.get(number as usize).and_then(Option::as_ref);
                if let Some(expires) = record.map(|record| record.expires).filter(|&expires| expires > now) {
                    // The expiry is beyond the range of the timing wheel.
                    writer.wheel.arm(number, expires);
                    continue;
                }
                removed += 1;
                self.forget(&mut writer, number, &mut changed);
            }
            let due = writer.wheel.next_deadline().unwrap_or(NEVER);
            self.due.store(due.0, Ordering::Relaxed);
            drop(writer);
            looked += 1;
            changed.count(change_counters);
        }
        removed
    }

    /// When [`Self::expire`] has to be called next, ns; `u64::MAX` for never. One relaxed load.
    pub fn next_due(&self) -> u64 {
        self.due.load(Ordering::Relaxed)
    }

    /// Number of entries that could not be added since the last call, because there were too many.
    pub fn take_refused(&self) -> u64 {
        std::mem::take(&mut self.writer().refused)
    }

    /// Number of dynamic entries.
    pub fn dynamic(&self) -> usize {
        self.writer().dynamic()
    }

    /// Whether the maximum number of dynamic entries is reached, so that additions are refused.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Calls `each` for every dynamic entry. The lock is held for one slice at a time. An entry that exists during the
    /// whole call is visited once.
    pub fn for_each_dynamic(&self, now: Now, mut each: impl FnMut(&DynamicEntry)) {
        let mut names: HashMap<u16, Arc<str>> = HashMap::new();
        let mut from = 0;
        loop {
            let mut part = Vec::with_capacity(4 * SLICE);
            {
                let writer = self.writer();
                let records = writer.records.get(from..).unwrap_or_default();
                if records.is_empty() {
                    return;
                }
                from += 4 * SLICE;
                for record in records.iter().take(4 * SLICE).flatten() {
                    let name = names.entry(record.key.list).or_insert_with(|| {
                        let list = writer.lists.get(usize::from(record.key.list));
                        list.map_or("", |list| list.name.as_str()).into()
                    });
                    part.push(DynamicEntry {
                        list: Arc::clone(name),
                        address: record.key.address,
                        len: record.key.len,
                        left_ms: (record.expires != NEVER)
                            .then(|| record.expires.0.saturating_sub(now.0) / 1_000_000),
                        age_ms: now.0.saturating_sub(record.created.0) / 1_000_000,
                    });
                }
            }
            part.iter().for_each(&mut each);
        }
    }
}
