//! Flow queues under controlled delay.

use std::collections::HashMap;

use tollway_config::dataplane::{Codel, QueueType};

use super::support::{Leaf, MS, SECOND, Sent, udp};
use crate::time::Now;

fn config(limit: u32, memory_limit: u64, ecn: bool) -> QueueType {
    let codel = Codel { limit, target_us: 5_000, interval_us: 100_000, ecn, ce_threshold_us: 0 };
    QueueType::FqCodel { codel, flows: 1024, quantum: 1514, memory_limit }
}

fn shares(sent: &[Sent]) -> HashMap<u8, f64> {
    let mut bytes = HashMap::<u8, u64>::new();
    for packet in sent {
        *bytes.entry(packet.frame.0[29]).or_default() += packet.bytes;
    }
    let total: u64 = bytes.values().sum();
    bytes.into_iter().map(|(flow, bytes)| (flow, bytes as f64 / total as f64)).collect()
}

#[test]
fn flows_share_equally_whatever_they_send() {
    let mut leaf = Leaf::new(&config(10_240, 32 << 20, false));
    let sent = leaf.send_at(10_000_000, Now(2 * SECOND), |leaf| {
        for (flow, len) in [
            (1, 1500),
            (2, 1500),
            (2, 1500),
            (3, 200),
            (3, 200),
            (3, 200),
            (3, 1400),
            (4, 700),
            (4, 700),
            (4, 700),
        ] {
            leaf.offer(udp(flow, 1, 1, len, 0));
        }
    });
    for (flow, share) in shares(&sent[500..]) {
        assert!((share - 0.25).abs() < 0.005, "flow {flow} has {share}");
    }
}

#[test]
fn a_sparse_flow_is_not_delayed_by_bulk() {
    let mut leaf = Leaf::new(&config(10_240, 32 << 20, false));
    let mut next = 0;
    let sent = leaf.send_at(10_000_000, Now(2 * SECOND), |leaf| {
        for flow in 1..5 {
            leaf.offer(udp(flow, 1, 1, 1500, 0));
        }
        if leaf.now.0 >= next {
            next += 20 * MS;
            leaf.offer(udp(9, 1, 1, 100, 0));
        }
    });
    let sparse: Vec<&Sent> = sent.iter().filter(|sent| sent.frame.0[29] == 9).collect();
    assert!(sparse.len() >= 99);
    // At first all are new. Then never more than the packet that is on its way: 1.2 ms.
    assert!(sparse.iter().skip(1).all(|sent| sent.delay <= 2 * MS));
    assert!(sent.iter().any(|sent| sent.delay > 100 * MS));
}

#[test]
fn packets_that_can_be_marked_are_marked_and_others_of_other_flows_dropped() {
    let mut leaf = Leaf::new(&config(10_240, 32 << 20, true));
    leaf.send_at(10_000_000, Now(3 * SECOND), |leaf| {
        leaf.offer(udp(1, 1, 1, 1500, 2));
        leaf.offer(udp(2, 1, 1, 1500, 0));
    });
    assert!(leaf.kind.marked() > 10);
    assert!(leaf.dropped.len() > 10 && leaf.dropped.iter().all(|(_, frame)| frame.0[29] == 2));
}

#[test]
fn too_many_packets_or_bytes_cost_the_fattest_flow_half_of_what_it_has_or_a_batch() {
    for config in [config(1000, 32 << 20, false), config(10_240, 1000 * 2048, false)] {
        let mut leaf = Leaf::new(&config);
        for _ in 0..20 {
            leaf.offer(udp(2, 1, 1, 1500, 0));
        }
        for _ in 0..980 {
            leaf.offer(udp(1, 1, 1, 1500, 0));
        }
        assert_eq!((leaf.kind.frames(), leaf.dropped.len()), (1000, 0));
        leaf.offer(udp(3, 1, 1, 1500, 0));
        assert_eq!((leaf.kind.frames(), leaf.dropped.len()), (937, 64));
        assert!(leaf.dropped.iter().all(|(_, frame)| frame.0[29] == 1));
    }
    let mut leaf = Leaf::new(&config(10, 32 << 20, false));
    for _ in 0..11 {
        leaf.offer(udp(1, 1, 1, 1500, 0));
    }
    assert_eq!(leaf.dropped.len(), 6);
}

#[test]
fn a_flow_that_comes_and_goes_takes_no_more_memory() {
    let mut leaf = Leaf::new(&config(10_240, 32 << 20, false));
    for round in 0..2000u64 {
        leaf.now = Now(round * 3 * SECOND);
        for port in 0..4 {
            leaf.offer(udp((round % 200) as u8, 1, (round * 4 + port) as u16, 1000, 0));
        }
        leaf.drain_until(leaf.now);
    }
    let text = format!("{:?}", leaf.kind);
    let flows = text.matches("Flow {").count();
    assert!(flows < 20, "{flows} flows are remembered");
}
