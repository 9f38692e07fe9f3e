//! Conditions that count, or hold only for a while, against the reference, packet by packet.

use proptest::prelude::*;
use tollway_config::dataplane::{Action, Chain, LimitUnit, Matcher, RejectWith, RowId};
use tollway_wire::tcp;

use super::reference::{Memory, Reference};
use super::tests::{chain, compile, interfaces, lists, matchers, rule, run, view, views};
use super::*;
use crate::error::BuildError;
use crate::time::Now;

const DAY_MS: u32 = 86_400_000;

fn counting() -> impl Strategy<Value = Matcher> {
    let unit = prop_oneof![Just(LimitUnit::Packet), Just(LimitUnit::Bit)];
    prop_oneof![
        (1u32..5, any::<u32>(), any::<bool>()).prop_map(|(every, pick, negate)| Matcher::Nth {
            every,
            packet: pick % every + 1,
            negate
        }),
        (1u8..100).prop_map(|percent| Matcher::Random { percent }),
        (1u64..2000, prop_oneof![Just(1000u32), 1u32..70_000], 1u64..6, unit, any::<bool>()).prop_map(
            |(rate, per_ms, burst, unit, negate)| {
                let burst = if unit == LimitUnit::Bit { burst * 9000 } else { burst };
                Matcher::Limit { rate: rate * burst, per_ms, burst, unit, negate }
            }
        ),
    ]
}

fn bounded() -> impl Strategy<Value = Matcher> {
    let moment = || prop_oneof![0u32..=DAY_MS, Just(0), Just(DAY_MS - 1), Just(DAY_MS)];
    prop_oneof![
        (0u64..6000, 0u64..4000).prop_map(|(from, more)| Matcher::ConnectionBytes {
            from,
            to: if more == 0 { 0 } else { from + more }
        }),
        (moment(), moment(), 1u8..128, -50_000i32..50_000, any::<bool>()).prop_map(
            |(from_ms, to_ms, days, utc_offset_s, negate)| Matcher::Time {
                from_ms,
                to_ms,
                days,
                utc_offset_s,
                negate
            }
        ),
    ]
}

fn packet_size() -> impl Strategy<Value = Matcher> {
    (0u32..1500, 0u32..500, any::<bool>()).prop_map(|(from, more, negate)| Matcher::PacketSize {
        from,
        to: from + more,
        negate,
    })
}

fn conditions() -> impl Strategy<Value = Vec<Matcher>> {
    let any = prop_oneof![3 => matchers(), 1 => packet_size(), 2 => bounded()];
    (proptest::collection::vec(any, 0..3), proptest::option::of(counting())).prop_map(|(mut all, last)| {
        // Their order in the configuration does not matter.
        if let Some(counting) = last {
            all.insert(0, counting);
        }
        all
    })
}

fn tables(conditions: impl Strategy<Value = Vec<Matcher>>) -> impl Strategy<Value = Vec<Chain>> {
    proptest::collection::vec((conditions, 0u8..8, 0u32..2), 1..9).prop_map(|rules| {
        let rules = rules.into_iter().enumerate().map(|(at, (matchers, action, list))| {
            let action = match action {
                0 => Action::Accept,
                1 => Action::Drop,
                2 => Action::Reject { with: RejectWith::IcmpPortUnreachable },
                3 => Action::Jump { chain: 1 },
                4 => Action::AddSrcToAddressList { list, timeout_ms: 0 },
                5 => Action::AddDstToAddressList { list, timeout_ms: 0 },
                _ => Action::Passthrough,
            };
            rule(at as RowId + 1, matchers, action)
        });
        let user = [rule(90, vec![Matcher::Nth { every: 2, packet: 1, negate: false }], Action::Return)];
        vec![chain("forward", rules.collect()), chain("user", user.to_vec())]
    })
}

/// A packet at a time, of a connection that has carried something.
fn packets() -> impl Strategy<Value = PacketView> {
    (views(), 0u64..30_000_000_000, 1u32..4, 20u32..1500, proptest::option::of(0u64..9000)).prop_map(
        |(view, ns, segments, length, connection_bytes)| PacketView {
            length,
            segments,
            wire_bytes: u64::from(segments) * u64::from(length),
            connection_bytes,
            now: Now(ns),
            utc_ns: 1_800_000_000_000_000_000 + ns as i64 * 4321,
            seed: 0x5eed,
            ..view
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(400)))]

    #[test]
    fn every_packet_of_a_sequence_gets_what_the_reference_gives(
        chains in tables(conditions()),
        mut packets in proptest::collection::vec(packets(), 1..40),
    ) {
        packets.sort_by_key(|packet| packet.now);
        let table = compile(TableKind::Filter, &chains).unwrap();
        let (lists, interfaces) = (lists(), interfaces());
        let reference = Reference { chains: &chains, lists: &lists, interfaces: &interfaces };
        let mut memory = Memory::default();
        for packet in &packets {
            let expected = reference.evaluate_next("forward", packet, &mut memory);
            // Nobody puts what the table asks for into the lists.
            memory.forget_lists();
            let found = run(&table, "forward", packet);
            prop_assert_eq!(found.verdict, expected.verdict);
            prop_assert_eq!(&found.matched, &expected.matched);
            prop_assert_eq!(&found.adds, &expected.adds);
        }
    }

    /// Until a bound is reached every packet of the flow gets the remembered part again.
    #[test]
    fn outcomes_hold_within_their_bounds(
        chains in tables(conditions()),
        first in packets(),
        later in proptest::collection::vec((0u64..5000, 0u64..40_000_000_000, packets()), 1..30),
    ) {
        let table = compile(TableKind::Filter, &chains).unwrap();
        let remembered = run(&table, "forward", &first);
        let prefix = &remembered.matched[..remembered.matched_before_resume];
        for (bytes, ns, other) in later {
            let second = PacketView {
                // The flow cache forwards no SYN.
                tcp_flags: other.tcp_flags & !tcp::flag::SYN,
                icmp_type: other.icmp_type,
                icmp_code: other.icmp_code,
                length: other.length,
                segments: other.segments,
                wire_bytes: other.wire_bytes,
                connection_bytes: first.connection_bytes.map(|carried| carried + bytes),
                now: Now(first.now.0 + ns),
                utc_ns: first.utc_ns + ns as i64,
                ..first
            };
            if second.connection_bytes.unwrap_or(0) >= remembered.validity.bytes
                || second.now >= remembered.validity.until
            {
                continue;
            }
            let whole = run(&table, "forward", &second);
            prop_assert_eq!(whole.matched.get(..prefix.len()), Some(prefix));
            if remembered.resume.is_none() {
                prop_assert_eq!(&whole.matched, &remembered.matched);
                prop_assert_eq!(whole.verdict, remembered.verdict);
            }
        }
    }
}

fn one(matchers: Vec<Matcher>) -> RuleTable {
    compile(TableKind::Filter, &[chain("forward", vec![rule(1, matchers, Action::Passthrough)])]).unwrap()
}

fn matches(table: &RuleTable, view: &PacketView) -> bool {
    run(table, "forward", view).matched == [1]
}

#[test]
fn a_rule_holds_until_a_volume_or_a_moment_and_no_longer() {
    let volume = one(vec![Matcher::ConnectionBytes { from: 1000, to: 2000 }]);
    let carried = |bytes| PacketView { connection_bytes: Some(bytes), ..view() };
    for (bytes, matched, until) in [
        (0, false, 1000),
        (999, false, 1000),
        (1000, true, 2001),
        (2000, true, 2001),
        (2001, false, u64::MAX),
    ] {
        let found = run(&volume, "forward", &carried(bytes));
        assert_eq!((found.matched == [1], found.validity.bytes, found.resume), (matched, until, None));
    }
    let endless = one(vec![Matcher::ConnectionBytes { from: 1000, to: 0 }]);
    assert_eq!(run(&endless, "forward", &carried(u64::MAX - 1)).validity.bytes, u64::MAX);
    let mut icmp = carried(1500);
    icmp.tuple.protocol = 1;
    assert!(matches(&volume, &carried(1500)) && !matches(&volume, &icmp));

    // 1970-01-04 was a Sunday; 22:00 to 06:00, one hour east of Greenwich.
    let (from_ms, to_ms) = (22 * 3_600_000, 6 * 3_600_000);
    let night = one(vec![Matcher::Time { from_ms, to_ms, days: 1, utc_offset_s: 3600, negate: false }]);
    let at = |hours: i64, ms: i64| PacketView {
        utc_ns: ((3 * 24 + hours - 1) * 3_600_000 + ms) * 1_000_000 + 7,
        now: Now(5),
        ..view()
    };
    let expected = [
        (-1, 0, false),
        (0, 0, true),
        (6, 0, true),
        (6, 1, false),
        (21, 3_599_999, false),
        (22, 0, true),
        (24, 0, false),
    ];
    for (hours, ms, matched) in expected {
        assert_eq!(matches(&night, &at(hours, ms)), matched, "{hours} h {ms} ms");
    }
    let found = run(&night, "forward", &at(21, 3_599_000));
    assert_eq!((found.validity.until, found.resume), (Now(5 + 1_000_000_000 - 7), None));
    // The clock may be set, so nothing holds for longer than a minute.
    assert_eq!(run(&night, "forward", &at(12, 0)).validity.until, Now(60_000_000_005));
}

#[test]
fn what_counts_is_asked_last_and_is_not_counted_by_a_dry_run() {
    let nth = Matcher::Nth { every: 2, packet: 2, negate: false };
    let size = Matcher::PacketSize { from: 100, to: 200, negate: false };
    let table = one(vec![nth, size]);
    let long = PacketView { length: 150, ..view() };
    assert!(!matches(&table, &long));
    for _ in 0..3 {
        assert!(!matches(&table, &PacketView { length: 99, ..view() }));
        assert!(matches(&table, &PacketView { dry_run: true, ..long }));
    }
    assert!(matches(&table, &long));
    assert!(!matches(&table, &long));
}

#[test]
fn a_bucket_gives_its_burst_and_then_its_rate_for_days() {
    let unit = LimitUnit::Packet;
    let table = one(vec![Matcher::Limit { rate: 5, per_ms: 1000, burst: 3, unit, negate: false }]);
    let at = |ms: u64| PacketView { now: Now::from_ms(ms), ..view() };
    let burst = |ms: u64| (0..10).filter(|_| matches(&table, &at(ms))).count();
    assert_eq!((burst(0), burst(199), burst(200), burst(400)), (3, 0, 1, 1));
    let day = 86_400_000;
    assert_eq!((burst(day), burst(1000 * day)), (3, 3));
    // A clock that is a little behind, as another worker's may be, brings nothing.
    assert_eq!(burst(1000 * day - 20), 0);
    // A super-frame leaves a debt.
    let segments = |ms: u64| PacketView { segments: 44, ..at(ms) };
    assert!(matches(&table, &segments(1100 * day)));
    assert!(!matches(&table, &at(1100 * day + 8000)));
    assert!(matches(&table, &at(1100 * day + 8600)));
}

#[test]
fn random_takes_its_share() {
    let table = one(vec![Matcher::Random { percent: 30 }]);
    let seeded = PacketView { seed: 7, ..view() };
    let taken = (0..10_000).filter(|_| matches(&table, &seeded)).count();
    assert!((2800..3200).contains(&taken), "{taken}");
}

#[test]
fn counts_go_on_over_commits_that_leave_the_rule_as_it_is() {
    let nth = |every| vec![Matcher::Nth { every, packet: 3, negate: false }];
    let before = one(nth(3));
    assert!(!matches(&before, &view()));
    let (mut same, mut other) = (one(nth(3)), one(nth(4)));
    same.adopt(&before);
    other.adopt(&before);
    // Old and new count together while workers change over.
    assert!(!matches(&before, &view()));
    assert!(matches(&same, &view()));
    assert!(!matches(&other, &view()) && !matches(&other, &view()) && matches(&other, &view()));
}

#[test]
fn impossible_conditions_are_refused_with_the_row() {
    let limit =
        |rate, per_ms, burst| Matcher::Limit { rate, per_ms, burst, unit: LimitUnit::Bit, negate: false };
    let time = |from_ms, days| Matcher::Time { from_ms, to_ms: 0, days, utc_offset_s: 0, negate: false };
    let cases = [
        Matcher::PacketSize { from: 2, to: 1, negate: false },
        Matcher::ConnectionBytes { from: 2, to: 1 },
        time(DAY_MS + 1, 1),
        time(0, 0),
        time(0, 128),
        Matcher::Nth { every: 3, packet: 0, negate: false },
        Matcher::Nth { every: 3, packet: 4, negate: false },
        Matcher::Random { percent: 0 },
        Matcher::Random { percent: 100 },
        limit(0, 1, 1),
        limit(1, 0, 1),
        limit(1, 1, 0),
        limit(u64::MAX, 1, 1),
        limit(1, 1000, u64::MAX),
    ];
    for matcher in cases {
        let rules = vec![rule(7, vec![matcher.clone()], Action::Accept)];
        let BuildError { row, message } = compile(TableKind::Filter, &[chain("forward", rules)]).unwrap_err();
        assert!(row == Some(7) && message.contains("expected"), "{matcher:?}: {message}");
    }
}
