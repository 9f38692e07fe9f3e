//! How a packet finds its connection.

use super::Table;
use crate::ids::{ConnRef, Direction};
use crate::ids::{EntryIndex, NO_ENTRY};
use crate::packet::Meta;
use crate::packet::key::Key;
use crate::packet::tuple::{Addr, Tuple};

impl Table {
    /// Hash of a tuple, for [`Table::probe`] and [`Table::verify`].
    #[inline]
    pub fn hash(&self, tuple: &Tuple) -> u32 {
        self.hash_of(&Key::of(tuple))
    }

    /// The same of its key.
    #[inline]
    pub fn hash_of(&self, key: &Key) -> u32 {
        key.hash(self.seed)
    }

    /// Works out what the table needs of a packet's tuple.
    #[inline]
    pub(crate) fn identify(&self, meta: &mut Meta) {
        meta.key = Key::of(&meta.tuple);
        meta.hash = self.hash_of(&meta.key);
    }

    /// Before the first step: has the line fetched that it will read.
    #[inline]
    pub fn fetch_bucket(&self, hash: u32) {
        self.buckets.fetch(hash);
    }

    /// Has the line fetched in which the answers to a new connection's first packet will probably stand:
    /// with the address that the last translation chose.
    #[inline]
    pub fn foresee_reply(&self, tuple: &Tuple) {
        let mut reply = tuple.reversed();
        if self.last_source != Addr::default() {
            reply.dst = self.last_source;
        }
        self.buckets.fetch(self.hash(&reply));
    }

    /// First step of a lookup: the likely entry, [`NO_ENTRY`] if there is none in the home bucket. Reads
    /// one cache line. With `NO_ENTRY` the tuple is new, or in an overflow bucket.
    #[inline]
    pub fn probe(&self, hash: u32) -> EntryIndex {
        self.buckets.probe(hash)
    }

    /// Between the first two steps: has the lines of an entry and of its connection fetched.
    #[inline]
    pub fn fetch_entry(&self, index: EntryIndex) {
        if let (Some(entry), Some(line)) = (self.entries.get(index as usize), self.connection_at(index)) {
            tollway_prefetch::fetch(entry);
            tollway_prefetch::fetch(line);
        }
    }

    /// The same of what is needed beside them when the TCP state changes: the timer, the list that a full table evicts
    /// from, and the name that the journal knows the connection by.
    #[inline]
    pub fn fetch_timer(&self, index: EntryIndex) {
        if let Some(record) = self.records.get(index as usize >> 1) {
            tollway_prefetch::fetch(record);
            self.wheel.fetch(index >> 1);
        }
        if let Some(original) = self.entries.get(index as usize & !1) {
            tollway_prefetch::fetch(original);
        }
    }

    /// Third step: the entry of the tuple with this key, [`NO_ENTRY`] if there is none. Usually `candidate`.
    #[inline]
    pub fn verify(&self, candidate: EntryIndex, key: &Key, tuple: &Tuple) -> EntryIndex {
        match self.entries.get(candidate as usize) {
            Some(entry) if entry.is_exactly(key) => candidate,
            _ => self.search(key, tuple),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn search(&self, key: &Key, tuple: &Tuple) -> EntryIndex {
        let found = self.buckets.find(self.hash_of(key), |index| self.is_entry_of(index, tuple, key));
        found.unwrap_or(NO_ENTRY)
    }

    #[inline]
    pub(super) fn is_entry_of(&self, index: EntryIndex, tuple: &Tuple, key: &Key) -> bool {
        let Some(entry) = self.entries.get(index as usize) else { return false };
        entry.is(key)
            && entry
                .key()
                .place()
                .is_none_or(|place| self.v6.get(place, Self::direction_of(index)) == (tuple.src, tuple.dst))
    }

    #[inline]
    pub(in crate::flow::conntrack) fn find_entry(&self, tuple: &Tuple, hash: u32) -> Option<EntryIndex> {
        self.find_key(tuple, &Key::of(tuple), hash)
    }

    #[inline]
    pub(in crate::flow::conntrack) fn find_key(
        &self,
        tuple: &Tuple,
        key: &Key,
        hash: u32,
    ) -> Option<EntryIndex> {
        self.buckets.find(hash, |index| self.is_entry_of(index, tuple, key))
    }

    /// Whether an entry can be found, and by this key only. Never with IPv6, where keys are ambiguous.
    #[inline]
    pub(in crate::flow::conntrack) fn is_entry(&self, index: EntryIndex, key: &Key) -> bool {
        self.entries.get(index as usize).is_some_and(|entry| entry.is_exactly(key))
            && self.is_indexed(index >> 1, Self::direction_of(index))
    }

    /// The connection that packets with this tuple belong to, and their direction.
    pub fn find(&self, tuple: &Tuple) -> Option<(ConnRef, Direction)> {
        let index = self.find_entry(tuple, self.hash(tuple))?;
        Some((self.reference(index)?, Self::direction_of(index)))
    }

    /// The connection that an ICMP error is about, from the tuple of the quoted packet as quoted, and the
    /// direction in which the error travels: against the quoted packet.
    pub fn related(&self, embedded: &Tuple) -> Option<(ConnRef, Direction)> {
        self.find(&embedded.reversed())
    }
}
