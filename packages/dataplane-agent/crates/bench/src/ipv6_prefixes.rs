//! A table of IPv6 routes as large as the Internet's and mixed as it is.

use std::collections::HashSet;

use tollway_engine::ip::fib::Prefix;

use crate::random::Random;

/// Blocks of which the registries allocate: length 12 each.
const REGISTRIES: [u128; 5] = [0x240, 0x260, 0x280, 0x2a0, 0x2c0];
/// Allocations among which the routes are divided.
const ALLOCATIONS: u32 = 45_000;
/// Length of an allocation, bits.
const ALLOCATION_LEN: u8 = 32;
/// Lengths of prefixes, and how many of a thousand have each, as BGP collectors saw them in 2024 and 2025, rounded.
const LENGTHS: [(u8, u32); 17] = [
    (48, 470),
    (32, 120),
    (44, 95),
    (40, 90),
    (36, 50),
    (46, 30),
    (47, 25),
    (29, 22),
    (45, 20),
    (42, 18),
    (33, 15),
    (34, 12),
    (38, 10),
    (35, 8),
    (39, 6),
    (43, 5),
    (28, 4),
];

/// `count` different prefixes, first address and length: those longer than an allocation are spread evenly over the
/// allocations, so that no cache finds a pattern in them.
pub fn ipv6_prefixes(count: usize) -> Vec<Prefix<u128>> {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let allocations: Vec<u128> = (0..ALLOCATIONS)
        .map(|_| {
            let registry = REGISTRIES[random.below(REGISTRIES.len() as u32) as usize];
            registry << 116 | u128::from(random.below(1 << 20)) << 96
        })
        .collect();
    let total: u32 = LENGTHS.iter().map(|(_, weight)| weight).sum();
    let mut known = HashSet::with_capacity(count);
    let mut prefixes = Vec::with_capacity(count);
    while prefixes.len() < count {
        let mut at = random.below(total);
        let mut len = ALLOCATION_LEN;
        for (length, weight) in LENGTHS {
            len = length;
            match at.checked_sub(weight) {
                Some(rest) => at = rest,
                None => break,
            }
        }
        let allocation = allocations[random.below(ALLOCATIONS) as usize];
        let network = (allocation | u128::from(random.next()) << 64) & u128::MAX << (128 - len);
        if known.insert((network, len)) {
            prefixes.push((network, len));
        }
    }
    prefixes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_half_of_the_prefixes_are_sites_and_all_differ() {
        let prefixes = ipv6_prefixes(20_000);
        let sites = prefixes.iter().filter(|(_, len)| *len == 48).count();
        assert!((9_000..11_500).contains(&sites), "{sites}");
        assert_eq!(prefixes.iter().collect::<HashSet<_>>().len(), 20_000);
        assert!(prefixes.iter().all(|(network, len)| network & !(u128::MAX << (128 - len)) == 0));
    }
}
