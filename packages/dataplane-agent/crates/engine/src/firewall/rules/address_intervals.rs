//! Addresses of IPv6 as numbers of 32 bits, by which checks and indexes distinguish rules.

use std::net::IpAddr;

use tollway_config::dataplane::{Chain, Matcher};

/// The intervals into which the address ranges of a table's rules divide the addresses of IPv6. All addresses of an
/// interval are in the same ranges, so that a range of addresses is a range of interval numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct AddressIntervals {
    /// First addresses of all intervals but the first, ascending.
    starts: Box<[u128]>,
}

impl AddressIntervals {
    /// The intervals of the rules of a table.
    pub fn of(chains: &[Chain]) -> Self {
        let matchers = chains.iter().flat_map(|chain| &chain.rules).flat_map(|rule| &rule.matchers);
        let mut starts = Vec::new();
        for matcher in matchers {
            let (Matcher::SrcAddress { range, .. } | Matcher::DstAddress { range, .. }) = matcher else {
                continue;
            };
            if let (IpAddr::V6(from), IpAddr::V6(to)) = (range.from, range.to) {
                starts.push(from.to_bits());
                starts.extend(to.to_bits().checked_add(1));
            }
        }
        starts.sort_unstable();
        starts.dedup();
        Self { starts: starts.into() }
    }

    /// Number of the interval of an address.
    #[inline]
    pub fn number(&self, address: u128) -> u32 {
        self.starts.partition_point(|start| *start <= address) as u32
    }
}
