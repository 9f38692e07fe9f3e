//! Configured contents of address lists: disjoint prefixes in ascending order.

use std::collections::{BTreeMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;

use tollway_config::dataplane::{AddressList, AddressRange};

use crate::error::BuildError;
use crate::packet::family::Family;
use crate::packet::tuple::Addr;

/// The lists of a configuration by name.
#[derive(Debug, Default)]
pub struct Contents(BTreeMap<String, Arc<Entries>>);

/// The prefixes of a list: the smallest number that covers its addresses.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Entries {
    /// IPv4 prefixes, ascending: the address in the upper bits, the length in the lower eight.
    v4: Box<[u64]>,
    v6: Box<[(u128, u8)]>,
}

impl Contents {
    /// Compiles lists of IPv4 and of IPv6; those of one name become one, as no address is of both families. Lists that
    /// are the same in `previous` are shared with it.
    ///
    /// # Errors
    /// For an entry of the other family or with its ends reversed, and a name that occurs twice in a family.
    pub fn build(
        v4: &[AddressList],
        v6: &[AddressList],
        previous: Option<&Self>,
    ) -> Result<Self, BuildError> {
        let mut by_name: BTreeMap<&str, Entries> = BTreeMap::new();
        for (family, lists) in [(Family::V4, v4), (Family::V6, v6)] {
            let mut names = HashSet::new();
            for list in lists {
                let other = list.entries.iter().find(|entry| Family::of(entry.from) != family);
                if let Some(AddressRange { from, to }) = other {
                    let (name, family) = (&list.name, family.name());
                    return Err(refused(format!("address list {name}: {from}-{to} is no range of {family}")));
                }
                if !names.insert(list.name.as_str()) {
                    return Err(refused(format!("address list {} occurs twice", list.name)));
                }
                let entries = Entries::build(list)?;
                let known = by_name.entry(&list.name).or_default();
                match family {
                    Family::V4 => known.v4 = entries.v4,
                    Family::V6 => known.v6 = entries.v6,
                }
            }
        }
        let mut built = BTreeMap::new();
        for (name, entries) in by_name {
            let before = previous.and_then(|previous| previous.list(name));
            let entries = match before.filter(|before| ***before == entries) {
                Some(before) => Arc::clone(before),
                None => Arc::new(entries),
            };
            built.insert(name.to_owned(), entries);
        }
        Ok(Self(built))
    }

    /// A list.
    pub fn list(&self, name: &str) -> Option<&Arc<Entries>> {
        self.0.get(name)
    }

    /// The lists, by name.
    pub fn lists(&self) -> impl Iterator<Item = (&str, &Arc<Entries>)> {
        self.0.iter().map(|(name, entries)| (name.as_str(), entries))
    }
}

fn refused(message: String) -> BuildError {
    BuildError { row: None, message }
}

impl Entries {
    /// The entries of one list.
    pub fn build(list: &AddressList) -> Result<Self, BuildError> {
        let (mut v4, mut v6) = (Vec::new(), Vec::new());
        for entry in &list.entries {
            match (entry.from, entry.to) {
                (IpAddr::V4(from), IpAddr::V4(to)) if from <= to => v4.push((from.to_bits(), to.to_bits())),
                (IpAddr::V6(from), IpAddr::V6(to)) if from <= to => v6.push((from.to_bits(), to.to_bits())),
                _ => {
                    return Err(refused(format!(
                        "address list {}: {}-{} is no range of one family in ascending order",
                        list.name, entry.from, entry.to
                    )));
                }
            }
        }
        merge(&mut v4, |to| to.checked_add(1));
        merge(&mut v6, |to| to.checked_add(1));
        let mut prefixes4 = Vec::with_capacity(v4.len());
        for (from, to) in v4 {
            cut(u128::from(from), u128::from(to), 32, |first, len| {
                prefixes4.push((first as u64) << 8 | u64::from(len));
            });
        }
        let mut prefixes6 = Vec::with_capacity(v6.len());
        for (from, to) in v6 {
            cut(from, to, 128, |first, len| prefixes6.push((first, len)));
        }
        Ok(Self { v4: prefixes4.into(), v6: prefixes6.into() })
    }

    /// Whether one of the prefixes contains an address.
    pub fn contains(&self, address: Addr) -> bool {
        match address.as_v4() {
            Some(v4) => {
                let after = self.v4.partition_point(|prefix| prefix >> 8 <= u64::from(v4));
                let prefix = after.checked_sub(1).and_then(|at| self.v4.get(at));
                prefix.is_some_and(|prefix| (u64::from(v4) ^ prefix >> 8) >> (32 - (prefix & 0xff)) == 0)
            }
            None => {
                let after = self.v6.partition_point(|(first, _)| *first <= address.0);
                let prefix = after.checked_sub(1).and_then(|at| self.v6.get(at));
                let outside = |first: u128, len: u8| {
                    (first ^ address.0).checked_shr(128 - u32::from(len)).unwrap_or(0) != 0
                };
                prefix.is_some_and(|(first, len)| !outside(*first, *len))
            }
        }
    }

    /// The prefixes that are not in `other` with the same length: first address and length.
    pub fn missing_in<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (Addr, u8)> + 'a {
        let v4 = Missing { of: &self.v4, from: &other.v4 };
        let v6 = Missing { of: &self.v6, from: &other.v6 };
        let v4 = v4.map(|prefix| (Addr::v4((prefix >> 8) as u32), prefix as u8));
        v4.chain(v6.map(|(first, len)| (Addr(first), len)))
    }
}

/// Elements of one ascending slice that are not in another.
struct Missing<'a, T> {
    of: &'a [T],
    from: &'a [T],
}

impl<T: Ord + Copy> Iterator for Missing<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        loop {
            let (first, rest) = self.of.split_first()?;
            self.of = rest;
            while let Some((other, others)) = self.from.split_first().filter(|(other, _)| *other < first) {
                let _ = other;
                self.from = others;
            }
            if self.from.first() != Some(first) {
                return Some(*first);
            }
        }
    }
}

/// Splits a range into the smallest number of prefixes.
fn cut(mut from: u128, to: u128, bits: u8, mut each: impl FnMut(u128, u8)) {
    loop {
        let aligned = from.trailing_zeros().min(u32::from(bits));
        // The largest block that begins here and does not go past the end.
        let left = (to - from).saturating_add(1);
        let fits = if to - from == u128::MAX { 128 } else { left.ilog2() };
        let host_bits = aligned.min(fits);
        each(from, bits - host_bits as u8);
        let last = from + (u128::MAX >> (128 - host_bits).min(127)) * u128::from(host_bits != 0);
        if last >= to {
            return;
        }
        from = last + 1;
    }
}

/// Sorts ranges, and merges those that overlap or touch.
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
    use proptest::prelude::*;

    use super::*;

    fn entries(ranges: &[(u128, u128)], v4: bool, high: bool) -> Entries {
        let top = if v4 { u128::from(u32::MAX) } else { u128::MAX };
        let address = |n: u128| {
            let n = if high { n + (top - 400) } else { n };
            IpAddr::from(if v4 { Addr::v4(n as u32) } else { Addr(n) })
        };
        let entries =
            ranges.iter().map(|(from, len)| AddressRange { from: address(*from), to: address(from + len) });
        Entries::build(&AddressList { name: "a".into(), entries: entries.collect() }).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(256)))]

        #[test]
        fn agrees_with_a_scan(
            ranges in proptest::collection::vec((0u128..300, 0u128..100), 0..12),
            v4: bool, high: bool,
            address in 0u128..=400,
        ) {
            let expected = ranges.iter().any(|(from, len)| (*from..=from + len).contains(&address));
            let top = if v4 { u128::from(u32::MAX) } else { u128::MAX };
            let shifted = if high { address + (top - 400) } else { address };
            let built = entries(&ranges, v4, high);
            let asked = if v4 { Addr::v4(shifted as u32) } else { Addr(shifted) };
            prop_assert_eq!(built.contains(asked), expected);
            let covered = built.missing_in(&Entries::default()).any(|(first, len)| {
                let bits = if v4 { 32 } else { 128 };
                (asked.0 ^ first.0).checked_shr(bits - u32::from(len)).unwrap_or(0) == 0
            });
            prop_assert_eq!(covered, expected);
        }

        #[test]
        fn what_is_missing_turns_one_list_into_another(
            one in proptest::collection::vec((0u128..300, 0u128..40), 0..9),
            other in proptest::collection::vec((0u128..300, 0u128..40), 0..9),
        ) {
            let (one, other) = (entries(&one, true, false), entries(&other, true, false));
            let mut all: std::collections::BTreeSet<_> = one.missing_in(&Entries::default()).collect();
            for gone in one.missing_in(&other) {
                prop_assert!(all.remove(&gone));
            }
            for new in other.missing_in(&one) {
                prop_assert!(all.insert(new));
            }
            prop_assert!(all.into_iter().eq(other.missing_in(&Entries::default())));
        }
    }

    #[test]
    fn everything_is_one_prefix() {
        let all = |from: &str, to: &str| AddressList {
            name: "all".into(),
            entries: vec![AddressRange { from: from.parse().unwrap(), to: to.parse().unwrap() }],
        };
        let v4 = Entries::build(&all("0.0.0.0", "255.255.255.255")).unwrap();
        assert!(v4.missing_in(&Entries::default()).eq([(Addr::v4(0), 0)]));
        assert!(v4.contains(Addr::v4(7)) && !v4.contains(Addr(7)));
        let v6 = Entries::build(&all("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")).unwrap();
        assert!(v6.missing_in(&Entries::default()).eq([(Addr(0), 0)]));
        assert!(v6.contains(Addr(7)));
        assert!(Entries::build(&all("1.0.0.1", "1.0.0.0")).is_err());
        let (one, other) = (all("::1", "::1"), all("10.0.0.1", "10.0.0.2"));
        assert!(Contents::build(&[], &[one.clone(), all("::2", "::2")], None).is_err());
        assert!(Contents::build(std::slice::from_ref(&one), &[], None).is_err());
        let both = Contents::build(std::slice::from_ref(&other), &[one], None).unwrap();
        let entries = both.list("all").unwrap();
        assert!(entries.contains(Addr(1)) && entries.contains(Addr::v4(0x0a00_0002)));
    }
}
