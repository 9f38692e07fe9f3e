//! CAKE.

use std::collections::HashMap;

use tollway_config::dataplane::{Cake, CakeAckFilter, CakeAtm, CakeDiffserv, CakeFlowmode, QueueType};
use tollway_testkit::PacketBuilder;
use tollway_testkit::random::Random;

use super::support::{Leaf, MS, SECOND, Sent, between, udp};
use crate::packet::frame::{Gso, HeapFrame, VnetState};
use crate::time::Now;

fn cake() -> Cake {
    Cake {
        bandwidth: 10_000_000,
        autorate_ingress: false,
        overhead: 0,
        mpu: 0,
        atm: CakeAtm::None,
        rtt_us: 100_000,
        diffserv: CakeDiffserv::Besteffort,
        flowmode: CakeFlowmode::TripleIsolate,
        nat: false,
        wash: false,
        ack_filter: CakeAckFilter::None,
        memory_limit: 0,
    }
}

fn leaf(cake: Cake) -> Leaf {
    Leaf::new(&QueueType::Cake(cake))
}

/// Sends what the shaper lets go until then, and before each packet has `feed` bring what has come.
fn run(leaf: &mut Leaf, end: Now, mut feed: impl FnMut(&mut Leaf)) -> Vec<Sent> {
    let mut all = Vec::new();
    while leaf.now < end {
        feed(leaf);
        match leaf.next() {
            Ok(sent) => all.push(sent),
            Err(at) => leaf.now = at.unwrap_or(end).min(Now(leaf.now.0 + MS / 20)).min(end),
        }
    }
    all
}

/// Share of what was sent, by `key`.
fn shares<K: std::hash::Hash + Eq>(sent: &[Sent], key: impl Fn(&[u8]) -> K) -> HashMap<K, f64> {
    let mut bytes = HashMap::<K, u64>::new();
    for packet in sent {
        *bytes.entry(key(&packet.frame.0)).or_default() += packet.bytes;
    }
    let total: u64 = bytes.values().sum();
    bytes.into_iter().map(|(key, bytes)| (key, bytes as f64 / total as f64)).collect()
}

fn src(frame: &[u8]) -> u8 {
    frame[29]
}

fn dst(frame: &[u8]) -> u8 {
    frame[33]
}

/// Brings a packet of each flow, of source, destination and port: more than can go of any.
fn fill(leaf: &mut Leaf, flows: &[(u8, u8, u16)]) {
    for &(src, dst, port) in flows {
        leaf.offer(udp(src, dst, port, 1000, 0));
    }
}

/// Sources: one with six flows, one with two, one with one.
const SOURCES: [(u8, u8, u16); 9] =
    [(1, 1, 1), (1, 2, 2), (1, 3, 3), (1, 4, 4), (1, 5, 5), (1, 6, 6), (2, 7, 1), (2, 8, 2), (3, 9, 1)];

fn near(is: f64, due: f64, what: impl std::fmt::Debug) {
    assert!((is / due - 1.0).abs() < 0.03, "{what:?}: {is}, not {due}");
}

#[test]
fn hosts_share_equally_and_then_their_flows() {
    let swapped = SOURCES.map(|(src, dst, port)| (dst, src, port));
    for (mode, flows, host) in [
        (CakeFlowmode::TripleIsolate, SOURCES, src as fn(&[u8]) -> u8),
        (CakeFlowmode::TripleIsolate, swapped, dst),
        (CakeFlowmode::DualSrchost, SOURCES, src),
        (CakeFlowmode::DualDsthost, swapped, dst),
        (CakeFlowmode::Srchost, SOURCES, src),
        (CakeFlowmode::Dsthost, swapped, dst),
    ] {
        let mut leaf = leaf(Cake { flowmode: mode, ..cake() });
        let mut due = 0;
        let sent = run(&mut leaf, Now(3 * SECOND), |leaf| {
            while due <= leaf.now.0 {
                fill(leaf, &flows);
                due += MS;
            }
        });
        let sent = &sent[300..];
        for (host, share) in shares(sent, host) {
            near(share, 1.0 / 3.0, (mode, host));
        }
        if !matches!(mode, CakeFlowmode::Srchost | CakeFlowmode::Dsthost) {
            let of_first: Vec<Sent> = sent.iter().filter(|sent| host(&sent.frame.0) == 1).cloned().collect();
            for (flow, share) in shares(&of_first, |frame| (src(frame), dst(frame))) {
                near(share, 1.0 / 6.0, (mode, flow));
            }
        }
    }
}

#[test]
fn flows_share_equally_where_hosts_do_not_count() {
    let mut leaf = leaf(Cake { flowmode: CakeFlowmode::Flows, ..cake() });
    let mut due = 0;
    let sent = run(&mut leaf, Now(3 * SECOND), |leaf| {
        while due <= leaf.now.0 {
            fill(leaf, &SOURCES);
            due += MS;
        }
    });
    for (flow, share) in shares(&sent[300..], |frame| (src(frame), dst(frame))) {
        near(share, 1.0 / 9.0, flow);
    }
    // And without isolation all wait in one queue.
    let mut leaf = super::cake::leaf(Cake { flowmode: CakeFlowmode::Flowblind, ..cake() });
    fill(&mut leaf, &SOURCES);
    assert_eq!(leaf.kind.sub_queues(), 1);
}

#[test]
fn behind_a_translation_hosts_are_told_apart_by_their_own_addresses() {
    for nat in [true, false] {
        let mut leaf = leaf(Cake { nat, ..cake() });
        let mut due = 0;
        let sent = run(&mut leaf, Now(3 * SECOND), |leaf| {
            if leaf.now.0 < due {
                return;
            }
            due += MS;
            for (station, port) in [(1, 1), (1, 2), (1, 3), (2, 4)] {
                // All have the router's address once they wait.
                let frame = udp(99, port as u8, port, 1000, 0);
                let addresses = between(0x0a00_0000 + station, 0xc000_0200 + u32::from(port));
                leaf.offer_as(frame, VnetState::default(), 1, 1000, &addresses);
            }
        });
        let fourth = shares(&sent[300..], dst)[&4];
        near(fourth, if nat { 0.5 } else { 0.25 }, nat);
    }
}

/// Offers packets of that class at a rate, and says what is to come next.
fn stream(leaf: &mut Leaf, next: &mut u64, flow: u8, class: u8, gap: u64) {
    while *next <= leaf.now.0 {
        leaf.offer(udp(flow, flow, 1, 1000, class));
        *next += gap;
    }
}

#[test]
fn a_tin_below_its_threshold_goes_first_and_one_above_it_gets_its_threshold() {
    let diffserv4 = Cake { diffserv: CakeDiffserv::Diffserv4, ..cake() };
    // Voice at 2 of 10 Mbit/s, of which its threshold is 2.5: it never waits for more than a packet of 0.8 ms.
    let mut leaf = leaf(diffserv4);
    let (mut voice, mut rest) = (0, 0);
    let sent = run(&mut leaf, Now(2 * SECOND), |leaf| {
        stream(leaf, &mut voice, 1, 0xb8, 4 * MS);
        stream(leaf, &mut rest, 2, 0, MS / 2);
    });
    assert!(sent.iter().filter(|sent| src(&sent.frame.0) == 1).all(|sent| sent.delay <= MS));
    near(shares(&sent, src)[&1], 0.2, "voice");
    // All of them at more than there is: a quarter, a half, a sixteenth, and the rest.
    let mut leaf = super::cake::leaf(diffserv4);
    let mut next = [0; 4];
    let sent = run(&mut leaf, Now(3 * SECOND), |leaf| {
        for ((flow, class), next) in [(1, 0xb8), (2, 0x88), (3, 0x20), (4, 0)].into_iter().zip(&mut next) {
            stream(leaf, next, flow, class, MS / 2);
        }
    });
    let shares = shares(&sent[200..], src);
    for (flow, due) in [(1, 0.25), (2, 0.5), (3, 0.0625), (4, 0.1875)] {
        near(shares[&flow], due, flow);
    }
}

#[test]
fn a_tin_alone_has_the_whole_rate_and_without_a_shaper_tins_have_turns() {
    let mut leaf = leaf(Cake { diffserv: CakeDiffserv::Diffserv3, ..cake() });
    let mut next = 0;
    let sent = run(&mut leaf, Now(SECOND), |leaf| stream(leaf, &mut next, 1, 0x20, MS / 2));
    near(sent.len() as f64, 1250.0, "bulk");
    let unshaped = Cake { bandwidth: 0, diffserv: CakeDiffserv::Diffserv3, ..cake() };
    let mut leaf = super::cake::leaf(unshaped);
    let mut next = [0; 3];
    let sent = leaf.send_at(10_000_000, Now(2 * SECOND), |leaf| {
        for ((flow, class), next) in [(1, 0xb8), (3, 0x20), (4, 0)].into_iter().zip(&mut next) {
            stream(leaf, next, flow, class, MS / 2);
        }
    });
    let shares = shares(&sent[200..], src);
    for (flow, weight) in [(1, 4.0), (3, 1.0), (4, 16.0)] {
        near(shares[&flow], weight / 21.0, flow);
    }
}

/// When `packets` of so many L3 bytes have gone, ns after the first.
fn time_of(cake: Cake, len: u64, packets: u64) -> u64 {
    let mut leaf = leaf(cake);
    for _ in 0..=packets {
        leaf.offer(udp(1, 1, 1, len, 0));
    }
    let sent = leaf.drain_until(Now(1000 * SECOND));
    assert_eq!(sent.len() as u64, packets + 1);
    sent[packets as usize].at.0
}

#[test]
fn the_shaper_charges_what_a_packet_is_on_the_link() {
    // A target that nothing exceeds.
    let cake = Cake { rtt_us: 1_000_000_000, bandwidth: 7_777_777, ..cake() };
    for (overhead, mpu, atm, len, on_the_link) in [
        (0, 0, CakeAtm::None, 1000, 1000),
        (38, 84, CakeAtm::None, 1000, 1038),
        (38, 84, CakeAtm::None, 40, 84),
        (-20, 0, CakeAtm::None, 1000, 980),
        (0, 0, CakeAtm::Atm, 48, 53),
        (0, 0, CakeAtm::Atm, 49, 106),
        (44, 0, CakeAtm::Atm, 1500, 33 * 53),
        (0, 0, CakeAtm::Ptm, 64, 65),
        (22, 0, CakeAtm::Ptm, 1500, 1522 + 24),
    ] {
        let framed = Cake { overhead, mpu, atm, ..cake };
        let exact = on_the_link * 1000 * 8 * SECOND / cake.bandwidth;
        let is = time_of(framed, len, 1000);
        assert!(is.abs_diff(exact) <= 1, "{framed:?}: {is}, not {exact}");
    }
}

#[test]
fn each_segment_of_a_super_frame_is_charged_on_its_own() {
    let mut leaf = leaf(Cake { overhead: 38, atm: CakeAtm::Atm, ..cake() });
    // Three segments of 1,000 bytes and one of 10, each with 28 of headers.
    let bytes = PacketBuilder::ipv4("10.0.0.1", "192.0.2.1").udp(1, 1).payload_len(3010).build();
    let vnet = VnetState { gso: Gso::Udp, gso_size: 1000, hdr_len: 42, ..VnetState::default() };
    leaf.offer_as(HeapFrame(bytes), vnet, 4, 3010 + 4 * 28, &between(0, 0));
    leaf.offer(udp(1, 1, 1, 100, 0));
    assert_eq!(leaf.drain_until(Now(SECOND))[1].at.0, (3 * 23 + 2) * 53 * 8 * 100);
}

/// A TCP packet of one connection that only acknowledges.
fn acknowledgement(number: u32, flags: u8, options: &[u8]) -> HeapFrame {
    let builder = PacketBuilder::ipv4("10.0.0.1", "192.0.2.1").tcp(1000, 80, flags, 5, number);
    HeapFrame(if options.is_empty() { builder } else { builder.tcp_options(options) }.build())
}

fn sack(blocks: &[(u32, u32)]) -> Vec<u8> {
    let mut options = vec![1, 1, 5, 2 + 8 * blocks.len() as u8];
    for (left, right) in blocks {
        options.extend([left.to_be_bytes(), right.to_be_bytes()].concat());
    }
    options
}

/// Numbers of the acknowledgements that are left of some.
fn left(filter: CakeAckFilter, all: impl IntoIterator<Item = HeapFrame>) -> Vec<u32> {
    let mut leaf = leaf(Cake { ack_filter: filter, ..cake() });
    for frame in all {
        leaf.offer(frame);
    }
    let sent = leaf.drain_until(Now(SECOND));
    sent.iter().map(|sent| u32::from_be_bytes(sent.frame.0[42..46].try_into().unwrap())).collect()
}

#[test]
fn acknowledgements_that_later_ones_make_redundant_are_dropped() {
    let all = || (1..=10).map(|number| acknowledgement(number * 1000, 16, &[]));
    assert_eq!(left(CakeAckFilter::None, all()).len(), 10);
    assert_eq!(left(CakeAckFilter::Filter, all()), [3000, 6000, 9000, 10_000]);
    assert_eq!(left(CakeAckFilter::Aggressive, all()), [10_000]);
    // Sequence numbers wrap.
    let wraps = [u32::MAX - 5, 5].map(|number| acknowledgement(number, 16, &[]));
    assert_eq!(left(CakeAckFilter::Aggressive, wraps), [5]);
}

#[test]
fn acknowledgements_that_say_more_than_a_number_stay() {
    let stay =
        |first: HeapFrame, second: HeapFrame| left(CakeAckFilter::Aggressive, [first, second]).len() == 2;
    let ack = |number| acknowledgement(number, 16, &[]);
    let with = |number, blocks: &[(u32, u32)]| acknowledgement(number, 16, &sack(blocks));
    assert!(!stay(ack(1000), ack(2000)));
    // Duplicates, and what is behind.
    assert!(stay(ack(1000), ack(1000)) && stay(ack(2000), ack(1000)));
    // Data, FIN, RST, SYN, and echoes of congestion that are not repeated.
    for flags in [17, 20, 18, 24, 16 | 64, 16 | 128] {
        assert!(stay(acknowledgement(1000, flags, &[]), ack(2000)), "{flags}");
    }
    assert!(!stay(acknowledgement(1000, 80, &[]), acknowledgement(2000, 80, &[])));
    let data = PacketBuilder::ipv4("10.0.0.1", "192.0.2.1").tcp(1000, 80, 16, 5, 1000).payload_len(1).build();
    assert!(stay(HeapFrame(data), ack(2000)));
    // What was reported must be reported again, or be acknowledged.
    assert!(stay(with(1000, &[(3000, 4000)]), ack(2000)));
    assert!(stay(with(1000, &[(3000, 4000)]), with(2000, &[(3000, 3500)])));
    assert!(!stay(with(1000, &[(3000, 4000)]), with(2000, &[(6000, 7000), (2500, 4500)])));
    assert!(!stay(with(1000, &[(1500, 2000)]), ack(2000)));
    // A report of a duplicate segment.
    assert!(stay(with(1000, &[(500, 800), (3000, 4000)]), with(2000, &[(3000, 4000)])));
    // The same of one that arrived beyond the acknowledged: the first block is within the second.
    assert!(stay(with(1000, &[(3000, 4000), (2500, 5000)]), with(2000, &[(2500, 5000)])));
    assert!(!stay(with(1000, &[(2500, 5000), (6000, 7000)]), with(2000, &[(6000, 7000), (2500, 5000)])));
    // Options that nobody here knows, and malformed ones.
    assert!(stay(acknowledgement(1000, 16, &[30, 4, 0, 0]), ack(2000)));
    assert!(stay(acknowledgement(1000, 16, &[5, 10, 0, 0]), ack(2000)));
    // Another connection.
    let other = PacketBuilder::ipv4("10.0.0.1", "192.0.2.1").tcp(1001, 80, 16, 5, 2000).build();
    assert!(stay(ack(1000), HeapFrame(other)));
}

#[test]
fn a_wash_clears_the_class_after_it_has_chosen_the_tin() {
    let mut leaf = leaf(Cake { wash: true, diffserv: CakeDiffserv::Diffserv4, ..cake() });
    for class in [0x02, 0x20, 0xba] {
        leaf.offer(udp(1, 1, 1, 1000, class));
    }
    let sent = leaf.drain_until(Now(SECOND));
    assert_eq!(sent.iter().map(|sent| sent.frame.0[15]).collect::<Vec<_>>(), [2, 0, 2]);
    assert!(sent.iter().all(|sent| {
        tollway_wire::ipv4::Packet::new_checked(&sent.frame.0[14..]).unwrap().verify_checksum()
    }));
}

#[test]
fn what_waits_takes_no_more_memory_than_it_may_and_the_fattest_flow_pays() {
    let mut leaf = leaf(Cake { memory_limit: 200 * 2048, ..cake() });
    for _ in 0..10 {
        leaf.offer(udp(2, 2, 1, 1000, 0));
    }
    for _ in 0..1000 {
        leaf.offer(udp(1, 1, 1, 1000, 0));
        assert!(leaf.kind.frames() <= 200);
    }
    assert!(leaf.kind.frames() >= 195);
    assert!(leaf.dropped.iter().all(|(_, frame)| src(&frame.0) == 1));
}

#[test]
fn delay_comes_down_by_marks_where_it_can_and_by_drops_where_nothing_listens() {
    for (class, marks) in [(0, false), (2, true)] {
        let mut leaf = leaf(cake());
        let mut next = [0; 2];
        // One flow that never slows down at 8 Mbit/s, and one that asks for little.
        run(&mut leaf, Now(6 * SECOND), |leaf| {
            stream(leaf, &mut next[0], 1, class, MS * 8 / 9);
            stream(leaf, &mut next[1], 2, class, 4 * MS);
        });
        assert_eq!(leaf.kind.marked() > 10, marks);
        assert!(leaf.dropped.len() > 10 || marks);
        assert!(leaf.dropped.iter().all(|(_, frame)| src(&frame.0) == 1));
        if !marks {
            let late = run(&mut leaf, Now(8 * SECOND), |leaf| {
                stream(leaf, &mut next[0], 1, class, MS * 8 / 9);
                stream(leaf, &mut next[1], 2, class, 4 * MS);
            });
            let mut delays: Vec<u64> = late.iter().map(|sent| sent.delay).collect();
            delays.sort_unstable();
            assert!(delays[delays.len() / 2] < 50 * MS, "{}", delays[delays.len() / 2]);
        }
    }
}

#[test]
fn the_rate_follows_what_arrives_and_stays_when_nothing_does() {
    let mut leaf = leaf(Cake { autorate_ingress: true, bandwidth: 1_000_000, ..cake() });
    let mut next = 0;
    run(&mut leaf, Now(4 * SECOND), |leaf| stream(leaf, &mut next, 1, 0, 2 * MS));
    let rate = |leaf: &mut Leaf, from: u64, next: &mut u64, gap| {
        let sent = run(leaf, Now((from + 1) * SECOND), |leaf| stream(leaf, next, 1, 0, gap));
        sent.iter().map(|sent| sent.bytes * 8).sum::<u64>() as f64
    };
    // 4 Mbit/s arrive; fifteen sixteenths of that are sent.
    near(rate(&mut leaf, 4, &mut next, 2 * MS), 3_750_000.0, "after 4 s");
    run(&mut leaf, Now(60 * SECOND), |_| {});
    next = 60 * SECOND;
    let after = rate(&mut leaf, 60, &mut next, MS);
    assert!(after > 3_700_000.0, "{after}");
}

#[test]
fn two_hundred_flows_have_lines_of_their_own_and_more_than_there_are_lines_keep_their_order() {
    tollway_testkit::seeds(1).for_each(flows_keep_their_order);
}

fn flows_keep_their_order(seed: u64) {
    let mut random = Random::new(seed);
    let mut leaf =
        leaf(Cake { flowmode: CakeFlowmode::Flows, memory_limit: 1 << 30, bandwidth: 0, ..cake() });
    for flow in 0..200u16 {
        leaf.offer(udp(flow as u8, 1, flow, 100, 0));
    }
    assert_eq!(leaf.kind.sub_queues(), 200);
    leaf.drain_until(leaf.now);
    // Two thousand in a thousand queues, some of which come and go.
    let (mut came, mut went) = (HashMap::<u16, u16>::new(), HashMap::<u16, u16>::new());
    for step in 0..60_000u32 {
        let flow = random.below(2000) as u16;
        let number = came.entry(flow).or_default();
        *number += 1;
        let mut frame = udp((flow % 200) as u8, 1, flow, 100, 0);
        frame.0[18..20].copy_from_slice(&number.to_be_bytes());
        leaf.now.0 += 1000;
        leaf.offer(frame);
        let send = if step % 20_000 < 10_000 { step % 2 } else { 2 };
        for _ in 0..send {
            let Ok(sent) = leaf.next() else { break };
            let flow = u16::from_be_bytes([sent.frame.0[34], sent.frame.0[35]]);
            let number = u16::from_be_bytes([sent.frame.0[18], sent.frame.0[19]]);
            let before = went.insert(flow, number).unwrap_or(0);
            assert!(before < number, "seed {seed}: flow {flow} was reordered");
        }
    }
    assert!(leaf.kind.sub_queues() <= 1024);
}
