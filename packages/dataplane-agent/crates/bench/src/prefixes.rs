//! A table of routes as large as the Internet's and mixed as it is.

use std::collections::HashSet;

use tollway_engine::ip::fib::Prefix;

use crate::random::Random;

/// Prefixes of each length from /8 to /24 in a table of a million or so, as BGP collectors saw them in
/// 2024 and 2025, rounded.
const LENGTHS: [u32; 17] = [
    16, 14, 41, 106, 300, 590, 1_200, 2_060, 13_700, 8_500, 14_200, 25_400, 44_900, 52_000, 110_000, 98_000,
    585_000,
];

/// `count` different prefixes, first address and length, spread evenly over the unicast addresses that the
/// measured topology does not use itself: no cache finds a pattern in them.
pub fn prefixes(count: usize) -> Vec<Prefix> {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let total: u32 = LENGTHS.iter().sum();
    let mut known = HashSet::with_capacity(count);
    let mut prefixes = Vec::with_capacity(count);
    while prefixes.len() < count {
        let mut at = random.below(total);
        let length = LENGTHS.iter().position(|weight| match at.checked_sub(*weight) {
            Some(rest) => {
                at = rest;
                false
            }
            None => true,
        });
        let len = 8 + length.unwrap_or(16) as u8;
        let network = random.next() & u32::MAX << (32 - len);
        let first = network >> 24;
        let unicast = (1..224).contains(&first) && ![10, 127, 172, 198].contains(&first);
        if unicast && known.insert((network, len)) {
            prefixes.push((network, len));
        }
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_prefixes_are_long_and_all_differ() {
        let prefixes = prefixes(20_000);
        let longest = prefixes.iter().filter(|(_, len)| *len == 24).count();
        assert!((11_000..14_000).contains(&longest), "{longest}");
        assert_eq!(prefixes.iter().collect::<HashSet<_>>().len(), 20_000);
        assert!(prefixes.iter().all(|(network, len)| network & !(u32::MAX << (32 - len)) == 0));
    }
}
