//! The shares of next hops in a route, limited.
//!
//! A next hop that is named more than once, or found by several gateways, has as many shares of the flows. By routes that
//! lead to gateways one after the other these multiply: four gateways each, twelve times, are 16,777,216.

use std::collections::HashMap;

use super::lookup::NextHop;
use super::{Address, RouteLookup};

/// Largest number of shares of a route, and of all routes of one distance to a prefix together.
pub const SHARES: usize = 128;

/// The next hops with at most [`SHARES`] shares in the same proportion, as near as that allows: each has one at least. Of more
/// than [`SHARES`] different next hops the first ones stay. The order is that in which they come first.
pub fn limited<A: Address>(hops: Vec<NextHop<A>>) -> Vec<NextHop<A>> {
    if hops.len() <= SHARES {
        return hops;
    }
    let mut places: HashMap<RouteLookup<A>, usize> = HashMap::new();
    let mut counted: Vec<(NextHop<A>, usize)> = Vec::new();
    for hop in hops {
        let place = *places.entry(hop.lookup).or_insert(counted.len());
        match counted.get_mut(place) {
            Some((_, count)) => *count += 1,
            None => counted.push((hop, 1)),
        }
    }
    counted.truncate(SHARES);
    let total: usize = counted.iter().map(|(_, count)| count).sum();
    let divisor = counted.iter().fold(0, |divisor, (_, count)| greatest_common_divisor(divisor, *count));
    let rest = SHARES - counted.len();
    let share = |count: usize| match total / divisor.max(1) <= SHARES {
        true => count / divisor.max(1),
        false => 1 + count * rest / total,
    };
    counted.iter().flat_map(|(hop, count)| std::iter::repeat_n(*hop, share(*count))).collect()
}

fn greatest_common_divisor(mut one: usize, mut other: usize) -> usize {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hops(counts: &[usize]) -> Vec<NextHop<u32>> {
        let hop = |at: usize| NextHop {
            lookup: RouteLookup::Via { interface: 0, gateway: u32::try_from(at).unwrap() },
            source: 0,
        };
        counts.iter().enumerate().flat_map(|(at, count)| std::iter::repeat_n(hop(at), *count)).collect()
    }

    fn counts(hops: &[NextHop<u32>], of: usize) -> Vec<usize> {
        let mut counts = vec![0; of];
        for hop in hops {
            if let RouteLookup::Via { gateway, .. } = hop.lookup {
                counts[gateway as usize] += 1;
            }
        }
        counts
    }

    #[test]
    fn a_proportion_that_can_be_said_with_fewer_shares_stays() {
        let limited = limited(hops(&[300, 100, 200]));
        assert_eq!(counts(&limited, 3), [3, 1, 2]);
        assert_eq!(super::limited(hops(&[100, 28])), hops(&[100, 28]));
    }

    #[test]
    fn no_next_hop_is_lost_to_a_larger_one() {
        let shares = counts(&limited(hops(&[100_000, 1, 33_333])), 3);
        assert!(shares[0] > 2 * shares[2] && shares[2] > 20 && shares[1] >= 1, "{shares:?}");
    }

    proptest! {
        #[test]
        fn shares_are_few_and_near_the_proportion(wanted in prop::collection::vec(1_usize..2_000, 1..200)) {
            let limited = limited(hops(&wanted));
            let shares = counts(&limited, wanted.len());
            prop_assert!(limited.len() <= SHARES);
            let kept = wanted.len().min(SHARES);
            prop_assert!(shares.iter().take(kept).all(|share| *share > 0));
            let total: usize = wanted.iter().take(kept).sum();
            let of = limited.len();
            for (share, count) in shares.iter().zip(&wanted).take(kept) {
                // One whole share, and what the others get for being there at all.
                let error = (share * total).abs_diff(count * of);
                prop_assert!(error <= total * (1 + kept), "{share} of {of}, wanted {count} of {total}");
            }
        }
    }
}
