//! Lookup of a packet's flow entry, in three steps so that each can be prefetched.

use super::ConnectionTable;
use crate::ids::{ConnRef, Direction, EntryIndex, NO_ENTRY};
use crate::packet::Meta;
use crate::packet::key::FlowKey;
use crate::packet::tuple::{Addr, Tuple};

impl ConnectionTable {
    /// Hash of a tuple, for [`ConnectionTable::probe`] and [`ConnectionTable::verify`].
    #[inline]
    pub fn hash(&self, tuple: &Tuple) -> u32 {
        self.hash_of(&FlowKey::of(tuple), tuple)
    }

    /// The hash of a tuple whose key is known.
    #[inline]
    pub fn hash_of(&self, key: &FlowKey, tuple: &Tuple) -> u32 {
        if key.is_v4() { self.hash_v4(key) } else { self.hash_v6(key, tuple) }
    }

    /// The hash of an IPv6 tuple whose key is known.
    #[inline]
    pub fn hash_v6(&self, key: &FlowKey, tuple: &Tuple) -> u32 {
        key.hash_v6(tuple.src, tuple.dst, self.seed)
    }

    /// The hash of an IPv4 tuple by its key.
    #[inline]
    pub fn hash_v4(&self, key: &FlowKey) -> u32 {
        key.hash_v4(self.seed)
    }

    /// Computes the key and the hash of a packet's tuple.
    #[inline]
    pub(crate) fn identify(&self, meta: &mut Meta) {
        meta.key = FlowKey::of(&meta.tuple);
        meta.hash = self.hash_of(&meta.key, &meta.tuple);
    }

    /// Prefetches the bucket that the first step reads.
    #[inline]
    pub fn prefetch_bucket(&self, hash: u32) {
        self.buckets.prefetch(hash);
    }

    /// Prefetches the bucket in which the reply tuple of a new connection will probably be entered: the bucket for the
    /// source address that the last translation chose.
    #[inline]
    pub fn prefetch_reply(&self, tuple: &Tuple) {
        let mut reply = tuple.reversed();
        if self.last_source != Addr::default() {
            reply.dst = self.last_source;
        }
        self.buckets.prefetch(self.hash(&reply));
    }

    /// First step of a lookup: the likely entry, [`NO_ENTRY`] if there is none in the home bucket. Reads
    /// one cache line. With `NO_ENTRY` the tuple is new, or in an overflow bucket.
    #[inline]
    pub fn probe(&self, hash: u32) -> EntryIndex {
        self.buckets.probe(hash)
    }

    /// Between the first two steps: prefetches the flow entry of packets with a key, and the hot state of its connection.
    #[inline]
    pub fn prefetch_entry(&self, index: EntryIndex, key: &FlowKey) {
        if let Some(hot) = self.connection_at(index) {
            self.entries.prefetch(index, key);
            tollway_prefetch::fetch(hot);
        }
    }

    /// Prefetches what a change of the TCP state needs in addition: the timer, the record with the links of the
    /// eviction list, and the original flow entry, whose key the journal stores.
    #[inline]
    pub fn prefetch_timer(&self, index: EntryIndex) {
        if let Some(record) = self.records.get(index as usize >> 1) {
            tollway_prefetch::fetch(record);
            self.wheel.prefetch(index >> 1);
        }
        self.entries.prefetch_slot(index >> 1);
    }

    /// Third step: the entry of the tuple with this key, [`NO_ENTRY`] if there is none. Usually `candidate`.
    #[inline]
    pub fn verify(&self, candidate: EntryIndex, key: &FlowKey, tuple: &Tuple) -> EntryIndex {
        if self.entries.is(candidate, key, tuple) { candidate } else { self.search(key, tuple) }
    }

    /// Index of a tuple's entry; [`NO_ENTRY`] when there is none.
    #[cold]
    #[inline(never)]
    pub(super) fn search(&self, key: &FlowKey, tuple: &Tuple) -> EntryIndex {
        let hash = self.hash_of(key, tuple);
        let found = self.find_key(tuple, key, hash);
        found.unwrap_or(NO_ENTRY)
    }

    /// Index of a tuple's entry; `hash` is that of its key.
    #[inline]
    pub(in crate::flow::conntrack) fn find_entry(&self, tuple: &Tuple, hash: u32) -> Option<EntryIndex> {
        self.find_key(tuple, &FlowKey::of(tuple), hash)
    }

    /// [`Self::find_entry`] when the key is known.
    #[inline]
    pub(in crate::flow::conntrack) fn find_key(
        &self,
        tuple: &Tuple,
        key: &FlowKey,
        hash: u32,
    ) -> Option<EntryIndex> {
        self.buckets.find(hash, |index| self.entries.is(index, key, tuple))
    }

    /// Whether an entry is in the hash table and is that of a tuple with this key.
    #[inline]
    pub(in crate::flow::conntrack) fn is_entry(
        &self,
        index: EntryIndex,
        key: &FlowKey,
        tuple: &Tuple,
    ) -> bool {
        self.entries.is(index, key, tuple) && self.is_indexed(index >> 1, Self::direction_of(index))
    }

    /// The connection that packets with this tuple belong to, and their direction.
    pub fn find(&self, tuple: &Tuple) -> Option<(ConnRef, Direction)> {
        let index = self.find_entry(tuple, self.hash(tuple))?;
        Some((self.reference(index)?, Self::direction_of(index)))
    }

    /// The connection to which an ICMP error relates, given the tuple of the quoted packet, and the direction in which
    /// the error travels: the reverse of that of the quoted packet.
    pub fn related(&self, embedded: &Tuple) -> Option<(ConnRef, Direction)> {
        self.find(&embedded.reversed())
    }
}
