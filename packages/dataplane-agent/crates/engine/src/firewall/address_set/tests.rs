//! The store against a model, against time, and against readers on other threads.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use proptest::prelude::*;
use tollway_config::dataplane::{AddressList, AddressRange};

use super::*;
use crate::time::Now;

const NAMES: [&str; 3] = ["a", "b", "c"];

fn configured(lists: &[Vec<(u32, u32)>]) -> (Vec<String>, Arc<Contents>) {
    let lists: Vec<AddressList> = lists
        .iter()
        .zip(NAMES)
        .map(|(ranges, name)| AddressList {
            name: name.into(),
            entries: ranges
                .iter()
                .map(|(from, len)| AddressRange {
                    from: Addr::v4(*from).into(),
                    to: Addr::v4(from + len).into(),
                })
                .collect(),
        })
        .collect();
    let names = lists.iter().map(|list| list.name.clone()).collect();
    (names, Arc::new(Contents::build(&lists, &[], None).unwrap()))
}

/// First address, bits of the hosts part and family of a prefix.
fn prefixes() -> impl Strategy<Value = (Addr, u8)> {
    (0u32..64, 0u8..6, any::<bool>()).prop_map(|(address, host_bits, v4)| {
        let address = if v4 { Addr::v4(address) } else { Addr(u128::from(address) << 64) };
        let len = if v4 { 32 - host_bits } else { [128, 64, 62, 60, 59, 0][usize::from(host_bits)] };
        (SetKey::around(0, address, len).address, len)
    })
}

#[derive(Debug, Clone)]
enum Step {
    Add(usize, (Addr, u8), u64),
    Remove(usize, (Addr, u8)),
    Wait(u64),
    Commit(Vec<Vec<(u32, u32)>>),
}

fn steps() -> impl Strategy<Value = Step> {
    let ranges = || proptest::collection::vec((0u32..64, 0u32..9), 0..4);
    prop_oneof![
        4 => (0usize..3, prefixes(), prop_oneof![Just(0u64), 1u64..2000])
            .prop_map(|(list, prefix, timeout)| Step::Add(list, prefix, timeout)),
        2 => (0usize..3, prefixes()).prop_map(|(list, prefix)| Step::Remove(list, prefix)),
        2 => (0u64..1500).prop_map(Step::Wait),
        1 => proptest::collection::vec(ranges(), 0..=3).prop_map(Step::Commit),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(128)))]
    #[test]
    fn holds_what_a_model_holds(seed: u64, steps in proptest::collection::vec(steps(), 1..60)) {
        let (sets, change_counters) = (AddressSets::new(seed), ChangeCounters::default());
        let mut dynamic: BTreeMap<(usize, Addr, u8), u64> = BTreeMap::new();
        let mut ranges: Vec<Vec<(u32, u32)>> = Vec::new();
        let mut now_ms = 1000u64;
        for step in steps {
            let now = Now::from_ms(now_ms);
            match step {
                Step::Add(list, (address, len), timeout) => {
                    let known = dynamic.contains_key(&(list, address, len));
                    let added = sets.add_to(NAMES[list], address, len, timeout, now, &change_counters);
                    prop_assert_eq!(added, if known { Added::Rebuilt } else { Added::New });
                    let ends = if timeout == 0 { u64::MAX } else { now_ms + timeout };
                    dynamic.insert((list, address, len), ends);
                }
                Step::Remove(list, (address, len)) => {
                    let removed = sets.remove_from(NAMES[list], address, len, &change_counters);
                    prop_assert_eq!(removed, dynamic.remove(&(list, address, len)).is_some());
                }
                Step::Wait(ms) => {
                    now_ms += ms;
                    sets.expire(Now::from_ms(now_ms), usize::MAX, &change_counters);
                    // An entry ends within a tick of its time; the model follows.
                    let mut left = Vec::new();
                    sets.for_each_dynamic(Now::from_ms(now_ms), |entry| left.push(entry.clone()));
                    dynamic.retain(|(list, address, len), ends| {
                        let there = left.iter().any(|entry| {
                            (&*entry.list, entry.address, entry.len) == (NAMES[*list], *address, *len)
                        });
                        assert!(there || *ends <= now_ms);
                        assert!(!there || ends.saturating_add(100) > now_ms);
                        there
                    });
                    prop_assert_eq!(left.len(), dynamic.len());
                }
                Step::Commit(lists) => {
                    let (names, contents) = configured(&lists);
                    sets.take_over(&names, &contents, &change_counters);
                    ranges = lists;
                }
            }
            for (list, name) in NAMES.iter().enumerate() {
                let number = sets.writer().numbers.get(*name).copied();
                for n in 0..80 {
                    for address in [Addr::v4(n), Addr(u128::from(n) << 64 | 1)] {
                        let by_rules = dynamic.keys().any(|(of, first, len)| {
                            let same = first.as_v4().is_some() == address.as_v4().is_some();
                            *of == list && same && SetKey::around(0, address, *len).address == *first
                        });
                        let configured = address.as_v4().is_some()
                            && ranges.get(list).is_some_and(|ranges| {
                                ranges.iter().any(|(from, len)| (*from..=from + len).contains(&n))
                            });
                        let found = number.is_some_and(|number| sets.contains(number, address));
                        prop_assert_eq!(found, by_rules || configured, "{} {:?}", name, address);
                    }
                }
            }
        }
    }
}

#[test]
fn who_asked_about_an_address_hears_of_its_coming_and_going() {
    let (sets, change_counters) = (AddressSets::new(1), ChangeCounters::default());
    let (address, other) = (Addr::v4(5), Addr::v4(6));
    let number = sets.number(&mut sets.writer(), "a").unwrap();
    let cell = |address| MembershipSlot::of(u32::from(number), address);
    let mut stamp = change_counters.count() as u32;
    let mut changed = |expected: (bool, bool)| {
        let hears = |address: Addr| {
            change_counters.list_changed_since(cell(address), stamp)
                || change_counters.listed_network_changed_since(address, stamp)
        };
        assert_eq!((hears(address), hears(other)), expected);
        stamp = change_counters.count() as u32;
    };
    assert_eq!(sets.add(number, address, 1000, Now(0), &change_counters), Added::New);
    changed((true, false));
    assert_eq!(sets.add(number, address, 1000, Now(0), &change_counters), Added::Rebuilt);
    changed((false, false));
    sets.expire(Now::from_ms(1200), 10, &change_counters);
    changed((true, false));
    sets.add_to("a", Addr::v4(4), 30, 0, Now(0), &change_counters);
    changed((true, true));
    assert!(sets.contains(number, address) && sets.contains(number, other));
    // A network elsewhere concerns neither.
    sets.add_to("a", Addr::v4(0x0a00_0000), 24, 0, Now(0), &change_counters);
    changed((false, false));
    assert!(sets.remove_from("a", Addr::v4(0x0a00_0000), 24, &change_counters));
    changed((false, false));
    // What the configuration holds already is not added.
    let (names, contents) = configured(&[vec![(5, 0)]]);
    sets.take_over(&names, &contents, &change_counters);
    changed((true, false));
    assert_eq!(sets.add(number, address, 1000, Now(0), &change_counters), Added::Configured);
    changed((false, false));
}

#[test]
fn numbers_of_lists_that_are_gone_for_a_while_are_used_again() {
    let (sets, change_counters) = (AddressSets::new(1), ChangeCounters::default());
    let named = |name: &str| (vec![name.to_owned()], Arc::default());
    let mut numbers = Vec::new();
    for name in ["x", "y", "z", "x", "v"] {
        let (names, contents) = named(name);
        numbers.push(sets.take_over(&names, &contents, &change_counters)[0]);
    }
    // A number is free again two commits after its list has gone.
    assert_eq!(numbers, [0, 1, 2, 0, 1]);
}

#[test]
fn readers_find_what_stays_while_entries_come_and_go_and_the_tables_grow() {
    let (sets, change_counters) = (AddressSets::new(99), ChangeCounters::default());
    let number = sets.number(&mut sets.writer(), "a").unwrap();
    let address =
        |n: u32| if n.is_multiple_of(2) { Addr::v4(n) } else { Addr(u128::from(n) << 40 | 1 << 120) };
    for n in 0..2000 {
        sets.add(number, address(n), 0, Now(0), &change_counters);
    }
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    for n in 0..2000 {
                        assert!(sets.contains(number, address(n)), "{n}");
                        assert!(!sets.contains(number, address(n + 10_000_000)), "{n}");
                    }
                }
            });
        }
        for turn in 0..3 {
            for n in 2000..40_000 {
                assert_eq!(
                    sets.add(number, address(n), 1000, Now::from_ms(turn * 5000), &change_counters),
                    Added::New
                );
            }
            assert_eq!(sets.dynamic(), 40_000);
            sets.expire(Now::from_ms(turn * 5000 + 2000), usize::MAX, &change_counters);
            assert_eq!(sets.dynamic(), 2000);
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!((2000..40_000).all(|n| !sets.contains(number, address(n))));
}

#[test]
fn an_entry_stays_for_as_long_as_it_was_given_however_far_the_wheel_looks_ahead() {
    let (sets, change_counters) = (AddressSets::new(1), ChangeCounters::default());
    let number = sets.number(&mut sets.writer(), "a").unwrap();
    let day = 86_400_000_u64;
    let address = |days: u64| Addr::v4(days as u32);
    // Others that end meanwhile move the wheel on.
    for days in [1, 19, 30, 49] {
        sets.add(number, address(days), days * day, Now(0), &change_counters);
    }
    for hour in (0..50 * 24).step_by(6) {
        let now = Now::from_ms(hour * day / 24 + 1000);
        sets.expire(now, usize::MAX, &change_counters);
        for days in [1, 19, 30, 49] {
            assert_eq!(
                sets.contains(number, address(days)),
                now.ms() < days * day,
                "{days} days, hour {hour}"
            );
        }
    }
    assert_eq!(sets.dynamic(), 0);
}
