//! The table against the list as it reads.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;
use tollway_config::dataplane::{
    Mark, Prefix, QueueLimit, QueueTarget, QueueTime, QueueType, TargetInterface, TreeParent,
};

use super::*;

const NO_LIMIT: QueueLimit = QueueLimit {
    limit_at: 0,
    max_limit: 0,
    burst_limit: 0,
    burst_threshold: 0,
    burst_time_ms: 0,
    bucket_ms: 100,
    priority: 8,
    queue_type: 0,
};
/// First row of `/queue/simple`.
const SIMPLE: RowId = 100;
/// First row of `/queue/tree`.
const TREE: RowId = 900;
/// Wednesday, the 1st of January 2020, noon.
const NOON_NS: i64 = 1_577_880_000_000_000_000;

fn prefix((bits, prefix_len): (u32, u8)) -> QueueTarget {
    QueueTarget::Prefix(Prefix { address: Ipv4Addr::from_bits(bits).into(), prefix_len })
}

/// An address of IPv6 for one of IPv4, so that as many nest and overlap.
fn wide(bits: u32) -> u128 {
    0x2001_0db8 << 96 | u128::from(bits)
}

fn prefix6((bits, prefix_len): (u128, u8)) -> QueueTarget {
    QueueTarget::Prefix(Prefix { address: Ipv6Addr::from_bits(bits).into(), prefix_len })
}

fn interface(interface: RowId) -> QueueTarget {
    QueueTarget::Interface(TargetInterface { interface })
}

fn queue(row: RowId, targets: Vec<QueueTarget>) -> SimpleQueue {
    SimpleQueue {
        row,
        targets,
        dst: None,
        packet_marks: Vec::new(),
        parent: None,
        time: None,
        upload: NO_LIMIT,
        download: NO_LIMIT,
        total: None,
    }
}

fn config(simple_queues: Vec<SimpleQueue>, tree_queues: Vec<TreeQueue>) -> DataplaneConfig {
    let queue_types = vec![QueueType::Pfifo { limit: 50 }];
    DataplaneConfig { queue_types, simple_queues, tree_queues, ..DataplaneConfig::default() }
}

fn build(config: &DataplaneConfig) -> (QueueTable, Forest) {
    let forest = Forest::build(config).unwrap();
    (QueueTable::build(config, &forest).unwrap(), forest)
}

#[derive(Debug, Clone, Copy)]
struct Asked {
    src: Addr,
    dst: Addr,
    context: Context,
    utc_ns: i64,
}

fn has(target: &QueueTarget, address: Addr, interface: RowId) -> bool {
    match target {
        QueueTarget::Interface(target) => target.interface == interface,
        QueueTarget::Prefix(prefix) => {
            let mask = |bits: u32| u128::MAX.checked_shl(bits - u32::from(prefix.prefix_len)).unwrap_or(0);
            match (prefix.address, IpAddr::from(address)) {
                (IpAddr::V4(network), IpAddr::V4(address)) => {
                    u128::from(network.to_bits() ^ address.to_bits()) & mask(32) == 0
                }
                (IpAddr::V6(network), IpAddr::V6(address)) => {
                    (network.to_bits() ^ address.to_bits()) & mask(128) == 0
                }
                _ => false,
            }
        }
    }
}

/// Reference of a queue's conditions, as the menu describes them.
fn fits(queue: &SimpleQueue, asked: &Asked, direction: QueueDirection) -> bool {
    let Asked { src, dst, context, utc_ns } = *asked;
    let from = (src, context.in_interface);
    let to = (dst, context.out_interface);
    let (own, other) = if direction == QueueDirection::Upload { (from, to) } else { (to, from) };
    let mark = context.mark;
    queue.targets.iter().any(|target| has(target, own.0, own.1))
        && queue.dst.is_none_or(|dst| has(&dst, other.0, other.1))
        && (queue.packet_marks.is_empty() || queue.packet_marks.contains(&mark))
        && queue.time.is_none_or(|time| {
            let ms = utc_ns / 1_000_000 % 86_400_000;
            // The test's days begin with a Wednesday.
            let day = (utc_ns / 86_400_000_000_000 - NOON_NS / 86_400_000_000_000 + 3) % 7;
            let (from, to) = (i64::from(time.from_ms), i64::from(time.to_ms));
            let inside = if from <= to { from <= ms && ms <= to } else { ms <= to || ms >= from };
            (inside && time.days >> day & 1 == 1) != time.negate
        })
}

/// Reads the list: rows and parts of the classes.
fn one_by_one(config: &DataplaneConfig, asked: &Asked) -> Vec<(RowId, RowPart)> {
    let mut found = Vec::new();
    let mut leaf_of = |interface: Option<RowId>| {
        let has_child =
            |row: RowId| config.tree_queues.iter().any(|node| node.parent == TreeParent::Queue { row });
        let root = |node: &TreeQueue| {
            let mut node = node;
            loop {
                match node.parent {
                    TreeParent::Global => return None,
                    TreeParent::Interface { interface } => return Some(interface),
                    TreeParent::Queue { row } => {
                        node = config.tree_queues.iter().find(|node| node.row == row).unwrap();
                    }
                }
            }
        };
        let leaves: Vec<_> = config
            .tree_queues
            .iter()
            .filter(|node| !has_child(node.row) && root(node) == interface)
            .collect();
        let marked = leaves.iter().find(|node| node.packet_marks.contains(&asked.context.mark));
        let leaf = marked.or_else(|| leaves.iter().find(|node| node.packet_marks.is_empty()));
        found.extend(leaf.map(|leaf| (leaf.row, RowPart::Whole)));
        std::mem::take(&mut found)
    };
    let mut classes = leaf_of(None);
    let last = leaf_of(Some(asked.context.out_interface));
    let mut parent = None;
    let taken = loop {
        let mut siblings = config.simple_queues.iter().filter(|queue| queue.parent == parent);
        let first = siblings.find_map(|queue| {
            let direction = [QueueDirection::Download, QueueDirection::Upload]
                .into_iter()
                .find(|direction| fits(queue, asked, *direction));
            direction.map(|direction| (queue, direction))
        });
        let Some((queue, direction)) = first else { break None };
        if !config.simple_queues.iter().any(|child| child.parent == Some(queue.row)) {
            break Some((queue, direction));
        }
        parent = Some(queue.row);
    };
    if let Some((queue, direction)) = taken {
        classes.push((
            queue.row,
            if direction == QueueDirection::Upload { RowPart::Upload } else { RowPart::Download },
        ));
        let mut at = Some(queue);
        while let Some(queue) = at.filter(|queue| queue.total.is_none()) {
            at = config.simple_queues.iter().find(|other| Some(other.row) == queue.parent);
        }
        let shared = |queue: &SimpleQueue| {
            let mut children = config.simple_queues.iter();
            children.any(|child| child.parent == Some(queue.row) && child.total.is_some())
        };
        classes.extend(at.filter(|queue| !shared(queue)).map(|queue| (queue.row, RowPart::Total)));
    }
    classes.extend(last);
    classes
}

fn named(classes: PathClasses, forest: &Forest) -> Vec<(RowId, RowPart)> {
    let name = |id| forest.class(id).map(|class| (class.identity.row, class.identity.part));
    classes.iter().filter_map(name).collect()
}

/// Most prefixes crowd together, so that they nest and overlap.
fn crowd(bits: u32) -> u32 {
    0x0a01_0000 | bits & 0x3ff
}

fn targets() -> impl Strategy<Value = QueueTarget> {
    let len = prop_oneof![2 => Just(32u8), 3 => 20u8..32, 1 => 0u8..20];
    prop_oneof![
        8 => (any::<u32>(), len).prop_map(|(bits, len)| {
            prefix((crowd(bits) & u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0), len))
        }),
        5 => (any::<u32>(), prop_oneof![2 => Just(128u8), 3 => 116u8..128, 1 => 0u8..116]).prop_map(|(bits, len)| {
            prefix6((wide(crowd(bits)) & u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0), len))
        }),
        1 => (1u32..4).prop_map(interface),
    ]
}

fn times() -> impl Strategy<Value = QueueTime> {
    (0u32..24, 0u32..24, 1u8..128, any::<bool>()).prop_map(|(from, to, days, negate)| QueueTime {
        from_ms: from * 3_600_000,
        to_ms: to * 3_600_000,
        days,
        utc_offset_s: 0,
        negate,
    })
}

/// A list of queues, some below earlier ones; `plain` asks for nothing but addresses.
fn lists(plain: bool, most: usize) -> impl Strategy<Value = Vec<SimpleQueue>> {
    let some = if plain { 1e-9 } else { 0.25 };
    let one = (
        proptest::collection::vec(targets(), 1..3),
        proptest::option::weighted(some, targets()),
        proptest::option::weighted(some, proptest::collection::vec(0u32..4, 1..3)),
        proptest::option::weighted(some / 2.0, times()),
        proptest::option::weighted(0.4, any::<prop::sample::Index>()),
        proptest::bool::weighted(0.2),
    );
    proptest::collection::vec(one, 0..most).prop_map(move |queues| {
        let mut list: Vec<SimpleQueue> = Vec::new();
        let mut depths: Vec<u32> = Vec::new();
        for (row, (mut targets, dst, marks, time, parent, total)) in (SIMPLE..).zip(queues) {
            if plain {
                targets.retain(|target| matches!(target, QueueTarget::Prefix(_)));
            }
            let mut queue = queue(row, targets);
            (queue.dst, queue.packet_marks, queue.time) = (dst, marks.unwrap_or_default(), time);
            queue.total = total.then_some(NO_LIMIT);
            let above = parent.filter(|_| !list.is_empty()).map(|parent| parent.index(list.len()));
            let depth = above.map_or(0, |above| depths[above] + 1);
            if depth < 7 {
                queue.parent = above.map(|above| list[above].row);
            }
            depths.push(if depth < 7 { depth } else { 0 });
            list.push(queue);
        }
        list
    })
}

fn trees() -> impl Strategy<Value = Vec<TreeQueue>> {
    let one = (0u32..8, proptest::collection::vec(0u32..4, 0..3), any::<prop::sample::Index>());
    proptest::collection::vec(one, 0..10).prop_map(|nodes| {
        let mut list: Vec<TreeQueue> = Vec::new();
        for (row, (kind, packet_marks, parent)) in (TREE..).zip(nodes) {
            let parent = match kind {
                0 | 1 => TreeParent::Global,
                2 | 3 => TreeParent::Interface { interface: kind },
                _ if list.is_empty() => TreeParent::Global,
                _ => TreeParent::Queue { row: list[parent.index(list.len())].row },
            };
            list.push(TreeQueue { row, parent, packet_marks, limit: NO_LIMIT });
        }
        list
    })
}

fn packets() -> impl Strategy<Value = Asked> {
    let address = || prop_oneof![6 => any::<u32>().prop_map(crowd), 1 => any::<u32>()];
    let ends = (address(), address(), any::<bool>()).prop_map(|(src, dst, v6)| {
        let of = |bits| if v6 { Addr(wide(bits)) } else { Addr::v4(bits) };
        (of(src), of(dst))
    });
    (ends, (0u32..4, 0u32..4, 0u32..4), 0i64..14 * 24 * 60).prop_map(
        |((src, dst), (mark, in_interface, out_interface), minutes)| {
            let context = Context { mark, in_interface, out_interface };
            Asked { src, dst, context, utc_ns: NOON_NS + minutes * 60_000_000_000 + 7 }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(tollway_testkit::cases(300)))]

    #[test]
    fn agrees_with_reading_the_list(
        simple in prop_oneof![lists(true, 30), lists(false, 30), lists(true, 5)],
        tree in trees(),
        packets in proptest::collection::vec(packets(), 30),
    ) {
        let config = config(simple, tree);
        let Ok(forest) = Forest::build(&config) else { return Ok(()) };
        let table = QueueTable::build(&config, &forest).unwrap();
        for asked in packets {
            let Asked { src, dst, context, utc_ns } = asked;
            let (classes, holds_ns) = table.path_classes_for(src, dst, &context, utc_ns);
            prop_assert_eq!(named(classes, &forest), one_by_one(&config, &asked), "{:?}", asked);
            prop_assert!(table.has_time() || holds_ns == u64::MAX);
            // Until it says so, the answer stays.
            let later = utc_ns + i64::try_from(holds_ns.min(3_600_000_000_000)).unwrap() - 1;
            prop_assert_eq!(classes, table.path_classes(src, dst, &context, later));
            let fast: Vec<_> = named(table.interface_path_classes(&context), &forest);
            let last = one_by_one(&config, &asked).into_iter().filter(|(row, _)| {
                *row >= TREE && forest.class(forest.find(Identity { row: *row, part: RowPart::Whole }).unwrap())
                    .unwrap().interface.is_some()
            });
            prop_assert_eq!(fast, last.collect::<Vec<_>>());
        }
    }
}

#[test]
fn a_target_that_has_both_ends_is_download_and_a_dst_bounds_the_other_side() {
    let lan = prefix((0x0a00_0000, 8));
    let mut bounded = queue(1, vec![lan]);
    bounded.dst = Some(prefix((0x0808_0808, 32)));
    let config = config(vec![bounded, queue(2, vec![lan])], Vec::new());
    let (table, forest) = build(&config);
    let direction = |src: u32, dst: u32| {
        named(table.path_classes(Addr::v4(src), Addr::v4(dst), &Context::default(), 0), &forest)[0]
    };
    assert_eq!(direction(0x0a00_0001, 0x0a00_0002), (2, RowPart::Download));
    assert_eq!(direction(0x0a00_0001, 0x0808_0808), (1, RowPart::Upload));
    assert_eq!(direction(0x0808_0808, 0x0a00_0001), (1, RowPart::Download));
    assert_eq!(direction(0x0a00_0001, 0x0909_0909), (2, RowPart::Upload));
}

#[test]
fn a_target_of_one_family_takes_no_packet_of_the_other() {
    let mut bounded = queue(1, vec![prefix((0, 0))]);
    bounded.dst = Some(prefix6((0, 0)));
    let config =
        config(vec![bounded, queue(2, vec![prefix((0, 0))]), queue(3, vec![prefix6((0, 0))])], Vec::new());
    let (table, forest) = build(&config);
    let of = |src, dst| named(table.path_classes(src, dst, &Context::default(), 0), &forest);
    assert_eq!(of(Addr::v4(1), Addr::v4(2)), [(2, RowPart::Download)]);
    assert_eq!(of(Addr(wide(1)), Addr(wide(2))), [(3, RowPart::Download)]);
}

#[test]
fn many_children_of_one_queue_are_found_as_fast_as_many_queues() {
    let hosts = 25_000u32;
    let mut queues = vec![queue(1, vec![prefix((0x0a00_0000, 8))])];
    for host in 0..hosts {
        let mut child = queue(10 + host, vec![prefix((0x0a00_0000 | host, 32))]);
        child.parent = Some(1);
        queues.push(child);
    }
    let config = config(queues, Vec::new());
    let (table, forest) = build(&config);
    for host in [0, 1, 777, hosts - 1] {
        let (host_address, other) = (Addr::v4(0x0a00_0000 | host), Addr::v4(0x0909_0909));
        let of = |src, dst| named(table.path_classes(src, dst, &Context::default(), 0), &forest);
        assert_eq!(of(other, host_address), [(10 + host, RowPart::Download)]);
        assert_eq!(of(host_address, other), [(10 + host, RowPart::Upload)]);
        // In the parent, but in none of its children.
        assert_eq!(of(Addr::v4(0x0aff_ffff), other), []);
    }
}

#[test]
fn prefixes_and_times_out_of_range_are_refused_by_row() {
    let refused = |queue: SimpleQueue| {
        let config = config(vec![queue], Vec::new());
        let forest = Forest::build(&config).unwrap();
        QueueTable::build(&config, &forest).unwrap_err().row
    };
    assert_eq!(refused(queue(9, vec![prefix((1, 33))])), Some(9));
    assert_eq!(refused(queue(9, vec![prefix6((1, 129))])), Some(9));
    let lan = || queue(9, vec![prefix((1, 32))]);
    assert_eq!(refused(SimpleQueue { dst: Some(prefix((1, 33))), ..lan() }), Some(9));
    let time = QueueTime { from_ms: 0, to_ms: 0, days: 0, utc_offset_s: 0, negate: false };
    assert_eq!(refused(SimpleQueue { time: Some(time), ..lan() }), Some(9));
}

#[test]
fn tables_that_send_packets_elsewhere_do_not_match_alike() {
    let node = |marks: &[Mark]| TreeQueue {
        row: TREE,
        parent: TreeParent::Global,
        packet_marks: marks.to_vec(),
        limit: NO_LIMIT,
    };
    let of = |queue: SimpleQueue, marks: &[Mark]| build(&config(vec![queue], vec![node(marks)])).0;
    let lan = || queue(1, vec![prefix((0x0a00_0000, 8))]);
    let same = of(lan(), &[1]);
    let faster = SimpleQueue { upload: QueueLimit { max_limit: 5, ..NO_LIMIT }, ..lan() };
    assert!(same.matches_as(&of(faster, &[1])));
    assert!(!same.matches_as(&of(lan(), &[2])));
    assert!(!same.matches_as(&of(SimpleQueue { packet_marks: vec![1], ..lan() }, &[1])));
    assert!(!same.matches_as(&of(SimpleQueue { dst: Some(interface(3)), ..lan() }, &[1])));
    assert!(!same.matches_as(&of(SimpleQueue { total: Some(NO_LIMIT), ..lan() }, &[1])));
}

#[test]
fn what_was_known_of_packets_counts_until_a_table_does_not_ask_for_it() {
    let asks = || build(&config(vec![queue(1, vec![interface(3)])], Vec::new())).0;
    let asks_not = || build(&config(vec![queue(1, vec![prefix((0x0a00_0000, 8))])], Vec::new())).0;
    let mut all = vec![asks_not()];
    for mut table in [asks_not(), asks(), asks(), asks_not(), asks()] {
        table.follow(&all[all.len() - 1], all.len() as u32);
        all.push(table);
    }
    let known = Context { mark: 7, in_interface: 3, out_interface: 0 };
    let still = |table: usize, generation| all[table].still_relevant(known, generation) == known;
    assert!(still(2, 2) && still(3, 2) && still(3, 3) && still(5, 5));
    assert!(!still(2, 1) && !still(4, 3) && !still(5, 3) && !still(5, 4));
    // A worker may not have seen those between.
    assert!(all[3].matches_as(&all[2]) && all[3].keeps_context_of(&all[2]));
    assert!(!all[5].matches_as(&all[3]) && !all[5].keeps_context_of(&all[3]));
    assert!(all[4].matches_as(&all[1]) && !all[4].keeps_context_of(&all[1]));
}
