//! The flow entries of a table by connection: a cache line for both of an IPv4 connection, and one for each of an IPv6
//! connection, the second of which is allocated with those of neighbouring slots.

use crate::flow::conntrack::entry::{CachedAction, FlowEntry};
use crate::ids::{Direction, EntryIndex, QueueRef};
use crate::packet::key::FlowKey;
use crate::packet::tuple::{Addr, Tuple};

/// A cache line: both entries of an IPv4 connection, or one entry of an IPv6 connection and the addresses of its packets
/// as they arrive, in the memory of the second one.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(64))]
struct Line([FlowEntry; 2]);

const _: () = assert!(size_of::<Line>() == 64);

/// Addresses in the memory of an entry.
fn pack(src: Addr, dst: Addr) -> FlowEntry {
    // The upper half is where a key of IPv4 has its zone, for which the first bytes of an address in use are too large.
    let key = FlowKey { addresses: src.0 as u64, rest: (src.0 >> 64) as u64 };
    // In the order of the fields in memory, so that they are read as two words.
    let cached = CachedAction {
        action: dst.0 as u32,
        stamp: (dst.0 >> 32) as u32,
        version: (dst.0 >> 64) as u16,
        flags: (dst.0 >> 80) as u16,
        queue: QueueRef::from_number((dst.0 >> 96) as u32),
    };
    let mut entry = FlowEntry::new(key);
    entry.cached = cached;
    entry
}

/// The addresses that [`pack`] has stored.
#[inline(always)]
fn unpack(entry: &FlowEntry) -> (Addr, Addr) {
    let (key, cached) = (entry.key(), &entry.cached);
    let low = u64::from(cached.stamp) << 32 | u64::from(cached.action);
    let high =
        u64::from(cached.queue.number()) << 32 | u64::from(cached.flags) << 16 | u64::from(cached.version);
    let address = |high: u64, low: u64| Addr(u128::from(high) << 64 | u128::from(low));
    (address(key.rest, key.addresses), address(high, low))
}

/// Number of slots, as a power of two, whose lines for the replies of IPv6 are allocated together. The table gives the
/// slots of such a block to connections of one family as long as others are free.
pub(super) const BLOCK_BITS: u32 = 8;
const BLOCK: usize = 1 << BLOCK_BITS;

/// The reply directions of IPv6 connections, in the order in which their blocks of slots were first used for IPv6. So
/// they lie on few pages, and memory is used only for those blocks.
#[derive(Debug, Default)]
struct Replies {
    lines: Vec<Line>,
    /// By block of slots, the number of its lines' block plus one; 0 for none.
    blocks: Vec<u32>,
}

impl Replies {
    fn reserve(&mut self, slots: usize) {
        self.lines.reserve_exact(slots.saturating_sub(self.lines.len()));
        self.blocks.resize(slots.div_ceil(BLOCK), 0);
    }

    #[inline]
    fn place(&self, slot: u32) -> Option<usize> {
        let block = self.blocks.get((slot >> BLOCK_BITS) as usize)?.checked_sub(1)?;
        Some(((block as usize) << BLOCK_BITS) | (slot as usize % BLOCK))
    }

    #[inline]
    fn get(&self, slot: u32) -> Option<&Line> {
        self.lines.get(self.place(slot)?)
    }

    #[inline]
    fn get_mut(&mut self, slot: u32) -> Option<&mut Line> {
        let place = self.place(slot)?;
        self.lines.get_mut(place)
    }

    /// The line of a slot, whose block is added if there is none yet.
    fn line(&mut self, slot: u32) -> Option<&mut Line> {
        let block = self.blocks.get_mut((slot >> BLOCK_BITS) as usize)?;
        if *block == 0 {
            *block = (self.lines.len() >> BLOCK_BITS) as u32 + 1;
            self.lines.resize(self.lines.len() + BLOCK, Line::default());
        }
        self.get_mut(slot)
    }
}

/// The flow entries by connection slot.
#[derive(Debug, Default)]
pub(super) struct Entries {
    /// By slot. Of an IPv6 connection the original direction.
    lines: Vec<Line>,
    replies: Replies,
}

impl Entries {
    /// Reserves memory for so many slots.
    pub fn reserve(&mut self, slots: usize) {
        self.lines.reserve_exact(slots.saturating_sub(self.lines.len()));
        self.replies.reserve(slots);
    }

    /// Adds slots with empty entries.
    pub fn add_slots(&mut self, count: usize) {
        self.lines.resize(self.lines.len() + count, Line::default());
    }

    /// The line of an entry, and its place in the line.
    #[inline]
    fn line(&self, index: EntryIndex) -> Option<(&Line, usize)> {
        let line = self.lines.get((index >> 1) as usize)?;
        if line.0[0].key().is_v6() && index & 1 != 0 {
            return self.replies.get(index >> 1).map(|line| (line, 0));
        }
        Some((line, (index & 1) as usize))
    }

    /// An entry.
    #[inline]
    pub fn get(&self, index: EntryIndex) -> Option<&FlowEntry> {
        let (line, place) = self.line(index)?;
        line.0.get(place)
    }

    /// An entry, and the key of the other direction, if it is of IPv4.
    #[inline]
    pub fn pair_mut(&mut self, index: EntryIndex) -> Option<(&mut FlowEntry, &FlowKey)> {
        let Line([original, reply]) = self.lines.get_mut((index >> 1) as usize)?;
        if index & 1 == 0 {
            return Some((original, reply.key()));
        }
        if original.key().is_v6() {
            let Line([entry, addresses]) = self.replies.get_mut(index >> 1)?;
            return Some((entry, addresses.key()));
        }
        Some((reply, original.key()))
    }

    /// Mutable [`Self::get`].
    #[inline]
    pub fn get_mut(&mut self, index: EntryIndex) -> Option<&mut FlowEntry> {
        let line = self.lines.get_mut((index >> 1) as usize)?;
        if line.0[0].key().is_v6() && index & 1 != 0 {
            return self.replies.get_mut(index >> 1)?.0.first_mut();
        }
        line.0.get_mut((index & 1) as usize)
    }

    /// The entry of packets with a key, if this is it.
    #[inline]
    pub fn is(&self, index: EntryIndex, key: &FlowKey, tuple: &Tuple) -> bool {
        if key.is_v4() {
            let line = self.lines.get((index >> 1) as usize);
            return line.and_then(|line| line.0.get((index & 1) as usize)).is_some_and(|entry| entry.is(key));
        }
        self.is_v6(index, key, tuple)
    }

    #[inline]
    fn is_v6(&self, index: EntryIndex, key: &FlowKey, tuple: &Tuple) -> bool {
        let line = match index & 1 {
            0 => self.lines.get((index >> 1) as usize),
            _ => self.replies.get(index >> 1),
        };
        line.is_some_and(|Line([entry, addresses])| {
            let (src, dst) = unpack(addresses);
            entry.is_v6(key) & ((src.0 ^ tuple.src.0) | (dst.0 ^ tuple.dst.0) == 0)
        })
    }

    /// Prefetches the entry of packets with a key.
    #[inline]
    pub fn prefetch(&self, index: EntryIndex, key: &FlowKey) {
        let line = match index & 1 != 0 && key.is_v6() {
            false => self.lines.get((index >> 1) as usize),
            true => self.replies.get(index >> 1),
        };
        if let Some(line) = line {
            tollway_prefetch::fetch(line);
        }
    }

    /// Prefetches both entries of a slot; of an IPv6 connection the original one.
    #[inline]
    pub fn prefetch_slot(&self, slot: u32) {
        if let Some(line) = self.lines.get(slot as usize) {
            tollway_prefetch::fetch(line);
        }
    }

    /// The keys of both directions of an IPv4 connection.
    #[inline(always)]
    pub fn keys_v4(&self, slot: u32) -> Option<[&FlowKey; 2]> {
        let Line([original, reply]) = self.lines.get(slot as usize)?;
        original.key().is_v4().then(|| [original.key(), reply.key()])
    }

    /// Tuple of the packets of a direction, as they arrive.
    // Inlined, so that the tuple is built field by field in its destination: a copy from memory would stall on the
    // store buffer.
    #[inline(always)]
    pub fn tuple(&self, slot: u32, direction: Direction) -> Tuple {
        let Some(line) = self.lines.get(slot as usize) else { return Tuple::default() };
        if line.0[0].key().is_v6() {
            return self.tuple_v6(line, slot, direction);
        }
        let [original, reply] = &line.0;
        match direction {
            Direction::Original => original.key().tuple(),
            Direction::Reply => reply.key().tuple(),
        }
    }

    #[inline(never)]
    fn tuple_v6(&self, original: &Line, slot: u32, direction: Direction) -> Tuple {
        let line = match direction {
            Direction::Original => Some(original),
            Direction::Reply => self.replies.get(slot),
        };
        let Some(Line([entry, addresses])) = line else { return Tuple::default() };
        let (src, dst) = unpack(addresses);
        Tuple { src, dst, ..entry.key().tuple() }
    }

    /// Writes the key of a direction, with no cached action. That of the original direction comes first.
    #[inline]
    pub fn set(&mut self, slot: u32, direction: Direction, key: FlowKey, tuple: &Tuple) {
        if key.is_v6() {
            return self.set_v6(slot, direction, key, tuple);
        }
        if let Some(line) = self.lines.get_mut(slot as usize) {
            let [original, reply] = &mut line.0;
            let entry = match direction {
                Direction::Original => original,
                Direction::Reply => reply,
            };
            *entry = FlowEntry::new(key);
        }
    }

    fn set_v6(&mut self, slot: u32, direction: Direction, key: FlowKey, tuple: &Tuple) {
        let line = match direction {
            Direction::Original => self.lines.get_mut(slot as usize),
            Direction::Reply => self.replies.line(slot),
        };
        if let Some(line) = line {
            *line = Line([FlowEntry::new(key), pack(tuple.src, tuple.dst)]);
        }
    }

    /// Empties the entries of a slot.
    pub fn clear(&mut self, slot: u32) {
        let Some(line) = self.lines.get_mut(slot as usize) else { return };
        let v6 = line.0[0].key().is_v6();
        *line = Line::default();
        if v6 && let Some(line) = self.replies.get_mut(slot) {
            *line = Line::default();
        }
    }

    /// Removes the cached actions of all entries.
    pub fn forget_actions(&mut self) {
        for Line([first, second]) in self.lines.iter_mut().chain(&mut self.replies.lines) {
            first.cached = CachedAction::default();
            if !first.key().is_v6() {
                second.cached = CachedAction::default();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(64)))]
        #[test]
        fn packed_addresses_are_what_they_were(src: u128, dst: u128) {
            prop_assert_eq!(unpack(&pack(Addr(src), Addr(dst))), (Addr(src), Addr(dst)));
        }
    }
}
