//! Stochastic fairness queuing.

use std::collections::HashMap;

use tollway_config::dataplane::{Codel, QueueType};

use super::support::{Leaf, SECOND, udp};
use crate::time::Now;

const CONFIG: QueueType = QueueType::Sfq { perturb_s: 5, allot: 1514 };

#[test]
fn flows_share_equally_whatever_each_of_them_sends() {
    let mut leaf = Leaf::new(&CONFIG);
    let mut sent = HashMap::<u8, u64>::new();
    // Flow 1 sends small packets at ten times what the others do.
    let all = leaf.send_at(10_000_000, Now(2 * SECOND), |leaf| {
        for _ in 0..10 {
            leaf.offer(udp(1, 1, 1, 300, 0));
        }
        for flow in 2..6 {
            leaf.offer(udp(flow, 1, 1, 1500, 0));
        }
    });
    for packet in all.iter().skip(200) {
        *sent.entry(packet.frame.0[29]).or_default() += packet.bytes;
    }
    let total: u64 = sent.values().sum();
    for (flow, bytes) in sent {
        let share = bytes as f64 / total as f64;
        assert!((share - 0.2).abs() < 0.004, "flow {flow} has {share}");
    }
    assert!(leaf.kind.segments() <= 128);
}

#[test]
fn the_longest_bucket_loses_the_packet_and_a_short_one_none() {
    let mut leaf = Leaf::new(&CONFIG);
    for _ in 0..200 {
        leaf.offer(udp(1, 1, 1, 1000, 0));
    }
    assert_eq!((leaf.kind.segments(), leaf.dropped.len()), (128, 72));
    for flow in 2..10 {
        leaf.offer(udp(flow, 1, 1, 1000, 0));
    }
    assert!(leaf.dropped.iter().all(|(_, frame)| frame.0[29] == 1));
    assert_eq!((leaf.kind.segments(), leaf.kind.sub_queues()), (128, 9));
}

/// The number of pairs of flows, of some, that share a bucket.
fn collisions(leaf: &mut Leaf) -> Vec<(u8, u8)> {
    let mut pairs = Vec::new();
    for a in 0..40 {
        for b in a + 1..40 {
            leaf.offer(udp(a, 1, 1, 1000, 0));
            leaf.offer(udp(b, 1, 1, 1000, 0));
            if leaf.kind.sub_queues() == 1 {
                pairs.push((a, b));
            }
            leaf.drain_until(leaf.now);
        }
    }
    pairs
}

#[test]
fn who_shares_a_bucket_changes_after_the_time_of_the_perturbation() {
    let mut leaf = Leaf::new(&CONFIG);
    let before = collisions(&mut leaf);
    assert!(!before.is_empty());
    assert_eq!(collisions(&mut leaf), before);
    leaf.now.0 += 5 * SECOND;
    assert_ne!(collisions(&mut leaf), before);
}

#[test]
fn a_turn_is_never_so_short_that_a_packet_takes_many() {
    let codel = Codel { limit: 100, target_us: 5_000, interval_us: 100_000, ecn: false, ce_threshold_us: 0 };
    let sfq = QueueType::Sfq { perturb_s: 0, allot: 1 };
    let fq_codel = QueueType::FqCodel { codel, flows: 1024, quantum: 1, memory_limit: 1 << 20 };
    for config in [sfq, fq_codel] {
        let mut leaf = Leaf::new(&config);
        for flow in [1, 2] {
            for _ in 0..6 {
                leaf.offer(udp(flow, 1, 1, 100, 0));
            }
        }
        let sent: Vec<u8> = leaf.drain_until(leaf.now).iter().map(|sent| sent.frame.0[29]).collect();
        // 256 bytes, and the packet that reaches beyond them.
        assert_eq!(sent[..6], [1, 1, 1, 2, 2, 2], "{config:?}");
    }
}
