//! Address lists: sorted disjoint ranges, found by binary search.

use std::net::IpAddr;

use tollway_config::dataplane::AddressList;

use crate::error::BuildError;
use crate::tuple::Addr;

/// All address lists of a configuration, by their index there.
#[derive(Debug, Clone, Default)]
pub struct AddressLists {
    lists: Vec<Ranges>,
}

#[derive(Debug, Clone, Default)]
struct Ranges {
    v4: Vec<(u32, u32)>,
    v6: Vec<(u128, u128)>,
}

impl AddressLists {
    /// Compiles the lists; an entry of two families or with its ends reversed is an error.
    pub fn build(lists: &[AddressList]) -> Result<Self, BuildError> {
        let mut built = Self::default();
        for list in lists {
            let mut ranges = Ranges::default();
            for entry in &list.entries {
                match (entry.from, entry.to) {
                    (IpAddr::V4(from), IpAddr::V4(to)) if from <= to => {
                        ranges.v4.push((from.to_bits(), to.to_bits()));
                    }
                    (IpAddr::V6(from), IpAddr::V6(to)) if from <= to => {
                        ranges.v6.push((from.to_bits(), to.to_bits()));
                    }
                    _ => {
                        return Err(BuildError {
                            row: None,
                            message: format!(
                                "address list {}: {}-{} is no range of one family in ascending order",
                                list.name, entry.from, entry.to
                            ),
                        });
                    }
                }
            }
            merge(&mut ranges.v4, |to| to.checked_add(1));
            merge(&mut ranges.v6, |to| to.checked_add(1));
            built.lists.push(ranges);
        }
        Ok(built)
    }

    /// How many lists there are.
    pub fn len(&self) -> usize {
        self.lists.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// Whether a list holds an address. An index without a list holds none.
    pub fn contains(&self, list: u32, address: Addr) -> bool {
        let Some(ranges) = self.lists.get(list as usize) else { return false };
        match address.as_v4() {
            Some(v4) => holds(&ranges.v4, v4),
            None => holds(&ranges.v6, address.0),
        }
    }
}

fn holds<T: Ord + Copy>(ranges: &[(T, T)], address: T) -> bool {
    let after = ranges.partition_point(|(from, _)| *from <= address);
    after.checked_sub(1).and_then(|at| ranges.get(at)).is_some_and(|(_, to)| address <= *to)
}

/// Sorts, and joins ranges that overlap or touch.
fn merge<T: Ord + Copy>(ranges: &mut Vec<(T, T)>, next: impl Fn(T) -> Option<T>) {
    ranges.sort_unstable();
    ranges.dedup_by(|later, kept| {
        let joins = next(kept.1).is_none_or(|limit| later.0 <= limit);
        if joins {
            kept.1 = kept.1.max(later.1);
        }
        joins
    });
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;
    use tollway_config::dataplane::AddressRange;

    use super::*;

    proptest! {
        #[test]
        fn agrees_with_a_scan(
            ranges in proptest::collection::vec((0u32..300, 0u32..40), 0..12),
            high: bool,
            address in 0u32..400,
        ) {
            let shift = |n: u32| if high { n + (u32::MAX - 400) } else { n };
            let entries: Vec<_> = ranges
                .iter()
                .map(|(from, len)| AddressRange {
                    from: Ipv4Addr::from_bits(shift(*from)).into(),
                    to: Ipv4Addr::from_bits(shift(from + len)).into(),
                })
                .collect();
            let expected = ranges.iter().any(|(from, len)| (*from..=from + len).contains(&address));
            let lists = AddressLists::build(&[AddressList { name: "a".into(), entries }]).unwrap();
            prop_assert_eq!(lists.contains(0, Addr::v4(shift(address))), expected);
            prop_assert!(!lists.contains(1, Addr::v4(shift(address))));
        }
    }
}
