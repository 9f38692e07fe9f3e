//! Maps from addresses to values, built from prefixes that may be nested.

use tollway_config::dataplane::{Prefix, RowId};

use crate::error::BuildError;
use crate::firewall::rules::Intervals;
use crate::ip::fib::Address;
use crate::packet::tuple::Addr;
use crate::qos::trie::Trie;

/// Number of IPv4 prefixes from which on a trie is worth the fixed cost of its root.
const MANY: usize = 512;

/// A prefix with its value.
pub(super) struct PrefixValue<A> {
    /// First address.
    pub address: A,
    /// Bits of the prefix.
    pub len: u8,
    /// Value for the addresses in the prefix.
    pub value: u32,
}

/// The network of a prefix in a family; `None` if it is of the other one.
pub(super) fn network<A: Address>(row: RowId, prefix: &Prefix) -> Result<Option<(A, u8)>, BuildError> {
    let Some(address) = A::of(prefix.address) else { return Ok(None) };
    let (most, len) = (A::BITS, prefix.prefix_len);
    if len > most {
        return Err(BuildError::row(row, format!("prefix length {len}: expected 0 to {most}")));
    }
    Ok(Some((address.masked(len), len)))
}

/// An address whose value is looked up.
pub(super) trait MapAddress: Address {
    /// What a lookup reads.
    type Index: std::fmt::Debug;

    /// Builds what a lookup reads, of values below 2³¹. An address in no prefix has the value `outside`. Any other has
    /// the value of the longest prefix that contains it: `within` of the value of the enclosing prefix and of the
    /// prefix's own value. Of equal prefixes, each is enclosed in the one before it.
    fn index(entries: Vec<PrefixValue<Self>>, outside: u32, within: impl Fn(u32, u32) -> u32) -> Self::Index;

    /// The value of this address.
    fn value(self, index: &Self::Index) -> u32;
}

/// Values of IPv4 addresses.
#[derive(Debug)]
pub(super) enum Ipv4Index {
    /// A lookup takes one to three reads.
    Trie(Trie),
    /// A lookup takes as many reads as the logarithm to base 16 of the number of intervals.
    Intervals(Intervals, Vec<u32>),
}

impl MapAddress for u32 {
    type Index = Ipv4Index;

    fn index(
        mut entries: Vec<PrefixValue<Self>>,
        outside: u32,
        within: impl Fn(u32, u32) -> u32,
    ) -> Ipv4Index {
        if entries.len() < MANY {
            let (starts, values) = intervals(entries, outside, within);
            return Ipv4Index::Intervals(Intervals::new(&starts), values);
        }
        entries.sort_by_key(|entry| (entry.len, entry.address));
        let mut trie = Trie::new(outside);
        for PrefixValue { address, len, value } in entries {
            let around = trie.lookup(address);
            let value = within(around, value);
            if value != around {
                trie.insert(address, len, value);
            }
        }
        Ipv4Index::Trie(trie)
    }

    #[inline]
    fn value(self, index: &Ipv4Index) -> u32 {
        match index {
            Ipv4Index::Trie(trie) => trie.lookup(self),
            Ipv4Index::Intervals(intervals, values) => {
                values.get(intervals.find(self)).copied().unwrap_or(super::NOBODY)
            }
        }
    }
}

impl MapAddress for u128 {
    /// First addresses of the intervals, ascending, and their values. A lookup takes as many reads as the logarithm to
    /// base 2 of their number: a flow is looked up once, and then its queue is in the flow cache.
    type Index = (Vec<u128>, Vec<u32>);

    fn index(entries: Vec<PrefixValue<Self>>, outside: u32, within: impl Fn(u32, u32) -> u32) -> Self::Index {
        intervals(entries, outside, within)
    }

    #[inline]
    fn value(self, (starts, values): &Self::Index) -> u32 {
        let after = starts.partition_point(|start| *start <= self);
        values.get(after.wrapping_sub(1)).copied().unwrap_or(super::NOBODY)
    }
}

/// The intervals of consecutive addresses with one value: their first addresses, which begin with 0, and their values.
fn intervals<A: Address>(
    mut entries: Vec<PrefixValue<A>>,
    outside: u32,
    within: impl Fn(u32, u32) -> u32,
) -> (Vec<A>, Vec<u32>) {
    entries.sort_by_key(|entry| (entry.address, entry.len));
    let (mut starts, mut values) = (vec![A::default()], vec![outside]);
    let mut begin = |start: A, value: u32| {
        if starts.last() == Some(&start) {
            starts.pop();
            values.pop();
        }
        starts.push(start);
        values.push(value);
    };
    // Prefixes that have begun and not ended: last address and value.
    let mut open: Vec<(A, u32)> = Vec::new();
    let close = |open: &mut Vec<(A, u32)>, begin: &mut dyn FnMut(A, u32), before: Option<A>| {
        while let Some(&(end, _)) = open.last().filter(|(end, _)| before.is_none_or(|before| *end < before)) {
            open.pop();
            let around = open.last().map_or(outside, |(_, value)| *value);
            if let Some(next) = end.next() {
                begin(next, around);
            }
        }
    };
    for entry in entries {
        close(&mut open, &mut begin, Some(entry.address));
        let around = open.last().map_or(outside, |(_, value)| *value);
        let value = within(around, entry.value);
        begin(entry.address, value);
        open.push((entry.address.last(entry.len), value));
    }
    close(&mut open, &mut begin, None);
    (starts, values)
}

/// A value below 2³¹ for each address of both families.
#[derive(Debug)]
pub(super) struct AddressMap {
    v4: <u32 as MapAddress>::Index,
    v6: <u128 as MapAddress>::Index,
}

impl AddressMap {
    /// Builds a map; see [`MapAddress::index`].
    pub fn new(
        v4: Vec<PrefixValue<u32>>,
        v6: Vec<PrefixValue<u128>>,
        outside: u32,
        within: impl Fn(u32, u32) -> u32,
    ) -> Self {
        Self { v4: u32::index(v4, outside, &within), v6: u128::index(v6, outside, &within) }
    }

    /// The value for an address.
    #[inline]
    pub fn of(&self, address: Addr) -> u32 {
        match address.as_v4() {
            Some(address) => address.value(&self.v4),
            None => address.0.value(&self.v6),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OUTSIDE: u32 = 999_999;

    /// What the prefixes that contain an address say.
    fn least<A: Address>(entries: &[PrefixValue<A>], address: A) -> u32 {
        let holds = |entry: &&PrefixValue<A>| address.masked(entry.len) == entry.address;
        entries.iter().filter(holds).map(|entry| entry.value).min().unwrap_or(OUTSIDE)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        /// Few and many prefixes of IPv4, and those of IPv6, give what the longest prefix says.
        #[test]
        fn the_longest_prefix_gives_the_value(
            prefixes in proptest::collection::btree_map((any::<u8>(), 20u8..=32), 0u32..1000, 0..40),
            addresses in proptest::collection::vec(any::<u32>(), 20),
        ) {
            let v4 = || -> Vec<PrefixValue<u32>> {
                let prefix = |(&(bits, len), &value): (&(u8, u8), &u32)| {
                    PrefixValue { address: (u32::from(bits) << 4).masked(len), len, value }
                };
                prefixes.iter().map(prefix).collect()
            };
            // At the upper and at the lower end of the addresses, so that some prefixes end with the last one.
            let wide = |address: u32, low: bool| u128::from(address) << if low { 0 } else { 96 };
            let v6 = || -> Vec<PrefixValue<u128>> {
                let prefix = |(&(bits, len), &value): (&(u8, u8), &u32)| {
                    let (low, len) = (bits & 1 != 0, if bits & 1 != 0 { len + 96 } else { len });
                    let bits = if bits > 250 { u32::MAX } else { u32::from(bits) << 4 };
                    PrefixValue { address: wide(bits, low).masked(len), len, value }
                };
                prefixes.iter().map(prefix).collect()
            };
            let within = |around: u32, own: u32| around.min(own);
            let few = AddressMap::new(v4(), v6(), OUTSIDE, within);
            let padding = (0..MANY as u32).map(|at| PrefixValue { address: at << 12 | 1 << 31, len: 32, value: 7 });
            let many = AddressMap::new(v4().into_iter().chain(padding).collect(), Vec::new(), OUTSIDE, within);
            for address in addresses.iter().map(|address| address & 0xfff).chain(addresses.iter().copied()) {
                let expected = least(&v4(), address);
                prop_assert_eq!(few.of(Addr::v4(address)), expected);
                if address < 1 << 31 {
                    prop_assert_eq!(many.of(Addr::v4(address)), expected);
                }
                for address in [wide(address, true), wide(address, false), !wide(address, true)] {
                    if Addr(address).as_v4().is_none() {
                        prop_assert_eq!(few.of(Addr(address)), least(&v6(), address));
                    }
                }
            }
        }
    }
}
