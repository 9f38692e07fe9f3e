//! Maps from addresses to values, built from prefixes that may be nested.

use std::net::IpAddr;

use tollway_config::dataplane::{Prefix, RowId};

use crate::error::BuildError;
use crate::firewall::rules::Intervals;
use crate::qos::trie::Trie;

/// Number of prefixes from which on a trie is worth the fixed cost of its root.
const MANY: usize = 512;

/// A prefix with its value.
pub(super) struct PrefixValue {
    /// First address.
    pub address: u32,
    /// 0…32.
    pub len: u8,
    /// Value for the addresses in the prefix.
    pub value: u32,
}

impl PrefixValue {
    /// Last address.
    fn end(&self) -> u32 {
        self.address | u32::MAX.checked_shr(self.len.into()).unwrap_or(0)
    }
}

/// The network of an IPv4 prefix. IPv6 matches nothing, as there is no IPv6 traffic.
pub(super) fn network(row: RowId, prefix: &Prefix) -> Result<Option<(u32, u8)>, BuildError> {
    let (most, len) = (if prefix.address.is_ipv4() { 32 } else { 128 }, prefix.prefix_len);
    if len > most {
        return Err(BuildError::row(row, format!("prefix length {len}: expected 0 to {most}")));
    }
    let IpAddr::V4(address) = prefix.address else { return Ok(None) };
    let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
    Ok(Some((address.to_bits() & mask, len)))
}

/// A value below 2³¹ for each address.
#[derive(Debug)]
pub(super) enum AddressMap {
    /// A lookup takes one to three reads.
    Trie(Trie),
    /// A lookup takes as many reads as the logarithm to base 16 of the number of intervals.
    Intervals(Intervals, Vec<u32>),
}

impl AddressMap {
    /// Builds a map. An address in no prefix has the value `outside`. Any other has the value of the longest prefix
    /// that contains it: `within` of the value of the enclosing prefix and of the prefix's own value. Of equal
    /// prefixes, each is enclosed in the one before it.
    pub fn new(mut entries: Vec<PrefixValue>, outside: u32, within: impl Fn(u32, u32) -> u32) -> Self {
        if entries.len() < MANY {
            return Self::intervals(entries, outside, within);
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
        Self::Trie(trie)
    }

    fn intervals(mut entries: Vec<PrefixValue>, outside: u32, within: impl Fn(u32, u32) -> u32) -> Self {
        entries.sort_by_key(|entry| (entry.address, entry.len));
        let (mut starts, mut values) = (vec![0], vec![outside]);
        let mut begin = |start: u32, value: u32| {
            if starts.last() == Some(&start) {
                starts.pop();
                values.pop();
            }
            starts.push(start);
            values.push(value);
        };
        // Prefixes that have begun and not ended: last address and value.
        let mut open: Vec<(u32, u32)> = Vec::new();
        let close = |open: &mut Vec<(u32, u32)>, begin: &mut dyn FnMut(u32, u32), before: Option<u32>| {
            while let Some(&(end, _)) =
                open.last().filter(|(end, _)| before.is_none_or(|before| *end < before))
            {
                open.pop();
                let around = open.last().map_or(outside, |(_, value)| *value);
                if let Some(next) = end.checked_add(1) {
                    begin(next, around);
                }
            }
        };
        for entry in entries {
            close(&mut open, &mut begin, Some(entry.address));
            let around = open.last().map_or(outside, |(_, value)| *value);
            let value = within(around, entry.value);
            begin(entry.address, value);
            open.push((entry.end(), value));
        }
        close(&mut open, &mut begin, None);
        Self::Intervals(Intervals::new(&starts), values)
    }

    /// The value for an address.
    #[inline]
    pub fn of(&self, address: u32) -> u32 {
        match self {
            Self::Trie(trie) => trie.lookup(address),
            Self::Intervals(intervals, values) => {
                values.get(intervals.find(address)).copied().unwrap_or(super::NOBODY)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        /// Both forms give what the longest prefix says.
        #[test]
        fn the_longest_prefix_gives_the_value(
            prefixes in proptest::collection::btree_map((any::<u8>(), 20u8..=32), 0u32..1000, 0..40),
            addresses in proptest::collection::vec(any::<u32>(), 20),
        ) {
            let entries = || -> Vec<PrefixValue> {
                prefixes.iter().map(|(&(bits, len), &value)| {
                    let address = u32::from(bits) << 4 & u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
                    PrefixValue { address, len, value }
                }).collect()
            };
            let within = |around: u32, own: u32| around.min(own);
            let few = AddressMap::new(entries(), 999_999, within);
            let padding = (0..MANY as u32).map(|at| PrefixValue { address: at << 12 | 1 << 31, len: 32, value: 7 });
            let many = AddressMap::new(entries().into_iter().chain(padding).collect(), 999_999, within);
            for address in addresses.iter().map(|address| address & 0xfff).chain(addresses.iter().copied()) {
                let holds = |entry: &&PrefixValue| entry.address <= address && address <= entry.end();
                let least = entries().iter().filter(holds).map(|entry| entry.value).min();
                let expected = least.unwrap_or(999_999);
                prop_assert_eq!(few.of(address), expected);
                if address < 1 << 31 {
                    prop_assert_eq!(many.of(address), expected);
                }
            }
        }
    }
}
